"""Cells of mixed records: MDAV and V-MDAV where every column has a metric of its own.

The problem: minimise ``sum_i cost(x_i, centroid of the cell of i)`` over partitions with cells of at least k,
where cost is that of `voronym.space.Mixed` and a centroid takes, in each column, the level with the least sum
of mapped distances to the members. It is what is lost when centroids are published. Pairwise sums inside
cells would need no centroid, but they are not what a reader of the release sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import mixed_cells as cells
from voronym._kernels import mixed_scan as kernels
from voronym._kernels.mixed import LINE
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._run import in_pieces
from voronym.progress import Progress
from voronym.space import Mixed, Space
from voronym.space.field import SMALL
from voronym.space.medoid import CANDIDATES

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


def check_mixed(space: Space, X: ArrayLike) -> tuple[Mixed, Codes]:
    """Return a mixed space and records of it as levels."""
    if not isinstance(space, Mixed):
        raise InputError(f"a space called 'mixed' must be a voronym.space.Mixed, not {type(space).__name__}")
    return space, space.check(X)


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


def make_scan(space: Mixed, codes: Codes) -> kernels.Scan:
    """Return what scans need; the sums are 0."""
    pack, d = space.pack, len(space.fields)
    has = pack.mapped_at >= 0
    sizes = np.where(has, pack.levels, 0)
    tried: list[Codes] = []
    for k, one in enumerate(space.fields):
        if one.levels <= SMALL:
            tried.append(np.arange(one.levels))
        else:  # spread over the records: in a column of numbers, its quantiles
            middle = np.sort(codes[:, k])
            tried.append(np.unique(middle[np.linspace(0, len(middle) - 1, CANDIDATES).astype(np.int64)]))
    ends = np.cumsum([0, *map(len, tried)])
    return kernels.Scan(
        np.zeros(int(sizes.sum())),
        np.where(has, np.cumsum(sizes) - sizes, -1).astype(np.int64),
        np.zeros(d, np.int64),
        np.concatenate(tried).astype(np.int64),
        ends.astype(np.int64),
        np.zeros(int(ends[-1])),
        np.zeros(int(ends[-1])),
    )


def start_sums(space: Mixed, scan: kernels.Scan, codes: Codes) -> None:
    """Add all records to the sums of a scan, in short calls."""
    step = max(1, 10_000_000 // max(1, len(scan.tried)))
    for begin in range(0, len(codes), step):
        kernels.add_records(space.pack, scan, codes, begin, min(len(codes), begin + step))


def mdav_mixed(space: Mixed, codes: Codes, k: int, progress: Progress) -> Codes:
    """Return the labels of MDAV over mixed records; ties go to the lowest index.

    The centroid of what remains is exact in columns with at most 512 distinct values; in others the best of
    256 values, spread over those of all records.
    """
    n = len(codes)
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0])
    costs, distances, members = np.empty(n), np.empty(k), np.empty(k, np.int64)
    scan = make_scan(space, codes)
    start_sums(space, scan, codes)

    def work(budget: int) -> float:
        kernels.mdav(space.pack, scan, codes, k, labels, alive, state, costs, distances, members, budget)
        return 1.0 - (float(state[0]) / n) ** 2

    in_pieces(work, progress, budget=1_000_000)
    return labels


def vmdav_mixed(space: Mixed, codes: Codes, k: int, gamma: float, progress: Progress) -> Codes:
    """Return the labels of V-MDAV over mixed records; ties go to the lowest index.

    Costs are sums of distances, not of squares: they are compared as they are.
    """
    n = len(codes)
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0, 0])
    costs, near = np.empty(n), np.empty(n)
    distances, members = np.empty(k), np.empty(k, np.int64)
    scan = make_scan(space, codes)
    start_sums(space, scan, codes)
    kernels.to_centroid(scan)
    kernels.costs_to(space.pack, scan, codes, alive, n, costs)
    order = np.argsort(-costs, kind="stable")

    def work(budget: int) -> float:
        kernels.vmdav(
            space.pack, scan, codes, k, gamma, order, labels, alive, state, costs, near, distances, members,
            budget,
        )  # fmt: skip
        return 1.0 if state[0] < k else 1.0 - (float(state[0]) / n) ** 2

    in_pieces(work, progress, budget=1_000_000)
    left = alive[: state[0]]
    if len(left):
        done = labels >= 0
        part = Partition(labels[done])
        centroids = mixed_centroids(space, codes[done], part).levels
        first = np.unique(labels[done], return_index=True)[1]  # cell c of the labels is number ... of part
        labels[left] = np.argmin(space.cost(codes[left], centroids[part.labels[first]]), axis=1)
    return labels
