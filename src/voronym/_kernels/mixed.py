"""Distances between records whose columns have metrics of their own, over the codes of distinct values."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

LINE, CIRCLE, SPHERE, DISCRETE, TREE, TABLE = range(6)


class Pack(NamedTuple):
    """The columns of a mixed space as flat arrays; ``*_at`` says where a column's part begins (-1: none)."""

    shape: NDArray[np.int64]  # (d,) LINE ... TABLE
    missing: NDArray[np.int64]  # (d,) the level that says "missing", -1 where there is none
    levels: NDArray[np.int64]  # (d,) number of distinct values
    far: NDArray[np.float64]  # (d,) distance of a missing value from any other
    size: NDArray[np.float64]  # (d,) period of a circle, radius of a sphere, height of a tree
    width: NDArray[np.int64]  # (d,) coordinates per value
    coords: NDArray[np.float64]
    coords_at: NDArray[np.int64]
    tables: NDArray[np.float64]  # distances between all values, where they are few
    tables_at: NDArray[np.int64]
    mapped: NDArray[np.float64]  # the same after the map and the weight
    mapped_at: NDArray[np.int64]
    knots: NDArray[np.float64]  # of the map, where there is no table
    heights: NDArray[np.float64]
    knots_at: NDArray[np.int64]  # (d + 1,)
    weight: NDArray[np.float64]  # (d,)


@kernel
def distance(p, k, a, b):
    """Return the distance of two values of column k, by the column's own metric."""
    if a == b:
        return 0.0
    if p.tables_at[k] >= 0:
        return p.tables[p.tables_at[k] + a * p.levels[k] + b]
    if a == p.missing[k] or b == p.missing[k]:
        return p.far[k]
    shape = p.shape[k]
    if shape == DISCRETE:
        return 1.0
    w = p.width[k]
    i, j = p.coords_at[k] + a * w, p.coords_at[k] + b * w
    if shape == LINE:
        return abs(p.coords[i] - p.coords[j])
    if shape == CIRCLE:
        gap = abs(p.coords[i] - p.coords[j])
        return min(gap, p.size[k] - gap)
    if shape == SPHERE:
        square = 0.0
        for c in range(3):
            square += (p.coords[i + c] - p.coords[j + c]) ** 2
        return 2.0 * p.size[k] * math.asin(min(1.0, math.sqrt(square) / 2.0))
    step = 0
    while step < w - 1 and p.coords[i + step] != p.coords[j + step]:
        step += 1
    return step / p.size[k]


@kernel
def distances(p, a, b, out):
    """Write the distances of values a and b of the first column."""
    for n in range(len(a)):
        out[n] = distance(p, 0, a[n], b[n])


def one_column(shape: int, size: float, coords: NDArray[np.float64]) -> Pack:
    """Return a single column without missing values, tables, map or weight, for `distances`."""
    none, never = np.empty(0), np.array([-1])
    flat = np.ascontiguousarray(coords, dtype=np.float64).reshape(-1)
    return Pack(
        np.array([shape]), never, np.array([len(coords)]), np.zeros(1), np.array([size]),
        np.array([coords.shape[1]]), flat, np.zeros(1, np.int64), none, never, none, never,
        none, none, np.zeros(2, np.int64), np.ones(1),
    )  # fmt: skip


@kernel
def mapped(p, k, a, b):
    """Return the mapped and weighted distance of two values of column k."""
    if a == b:
        return 0.0
    if p.mapped_at[k] >= 0:
        return p.mapped[p.mapped_at[k] + a * p.levels[k] + b]
    x = distance(p, k, a, b)
    low, high = p.knots_at[k], p.knots_at[k + 1] - 1
    if x >= p.knots[high]:  # beyond the last knot: along the chord from the origin
        if p.knots[high] <= 0.0:
            return p.weight[k] * x
        return p.weight[k] * (p.heights[high] * (x / p.knots[high]))
    while high - low > 1:
        middle = (low + high) // 2
        if p.knots[middle] <= x:
            low = middle
        else:
            high = middle
    share = (x - p.knots[low]) / (p.knots[high] - p.knots[low])
    return p.weight[k] * (p.heights[low] + share * (p.heights[high] - p.heights[low]))


@kernel
def costs(p, X, Y, out):
    """Write the cost between each row of X and each of Y."""
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            total = 0.0
            for k in range(X.shape[1]):
                total += mapped(p, k, X[i, k], Y[j, k])
            out[i, j] = total


@kernel
def nearest(p, X, places, values, column, row, tie, best, index, ties, own):
    """Find for each row of X the nearest of n others, how many are as near, and whether one's own is.

    The others are given by ``places`` (n, d) into ``values``, the distinct levels that they have, of the
    columns ``column``; so a distance is computed once per distinct level, into ``row``. A sum is left as
    soon as it exceeds the best. Distances within the relative ``tie`` of the best are as near. ``own`` holds
    one of the n, or -1, and afterwards 1 or 0.
    """
    n, d = places.shape
    for i in range(X.shape[0]):
        for v in range(len(values)):
            row[v] = mapped(p, column[v], X[i, column[v]], values[v])
        least, at, many, among = np.inf, -1, 0, 0
        mine = own[i]
        for j in range(n):
            total = 0.0
            limit = least * (1.0 + tie)
            k = 0
            while k < d and total <= limit:
                total += row[places[j, k]]
                k += 1
            if total > limit:
                continue
            if total < least * (1.0 - tie) or at < 0:
                least, at, many, among = total, j, 0, 0
            many += 1
            if j == mine:
                among = 1
        best[i], index[i], ties[i], own[i] = least, at, many, among
