"""Cells of records of levels that records move between, and what a move does to the summed cost.

The cost of a cell is ``sum over columns k of min over levels v of sum over members i of w_k map_k(d_k(x_ik,
v))``: what its records lose when the centroid is published for all of them. In columns with few levels each
cell keeps the inner sum for every level v, so that the cost after a move needs one pass over the levels,
whatever the cell's size. In the others the members' own values are tried.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.mixed import mapped

TRIED = 256  # members whose values are tried in a column with many levels


class Cells(NamedTuple):
    """A partition under change. A cell of size 0 is a free number."""

    X: NDArray[np.int64]  # (n, d) levels of the records
    labels: NDArray[np.int64]  # (n,)
    slot: NDArray[np.int64]  # (n,) where the record stands among its cell's members
    members: NDArray[np.int64]  # (room, 2k or more): one more than a cell may keep, for the middle of a swap
    sizes: NDArray[np.int64]  # (room,)
    levels: NDArray[np.int64]  # (d,)
    wide: NDArray[np.int64]  # (1,) how many columns have too many levels for ``sums``
    at: NDArray[np.int64]  # (d,) where a column's levels begin in ``sums``; -1: too many
    rows: NDArray[np.int64]  # (d,) where such a column's part of ``tables`` begins
    tables: NDArray[np.float64]  # (levels + 1, levels) of each: mapped distances, and a row of zeros
    ordered: NDArray[np.int64]  # (d,) 1 where levels ascend on a line: no centroid lies outside its members
    low: NDArray[np.int64]  # (room, d) the least level that may be the centroid's
    high: NDArray[np.int64]  # (room, d) the greatest
    sums: NDArray[np.float64]  # (room, levels of all such columns) cost of the cell if that were its centroid
    column: NDArray[np.float64]  # (room, d) least cost by column
    cost: NDArray[np.float64]  # (room,) and in all
    level: NDArray[np.int64]  # (room, d) the centroids
    drop: NDArray[np.float64]  # (n,) by how much the cost of its cell falls when a record leaves


@kernel
def cost_of_value(p, c, k, q, value, leave, join):
    """Return the cost of a value as column k of cell q's centroid, after a record left and one joined."""
    total = 0.0
    for t in range(c.sizes[q]):
        i = c.members[q, t]
        if i != leave:
            total += mapped(p, k, c.X[i, k], value)
    if join >= 0:
        total += mapped(p, k, c.X[join, k], value)
    return total


@kernel
def cost_of_column(p, c, k, q, leave, join):
    """Return the least cost of a column with many levels if one leaves and another joins (-1: none)."""
    best = math.inf
    step = 1 + (c.sizes[q] - 1) // TRIED
    for t in range(0, c.sizes[q] + step, step):
        i = c.members[q, t] if t < c.sizes[q] else join
        if i >= 0 and i != leave:
            best = min(best, cost_of_value(p, c, k, q, c.X[i, k], leave, join))
    return best if best < math.inf else 0.0


@kernel
def price(X, levels, at, rows, tables, low, high, column, sums, q, leave, join, limit):
    """Return the cost of the columns with few levels of cell q if one record leaves and another joins.

    Infinity once it is ``limit``. -1 stands for nobody, whose distances are the row of zeros. The arrays are
    those of `Cells`, one by one: the innermost call would spend its time on unpacking them.
    """
    total = 0.0
    for k in range(X.shape[1]):
        size = levels[k]
        one = X[leave, k] if leave >= 0 else size
        other = X[join, k] if join >= 0 else size
        if one == other:
            total += column[q, k]
        elif at[k] >= 0:
            begin, end = low[q, k], high[q, k]
            if join >= 0:
                begin, end = min(begin, other), max(end, other)
            first, here, there = at[k], rows[k] + one * size, rows[k] + other * size
            best = math.inf
            for v in range(begin, end + 1):
                cost = sums[q, first + v] - tables[here + v] + tables[there + v]
                if cost < best:
                    best = cost
            total += max(0.0, best)
        if total >= limit:
            return math.inf
    return total


@kernel
def price_wide(p, c, q, leave, join):
    """Return the cost of the other columns, those with many levels."""
    total = 0.0
    for k in range(c.X.shape[1]):
        if c.at[k] < 0 and not (leave >= 0 and join >= 0 and c.X[leave, k] == c.X[join, k]):
            total += cost_of_column(p, c, k, q, leave, join)
    return total


@kernel
def after(p, c, q, leave, join, limit):
    """Return the cost of cell q if one record leaves and another joins (-1: none); infinity from a limit."""
    total = price(
        c.X, c.levels, c.at, c.rows, c.tables, c.low, c.high, c.column, c.sums, q, leave, join, limit
    )
    if c.wide[0] > 0 and total < limit:
        total += price_wide(p, c, q, leave, join)
    return total if total < limit else math.inf


@kernel
def centre(p, c, k, q):
    """Return the best of the members' values in a column with many levels, and its cost."""
    best, level = math.inf, min(0, q)
    none = min(-1, q)  # a literal would be a type of its own, and numba compile everything twice
    step = 1 + (c.sizes[q] - 1) // TRIED
    for t in range(0, c.sizes[q], step):
        value = c.X[c.members[q, t], k]
        cost = cost_of_value(p, c, k, q, value, none, none)
        if cost < best or (cost == best and value < level):
            best, level = cost, value
    return level, best


@kernel
def refresh(p, c, q):
    """Compute sums, centroid and costs of a cell anew: nothing drifts, however many moves are made."""
    X, levels, at, rows, tables = c.X, c.levels, c.at, c.rows, c.tables
    low, high, column, sums, members, level = c.low, c.high, c.column, c.sums, c.members, c.level
    many = c.sizes[q]
    total = 0.0
    for k in range(X.shape[1]):
        best, chosen = math.inf, min(0, q)
        if at[k] < 0:
            if many > 0:
                chosen, best = centre(p, c, k, q)
        else:
            size, first = levels[k], at[k]
            begin, end = min(0, size), size - 1
            if c.ordered[k] == 1:
                begin, end = size - 1, min(0, size)
            for v in range(size):
                sums[q, first + v] = 0.0
            for t in range(many):
                value = X[members[q, t], k]
                begin, end = min(begin, value), max(end, value)
                here = rows[k] + value * size
                for v in range(size):
                    sums[q, first + v] += tables[here + v]
            low[q, k], high[q, k] = begin, end
            for v in range(begin, end + 1):
                if sums[q, first + v] < best:
                    best, chosen = sums[q, first + v], v
        level[q, k] = chosen
        column[q, k] = best if many > 0 else 0.0
        total += column[q, k]
    c.cost[q] = total


@kernel
def weigh(p, c, q):
    """Compute what the members of a cell would save by leaving."""
    none = min(-1, q)
    X, levels, at, rows, tables = c.X, c.levels, c.at, c.rows, c.tables
    low, high, column, sums, members, drop = c.low, c.high, c.column, c.sums, c.members, c.drop
    wide, cost = c.wide[0], c.cost[q]
    for t in range(c.sizes[q]):
        i = members[q, t]
        rest = price(X, levels, at, rows, tables, low, high, column, sums, q, i, none, math.inf)
        if wide > 0:
            rest += price_wide(p, c, q, i, none)
        drop[i] = cost - rest


@kernel
def put(c, i, q):
    """Add a record, which is in no cell, to a cell. `refresh` it afterwards."""
    c.members[q, c.sizes[q]] = i
    c.slot[i] = c.sizes[q]
    c.labels[i] = q
    c.sizes[q] += 1


@kernel
def move(c, i, q):
    """Move a record to cell q. `refresh` both cells afterwards."""
    p = c.labels[i]
    c.sizes[p] -= 1
    last = c.members[p, c.sizes[p]]
    c.members[p, c.slot[i]] = last
    c.slot[last] = c.slot[i]
    put(c, i, q)


@kernel
def fill(c):
    """Set members and sizes from the labels. `refresh` the cells afterwards."""
    c.sizes[:] = 0
    for i in range(c.X.shape[0]):
        put(c, i, c.labels[i])


@kernel
def refresh_all(p, c, begin, end, weighed):
    """Refresh cells begin..end-1; with ``weighed`` also what leaving saves. Return their cost."""
    total = 0.0
    for q in range(begin, end):
        refresh(p, c, q)
        if weighed:
            weigh(p, c, q)
        total += c.cost[q]
    return total
