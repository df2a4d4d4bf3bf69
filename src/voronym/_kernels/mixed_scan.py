"""MDAV and V-MDAV over records of levels, whose columns have metrics of their own: O(n²/k) and O(n²) costs.

The distances of one record to all levels of a column that has a table are a row of it; so a cost is a few
reads. Costs are added up column by column, in order, as in `mixed.costs`: equal inputs give equal bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.mixed import mapped
from voronym._kernels.plain import add_exactly, arrange, insert, worst_of


class Scan(NamedTuple):
    """What a scan reads and writes."""

    row: NDArray[np.float64]  # distances of one record to all levels of the columns that have a table
    row_at: NDArray[np.int64]  # (d,) where a column's part begins; -1: no table
    point: NDArray[np.int64]  # (d,) the record or centroid that distances are measured from
    tried: NDArray[np.int64]  # levels that may be the centroid's, column by column
    tried_at: NDArray[np.int64]  # (d + 1,)
    high: NDArray[np.float64]  # sum of the remaining records' distances to each of them, as double-doubles
    low: NDArray[np.float64]


@kernel
def aim(p, s):
    """Fill the rows of the point."""
    for k in range(len(s.point)):
        if s.row_at[k] >= 0:
            size = p.levels[k]
            begin, source = s.row_at[k], p.mapped_at[k] + s.point[k] * size
            for v in range(size):
                s.row[begin + v] = p.mapped[source + v]
            s.row[begin + s.point[k]] = 0.0


@kernel
def add_record(p, s, X, i, sign):
    """Add a record to the sums, or take it out of them."""
    tried, high, low = s.tried, s.high, s.low
    for k in range(X.shape[1]):
        begin, end = s.tried_at[k], s.tried_at[k + 1]
        if s.row_at[k] >= 0:
            row = p.mapped_at[k] + X[i, k] * p.levels[k]
            for t in range(begin, end):
                off = p.mapped[row + tried[t]]
                high[t], low[t] = add_exactly(high[t], low[t], sign * off)
        else:
            for t in range(begin, end):
                off = mapped(p, k, X[i, k], tried[t])
                high[t], low[t] = add_exactly(high[t], low[t], sign * off)


@kernel
def add_records(p, s, X, begin, end):
    """Add records begin..end-1 to the sums."""
    for i in range(begin, end):
        add_record(p, s, X, i, 1.0)


@kernel
def to_centroid(s):
    """Let the point be the centroid: in each column the lowest level with the least sum."""
    for k in range(len(s.point)):
        best = s.tried_at[k]
        for t in range(s.tried_at[k] + 1, s.tried_at[k + 1]):
            if s.high[t] < s.high[best]:
                best = t
        s.point[k] = s.tried[best]


@kernel
def to_record(s, X, i):
    """Let the point be a record."""
    for k in range(X.shape[1]):
        s.point[k] = X[i, k]


@kernel
def costs_to(p, s, X, alive, left, out):
    """Fill the costs of the remaining records to the point, in their order.

    Column by column: inside the loop there is nothing but a read, which a call per record would outweigh.
    """
    aim(p, s)
    row = s.row
    for t in range(left):
        out[t] = 0.0
    for k in range(X.shape[1]):
        begin = s.row_at[k]
        if begin >= 0:
            for t in range(left):
                out[t] += row[begin + X[alive[t], k]]
        else:
            for t in range(left):
                out[t] += mapped(p, k, X[alive[t], k], s.point[k])


@kernel
def farthest(alive, left, costs):
    """Return the remaining record with the largest cost, the lowest index among equals."""
    best = min(0, left)  # a literal 0 would be a type of its own
    for t in range(left):
        if costs[t] > costs[best]:
            best = t
    return alive[best]


@kernel
def nearest(alive, left, costs, size, distances, members):
    """Fill the ``size`` remaining records with the least costs, sorted by cost and index."""
    found = min(0, size)
    worst = worst_of(size)
    for t in range(left):
        if found < size or costs[t] < distances[worst]:
            found = insert(distances, members, found, size, costs[t], alive[t])
    arrange(distances, members, found, size)


@kernel
def keep(labels, alive, left, costs):
    """Drop the records that have a cell now; return how many remain."""
    kept = 0
    for t in range(left):
        if labels[alive[t]] < 0:
            alive[kept] = alive[t]
            costs[kept] = costs[t]
            kept += 1
    return kept


@kernel
def take(p, s, X, k, cell, labels, alive, left, costs, members):
    """Make a cell of k members; return how many records remain."""
    for q in range(k):
        labels[members[q]] = cell
        add_record(p, s, X, members[q], -1.0)
    return keep(labels, alive, left, costs)


@kernel
def mdav(p, s, X, k, labels, alive, state, costs, distances, members, budget):
    """Run MDAV from ``state`` (remaining, cells) until it ends or ``budget`` costs are spent."""
    left, cell = state[0], state[1]
    while left >= 2 * k and budget > 0:
        budget -= 3 * left
        to_centroid(s)
        costs_to(p, s, X, alive, left, costs)
        to_record(s, X, farthest(alive, left, costs))
        costs_to(p, s, X, alive, left, costs)
        nearest(alive, left, costs, k, distances, members)
        both = left >= 3 * k
        left = take(p, s, X, k, cell, labels, alive, left, costs, members)
        cell += 1
        if both:
            to_record(s, X, farthest(alive, left, costs))
            costs_to(p, s, X, alive, left, costs)
            nearest(alive, left, costs, k, distances, members)
            left = take(p, s, X, k, cell, labels, alive, left, costs, members)
            cell += 1
    if left < 2 * k:
        for t in range(left):
            labels[alive[t]] = cell
        left = 0
    state[0], state[1] = left, cell


@kernel
def vmdav(p, s, X, k, gamma, order, labels, alive, state, costs, near, distances, members, budget):
    """Run V-MDAV from ``state`` (remaining, cells, position in ``order``) for ``budget`` costs.

    ``order`` has the records by falling cost to the overall centroid; ``near`` is scratch for the cost of
    each remaining record to the nearest member of the cell being built.
    """
    left, cell, head = state[0], state[1], state[2]
    while left >= k and budget > 0:
        budget -= (k + 2) * left
        while labels[order[head]] >= 0:
            head += 1
        to_record(s, X, order[head])
        costs_to(p, s, X, alive, left, costs)
        nearest(alive, left, costs, k, distances, members)
        for q in range(k):
            labels[members[q]] = cell
        left = keep(labels, alive, left, costs)
        for t in range(left):
            near[t] = math.inf
        for q in range(2 * k - 1):
            if gamma <= 0.0:
                break
            if q < k:
                new = members[q]
            else:
                best = -1
                for t in range(left):
                    if best < 0 or near[t] < near[best]:
                        best = t
                if best < 0:
                    break
                new = alive[best]
                to_record(s, X, new)
                costs_to(p, s, X, alive, left, costs)
                outside = math.inf
                for t in range(left):
                    if t != best:
                        outside = min(outside, costs[t])
                if not near[best] < gamma * outside:
                    break
                labels[new] = cell
                left -= 1
                for t in range(best, left):
                    alive[t] = alive[t + 1]
                    near[t] = near[t + 1]
            if q < 2 * k - 2:
                to_record(s, X, new)
                costs_to(p, s, X, alive, left, costs)
                for t in range(left):
                    if costs[t] < near[t]:
                        near[t] = costs[t]
        cell += 1
    state[0], state[1], state[2] = left, cell, head


@kernel
def near_rows(p, s, X, begin, end, size, distances, out):
    """Fill for the rows begin..end-1 the ``size`` other rows of X with the least costs, lowest first."""
    n, d = X.shape
    worst = worst_of(size)
    for i in range(begin, end):
        to_record(s, X, i)
        aim(p, s)
        found = min(0, size)
        for j in range(n):
            total = 0.0
            limit = distances[worst] if found == size else math.inf
            k = min(0, d)
            while k < d and total < limit:
                if s.row_at[k] >= 0:
                    total += s.row[s.row_at[k] + X[j, k]]
                else:
                    total += mapped(p, k, X[j, k], s.point[k])
                k += 1
            if total < limit and j != i:
                found = insert(distances, out[i - begin], found, size, total, j)
        arrange(distances, out[i - begin], found, size)
