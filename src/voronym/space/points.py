"""Records whose costs are squared distances between coordinates, and their nearest neighbours."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym._kernels import scan as scans
from voronym._kernels import squares
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.space.base import Space, square_distances
from voronym.space.records import Array, Ints, Pace, Records

COMPARED = 2_000
"""Up to this number of points, each point is compared with all others."""
TOGETHER = 65_536
"""Number of distances computed together; more do not fit a core's cache."""
EXACT_BELOW = 10_000
"""Above this number of points, lists of neighbours are approximate and not kept."""


class Points(Records):
    """Records whose costs are squared Euclidean distances between coordinates.

    Parameters
    ----------
    space : Space
        Their space.
    X : array, shape (n, d)
        The records, as the space has them.
    """

    pace = Pace(chains=2, kicks=4.0, triples=0.25, speed=5e6, least=300.0)
    by_squares = True

    def __init__(self, space: Space, X: Array, points: Array | None = None) -> None:
        super().__init__(space, X)
        result = space.coordinates(X) if points is None else points
        assert result is not None  # noqa: S101 - a space with coordinates makes these records
        self._points = np.ascontiguousarray(result)
        self._near: dict[tuple[int, bool], Ints] = {}

    def _sharing(self, other: Points) -> Points:
        """Return other points with the cached neighbours of these, because searches need them repeatedly."""
        other._near = self._near
        return other

    @property
    def points(self) -> Array:
        """The coordinates."""
        return self._points

    def unit(self) -> Points:
        """Return the points centred and divided by the largest magnitude."""
        centred = self.points - self.points.mean(axis=0)
        largest = float(np.abs(centred).max())
        return self._sharing(Points(self.space, self.X, centred / largest if largest > 0.0 else centred))

    def subset(self, rows: Ints) -> Points:
        """Return some of the records."""
        return Points(self.space, np.ascontiguousarray(self.X[rows]), self.points[rows])

    def like(self, rows: Array) -> Points:
        """Return other points as records of the same space."""
        return Points(self.space, rows, rows)

    @cached_property
    def _squares(self) -> Array:
        return np.asarray(np.square(self.points - self.points.mean(axis=0)).sum(axis=1))

    @cached_property
    def total(self) -> float:
        """The sum of squared distances to the overall mean; exactly 0 if all records are equal."""
        return float(self._squares.sum()) if np.ptp(self.points, axis=0).any() else 0.0

    @property
    def tiny(self) -> float:
        """The least gain that exceeds rounding errors."""
        return 1e-12 * float(self._squares.max())

    def model(self, room: int) -> squares.Squares:
        """Return the cost model of squares."""
        return squares.make(self.points, room)

    def proposals(self, k: int) -> int:  # noqa: ARG002
        """Return the approximate number of proposals that take some hundredths of a second."""
        return 100_000

    def scan(self) -> scans.PointScan:
        """Return a scan of the points."""
        return scans.make_point_scan(self.points)

    def centroids(self, part: Partition) -> Array:
        """Return the mean of each group, shape (m, d)."""
        return part.centroids(self.X)

    def cost(self, part: Partition) -> float:
        """Return the sum of squared distances to the means of the groups."""
        return part.sse(self.points)

    def ratio(self, gamma: float) -> float:
        """Return the square: costs are squares of distances."""
        return gamma * gamma

    @property
    def coordinates(self) -> Array:
        """The points."""
        return self.points

    @property
    def rows(self) -> Array:
        """The points."""
        return self.points

    def nearest(self, X: Array, Y: Array, many: int, ctx: Context) -> Ints:
        """Return the nearest rows of Y for each row of X, by a k-d tree."""
        from scipy.spatial import cKDTree  # takes a while to load

        out, tree = np.empty((len(X), many), np.int64), cKDTree(Y)
        for first in range(0, len(X), 8192):
            rows = slice(first, first + 8192)
            out[rows] = np.asarray(tree.query(X[rows], many)[1]).reshape(-1, many)
            ctx.check(whole=False)
        return out

    def neighbours(self, width: int, ctx: Context, *, distinct: bool = True) -> Ints | None:
        """Return the nearest other records of each, shape (n, K); None if the time is over.

        If equal records count separately, the lists are approximate above 10,000 records: a record
        counts as near if no other is nearer than half its distance. In ten columns this is about 15
        times faster, and nine of ten neighbours are the exact ones.
        """
        small = len(self) < EXACT_BELOW
        if not distinct and not small:
            return _nearest(self.points, min(width, len(self) - 1), ctx, 1.0)
        unequal, first, back = np.unique(self.points, axis=0, return_index=True, return_inverse=True)
        kept = distinct and len(unequal) < len(self)  # unequal records have one list for both questions
        for (known, alike), lists in self._near.items():
            if known >= width and alike == kept:
                return np.ascontiguousarray(lists[:, :width])
        if kept and len(unequal) == 1:
            return np.zeros((len(self), 1), np.int64)
        points = unequal if kept else self.points
        result = _nearest(points, min(width, len(points) - 1), ctx, 0.0)
        if result is not None and kept:
            result = np.ascontiguousarray(first[result][back.reshape(-1)])
        if result is not None and small:
            self._near[width, kept] = result
        return result


def _nearest(points: Array, width: int, ctx: Context, slack: float) -> Ints | None:
    """Return the nearest other points of each, shape (n, width); None if the time is over."""
    n = len(points)
    near, done = np.empty((n, width), np.int64), 0
    tree: Any = None
    if n > COMPARED:
        from scipy.spatial import cKDTree  # takes longer to load than to compare two thousand points

        tree = cKDTree(points)

    def work(budget: int) -> bool:
        nonlocal done
        rows = np.arange(done, min(n, done + budget))
        if tree is None:
            neighbours = _compared(points, rows, width + 1)
        else:
            neighbours = np.atleast_2d(tree.query(points[rows], width + 1, eps=slack)[1])
        own = neighbours == rows[:, None]
        own[~own.any(axis=1), -1] = True  # among many equal points it may be missing: drop the last
        near[rows] = neighbours[~own].reshape(len(rows), width)
        done = min(n, done + budget)
        return done == n

    for _ in ctx.search(work, budget=256):
        ctx.tell(done / n)
    return near if done == n else None


def _compared(points: Array, rows: Ints, width: int) -> Ints:
    """Return the nearest points of some, compared with all; among equals the first."""
    step = max(1, TOGETHER // len(points))
    if len(rows) > step:
        pieces = [rows[first : first + step] for first in range(0, len(rows), step)]
        return np.concatenate([_compared(points, piece, width) for piece in pieces])
    squares = square_distances(points[rows], points)
    if width < len(points):
        nearest = np.argpartition(squares, width - 1, axis=1)[:, :width]
        nearest.sort(axis=1)
    else:
        nearest = np.broadcast_to(np.arange(len(points)), squares.shape)
    order = np.argsort(np.take_along_axis(squares, nearest, axis=1), axis=1, kind="stable")
    return np.take_along_axis(nearest, order, axis=1)


def records_of(space: Space, X: ArrayLike) -> Records:
    """Return rows as records of a space, by the space's own method if it has one."""
    make = getattr(space, "records", None)
    if make is not None:
        made: Records = make(X)
        return made
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if space.coordinates(rows[:1]) is not None:
        return Points(space, rows)
    return Records(space, rows)
