"""A k-d tree that records leave: build and remove; `voronym._kernels.search` asks it.

The tree is balanced. A leaf has room for `ROOM` records, the living ones in front; up to `LANES` leaves
form a group, up to `LANES` groups a group of the next level, up to the root. Coordinates and boxes are stored
column by column, so that the distances to a whole leaf and the bounds of a whole group are a few vector
instructions. For each of its lanes a group has the box of the living records in it, the lowest index among
them (`NOBODY` where none is left) and their largest distance to a fixed centre.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

ROOM = 32
LANES = 16
NOBODY = np.iinfo(np.int64).max


class Tree(NamedTuple):
    """The arrays of a tree, made by `grow`. The groups of the lowest level come first, the root last."""

    points: NDArray[np.float64]  # (leaves, d + 1, ROOM); the last row is the distance to the centre
    record: NDArray[np.int64]  # (leaves, ROOM)
    living: NDArray[np.int64]  # (leaves,) how many
    where: NDArray[np.int64]  # (n,) leaf * ROOM + place
    box: NDArray[np.float64]  # (groups, 2, d, LANES)
    first: NDArray[np.int64]  # (groups, LANES) lowest living index
    reach: NDArray[np.float64]  # (groups, LANES) largest distance to the centre
    child: NDArray[np.int64]  # (groups,) leaf or group in lane 0
    parent: NDArray[np.int64]  # (groups,) group * LANES + lane above; -1 for the root
    center: NDArray[np.float64]  # (d,)
    query: NDArray[np.float64]  # (d,) the point asked about
    stack: NDArray[np.int64]  # scratch for searches: group * LANES + lane
    bounds: NDArray[np.float64]  # and their bounds
    near: NDArray[np.float64]  # (ROOM,) scratch for distances
    lanes: NDArray[np.float64]  # (2, LANES) scratch for bounds
    dirty: NDArray[np.int64]  # scratch for leaves to be fitted


def grow(X: NDArray[np.float64], center: NDArray[np.float64]) -> Tree:
    """Return the tree of all records."""
    n, d = X.shape
    leaves = 1
    while leaves * ROOM < n:
        leaves *= 2
    levels = [max(1, leaves // LANES)]
    while levels[-1] > 1:
        levels.append(max(1, levels[-1] // LANES))
    groups = sum(levels)
    child, parent = np.empty(groups, np.int64), np.empty(groups, np.int64)
    start = below = 0  # the first of this level, and of the one below
    for size in levels:
        here = np.arange(size)
        child[start : start + size] = below + here * LANES
        parent[start : start + size] = (start + size) * LANES + here
        start, below = start + size, start
    parent[-1] = -1
    tree = Tree(
        points=np.zeros((leaves, d + 1, ROOM)),
        record=np.zeros((leaves, ROOM), np.int64),
        living=np.zeros(leaves, np.int64),
        where=np.empty(n, np.int64),
        box=np.zeros((groups, 2, d, LANES)),
        first=np.full((groups, LANES), NOBODY),
        reach=np.zeros((groups, LANES)),
        child=child,
        parent=parent,
        center=np.ascontiguousarray(center),
        query=np.empty(d),
        stack=np.empty((len(levels) + 1) * LANES, np.int64),
        bounds=np.empty((len(levels) + 1) * LANES),
        near=np.empty(ROOM),
        lanes=np.empty((2, LANES)),
        dirty=np.empty(leaves, np.int64),
    )
    rows, marks = sortable(X)
    build(tree, rows, marks, np.arange(n), np.zeros(2 * leaves, np.int64), np.full(2 * leaves, n))
    return tree


def own_room(tree: Tree) -> Tree:
    """Return the tree with scratch memory of its own, so that several threads can query it."""
    fresh = {
        name: np.empty_like(getattr(tree, name)) for name in ("query", "stack", "bounds", "near", "lanes")
    }
    return tree._replace(**fresh)


def sortable(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a copy of the points for `halve` to reorder, and which columns have only two values.

    Categories are columns of two values, and the median of such a column separates nothing: most boxes would
    hold several categories and be as wide as the table. So there is a further column, the number of each
    point's combination of such values, by which `halve` keeps equal combinations together.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    few = np.array([bool(((x == a) | (x == b)).all()) for x, a, b in zip(X.T, low, high, strict=True)])
    marks = few & (low < high)
    if marks.sum() < 2:
        return X.copy(), np.zeros(X.shape[1], np.bool_)
    number = np.zeros(len(X), np.int64)
    for j in np.flatnonzero(marks):
        number = 2 * number + (X[:, j] == high[j])
        if number.max() >= 2**52:  # more columns than bits: count what there is
            number = np.unique(number, return_inverse=True)[1]
    return np.column_stack([X, number]), marks


@kernel
def select(rows, order, start, stop, middle, axis):
    """Reorder rows so that those before ``middle`` are the smallest along an axis, ties by index."""
    d = rows.shape[1]
    while stop - start > 1:
        a, b, c = start, (start + stop) // 2, stop - 1
        if rows[b, axis] < rows[a, axis]:
            a, b = b, a
        if rows[c, axis] < rows[b, axis]:
            b = c if rows[c, axis] > rows[a, axis] else a
        value, index = rows[b, axis], order[b]
        i, j = start, stop - 1
        while i <= j:
            while rows[i, axis] < value or (rows[i, axis] == value and order[i] < index):
                i += 1
            while rows[j, axis] > value or (rows[j, axis] == value and order[j] > index):
                j -= 1
            if i <= j:
                for column in range(d):
                    rows[i, column], rows[j, column] = rows[j, column], rows[i, column]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            stop = j + 1
        elif middle >= i:
            start = i
        else:
            return


@kernel
def halve(rows, marks, order, start, stop):
    """Split rows at the median of the widest column, down to the leaves of a tree numbered like a heap.

    The rows of node v are ``start[v]..stop[v]``; the second half of the nodes are leaves. Where the widest is
    a marked column, rows are split by the column after the last instead, see `sortable`.
    """
    d = len(marks)
    for node in range(1, len(start) // 2):
        a, b = start[node], stop[node]
        axis = min(0, d)  # a literal 0 would be a type of its own, and numba compile everything twice
        widest = -1.0
        for j in range(d):
            low = high = rows[a, j]
            for i in range(a, b):
                low = min(low, rows[i, j])
                high = max(high, rows[i, j])
            if high - low > widest:
                widest = high - low
                axis = j
        if marks[axis]:
            axis = d
        middle = (a + b) // 2
        select(rows, order, a, b, middle, axis)
        start[2 * node], stop[2 * node] = a, middle
        start[2 * node + 1], stop[2 * node + 1] = middle, b


@kernel
def build(tree, rows, marks, order, start, stop):
    """Split the records into the leaves; then fit boxes upwards."""
    d = len(marks)
    leaves = len(tree.living)
    halve(rows, marks, order, start, stop)
    for leaf in range(leaves):
        a, b = start[leaves + leaf], stop[leaves + leaf]
        tree.living[leaf] = b - a
        for i in range(a, b):
            square = 0.0
            for j in range(d):
                tree.points[leaf, j, i - a] = rows[i, j]
                square += (rows[i, j] - tree.center[j]) ** 2
            tree.points[leaf, d, i - a] = math.sqrt(square)
            tree.record[leaf, i - a] = order[i]
            tree.where[order[i]] = leaf * ROOM + i - a
        fit_leaf(tree, leaf)
    for group in range(len(tree.child) - 1):
        fit_lane(tree, group)


@kernel
def fit_leaf(tree, leaf):
    """Fit the lane of a leaf to its living records."""
    d = tree.points.shape[1] - 1
    count = tree.living[leaf]
    group, lane = leaf // LANES, leaf % LANES
    first = NOBODY
    reach = 0.0
    for i in range(count):
        first = min(first, tree.record[leaf, i])
        reach = max(reach, tree.points[leaf, d, i])
    tree.first[group, lane] = first
    tree.reach[group, lane] = reach
    for j in range(d):
        low = math.inf
        high = -math.inf
        for i in range(count):
            value = tree.points[leaf, j, i]
            low = min(low, value)
            high = max(high, value)
        tree.box[group, 0, j, lane] = low
        tree.box[group, 1, j, lane] = high


@kernel
def fit_lane(tree, group):
    """Fit the lane above a group to the lanes of the group; return whether anything changed."""
    above, lane = tree.parent[group] // LANES, tree.parent[group] % LANES
    first = NOBODY
    reach = 0.0
    for i in range(LANES):
        first = min(first, tree.first[group, i])
        reach = max(reach, tree.reach[group, i])
    changed = first != tree.first[above, lane] or reach != tree.reach[above, lane]
    tree.first[above, lane] = first
    tree.reach[above, lane] = reach
    for j in range(tree.box.shape[2]):
        low = math.inf
        high = -math.inf
        for i in range(LANES):
            low = min(low, tree.box[group, 0, j, i])
            high = max(high, tree.box[group, 1, j, i])
        if low != tree.box[above, 0, j, lane] or high != tree.box[above, 1, j, lane]:
            changed = True
            tree.box[above, 0, j, lane] = low
            tree.box[above, 1, j, lane] = high
    return changed


@kernel
def remove(tree, members, size):
    """Take records out of the tree."""
    d = tree.points.shape[1] - 1
    touched = 0
    for q in range(size):
        place = tree.where[members[q]]
        leaf, i = place // ROOM, place % ROOM
        tree.living[leaf] -= 1
        last = tree.living[leaf]
        if i != last:
            for j in range(d + 1):
                tree.points[leaf, j, i] = tree.points[leaf, j, last]
            moved = tree.record[leaf, last]
            tree.record[leaf, i] = moved
            tree.where[moved] = place
        if tree.reach[leaf // LANES, leaf % LANES] >= 0.0:
            tree.reach[leaf // LANES, leaf % LANES] = -1.0  # noted already; fitting sets it again
            tree.dirty[touched] = leaf
            touched += 1
    for t in range(touched):
        fit_leaf(tree, tree.dirty[t])
    for t in range(touched):
        group = tree.dirty[t] // LANES
        while tree.parent[group] >= 0 and fit_lane(tree, group):
            group = tree.parent[group] // LANES
