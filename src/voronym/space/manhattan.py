"""Manhattan space: the sum of absolute differences, and the median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym.space.base import Space


@dataclass(frozen=True)
class Manhattan(Space):
    """The sum of absolute differences, L1. Its centroid is the median of each column.

    The median minimises the summed cost exactly; for an even number of rows the midpoint of the two
    middle values is used. One outlier moves it little. Cells of a quantizer need not be convex in this
    space. In whole regions two costs differ by the same amount, so a large part of the data may lie on a
    border: ties, or `transport`, decide on its cell.

    Examples
    --------
    >>> import numpy as np
    >>> Manhattan().centroid(np.array([[0.0, 5.0], [1.0, 6.0], [9.0, 7.0]])).tolist()
    [1.0, 6.0]
    """

    name: str = "manhattan"
    linear: ClassVar[bool] = True

    def cost(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of absolute differences, shape (len(X), len(Y))."""
        out = np.zeros((len(X), len(Y)))
        for j in range(X.shape[1]):
            out += np.abs(X[:, j, None] - Y[None, :, j])
        return out

    def centroid(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the median of each column."""
        return np.asarray(np.median(X, axis=0))
