"""Euclidean space: squared distance, and the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.partition import group_means
from voronym.space.base import Space, square_distances

if TYPE_CHECKING:
    from voronym.space.records import Records


@dataclass(frozen=True)
class Euclidean(Space):
    """Squared Euclidean distance. Its centroid is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> space = Euclidean()
    >>> space.centroid(np.array([[0.0], [2.0]])).tolist()
    [1.0]
    """

    name: str = "euclidean"
    quadratic: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    def cost(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return squared distances, shape (len(X), len(Y))."""
        return square_distances(X, Y)

    def centroid(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the rows."""
        return np.asarray(X.mean(axis=0))

    def coordinates(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points unchanged."""
        return X

    def weighted_centroid(self, X: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted mean of the rows."""
        return np.asarray(weights @ X / weights.sum())

    def centroids(self, X: NDArray[np.float64], labels: NDArray[np.int64], cells: int) -> NDArray[np.float64]:
        """Return the mean of each cell."""
        return group_means(X, labels, cells)

    def paired(
        self, X: NDArray[np.float64], Y: NDArray[np.float64], labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the squared distance between each row of X and the row of Y with its label."""
        out = np.zeros(len(X))
        for j in range(X.shape[1]):
            out += np.square(X[:, j] - Y[labels, j])
        return out

    def records(self, X: ArrayLike) -> Records:
        """Return the rows of X as records."""
        from voronym.space.points import Points  # it knows about partitions, which a space need not

        return Points(self, np.ascontiguousarray(X, dtype=np.float64))
