"""Distances between a confidential column's distribution in a cell and in the whole table.

Each function takes the counts of all cells (`voronym.privacy.cells.Runs`) and the column, and returns a value
per cell. It visits only levels that occur in a cell, O(n log m) for all cells. Earth mover's distances and
total variation are quotients of whole numbers, so a distance of exactly 0.2 comes out as 0.2. p is the
distribution in the cell, q that of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.privacy.cells import Runs
from voronym.privacy.level import Floats, Levels


def ordered(runs: Runs, levels: Levels) -> Floats:
    """Earth mover's distance with levels i and j ``|i - j| / (m - 1)`` apart.

    On a line the cheapest transport moves the difference of the cumulative distributions from each level
    to the next: EMD = 1/(m - 1) sum_i ``|P_i - Q_i|``. P is constant between the levels of a cell and Q
    rises, so each stretch is two differences of prefix sums of Q. Between 0 and 1.

    References
    ----------
    Li, N., Li, T., Venkatasubramanian, S.: t-Closeness: privacy beyond k-anonymity and l-diversity.
    ICDE 2007.
    """
    n, m = levels.n, levels.size
    if m < 2 or not len(runs.cell):
        return np.zeros(len(runs.sizes))
    below, area = levels.below, levels.area
    dtype = below.dtype
    start = runs.start
    size = runs.sizes[runs.cell].astype(dtype)
    sums = np.cumsum(runs.count)
    before = np.zeros(len(start), np.int64)
    before[1:] = sums[start[1:] - 1]
    inside = (sums - np.repeat(before, np.diff(start, append=len(sums)))).astype(dtype) * n  # s P n
    low = runs.level
    high = np.full(len(low), m, np.int64)
    high[:-1] = np.where(runs.cell[1:] == runs.cell[:-1], low[1:], m)
    turn = inside // size if levels.exact else inside / size
    split = np.clip(np.searchsorted(below, turn, side="right"), low, high)
    work = inside * (2 * split - low - high) + size * (area[low] + area[high] - 2 * area[split])
    total = np.add.reduceat(work, start) + runs.sizes[runs.occupied] * area[low[start]]
    return runs.spread(total / (runs.sizes[runs.occupied].astype(np.float64) * n * (m - 1)), 0.0)


def equal(runs: Runs, levels: Levels) -> Floats:
    """Return the earth mover's distance with all levels 1 apart: total variation, 1/2 sum_i ``|p_i - q_i|``.

    It equals the sum of p_i - q_i over the levels where it is positive, all of which occur in the cell.
    Between 0 and 1.
    """
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    return runs.spread(_surplus(runs, levels.counts) / (runs.sizes[runs.occupied] * float(levels.n)), 0.0)


def hierarchical(runs: Runs, levels: Levels, ancestors: NDArray[np.int64]) -> Floats:
    """Return the earth mover's distance with levels as far apart as their lowest common ancestor is high.

    ``ancestors`` has a row per height 0..H-1 of the taxonomy (row 0 the levels themselves) and gives the node
    above each level. The distance of two leaves is height / H, the root being at height H. In a tree the
    cheapest transport carries the surplus of every node through the edge above it; with edges of length
    1 / 2H that is the mean, over the heights below the root, of the total variation between the nodes.

    References
    ----------
    Li, N., Li, T., Venkatasubramanian, S.: t-Closeness: privacy beyond k-anonymity and l-diversity.
    ICDE 2007.
    """
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    total: Any = 0
    for row in ancestors:
        nodes = int(row.max()) + 1
        pair, inverse = np.unique(runs.cell * nodes + row[runs.level], return_inverse=True)
        count = np.zeros(len(pair), np.int64)
        np.add.at(count, inverse.reshape(-1), runs.count)
        above = Runs(pair // nodes, pair % nodes, count, runs.sizes)
        all_of = np.zeros(nodes, np.int64)
        np.add.at(all_of, row, levels.counts)
        total = total + _surplus(above, all_of)
    return runs.spread(total / (runs.sizes[runs.occupied] * float(levels.n) * len(ancestors)), 0.0)


def kullback_leibler(runs: Runs, levels: Levels) -> Floats:
    """Return the relative entropy of p to q in nats, sum_i p_i ln(p_i / q_i); 0 to ln(n / cell size).

    It is at least twice the square of the total variation (Pinsker). Its average over the classes is the
    mutual information.
    """
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    part = runs.count / runs.sizes[runs.cell] * np.log(ratio(runs, levels))
    return runs.spread(np.maximum(np.add.reduceat(part, runs.start), 0.0), 0.0)


def ratio(runs: Runs, levels: Levels) -> Floats:
    """Return p / q of every level that occurs in a cell; exactly 1 if the two are equal."""
    expected = runs.sizes[runs.cell] * levels.counts[runs.level].astype(np.float64)
    return np.asarray(runs.count * float(levels.n) / expected)


def _surplus(runs: Runs, counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return s n times the sum of the positive p_i - q_i of each occupied cell, as whole numbers."""
    n = int(counts.sum())
    more = runs.count * n - runs.sizes[runs.cell] * counts[runs.level]
    return np.asarray(np.add.reduceat(np.maximum(more, 0), runs.start))
