"""Records in a space: what a space makes of the rows it is given, and what methods may ask of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space.base import Space

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Records:
    """The records of a table in a space: their costs, their groups' centroids, their neighbours.

    This class asks the space for costs and centroids, group by group; a space that knows a faster way makes
    records of its own by a method ``records(X)``.

    Parameters
    ----------
    space : Space
        The cost and its centroid.
    X : array, shape (n, d)
        The records as the space takes them.
    """

    def __init__(self, space: Space, X: NDArray[Any]) -> None:
        self.space, self.X = space, X

    def __len__(self) -> int:
        return len(self.X)

    @property
    def points(self) -> Array | None:
        """The records as coordinates whose squared distances are the costs; None where there are none."""
        return None

    def subset(self, rows: Ints) -> Records:
        """Return some of the records."""
        return type(self)(self.space, np.ascontiguousarray(self.X[rows]))

    def centroids(self, part: Partition) -> NDArray[Any]:
        """Return the centroid of each group, shape (m, d)."""
        self.check(part)
        return np.stack([self.space.centroid(self.X[rows]) for rows in part.cells()])

    def cost(self, part: Partition) -> float:
        """Return the summed cost of all records to the centroids of their groups."""
        centroids = self.centroids(part)
        return sum(
            float(self.space.cost(self.X[rows], centroids[[group]]).sum())
            for group, rows in enumerate(part.cells())
        )

    @cached_property
    def total(self) -> float:
        """The cost of a single group of all records."""
        return self.cost(Partition(np.zeros(len(self), np.int64)))

    def neighbours(self, width: int, ctx: Context) -> Ints:
        """Return the nearest other records of each, shape (n, width); O(n²) costs."""
        width = min(width, len(self) - 1)
        near = np.empty((len(self), width), np.int64)
        step = max(1, 4_000_000 // len(self))
        for begin in range(0, len(self), step):
            rows = np.arange(begin, min(len(self), begin + step))
            costs = self.space.cost(self.X[rows], self.X)
            costs[np.arange(len(rows)), rows] = np.inf
            near[rows] = np.argsort(costs, axis=1, kind="stable")[:, :width]
            ctx.tell(min(begin + step, len(self)) / len(self), whole=True)
        return near

    def check(self, part: Partition) -> None:
        """Refuse a partition of other records."""
        if part.n != len(self):
            raise InputError(f"the partition is of {part.n} records, X has {len(self)}")


class Points(Records):
    """Records whose cost is the squared distance between coordinates."""

    @property
    def points(self) -> Array:
        """The coordinates."""
        return self.X

    def centroids(self, part: Partition) -> Array:
        """Return the mean of each group, shape (m, d)."""
        return part.centroids(self.X)

    def cost(self, part: Partition) -> float:
        """Return the sum of squared distances to the means of the groups."""
        return part.sse(self.X)

    @cached_property
    def total(self) -> float:
        """The sum of squared distances to the mean of all; exactly 0 where all records are equal."""
        if not np.ptp(self.X, axis=0).any():
            return 0.0
        return float(np.square(self.X - self.X.mean(axis=0)).sum())


class Codes(Records):
    """Records of a mixed space: rows of levels."""

    def centroids(self, part: Partition) -> Ints:
        """Return the levels of each group's centroid, shape (m, d)."""
        from voronym.space.centroids import mixed_centroids  # it knows about this space, which is made first

        return mixed_centroids(self.space, self.X, part).levels  # type: ignore[arg-type]

    def cost(self, part: Partition) -> float:
        """Return the summed cost of all records to the centroids of their groups."""
        from voronym.space.centroids import mixed_centroids

        return mixed_centroids(self.space, self.X, part).total  # type: ignore[arg-type]


def records_of(space: Space, X: ArrayLike) -> Records:
    """Return rows as records of a space, by the space's own way where it has one."""
    make = getattr(space, "records", None)
    if make is not None:
        made: Records = make(X)
        return made
    return Records(space, np.ascontiguousarray(X, dtype=np.float64))
