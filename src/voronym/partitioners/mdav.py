"""MDAV: maximum distance to average vector."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._cuda import mdav as cuda
from voronym._cuda.device import attempt
from voronym._kernels import mdav as kernels
from voronym._kernels import mdav_lists as lists
from voronym._kernels import scan as scans
from voronym._kernels import search
from voronym._kernels import tree as trees
from voronym.core.context import Context
from voronym.method import algorithm
from voronym.partition import Partition
from voronym.partitioners.mdav_lists import Ahead
from voronym.problem import Problem
from voronym.space.points import Points
from voronym.space.records import Records

Ints = NDArray[np.int64]

FAST_FROM = 20_000_000
"""``n² / k`` above which the tree pays: below, scans take a fraction of a second and compile faster."""

COLUMNS = 8
"""With more columns than this, searches in the tree are slow enough to be made ahead on all cores."""
LISTED = 100
"""Largest k for which lists are made: their memory grows with k, and larger groups are few."""

SHELL = 256
"""Least number of records in a shell."""


@algorithm(
    "mdav",
    guarantee="every group has k to 2k-1 records",
    cost="O(n²/k) distances at worst, near O(n log n) in few columns; memory O(n d)",
    reference="10.1007/s10618-005-0007-5",
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    weighted=True,
)
def mdav(problem: Problem, ctx: Context) -> Partition:
    """Build cells at the far ends of the rest: r farthest from the mean, then s farthest from r.

    While 3k or more records remain: the k nearest to r (including r) form a cell, then the k nearest to s
    among the others. With 2k to 3k-1 left, one more cell is formed around the record farthest from the
    mean, and the rest is the last. Ties go to the lowest index. s is sought after r's cell was removed,
    which matters only if k or more records are equally far from r.

    In a space without coordinates, such as `voronym.space.Mixed`, the centroid replaces the mean, by
    scans with O(n²/k) costs. Weights of records affect published values and losses, but not the groups:
    only distances decide, and the mean is unweighted.

    References
    ----------
    J. Domingo-Ferrer and V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation", Data Mining and Knowledge Discovery 11 (2005), 195-212.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.microaggregate([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], 2, method="mdav").labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    return Partition(partition(problem.records, problem.k, ctx), k=problem.k)


def partition(records: Records, k: int, ctx: Context) -> Ints:
    """Return the labels of MDAV, by the faster of two algorithms."""
    if isinstance(records, Points):
        labels = attempt(lambda: cuda.partition(records.points, k, ctx), ctx)
        if labels is not None:
            return labels
    if isinstance(records, Points) and len(records) ** 2 >= FAST_FROM * k:
        return partition_fast(records, k, ctx)
    return partition_plain(records, k, ctx)


def partition_plain(records: Records, k: int, ctx: Context) -> Ints:
    """Return the labels of MDAV by scans over all remaining records: the reference for the fast path."""
    n, scan, work = len(records), records.full_scan(), scans.make_remaining(len(records), k)

    def piece(budget: int) -> float:
        scans.mdav(scan, work, k, budget)
        return 1.0 - (float(work.state[0]) / n) ** 2

    ctx.pieces(piece, budget=1_000_000)
    return work.labels


def partition_fast(records: Points, k: int, ctx: Context, *, ahead: bool | None = None) -> Ints:
    """Return the labels of MDAV, by a k-d tree that shrinks and a shell of outermost candidates.

    With ``ahead``, the tree is searched in advance on all cores; by default if there are threads and
    searches are long.
    """
    n, X = len(records), records.points
    scan, work = records.full_scan(), scans.make_remaining(n, k)
    labels, state, mean = work.labels, work.state, scan.high / n
    tree = trees.grow(X, mean)
    shell, complete = peel(X, tree, mean, SHELL, n)
    size, seen = SHELL, n
    if ahead is None:
        ahead = ctx.threads > 1 and X.shape[1] >= COLUMNS and k <= LISTED
    listed = Ahead(X, tree, work, k) if ahead else None

    def piece(budget: int) -> float:
        nonlocal shell, complete, size, seen
        start = int(state[0])
        while True:
            if listed is None:
                ended = kernels.mdav_fast(scan, tree, shell, complete, work, k, budget) > 0
            else:
                why = lists.walk(scan, tree, listed.single, shell, complete, work, listed.lists, k, budget)
                if why == lists.LISTS:
                    listed.refill(shell, ctx)
                    continue
                ended = why == lists.SHELL
            left = int(state[0])
            if left < 2 * k:
                labels[labels < 0] = state[1]
                return 1.0
            if not ended or start - left >= 2 * k * budget:
                return 1.0 - left / n
            size = 4 * size if left == seen else max(SHELL, left // 16)
            shell, complete = peel(X, tree, scan.point, size, left)
            state[2], seen = 0, left

    ctx.pieces(piece, budget=50)
    return labels


def peel(
    X: NDArray[np.float64], tree: trees.Tree, mean: NDArray[np.float64], size: int, left: int
) -> tuple[kernels.Shell, bool]:
    """Return the shell of the ``size`` remaining records farthest from the mean, and whether it holds all."""
    squares, index = np.empty(left), np.empty(left, np.int64)
    tree.query[:] = mean
    search.all_distances(tree, squares, index)
    if size < left:
        outer = np.argpartition(squares, left - size)[left - size :]
        squares, index = squares[outer], index[outer]
    order = np.argsort(-squares)
    squares, index = squares[order], index[order]
    points = X[index]
    start = np.arange(len(index) + 1)
    if (squares[1:] == squares[:-1]).any():  # bring equal records together
        order = np.lexsort((index, *points.T, -squares))
        squares, index, points = squares[order], index[order], points[order]
        new = np.flatnonzero((points[1:] != points[:-1]).any(axis=1)) + 1
        start = np.concatenate([[0], new, [len(index)]])
        squares, points = squares[start[:-1]], points[start[:-1]]
    return kernels.Shell(mean.copy(), np.sqrt(squares), points, start, start[:-1].copy(), index), size >= left
