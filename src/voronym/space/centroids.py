"""Centroids of groups of mixed records, and what they cost.

The problem: minimise ``sum_i cost(x_i, centroid of the group of i)`` over partitions into groups of at least
k, where cost is that of `voronym.space.Mixed` and a centroid takes, in each column, the level with the least
sum of mapped distances to the members. It is what is lost when centroids are published. Pairwise sums inside
groups would need no centroid, but they are not what a reader of the release sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import mixed_cells as cells
from voronym._kernels.mixed import LINE
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space.field import SMALL
from voronym.space.mixed import Mixed

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Centroids:
    """The centroids of the cells of mixed records, and what they cost.

    Parameters
    ----------
    levels : array of int, shape (m, d)
        The centroids.
    costs : array, shape (m, d)
        Summed cost of each cell's members to its centroid, by column.
    """

    levels: Codes
    costs: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Summed cost of all records to the centroids of their cells."""
        return float(self.costs.sum())


def mixed_centroids(space: Mixed, X: ArrayLike, part: Partition) -> Centroids:
    """Return the centroid of each cell and its cost, column by column.

    In a column with at most 512 distinct values the best of all of them; otherwise the best among the values
    of the cell's members (of 256 or so of them where the cell is larger). The lowest level among equals.
    O(n L) for L levels in all.

    Parameters
    ----------
    space : Mixed
        The cost.
    X : array, shape (n, d)
        Records as levels, such as ``space.codes``.
    part : Partition
        Their cells.
    """
    codes = space.check(X)
    if part.n != len(codes):
        raise InputError(f"the partition is of {part.n} records, X has {len(codes)}")
    m, d = part.n_cells, codes.shape[1]
    block = max(1, 4_000_000 // max(1, narrow(space)[1]))  # cells at a time: memory stays O(n)
    order = np.argsort(part.labels, kind="stable")
    ends = np.concatenate([[0], np.cumsum(part.sizes)])
    levels, costs = np.empty((m, d), np.int64), np.empty((m, d))
    for begin in range(0, m, block):
        end = min(m, begin + block)
        rows = order[ends[begin] : ends[end]]
        own = make_cells(space, codes[rows], part.labels[rows] - begin, end - begin, part.sizes.max())
        for first in range(0, end - begin, 256):  # short calls, so that Ctrl-C works
            cells.refresh_all(space.pack, own, first, min(end - begin, first + 256), False)
        levels[begin:end], costs[begin:end] = own.level, own.column
    return Centroids(levels, costs)


def mixed_loss(space: Mixed, X: ArrayLike, part: Partition) -> float:
    """Return the share of the cost that is lost by publishing centroids, in percent.

    ``100 * cost to the cells' centroids / cost to the one centroid of all``: what `information_loss` is in
    Euclidean space. 0 where all records are equal.

    Parameters
    ----------
    space, X, part
        As for `mixed_centroids`.

    Examples
    --------
    >>> from voronym.space.field import Field
    >>> from voronym.space.metrics import Absolute
    >>> age = np.array([20, 21, 50, 52])
    >>> field = Field(("age",), "absolute", Absolute().geometry(age, "age"), np.arange(4))
    >>> space = Mixed.fit([field], reference=None)
    >>> round(mixed_loss(space, space.codes, Partition([0, 0, 1, 1])), 2)
    4.92
    """
    whole = mixed_centroids(space, X, Partition(np.zeros(part.n, np.int64))).total
    return 100.0 * mixed_centroids(space, X, part).total / whole if whole > 0.0 else 0.0


def narrow(space: Mixed) -> tuple[Codes, int]:
    """Return where the levels of each column begin among those of all columns with few; -1: it has many."""
    few = [one.levels <= SMALL and space.pack.mapped_at[k] >= 0 for k, one in enumerate(space.fields)]
    sizes = np.where(few, space.pack.levels, 0)
    return np.where(few, np.cumsum(sizes) - sizes, -1).astype(np.int64), int(sizes.sum())


def ordered(space: Mixed) -> Codes:
    """Return 1 for columns whose levels ascend on a line (a missing value is the last), else 0."""
    flags = np.zeros(len(space.fields), np.int64)
    for k, one in enumerate(space.fields):
        if one.geometry.shape == LINE:
            flags[k] = bool((np.diff(one.geometry.coords[:, 0]) >= 0.0).all())
    return flags


def zero_rowed(space: Mixed, at: Codes) -> tuple[Codes, NDArray[np.float64]]:
    """Return the mapped distances of the columns with few levels, each with a row of zeros below."""
    parts, rows, end = [np.empty(0)], np.full(len(at), -1, np.int64), 0
    for k in np.flatnonzero(at >= 0):
        size = int(space.pack.levels[k])
        begin = int(space.pack.mapped_at[k])
        parts += [space.pack.mapped[begin : begin + size * size], np.zeros(size)]
        rows[k], end = end, end + size * (size + 1)
    return rows, np.concatenate(parts)


def make_cells(space: Mixed, codes: Codes, labels: Codes, room: int, largest: int) -> cells.Cells:
    """Return cells under change, their members set; refresh them before use."""
    n, d = codes.shape
    at, width = narrow(space)
    rows, tables = zero_rowed(space, at)
    made = cells.Cells(
        np.ascontiguousarray(codes),
        labels.astype(np.int64),
        np.empty(n, np.int64),
        np.zeros((room, largest), np.int64),
        np.zeros(room, np.int64),
        space.pack.levels,
        np.array([int((at < 0).sum())]),
        at,
        rows,
        tables,
        ordered(space),
        np.zeros((room, d), np.int64),
        np.zeros((room, d), np.int64),
        np.zeros((room, width)),
        np.zeros((room, d)),
        np.zeros(room),
        np.zeros((room, d), np.int64),
        np.zeros(n),
    )
    cells.fill(made)
    return made
