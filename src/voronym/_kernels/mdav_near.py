"""The nearest of many records at a time, for lists that are made ahead.

A sample, one record of each leaf of the tree, says for each of them how far to look; then all go down the
tree together, so that a leaf is fetched once for those that need it. Distances in single precision say whom
to look at, with a margin for their error; the list is made from the distances that MDAV compares.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.plain import arrange, insert, squared_distance, worst_of
from voronym._kernels.search import ask, lower_bounds, nearest
from voronym._kernels.tree import LANES, NOBODY, ROOM

BLOCK = 512
"""Records whose distances are computed together."""
DEEPEST = 9
"""More than the levels of any tree."""
WRONG = 1e-6
"""Bound on the relative error of single-precision distances: over four times that of a step."""


class Query(NamedTuple):
    """A batch of records that query together, with scratch memory. Made by `make_query`."""

    point: NDArray[np.float64]  # (Q, d)
    single: NDArray[np.float32]  # (Q, d) about the tree's centre
    reach: NDArray[np.float64]  # (Q,) squared distance up to which all records are looked for
    cut: NDArray[np.float32]  # (Q,) the same, and what single precision can be wrong by
    count: NDArray[np.int64]  # (Q,) records found
    found: NDArray[np.int64]  # (Q, C) and who they are
    active: NDArray[np.int64]  # (DEEPEST, LANES, Q) who goes down a lane
    many: NDArray[np.int64]  # (DEEPEST, LANES) how many do
    at: NDArray[np.int64]  # (2, DEEPEST) group and lane at each level
    row: NDArray[np.float32]  # (BLOCK,)


def make_query(size: int, d: int, room: int) -> Query:
    """Return buffers for ``size`` queries with ``room`` answers each."""
    return Query(
        np.empty((size, d)),
        np.empty((size, d), np.float32),
        np.empty(size),
        np.empty(size, np.float32),
        np.zeros(size, np.int64),
        np.empty((size, room), np.int64),
        np.empty((DEEPEST, LANES, size), np.int64),
        np.empty((DEEPEST, LANES), np.int64),
        np.empty((2, DEEPEST), np.int64),
        np.empty(BLOCK, np.float32),
    )


@kernel
def copy_leaf(tree, leaf, single):
    """Copy the records of a leaf in single precision, about the centre."""
    for j in range(len(tree.center)):
        for i in range(ROOM):
            single[leaf, j, i] = np.float32(tree.points[leaf, j, i] - tree.center[j])


@kernel
def copy_leaves(tree, first, last, single):
    """Copy the leaves first..last-1."""
    for leaf in range(first, last):
        copy_leaf(tree, leaf, single)


@kernel
def sample(tree, single, out):
    """Fill the columns of ``out`` with the first record of each leaf that has one; return how many."""
    result = min(0, len(tree.living))
    for leaf in range(len(tree.living)):
        if tree.living[leaf] > 0:
            for j in range(len(out)):
                out[j, result] = single[leaf, j, 0]
            result += 1
    return result


@inner
def distances_to(points, first, count, single, q, row):
    """Fill the squared distances from query q to some columns of points."""
    for t in range(count):
        row[t] = np.float32(0.0)
    for j in range(single.shape[1]):
        value = single[q, j]
        column = points[j, first : first + count]
        for t in range(count):
            away = column[t] - value
            row[t] += away * away


@inner
def look_out(query, q, sampled, rank, distances, members):
    """Return the squared distance of the sample record with the given rank."""
    result = min(0, rank)
    last = worst_of(rank)
    size = sampled.shape[1]
    for first in range(0, size, BLOCK):
        count = min(BLOCK, size - first)
        distances_to(sampled, first, count, query.single, q, query.row)
        for t in range(count):
            if result < rank or query.row[t] < distances[last]:
                result = insert(distances, members, result, rank, np.float64(query.row[t]), first + t)
    return distances[last] if result == rank else math.inf


@inner
def expand(tree, query, level, group, ids, count):
    """Assign queries to the lanes of a group."""
    many, active, reach, lanes = query.many, query.active, query.reach, tree.lanes
    for lane in range(LANES):
        many[level, lane] = 0
    for t in range(count):
        q = ids[t]
        lower_bounds(tree.box, group, query.point[q], lanes)
        for lane in range(LANES):
            if lanes[0, lane] <= reach[q] and tree.first[group, lane] != NOBODY:
                active[level, lane, many[level, lane]] = q
                many[level, lane] += 1
    query.at[0, level], query.at[1, level] = group, 0


@inner
def scan_leaf(tree, single, leaf, query, q):
    """Note the records of a leaf that may be within reach of a query."""
    row = query.row[:ROOM]
    for i in range(len(row)):
        row[i] = np.float32(0.0)
    for j in range(query.single.shape[1]):
        value = query.single[q, j]
        column = single[leaf, j]
        for i in range(len(row)):
            away = column[i] - value
            row[i] += away * away
    cut, count = query.cut[q], query.count[q]
    for i in range(tree.living[leaf]):
        if row[i] <= cut:
            if count < query.found.shape[1]:
                query.found[q, count] = tree.record[leaf, i]
            count += 1
    query.count[q] = count


@inner
def descend(tree, single, query, ids, count):
    """Take all queries down the tree."""
    lowest = max(1, len(tree.living) // LANES)
    level = min(0, count)
    expand(tree, query, level, len(tree.child) - 1, ids, count)
    while level >= 0:
        group, lane = query.at[0, level], query.at[1, level]
        if lane == LANES:
            level -= 1
            continue
        query.at[1, level] += 1
        there = query.many[level, lane]
        if there == 0:
            continue
        below = tree.child[group] + lane
        if group >= lowest:
            level += 1
            expand(tree, query, level, below, query.active[level - 1, lane], there)
        else:
            for t in range(there):
                scan_leaf(tree, single, below, query, query.active[level, lane, t])


@kernel
def near_lists(X, tree, single, sampled, rank, k, query, ids, distances, members, out):
    """Fill the nearest records by distance and index, all within a reach, then -1.

    At least k each: where the sample misled, the tree is asked.
    """
    count, d = len(ids), X.shape[1]
    far = 0.0
    for lane in range(LANES):
        far = max(far, tree.reach[len(tree.child) - 1, lane])
    some = query.active[DEEPEST - 1, 0]
    asking = min(0, k)
    for q in range(count):
        for j in range(d):
            query.point[q, j] = X[ids[q], j]
            query.single[q, j] = np.float32(X[ids[q], j] - tree.center[j])
        query.count[q] = 0
        reach = look_out(query, q, sampled, rank, distances, members)
        query.reach[q] = reach
        error = WRONG * (math.sqrt(d * reach) * 2.0 * far + d * reach)
        query.cut[q] = np.float32((reach + error) * (1.0 + WRONG))
        if reach < math.inf and error < 0.1 * reach:
            some[asking] = q
            asking += 1
    descend(tree, single, query, some, asking)
    for q in range(count):
        size, result = out.shape[1], min(0, k)
        listed = out[q]
        if k <= query.count[q] <= query.found.shape[1]:
            for t in range(query.count[q]):
                j = query.found[q, t]
                distance = squared_distance(X, j, X[ids[q]])
                if distance <= query.reach[q]:
                    result = insert(distances, listed, result, size, distance, j)
            arrange(distances, listed, result, size)
        if result < k:
            result = nearest(tree, ask(tree, ids[q]), size, distances, listed)
        listed[result:] = -1
