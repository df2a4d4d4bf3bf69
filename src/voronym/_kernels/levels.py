"""The cost model of mixed records: columns with metrics of their own, over the numbers of their levels.

The cost of a cell is ``sum over columns of min over levels v of sum over members i of the mapped distance of
x_i and v``: what its records lose when the centroid is published for all of them. In columns with few levels
each cell keeps the inner sum for every level v, so that the cost after a move needs one pass over the levels,
whatever the cell's size. In the others the members' own values are tried.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement, inner, kernel
from voronym._kernels.mixed import ColumnTables, mapped

TRIED = 256  # members whose values are tried in a column with many levels


class Columns(NamedTuple):
    """The columns as the model reads them: mapped distances of those with few levels, row by row."""

    levels: NDArray[np.int64]  # (d,)
    at: NDArray[np.int64]  # (d,) where a column's levels begin in ``Levels.sums``; -1: too many
    rows_at: NDArray[np.int64]  # (d,) where such a column's part of ``rows`` begins
    rows: NDArray[np.float64]  # (levels + 1, levels) of each: mapped distances, and a row of zeros
    ordered: NDArray[np.int64]  # (d,) 1 where levels ascend on a line: no centroid lies outside its members
    wide: int  # how many columns have too many levels for ``Levels.sums``


class Levels(NamedTuple):
    """Sums, centroids and costs of the cells."""

    tables: ColumnTables
    columns: Columns
    records: NDArray[np.int64]  # (n, d) levels of the records
    low: NDArray[np.int64]  # (room, d) the least level that may be the centroid's
    high: NDArray[np.int64]  # (room, d) the greatest
    sums: NDArray[np.float64]  # (room, levels of all such columns) cost of the cell if that were its centroid
    by_column: NDArray[np.float64]  # (room, d) least cost by column
    total: NDArray[np.float64]  # (room,) and in all
    centroids: NDArray[np.int64]  # (room, d) levels
    drop: NDArray[np.float64]  # (n,) by how much the cost of its cell falls when a record leaves


def make(tables: ColumnTables, columns: Columns, records: NDArray[np.int64], room: int) -> Levels:
    """Return a model with this number of cells; refresh them before use."""
    n, d = records.shape
    width = int(columns.levels[columns.at >= 0].sum())
    return Levels(
        tables,
        columns,
        np.ascontiguousarray(records),
        np.zeros((room, d), np.int64),
        np.zeros((room, d), np.int64),
        np.zeros((room, width)),
        np.zeros((room, d)),
        np.zeros(room),
        np.zeros((room, d), np.int64),
        np.zeros(n),
    )


@inner
def cost_of_value(model, cells, column, p, value, out, new):
    """Return the cost of a value as the centroid's, after a record left and one joined (-1: none)."""
    total = 0.0
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        if i != out:
            total += mapped(model.tables, column, model.records[i, column], value)
    if new >= 0:
        total += mapped(model.tables, column, model.records[new, column], value)
    return total


@inner
def cost_of_column(model, cells, column, p, out, new):
    """Return the least cost of a column with many levels if one leaves and another joins (-1: none)."""
    best = math.inf
    size, begin = cells.sizes[p], cells.start[p]
    step = 1 + (size - 1) // TRIED
    for t in range(0, size + step, step):
        i = cells.members[begin + t] if t < size else new
        if i >= 0 and i != out:
            value = model.records[i, column]
            best = min(best, cost_of_value(model, cells, column, p, value, out, new))
    return best if best < math.inf else 0.0


@inner
def price_wide(model, cells, p, out, new):
    """Return the cost of the columns with many levels if one record leaves and another joins."""
    total = 0.0
    records = model.records
    for column in range(records.shape[1]):
        same = out >= 0 and new >= 0 and records[out, column] == records[new, column]
        if model.columns.at[column] < 0 and not same:
            total += cost_of_column(model, cells, column, p, out, new)
    return total


@partial(inner, inline=True)
def price(model, cells, p, out, new, limit):
    """Return the cost of cell p if one record leaves and another joins; infinity from ``limit`` on.

    -1 stands for nobody, whose distances are the row of zeros.
    """
    records, columns = model.records, model.columns
    total = 0.0
    for column in range(records.shape[1]):
        size = columns.levels[column]
        result = records[out, column] if out >= 0 else size
        other = records[new, column] if new >= 0 else size
        if result == other:
            total += model.by_column[p, column]
        elif columns.at[column] >= 0:
            begin, end = model.low[p, column], model.high[p, column]
            if new >= 0:
                begin, end = min(begin, other), max(end, other)
            first = columns.at[column]
            here, there = columns.rows_at[column] + result * size, columns.rows_at[column] + other * size
            best = math.inf
            for v in range(begin, end + 1):
                cost = model.sums[p, first + v] - columns.rows[here + v] + columns.rows[there + v]
                if cost < best:
                    best = cost
            total += max(0.0, best)
        if total >= limit:
            return math.inf
    if columns.wide > 0:
        total += price_wide(model, cells, p, out, new)
    return total if total < limit else math.inf


@inner
def centre(model, cells, column, p):
    """Return the best of the members' values in a column with many levels, and its cost."""
    best, level = math.inf, min(0, p)
    none = min(-1, p)  # a literal would be a type of its own, and numba compile everything twice
    size, begin = cells.sizes[p], cells.start[p]
    step = 1 + (size - 1) // TRIED
    for t in range(0, size, step):
        value = model.records[cells.members[begin + t], column]
        cost = cost_of_value(model, cells, column, p, value, none, none)
        if cost < best or (cost == best and value < level):
            best, level = cost, value
    return level, best


@inner
def tally(model, cells, p):
    """Compute sums, centroid and costs of a cell again, without what its members would save by leaving."""
    records, columns, sums = model.records, model.columns, model.sums
    many, begin = cells.sizes[p], cells.start[p]
    total = 0.0
    for column in range(records.shape[1]):
        best, chosen = math.inf, min(0, p)
        if columns.at[column] < 0:
            if many > 0:
                chosen, best = centre(model, cells, column, p)
        else:
            size, first = columns.levels[column], columns.at[column]
            low, high = min(0, size), size - 1
            if columns.ordered[column] == 1:
                low, high = size - 1, min(0, size)
            for v in range(size):
                sums[p, first + v] = 0.0
            for t in range(begin, begin + many):
                value = records[cells.members[t], column]
                low, high = min(low, value), max(high, value)
                here = columns.rows_at[column] + value * size
                for v in range(size):
                    sums[p, first + v] += columns.rows[here + v]
            model.low[p, column], model.high[p, column] = low, high
            for v in range(low, high + 1):
                if sums[p, first + v] < best:
                    best, chosen = sums[p, first + v], v
        model.centroids[p, column] = chosen
        model.by_column[p, column] = best if many > 0 else 0.0
        total += model.by_column[p, column]
    model.total[p] = total


@kernel
def tally_all(model, cells, first, last):
    """Compute the cells first..last-1."""
    for p in range(first, last):
        tally(model, cells, p)


@implement(operations.refresh, Levels)
def _refresh(model, cells, p):
    tally(model, cells, p)
    none = min(-1, p)
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        model.drop[i] = model.total[p] - price(model, cells, p, i, none, math.inf)


@implement(operations.cost, Levels)
def _cost(model, cells, p):
    return model.total[p]


@implement(operations.saving, Levels)
def _saving(model, cells, i):
    return model.drop[i]


@implement(operations.change, Levels)
def _change(model, cells, p, out, new, limit):
    if new < 0:
        return -model.drop[out]
    return price(model, cells, p, out, new, limit + model.total[p]) - model.total[p]


@implement(operations.shift, Levels)
def _shift(model, cells, i, q, shared, limit):
    gone, there = model.drop[i], model.total[q]
    return price(model, cells, q, min(-1, i), i, limit + gone + there) - (there + gone)


@implement(operations.swap, Levels)
def _swap(model, cells, i, j, shared, limit):
    if -model.drop[i] - model.drop[j] >= limit:  # a swap saves no more than two leavers do
        return math.inf
    p, q = cells.labels[i], cells.labels[j]
    before = model.total[p] + model.total[q]
    # What comes to q adds something or nothing: q is left with its cost without j, at least.
    here = price(model, cells, p, i, j, limit + model.total[p] + model.drop[j])
    if here == math.inf:
        return here
    return here + price(model, cells, q, j, i, limit + before - here) - before


@implement(operations.least_swap, Levels)
def _least_swap(model, cells, i, j, shared):
    return -model.drop[i] - model.drop[j]
