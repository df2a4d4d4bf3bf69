"""The cost model of ranges: a group's range covers all its members, and wider ranges cost more.

The cost of a cell is its size times the sum over columns of the certainty penalty of its range. A range is
two numbers, ``one`` and ``other``: on a line the least and the greatest code, in a tree the level of the
lowest common ancestor and a leaf below it, of a set the codes as bits. On a line the last code is missing,
which shares nothing with the others. The range of nobody has ``one`` -1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement, inner, kernel
from voronym._kernels import scan as scans

LINE, TREE, SET = range(3)


class Columns(NamedTuple):
    """Lines, trees and sets as flat arrays; ``at`` and ``nodes_at`` say where a column's part begins."""

    shape: NDArray[np.int64]  # (d,) LINE, TREE or SET
    width: NDArray[np.int64]  # (d,) codes, missing among them
    table: NDArray[np.float64]  # line: left and right ends; tree: penalties by level; set: that of one more
    at: NDArray[np.int64]  # (d,)
    nodes: NDArray[np.int64]  # of trees: the node above each code, by level
    nodes_at: NDArray[np.int64]  # (d,)
    weight: NDArray[np.float64]  # (d,)


class Ranges(NamedTuple):
    """Ranges and costs of the cells."""

    columns: Columns
    codes: NDArray[np.int64]  # (n, d)
    one: NDArray[np.int64]  # (room, d)
    other: NDArray[np.int64]  # (room, d)
    price: NDArray[np.float64]  # (room, d) penalty of the range
    total: NDArray[np.float64]  # (room,) cost of the cell
    drop: NDArray[np.float64]  # (n,) by how much the cost of its cell falls when a record leaves


def make(columns: Columns, codes: NDArray[np.int64], room: int) -> Ranges:
    """Return a model with this number of cells; refresh them before use."""
    n, d = codes.shape
    none = np.full((room, d), -1, np.int64)
    return Ranges(columns, codes, none, none.copy(), np.zeros((room, d)), np.zeros(room), np.zeros(n))


@partial(inner, inline=True)
def penalty(columns, c, a, b):
    """Return the weighted penalty of a range of column c."""
    at, shape = columns.at[c], columns.shape[c]
    result = 0.0
    if a < 0:
        result = 0.0
    elif shape == LINE:
        gone = columns.width[c] - 1
        if b < gone:
            result = columns.table[at + columns.width[c] + b] - columns.table[at + a]
        elif a < gone:
            result = 1.0
    elif shape == TREE:
        result = columns.table[at + a * columns.width[c] + b]
    else:
        bits, many = a, 0
        while bits > 0:
            bits &= bits - 1
            many += 1
        result = (many - 1) * columns.table[at]
    return columns.weight[c] * result


@partial(inner, inline=True)
def joined(columns, c, a, b, code):
    """Return a range of column c with one more code."""
    shape = columns.shape[c]
    if shape == LINE:
        if a < 0:
            a, b = code, code
        else:
            a, b = min(a, code), max(b, code)
    elif shape == TREE:
        if a < 0:
            a, b = a + 1, code
        else:
            width = columns.width[c]
            while (
                columns.nodes[columns.nodes_at[c] + a * width + code]
                != columns.nodes[columns.nodes_at[c] + a * width + b]
            ):
                a += 1
    else:
        a = np.int64(1) << code if a < 0 else a | (np.int64(1) << code)
    return a, b


@inner
def without(model, cells, p, c, out):
    """Return the range of column c of cell p without one of its records."""
    columns, codes = model.columns, model.codes
    a, b, code = model.one[p, c], model.other[p, c], codes[out, c]
    begin, end = cells.start[p], cells.start[p] + cells.sizes[p]
    if columns.shape[c] == LINE and a < code < b:
        return a, b
    result, other = min(-1, p), min(-1, p)
    for t in range(begin, end):
        i = cells.members[t]
        if i != out:
            result, other = joined(columns, c, result, other, codes[i, c])
            if result == a and (other == b or columns.shape[c] == TREE):
                return a, other  # no record can widen it further
    return result, other


@inner
def priced(model, cells, p, out, new, limit):
    """Return the cost of cell p if one record leaves and another joins; infinity from ``limit`` on."""
    columns, codes = model.columns, model.codes
    size = cells.sizes[p]
    if out >= 0:
        size -= 1
    if new >= 0:
        size += 1
    total = 0.0
    for c in range(codes.shape[1]):
        if out >= 0 and new >= 0 and codes[out, c] == codes[new, c]:
            total += model.price[p, c]
        else:
            a, b = model.one[p, c], model.other[p, c]
            if out >= 0:
                a, b = without(model, cells, p, c, out)
            if new >= 0:
                a, b = joined(columns, c, a, b, codes[new, c])
            total += penalty(columns, c, a, b)
        if size * total >= limit:
            return math.inf
    return size * total


@inner
def tally(model, cells, p):
    """Compute the ranges of a cell and its cost again."""
    columns, codes = model.columns, model.codes
    total = 0.0
    for c in range(codes.shape[1]):
        a, b = min(-1, p), min(-1, p)
        for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
            a, b = joined(columns, c, a, b, codes[cells.members[t], c])
        model.one[p, c], model.other[p, c] = a, b
        model.price[p, c] = penalty(columns, c, a, b)
        total += model.price[p, c]
    model.total[p] = cells.sizes[p] * total


@kernel
def tally_all(model, cells, first, last):
    """Compute the cells first..last-1."""
    for p in range(first, last):
        tally(model, cells, p)


@implement(operations.refresh, Ranges)
def _refresh(model, cells, p):
    tally(model, cells, p)
    none = min(-1, p)
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        model.drop[i] = model.total[p] - priced(model, cells, p, i, none, math.inf)


@implement(operations.cost, Ranges)
def _cost(model, cells, p):
    return model.total[p]


@implement(operations.saving, Ranges)
def _saving(model, cells, i):
    return model.drop[i]


@implement(operations.change, Ranges)
def _change(model, cells, p, out, new, limit):
    if new < 0:
        return -model.drop[out]
    return priced(model, cells, p, out, new, limit + model.total[p]) - model.total[p]


@implement(operations.shift, Ranges)
def _shift(model, cells, i, q, shared, limit):
    gone, there = model.drop[i], model.total[q]
    return priced(model, cells, q, min(-1, i), i, limit + gone + there) - (there + gone)


@implement(operations.swap, Ranges)
def _swap(model, cells, i, j, shared, limit):
    if -model.drop[i] - model.drop[j] >= limit:  # a swap saves no more than two leavers do
        return math.inf
    p, q = cells.labels[i], cells.labels[j]
    before = model.total[p] + model.total[q]
    here = priced(model, cells, p, i, j, limit + model.total[p] + model.drop[j])
    if here == math.inf:
        return here
    return here + priced(model, cells, q, j, i, limit + before - here) - before


@implement(operations.least_swap, Ranges)
def _least_swap(model, cells, i, j, shared):
    return -model.drop[i] - model.drop[j]


# -- scans ---------------------------------------------------------------------------------------------------


class RangeScan(NamedTuple):
    """Costs between records: the penalty of the range of two. The centre of the rest is that of all."""

    columns: Columns
    codes: NDArray[np.int64]  # (n, d)
    centre: NDArray[np.int64]  # (d,)
    point: NDArray[np.int64]  # (d,) where the scan aims


@inner
def apart(columns, x, i, point):
    """Return the penalty of the range of record i of x and a point."""
    total = 0.0
    for c in range(len(point)):
        if x[i, c] != point[c]:
            none = min(-1, i)
            a, b = joined(columns, c, none, none, point[c])
            a, b = joined(columns, c, a, b, x[i, c])
            total += penalty(columns, c, a, b)
    return total


@kernel
def costs(columns, X, Y, out):
    """Write the cost between each row of X and each of Y."""
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            out[i, j] = apart(columns, Y, j, X[i])


@implement(scans.clear, RangeScan)
def _clear(scan):
    pass


@implement(scans.add, RangeScan)
def _add(scan, i, sign):
    pass


@implement(scans.aim_at_centroid, RangeScan)
def _aim_at_centroid(scan, left):
    for c in range(len(scan.point)):
        scan.point[c] = scan.centre[c]


@implement(scans.aim_at, RangeScan)
def _aim_at(scan, i):
    for c in range(len(scan.point)):
        scan.point[c] = scan.codes[i, c]


@implement(scans.fill_costs, RangeScan)
def _fill_costs(scan, alive, left, out):
    for t in range(left):
        out[t] = apart(scan.columns, scan.codes, alive[t], scan.point)
