"""Scans over mixed records, whose columns have metrics of their own.

The distances of one record to all levels of a column that has a table are a row of it; so a cost is a few
reads. Costs are added up column by column, in order, as in `mixed.costs`: equal inputs give equal bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import implement, inner
from voronym._kernels import scan as operations
from voronym._kernels.mixed import ColumnTables, mapped
from voronym._kernels.plain import add_exactly, arrange, insert, worst_of


class LevelScan(NamedTuple):
    """Costs of levels, and the centroid of the remaining records."""

    tables: ColumnTables
    records: NDArray[np.int64]  # (n, d)
    row: NDArray[np.float64]  # distances of one record to all levels of the columns that have a table
    row_at: NDArray[np.int64]  # (d,) where a column's part begins; -1: no table
    point: NDArray[np.int64]  # (d,) the record or centroid that the scan aims at
    tried: NDArray[np.int64]  # levels that may be the centroid's, column by column
    tried_at: NDArray[np.int64]  # (d + 1,)
    high: NDArray[np.float64]  # sum of the remaining records' distances to each of them, as double-doubles
    low: NDArray[np.float64]


@inner
def fill_row(scan):
    """Fill the rows of the point."""
    tables = scan.tables
    for column in range(len(scan.point)):
        if scan.row_at[column] >= 0:
            size = tables.levels[column]
            begin, source = scan.row_at[column], tables.mapped_at[column] + scan.point[column] * size
            for v in range(size):
                scan.row[begin + v] = tables.mapped[source + v]
            scan.row[begin + scan.point[column]] = 0.0


@implement(operations.clear, LevelScan)
def _clear(scan):
    scan.high[:] = 0.0
    scan.low[:] = 0.0


@implement(operations.add, LevelScan)
def _add(scan, i, sign):
    tables, tried, high, low = scan.tables, scan.tried, scan.high, scan.low
    for column in range(scan.records.shape[1]):
        level = scan.records[i, column]
        row = tables.mapped_at[column] + level * tables.levels[column]
        for t in range(scan.tried_at[column], scan.tried_at[column + 1]):
            if scan.row_at[column] >= 0:
                off = tables.mapped[row + tried[t]]
            else:
                off = mapped(tables, column, level, tried[t])
            high[t], low[t] = add_exactly(high[t], low[t], sign * off)


@implement(operations.aim_at_centroid, LevelScan)
def _aim_at_centroid(scan, left):
    for column in range(len(scan.point)):  # the lowest level with the least sum
        best = scan.tried_at[column]
        for t in range(scan.tried_at[column] + 1, scan.tried_at[column + 1]):
            if scan.high[t] < scan.high[best]:
                best = t
        scan.point[column] = scan.tried[best]
    fill_row(scan)


@implement(operations.aim_at, LevelScan)
def _aim_at(scan, i):
    for column in range(len(scan.point)):
        scan.point[column] = scan.records[i, column]
    fill_row(scan)


@implement(operations.fill_costs, LevelScan)
def _fill_costs(scan, alive, left, out):
    # Column by column: inside the loop there is nothing but a read, which a call per record would outweigh.
    records, row = scan.records, scan.row
    for t in range(left):
        out[t] = 0.0
    for column in range(records.shape[1]):
        begin = scan.row_at[column]
        if begin >= 0:
            for t in range(left):
                out[t] += row[begin + records[alive[t], column]]
        else:
            for t in range(left):
                out[t] += mapped(scan.tables, column, records[alive[t], column], scan.point[column])


@implement(operations.near_one, LevelScan)
def _near_one(scan, i, everyone, costs, size, distances, out):
    records, d = scan.records, scan.records.shape[1]
    for column in range(d):
        scan.point[column] = records[i, column]
    fill_row(scan)
    result, worst = min(0, size), worst_of(size)
    for j in range(len(everyone)):
        total = 0.0
        limit = distances[worst] if result == size else math.inf
        column = min(0, d)
        while column < d and total < limit:  # a sum that is too large already is left
            if scan.row_at[column] >= 0:
                total += scan.row[scan.row_at[column] + records[j, column]]
            else:
                total += mapped(scan.tables, column, records[j, column], scan.point[column])
            column += 1
        if total < limit and j != i:
            result = insert(distances, out, result, size, total, j)
    arrange(distances, out, result, size)
