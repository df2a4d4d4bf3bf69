"""Distances between records whose columns have metrics of their own, over the codes of distinct values."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

LINE, CIRCLE, SPHERE, DISCRETE, TREE, TABLE = range(6)


class ColumnTables(NamedTuple):
    """The columns of a mixed space as flat arrays; ``*_at`` says where a column's part begins (-1: none)."""

    shape: NDArray[np.int64]  # (d,) LINE ... TABLE
    missing: NDArray[np.int64]  # (d,) the level that says "missing", -1 if there is none
    levels: NDArray[np.int64]  # (d,) number of distinct values
    far: NDArray[np.float64]  # (d,) distance of a missing value from any other
    size: NDArray[np.float64]  # (d,) period of a circle, radius of a sphere, height of a tree
    width: NDArray[np.int64]  # (d,) coordinates per value
    coords: NDArray[np.float64]
    coords_at: NDArray[np.int64]
    distances: NDArray[np.float64]  # distances between all values, where they are few
    distances_at: NDArray[np.int64]
    mapped: NDArray[np.float64]  # the same after the map and the weight
    mapped_at: NDArray[np.int64]
    knots: NDArray[np.float64]  # of the map, if there is no table
    heights: NDArray[np.float64]
    knots_at: NDArray[np.int64]  # (d + 1,)
    weight: NDArray[np.float64]  # (d,)


@kernel
def distance(tables, column, a, b):
    """Return the distance of two values of a column, by the column's own metric."""
    if a == b:
        return 0.0
    if tables.distances_at[column] >= 0:
        return tables.distances[tables.distances_at[column] + a * tables.levels[column] + b]
    if a == tables.missing[column] or b == tables.missing[column]:
        return tables.far[column]
    shape = tables.shape[column]
    if shape == DISCRETE:
        return 1.0
    w = tables.width[column]
    i, j = tables.coords_at[column] + a * w, tables.coords_at[column] + b * w
    if shape == LINE:
        return abs(tables.coords[i] - tables.coords[j])
    if shape == CIRCLE:
        gap = abs(tables.coords[i] - tables.coords[j])
        return min(gap, tables.size[column] - gap)
    if shape == SPHERE:
        square = 0.0
        for c in range(3):
            square += (tables.coords[i + c] - tables.coords[j + c]) ** 2
        return 2.0 * tables.size[column] * math.asin(min(1.0, math.sqrt(square) / 2.0))
    step = 0
    while step < w - 1 and tables.coords[i + step] != tables.coords[j + step]:
        step += 1
    return step / tables.size[column]


@kernel
def distances(tables, a, b, out):
    """Write the distances of values a and b of the first column."""
    for n in range(len(a)):
        out[n] = distance(tables, 0, a[n], b[n])


def one_column(shape: int, size: float, coords: NDArray[np.float64]) -> ColumnTables:
    """Return a single column without missing values, tables, map or weight, for `distances`."""
    none, never = np.empty(0), np.array([-1])
    flat = np.ascontiguousarray(coords, dtype=np.float64).reshape(-1)
    return ColumnTables(
        np.array([shape]), never, np.array([len(coords)]), np.zeros(1), np.array([size]),
        np.array([coords.shape[1]]), flat, np.zeros(1, np.int64), none, never, none, never,
        none, none, np.zeros(2, np.int64), np.ones(1),
    )  # fmt: skip


@kernel
def mapped(tables, column, a, b):
    """Return the mapped and weighted distance of two values of a column."""
    if a == b:
        return 0.0
    if tables.mapped_at[column] >= 0:
        return tables.mapped[tables.mapped_at[column] + a * tables.levels[column] + b]
    x = distance(tables, column, a, b)
    low, high = tables.knots_at[column], tables.knots_at[column + 1] - 1
    if x >= tables.knots[high]:  # beyond the last knot: along the chord from the origin
        if tables.knots[high] <= 0.0:
            return tables.weight[column] * x
        return tables.weight[column] * (tables.heights[high] * (x / tables.knots[high]))
    while high - low > 1:
        middle = (low + high) // 2
        if tables.knots[middle] <= x:
            low = middle
        else:
            high = middle
    share = (x - tables.knots[low]) / (tables.knots[high] - tables.knots[low])
    return tables.weight[column] * (
        tables.heights[low] + share * (tables.heights[high] - tables.heights[low])
    )


@kernel
def costs(tables, X, Y, out):
    """Write the cost between each row of X and each of Y."""
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            total = 0.0
            for column in range(X.shape[1]):
                total += mapped(tables, column, X[i, column], Y[j, column])
            out[i, j] = total


@kernel
def nearest(tables, X, places, values, column, row, tie, best, index, ties, same):
    """Find for each row of X the nearest of n others, how many are as near, and whether a given one is.

    The others are given by ``places`` (n, d) into ``values``, the distinct levels that they have, of the
    columns ``column``; so a distance is computed once per distinct level, into ``row``. A sum is left as
    soon as it exceeds the best. Distances within the relative ``tie`` of the best are as near. ``same`` holds
    one of the n, or -1, and afterwards 1 or 0.
    """
    n, d = places.shape
    for i in range(X.shape[0]):
        for v in range(len(values)):
            row[v] = mapped(tables, column[v], X[i, column[v]], values[v])
        least, at, many, among = np.inf, -1, 0, 0
        mine = same[i]
        for j in range(n):
            total = 0.0
            limit = least * (1.0 + tie)
            at_column = 0
            while at_column < d and total <= limit:
                total += row[places[j, at_column]]
                at_column += 1
            if total > limit:
                continue
            if total < least * (1.0 - tie) or at < 0:
                least, at, many, among = total, j, 0, 0
            many += 1
            if j == mine:
                among = 1
        best[i], index[i], ties[i], same[i] = least, at, many, among
