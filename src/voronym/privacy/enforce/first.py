"""Confidential-first: give every cell its share of the confidential values, then bring keys together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy.cells import Judge
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.enforce.search import Search
from voronym.privacy.enforce.swap import polish
from voronym.privacy.level import Levels
from voronym.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

REPAIRABLE = 0.3
"""Up to this share of failing cells, exchanges can repair them."""

STEP = 1.15
"""Ratio between consecutive sizes to try."""

LOOK = 2
"""Number of passes over all records after which starts are compared."""


def buckets(n: int, size: int) -> tuple[Ints, int]:
    """Return the bucket of every rank, and the number of cells, for cells of about ``size`` records or more.

    With G = n // size cells and s = n // G, every bucket 0..s-1 has G consecutive ranks. The remaining n
    - s G < G ranks, in the middle, are bucket s. A cell takes one record of each bucket 0..s-1, and at
    most one of bucket s.

    Examples
    --------
    >>> buckets(7, 3)
    (array([0, 0, 1, 3, 1, 2, 2]), 2)
    """
    cells = max(n // size, 1)
    each = n // cells
    extra = n - each * cells
    begin = (n - extra) // 2
    out = np.empty(n, np.int64)
    middle = np.arange(begin, begin + extra)
    rest = np.delete(np.arange(n), middle)
    out[rest] = np.arange(len(rest)) // cells
    out[middle] = each
    return out, cells


def stratified(X: Floats, order: Ints, size: int) -> Ints:
    """Return cells of about ``size`` records or more, each with one record of every bucket.

    ``order`` has the records by confidential value. All cells begin as one set. A set of g cells is
    divided into g // 2 and the rest, across its widest axis and within each bucket separately: the lowest
    records on the axis go left, as many as there are cells. Both sides keep one record per cell and
    bucket, so each final cell has exactly one. O(n log n log(n / size)); memory O(n d).
    """
    n = len(X)
    bucket = np.empty(n, np.int64)
    ranked, cells = buckets(n, size)
    bucket[order] = ranked
    width = int(ranked.max()) + 1
    node = np.zeros(n, np.int64)
    count = np.array([cells])
    while count.max() > 1:
        axis = _widest(X, node, len(count))
        along = X[np.arange(n), axis[node]]
        group = node * width + bucket
        sort = np.lexsort((along, group))
        sorted_group = group[sort]
        first = np.flatnonzero(np.diff(sorted_group, prepend=-1))
        sizes = np.diff(first, append=n)
        rank = np.arange(n) - np.repeat(first, sizes)
        here = count[sorted_group // width]
        left = here // 2
        # As many as there are cells on the left; of the extra records their share, rounded up.
        goes_left = rank < -(-(np.repeat(sizes, sizes) * left) // here)
        right = np.empty(n, bool)
        right[sort] = ~goes_left
        number = np.cumsum(np.where(count > 1, 2, 1)) - np.where(count > 1, 2, 1)
        node = number[node] + (right & (count[node] > 1))
        halves = np.stack([count // 2, count - count // 2], axis=1)
        count = np.concatenate([pair if pair[0] else pair[1:] for pair in halves])
    return node


def _widest(X: Floats, node: Ints, nodes: int) -> Ints:
    """Return the axis of largest variance of each set of records."""
    sizes = np.bincount(node, minlength=nodes)
    spread = np.empty((nodes, X.shape[1]))
    for a in range(X.shape[1]):
        mean = np.bincount(node, X[:, a], nodes) / sizes
        spread[:, a] = np.bincount(node, np.square(X[:, a] - mean[node]), nodes)
    return np.asarray(np.argmax(spread, axis=1), np.int64)


def worst_distance(levels: Levels, size: int) -> float:
    """Return a bound on the ordered distance of any cell that takes one record of every bucket.

    **Claim.** Let F be the distribution function of the table over its m levels, s and G as in `buckets`. A
    cell with one record of each bucket has the ordered distance ``1/(m-1) sum_j |P(j) - F(j)|``, with P its
    own distribution function. Let M_j be the number of records at level j or lower, bucket s aside;
    M_j = b G + r with 0 <= r < G. Buckets before b lie at or below j, buckets after b above it. So P(j) is
    b/s or (b+1)/s, and b/s if r = 0. Which one depends on whether the record from bucket b is at level j or
    lower: for the levels that fall into bucket b, P is b/s up to some level and (b+1)/s from there on. The
    sum over the levels in a bucket is largest for one of these turning points, and buckets are independent:
    the largest distance of cells without a record of bucket s is found exactly, in O(m). A record of bucket s
    counts from a level on that is one of its levels; for each level the worse case is taken, which bounds
    those cells.

    Where all values differ (m = n = s G) each bucket contributes at most (G-1)/2 and the bound is
    (n - s) / (2 s (n - 1)): at most t for s >= n / (2 (n-1) t + 1), the size of Soria-Comas et al.

    References
    ----------
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez and S. Martínez, "t-Closeness through microaggregation:
    strict privacy with enhanced utility preservation", IEEE Transactions on Knowledge and Data Engineering,
    2015.

    Examples
    --------
    >>> rank = Levels("pay", np.arange(12), True, tuple(range(12)))
    >>> round(worst_distance(rank, 3), 6) == round((12 - 3) / (2 * 3 * 11), 6)
    True
    """
    n, m = levels.n, levels.size
    if m < 2:
        return 0.0
    ranked, cells = buckets(n, size)
    each = n // cells
    codes = np.repeat(np.arange(m), levels.counts)
    below = np.cumsum(levels.counts)[:-1]
    extra = np.bincount(codes[ranked == each], minlength=m)
    loose = int(extra.sum())
    before = np.cumsum(extra)[:-1]
    bucket, inside = np.divmod(below - before, cells)
    ratio = below / n
    result = _largest(bucket, inside, ratio, each, np.zeros(m - 1, np.int64), np.zeros(m - 1, np.int64))
    if loose:
        least, most = (before == loose).astype(np.int64), (before > 0).astype(np.int64)
        result = max(result, _largest(bucket, inside, ratio, each + 1, least, most))
    return result / (m - 1)


def _largest(bucket: Ints, inside: Ints, ratio: Floats, size: int, least: Ints, most: Ints) -> float:
    """Return the largest sum of deviations if ``least`` to ``most`` further records count at a level."""

    def far(count: Ints) -> Floats:
        return np.maximum(np.abs((count + least) / size - ratio), np.abs((count + most) / size - ratio))

    low = far(bucket)
    high = np.where(inside > 0, far(bucket + 1), low)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    # A bucket's sum with the turn before level t: low before it, high from it on.
    gain = np.cumsum(low - high)
    base = np.concatenate([[0.0], gain])[first]
    best = np.maximum(np.maximum.reduceat(gain, first) - base, 0.0)
    return float((np.add.reduceat(high, first) + best).sum())


def proven_size(levels: Levels, k: int, t: float) -> int:
    """Return a size, at least k, for which cells with one record per bucket are always t-close.

    For the ordered distance. The smallest such size up to 100, and within 1 % of it above. A single cell
    of n records has distance 0, so there is always one.

    Examples
    --------
    >>> rank = Levels("pay", np.arange(1000), True, tuple(range(1000)))
    >>> proven_size(rank, 5, 0.05)  # ceil(1000 / (2 * 999 * 0.05 + 1)) = 10
    10
    """
    size = k
    while size < levels.n and worst_distance(levels, size) > t:
        size = max(size + 1, int(size * 1.01))
    return min(size, levels.n)


def least_size(asked: Requirements, k: int) -> int:
    """Return the least size from k on at which all judges could accept a cell.

    Tried are the two natural choices of s records: evenly spaced ranks, and each value in its rounded share.
    """
    size = k
    while size < asked.n and not all(_some_cell(judge, size) for judge in asked.judges):
        size = max(size + 1, int(size * 1.05))
    return min(size, asked.n)


def _some_cell(judge: Judge, size: int) -> bool:
    if judge.additive:
        return True
    counts = judge.levels.counts
    n = judge.levels.n
    ranks = ((np.arange(size) + 0.5) * n / size).astype(np.int64)
    even = np.searchsorted(np.cumsum(counts), ranks, side="right")
    exact = counts * size / n
    whole = np.floor(exact).astype(np.int64)
    short = size - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    rounded = np.repeat(np.arange(len(counts)), whole)
    return bool(judge.holds(judge.value(even))) or bool(judge.holds(judge.value(rounded)))


def starts(problem: Problem, asked: Requirements, ctx: Context) -> list[Ints]:
    """Return stratified groups of three sizes: the smallest with few failures, with none, and the next.

    Ties in the confidential order are broken at random, so that each bucket has records from all regions.
    """
    X = problem.records.coordinates
    order = np.lexsort((ctx.rng.permutation(asked.n), *asked.codes[::-1]))
    size = least_size(asked, problem.k)
    result: list[Ints] = []
    few = good = False
    while True:
        ctx.check(whole=False)
        labels = stratified(X, order, size)
        cells = int(labels.max()) + 1
        failing = len(asked.failing(labels)) / cells
        if failing == 0.0 or (failing <= REPAIRABLE and not few):
            result.append(labels)
        few = few or failing <= REPAIRABLE
        if cells == 1 or (good and failing == 0.0):
            return result
        good = good or failing == 0.0
        size = max(size + 1, int(size * STEP))


def confidential_first(problem: Problem, asked: Requirements, ctx: Context) -> Partition:
    """Give every cell its share of the confidential values, then bring together records with similar keys.

    The problem: minimise the sum of squares over partitions into cells of at least k that all judges accept.
    The records, sorted by confidential value, are cut into s buckets, and every cell takes one record of
    each (`stratified`). For one ordered column and t-closeness, cells of `proven_size` are t-close whatever
    they take; smaller sizes, other distances and other models are verified instead, and the least size that
    passes is used, or a smaller one whose few failing cells exchanges can repair. Then `polish`: swaps and
    shifts lower the sum of squares; two records of one bucket, or with equal confidential values, change
    places freely, others as the judges allow.

    Guarantee: every judge accepts every cell, and every cell has at least k records.

    Cost: O(n log² n) for each size tried, and the passes of `polish`. Memory O(n (K + d)).

    References
    ----------
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez and S. Martínez, "t-Closeness through microaggregation:
    strict privacy with enhanced utility preservation", IEEE Transactions on Knowledge and Data Engineering,
    2015. There cells are built one after the other by nearest records, and stay as they are.
    """
    result: list[tuple[float, Partition]] = []
    for labels in starts(problem, asked, ctx):
        search = Search(problem, labels, asked, ctx)
        if search.refused:
            price = 100.0 * search.cost / len(search.cells.sizes)
            for turn in range(3):
                search.run(passes=LOOK, weight=price * 10.0**turn, donors=True)
        part = search.partition()
        if not asked.hold(part.labels):
            part = merge(problem, part, asked, ctx)
        search = Search(problem, part.labels, asked, ctx)
        search.run(passes=LOOK)
        result.append((search.cost, search.partition()))
        if ctx.over:
            break
    best = min(result, key=lambda pair: pair[0])[1]
    return polish(problem, best, asked, ctx)
