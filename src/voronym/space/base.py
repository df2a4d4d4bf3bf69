"""What a space has to offer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Space(Protocol):
    """A cost between records, together with the centroid that minimises its sum over a cell."""

    @property
    def name(self) -> str:
        """What methods ask for, to know whether their kernels compute this cost."""
        ...

    def cost(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the costs between the rows of X and of Y, shape (len(X), len(Y))."""
        ...

    def centroid(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the point, shape (d,), that minimises the summed cost to the rows of X."""
        ...
