"""Euclidean space: squared distance, and the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Euclidean:
    """Squared Euclidean distance. Its centroid is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> space = Euclidean()
    >>> space.centroid(np.array([[0.0], [2.0]])).tolist()
    [1.0]
    """

    name: str = "euclidean"

    def cost(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return squared distances, shape (len(X), len(Y)), by summed squares of differences.

        Not by the expansion with inner products: that loses digits, and equal points would not be at 0.
        """
        out = np.zeros((len(X), len(Y)))
        for j in range(X.shape[1]):
            out += np.square(X[:, j, None] - Y[None, :, j])
        return out

    def centroid(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the rows."""
        return np.asarray(X.mean(axis=0))
