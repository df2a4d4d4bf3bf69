"""MD: maximum distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import md as kernels
from voronym._kernels import scan as scans
from voronym._kernels import tree as trees
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.problem import Problem
from voronym.space.points import Points

FAST_FROM = 2_000
"""Number of records above which the tree pays."""


@classic(
    "md",
    cost="O(n) searches in a k-d tree as a rule, O(n³/k) distances at worst; memory O(n d)",
    reference="10.1109/69.979982",
)
def md(problem: Problem, ctx: Context) -> Partition:
    """Build groups around the two most distant of the remaining records.

    While 3k or more records remain: r and s are the two most distant; the k nearest to r (including r)
    form a group, then the k nearest to s among the others. With 2k to 3k-1 left, one more group is formed
    around r, and the rest is the last. r has the lower index; among equally distant pairs the lowest r,
    then the lowest s is taken. If s fell into r's group (only if many records are equally far from r),
    the record farthest from r among the others replaces it.

    The most distant pair is exact. Each record keeps its largest known distance to any record, which
    stays an upper bound as records leave. So only the few records with the largest bounds are checked
    again.

    References
    ----------
    J. Domingo-Ferrer and J. M. Mateo-Sanz, "Practical data-oriented microaggregation for statistical
    disclosure control", IEEE Transactions on Knowledge and Data Engineering 14 (2002), 189-201.
    """
    return Partition(partition(Points(problem.space, problem.X), problem.k, ctx), k=problem.k)


def partition(records: Points, k: int, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of MD, by the faster of two algorithms."""
    return (partition_fast if len(records) >= FAST_FROM else partition_plain)(records, k, ctx)


def _bounds(records: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean, and for each record an upper bound on its squared distance to any other."""
    reach, mean = np.empty(len(records)), records.full_scan().high / len(records)
    kernels.far_bounds(records.points, mean, reach)
    return mean, reach


def partition_plain(records: Points, k: int, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of MD by scans over all remaining records."""
    n, scan, work = len(records), records.full_scan(), scans.make_remaining(len(records), k)
    partner, reach = np.full(n, -1, np.int64), _bounds(records)[1]

    def piece(budget: int) -> float:
        scans.md(scan, work, reach, partner, k, budget)
        return 1.0 - (float(work.state[0]) / n) ** 2

    ctx.pieces(piece, budget=1_000_000)
    return work.labels


def partition_fast(records: Points, k: int, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of MD by a k-d tree that records leave, and a heap of bounds."""
    n = len(records)
    labels, state, heap = np.full(n, -1, np.int64), np.array([n, 0, n]), np.arange(n)
    distances, members, partner = np.empty(k), np.empty(k, np.int64), np.full(n, -1, np.int64)
    mean, reach = _bounds(records)
    kernels.make_heap(heap, reach)
    tree = trees.grow(records.points, mean)

    def piece(budget: int) -> float:
        kernels.md_fast(tree, k, labels, heap, state, distances, members, reach, partner, budget)
        if state[0] < 2 * k:
            labels[labels < 0] = state[1]
            return 1.0
        return 1.0 - float(state[0]) / n

    ctx.pieces(piece, budget=500)
    return labels
