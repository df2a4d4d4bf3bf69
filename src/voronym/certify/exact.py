"""The true optimum, for few records or for one column."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import subsets
from voronym.certify.bound import UNIT, Bound, percent, shave
from voronym.core.context import Context
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space.base import square_distances
from voronym.space.published import PublishedPoints

PUBLISHED = 12
"""The same limit if groups publish other values than means, because each subset is evaluated separately."""

SUBSETS = 16
"""Largest number of records for subsets: 3^16 steps take a fraction of a second, 3^20 minutes."""


def by_subsets(X: NDArray[np.float64], k: int, ctx: Context) -> Bound:
    """Minimise the SSE over all partitions into cells of k to 2k-1, by dynamic programming over subsets.

    Cost: O(3^n) time, O(2^n) memory. Guarantee: the optimum, up to rounding.
    """
    n = len(X)
    pairs, sizes = np.empty(1 << n), np.empty(1 << n, np.int64)
    subsets.spread(distances(X, ctx), pairs, sizes)
    best, choice = np.zeros(1 << n), np.zeros(1 << n, np.int64)
    for first in range(1, 1 << n, 1 << 13):
        subsets.best_cells(pairs, sizes, k, best, choice, first, min(first + (1 << 13), 1 << n))
        ctx.tell(first / (1 << n), whole=True)
    return optimum(X, k, _chosen(choice, n, k), ctx.spent)


def _chosen(choice: NDArray[np.int64], n: int, k: int) -> Partition:
    """Return the partition that the programme over subsets chose."""
    labels, rest, cell = np.zeros(n, np.int64), (1 << n) - 1, 0
    while rest:
        labels[[i for i in range(n) if choice[rest] >> i & 1]] = cell
        rest, cell = rest ^ int(choice[rest]), cell + 1
    return Partition(labels, k=k)


def published_by_subsets(problem: Problem, records: PublishedPoints, ctx: Context) -> Bound:
    """Minimise the published loss over all partitions of a few records, by the same programme.

    Groups of 2k records or more need no look: halves lose no more, unless they publish medians.
    """
    n, k = problem.n, problem.k
    sizes = np.array([mask.bit_count() for mask in range(1 << n)])
    pairs = np.zeros(1 << n)
    for mask in np.flatnonzero((sizes >= k) & (sizes < 2 * k)).tolist():
        rows = np.array([i for i in range(n) if mask >> i & 1])
        pairs[mask] = len(rows) * records.shown.subset(rows).cost()
    best, choice = np.zeros(1 << n), np.zeros(1 << n, np.int64)
    subsets.best_cells(pairs, sizes, k, best, choice, 1, 1 << n)
    part = _chosen(choice, n, k)
    sse = shave(records.cost(part) * (1.0 - 1e-12))
    return Bound(sse, percent(problem.points, sse), k, n, "exact", True, ctx.spent, part)


def optimum(X: NDArray[np.float64], k: int, part: Partition, seconds: float, *, error: float = 0.0) -> Bound:
    """Return the bound that an optimal partition proves.

    Its SSE was summed about rounded means, which adds at most ``n d shift^2``. ``error`` is the largest
    error of the differences used in the search, if they are not rounded one by one. It changes an SSE by
    at most ``2 error sum_i |x_i - c| + n error^2``, in which the sum is at most ``sqrt(n SSE)``. It
    counts twice, for this partition and for the true optimum.
    """
    n, sse = len(X), part.sse(X)
    shift = (8 + 2 * int(part.sizes.max())) * UNIT * float(np.abs(X).max())
    moved = X.size * shift * shift + 2.0 * (2.0 * error * math.sqrt(n * sse) + n * error * error)
    sse = shave(max(0.0, sse - moved), operations=4 * k + 4 * X.shape[1] + 2 * part.n_cells)
    return Bound(sse, percent(X, sse), k, len(X), "exact", True, seconds, part)


def distances(X: NDArray[np.float64], ctx: Context) -> NDArray[np.float64]:
    """Return all squared distances, shape (n, n), summed from squares of differences: no cancellation."""
    out = np.empty((len(X), len(X)))
    for start in range(0, len(X), 512):
        ctx.check()
        out[start : start + 512] = square_distances(X[start : start + 512], X)
    return out


def exact(X: NDArray[np.float64], k: int, ctx: Context, *, partition: Partition | None = None) -> Bound:
    """Find the optimum: for one column by runs of its sorted values, for up to 16 records by subsets.

    More records are solved by column generation with cuts, which reaches the optimum for about a hundred
    records if k is small. If the time ends first, ``optimal`` is False, and the bound is the one proven
    so far.

    Examples
    --------
    >>> bound = exact(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0], [6.0, 1.0], [5.0, 2.0]]), 2, Context())
    >>> bound.partition.labels.tolist(), bound.optimal
    ([0, 0, 1, 1, 1], True)
    """
    n = len(X)
    if n < 2 * k:
        return optimum(X, k, Partition(np.zeros(n, np.int64), k=k), ctx.spent)
    problem = Problem.of(X, k)
    if X.shape[1] == 1:
        part = METHODS["univariate"].partition(problem, ctx)
        error = 8 * k * UNIT * float(np.ptp(X))  # means of groups are updated 2k times, far from zero
        return optimum(X, k, part, ctx.spent, error=error)
    if n <= SUBSETS:
        return by_subsets(X, k, ctx)
    from voronym.certify.columns import columns  # it looks into this room for distances

    if partition is None:
        partition = METHODS["mdav"].partition(problem, ctx.part(0.0, 0.01))
    result = columns(problem, partition, ctx.part(0.01, 1.0))
    return replace(result, kind="exact") if result.optimal else result
