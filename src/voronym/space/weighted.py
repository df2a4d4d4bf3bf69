"""Points with weights: the number of people, or the amount, behind each record."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import weighted as kernels
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space.base import Space
from voronym.space.points import Points
from voronym.space.records import Array, Ints


class WeightedPoints(Points):
    """Points whose squared distances are multiplied by weights; groups still count records.

    Parameters
    ----------
    space : Space
        Their space.
    X, points : arrays, shape (n, d)
        The records, as the space has them and as coordinates.
    weights : array, shape (n,)
        Above 0.
    """

    def __init__(self, space: Space, X: Array, points: Array | None, weights: Array) -> None:
        super().__init__(space, X, points)
        self._weights = np.ascontiguousarray(weights)

    @property
    def weights(self) -> Array:
        """The weights of the records."""
        return self._weights

    def unweighted(self) -> Points:
        """Return the same points with weight 1 each."""
        return Points(self.space, self.X, self.points)

    def unit(self) -> WeightedPoints:
        """Return the points centred and divided by the largest magnitude, and weights of mean 1."""
        return WeightedPoints(self.space, self.X, super().unit().points, self.weights / self.weights.mean())

    def subset(self, rows: Ints) -> WeightedPoints:
        """Return some of the records."""
        X = np.ascontiguousarray(self.X[rows])
        return WeightedPoints(self.space, X, self.points[rows], self.weights[rows])

    @cached_property
    def _squares(self) -> Array:
        middle = np.average(self.points, axis=0, weights=self.weights)
        return np.asarray(self.weights * np.square(self.points - middle).sum(axis=1))

    def model(self, room: int) -> kernels.Weighted:  # type: ignore[override]
        """Return the cost model of weighted squares."""
        return kernels.make(self.points, self.weights, room)

    def centroids(self, part: Partition) -> Array:
        """Return the weighted mean of each group, shape (m, d)."""
        self.check(part)
        return self._means(self.X, part)

    def cost(self, part: Partition) -> float:
        """Return the weighted sum of squared distances to the weighted means of the groups."""
        self.check(part)
        apart = self.points - self._means(self.points, part)[part.labels]
        return float((self.weights * np.square(apart).sum(axis=1)).sum())

    def _means(self, X: Array, part: Partition) -> Array:
        origin = X.mean(axis=0)  # about it a large common offset costs no digits
        mass = np.bincount(part.labels, self.weights, part.n_cells)
        sums = [np.bincount(part.labels, self.weights * column, part.n_cells) for column in (X - origin).T]
        return np.asarray(np.stack(sums, axis=1) / mass[:, None] + origin)


def check_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return weights as n numbers above 0; raise if they are invalid."""
    try:
        result = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each record") from None
    if result.shape != (n,):
        raise InputError(f"weights must be one number for each of the {n} records; got shape {result.shape}")
    bad = ~(np.isfinite(result) & (result > 0.0))
    if bad.any():
        raise InputError(
            f"{int(bad.sum())} of {n} weights are missing, infinite, 0 or less; leave out records that "
            "should not count"
        )
    if result.max() > 1e12 * result.min():
        raise InputError(
            "the largest weight is more than 1e12 times the smallest: sums would lose the smallest"
        )
    return result
