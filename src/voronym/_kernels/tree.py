"""A k-d tree that records leave: build, remove, nearest, farthest.

The tree is balanced. A leaf has room for `ROOM` records, the living ones in front; up to `LANES` leaves
form a group, up to `LANES` groups a group of the next level, up to the root. Coordinates and boxes are stored
column by column, so that the distances to a whole leaf and the bounds of a whole group are a few vector
instructions. For each of its lanes a group has the box of the living records in it, the lowest index among
them (`NOBODY` where none is left) and their largest distance to a fixed centre.

Boxes bound computed distances, not just true ones. Rounding is monotone: for x between low and high,
``x - q`` computed lies between ``low - q`` and ``high - q`` computed, and so do squares and sums taken in the
same order. A lane is passed over only if its bound is worse than what has been found, or equal and its
lowest index higher. Hence the answers, ties included, are those of a scan over all records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.plain import arrange, insert, worst_of

ROOM = 32
LANES = 16
NOBODY = np.iinfo(np.int64).max
SLACK = 1.0 + 1e-9  # for bounds through square roots, which rounding does not respect
TINY = 1e-290  # the same, where squares fall below the range of normal numbers


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
    build(tree, X.copy(), np.arange(n), np.zeros(2 * leaves, np.int64), np.full(2 * leaves, n))
    return tree


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
def build(tree, rows, order, start, stop):
    """Split the records at the median of the widest column, down to the leaves; then fit boxes upwards."""
    d = rows.shape[1]
    leaves = len(tree.living)
    for node in range(1, leaves):
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
        middle = (a + b) // 2
        select(rows, order, a, b, middle, axis)
        start[2 * node], stop[2 * node] = a, middle
        start[2 * node + 1], stop[2 * node + 1] = middle, b
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


@kernel
def leaf_distances(points, leaf, query, near):
    """Fill ``near`` with the squared distances of the records of a leaf to ``query``.

    The innermost loops take single arrays: a tuple of them is copied at each call that is not inlined. Their
    length comes from the array, not from `ROOM`: LLVM unrolls loops of known length before it vectorises.
    """
    room = points.shape[2]
    value = query[0]
    for i in range(room):
        difference = points[leaf, 0, i] - value
        near[i] = difference * difference
    for j in range(1, len(query)):
        value = query[j]
        for i in range(room):
            difference = points[leaf, j, i] - value
            near[i] += difference * difference


@kernel
def lower_bounds(box, group, query, out):
    """Fill the least squared distances from ``query`` to the boxes of a group."""
    lanes = box.shape[3]
    for i in range(lanes):
        out[0, i] = 0.0
    for j in range(len(query)):
        value = query[j]
        for i in range(lanes):
            below = box[group, 0, j, i] - value
            above = value - box[group, 1, j, i]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            out[0, i] += gap * gap


@kernel
def upper_bounds(box, group, query, center, out):
    """Fill, for each box of a group, the greatest squared distance from ``query``, and the greatest product.

    The product is that of center - x, for x in the box, with query - center.
    """
    lanes = box.shape[3]
    for i in range(lanes):
        out[0, i] = 0.0
        out[1, i] = 0.0
    for j in range(len(query)):
        value = query[j]
        c = center[j]
        side = value - c
        for i in range(lanes):
            low = box[group, 0, j, i]
            high = box[group, 1, j, i]
            below = value - low
            above = high - value
            gap = below if below > above else above
            out[0, i] += gap * gap
            below = (c - low) * side
            above = (c - high) * side
            out[1, i] += below if below > above else above


@kernel
def scan_leaf(index, leaf, count, near, size, found, distances, members):
    """Put the records of a leaf, at distances ``near``, into the list of the nearest."""
    worst = worst_of(size)
    for i in range(count):
        if found < size or near[i] <= distances[worst]:
            found = insert(distances, members, found, size, near[i], index[leaf, i])
    return found


@kernel
def nearest(tree, leaf, size, distances, members):
    """Fill the ``size`` records nearest to ``tree.query``, which lies in a leaf, by distance and index.

    The search begins in the leaf and climbs: at each level the other lanes are searched if they may hold
    a nearer record.
    """
    stack, bounds, lanes, query = tree.stack, tree.bounds, tree.lanes, tree.query
    lowest = max(1, len(tree.living) // LANES)
    last = worst_of(size)
    leaf_distances(tree.points, leaf, query, tree.near)
    found = min(0, size)  # no literal, as above
    found = scan_leaf(tree.record, leaf, tree.living[leaf], tree.near, size, found, distances, members)
    came = leaf
    while came >= 0:
        group = came // LANES
        known = came % LANES
        came = tree.parent[group]
        top = 0
        while True:
            lower_bounds(tree.box, group, query, lanes)
            worst = distances[last] if found == size else math.inf
            begin = top
            for lane in range(LANES):
                if lanes[0, lane] <= worst and lane != known and tree.first[group, lane] != NOBODY:
                    stack[top] = group * LANES + lane
                    bounds[top] = lanes[0, lane]
                    if (
                        top > begin and bounds[top] >= bounds[top - 1]
                    ):  # the nearest on top, of equals the first
                        stack[top], stack[top - 1] = stack[top - 1], stack[top]
                        bounds[top], bounds[top - 1] = bounds[top - 1], bounds[top]
                    top += 1
            known = -1
            group = -1
            while top > 0 and group < 0:
                top -= 1
                above, lane = stack[top] // LANES, stack[top] % LANES
                if found == size:
                    worst = distances[last]
                    if bounds[top] > worst or (
                        bounds[top] == worst and tree.first[above, lane] > members[last]
                    ):
                        continue
                below = tree.child[above] + lane
                if above >= lowest:
                    group = below
                else:
                    leaf_distances(tree.points, below, query, tree.near)
                    found = scan_leaf(
                        tree.record, below, tree.living[below], tree.near, size, found, distances, members
                    )
            if group < 0:
                break
    arrange(distances, members, found, size)
    return found


@kernel
def farthest(tree):
    """Return the living record farthest from ``tree.query``, ties by lowest index, and the squared distance.

    Of a lane's two bounds the lesser counts: to the farthest corner of the box; and, with c the centre, r the
    query and R the reach, |x - r|² = |x - c|² + |r - c|² + 2 (c - x)(r - c), where |x - c| <= R.
    """
    stack, bounds, lanes, query = tree.stack, tree.bounds, tree.lanes, tree.query
    lowest = max(1, len(tree.living) // LANES)
    radius = 0.0
    for j in range(len(query)):
        radius += (query[j] - tree.center[j]) ** 2
    radius = math.sqrt(radius)
    best = -1.0
    chosen = NOBODY
    group = len(tree.child) - 1
    top = 0
    while group >= 0:
        upper_bounds(tree.box, group, query, tree.center, lanes)
        begin = top
        for lane in range(LANES):
            reach = tree.reach[group, lane]
            ball = reach * reach + radius * radius + 2.0 * min(reach * radius, lanes[1, lane])
            ball += (reach + radius) * (reach + radius) * (SLACK - 1.0) + TINY
            bound = min(lanes[0, lane], ball)
            if bound >= best and tree.first[group, lane] != NOBODY:
                stack[top] = group * LANES + lane
                bounds[top] = bound
                if top > begin and bound <= bounds[top - 1]:  # the farthest on top, of equals the first
                    stack[top], stack[top - 1] = stack[top - 1], stack[top]
                    bounds[top], bounds[top - 1] = bounds[top - 1], bounds[top]
                top += 1
        group = -1
        while top > 0 and group < 0:
            top -= 1
            above, lane = stack[top] // LANES, stack[top] % LANES
            if bounds[top] < best or (bounds[top] == best and tree.first[above, lane] > chosen):
                continue
            below = tree.child[above] + lane
            if above >= lowest:
                group = below
            else:
                leaf_distances(tree.points, below, query, tree.near)
                for i in range(tree.living[below]):
                    distance = tree.near[i]
                    if distance > best or (distance == best and tree.record[below, i] < chosen):
                        best = distance
                        chosen = tree.record[below, i]
    return chosen, best


@kernel
def ask(tree, i):
    """Make record i the point asked about; return its leaf."""
    leaf = tree.where[i] // ROOM
    for j in range(len(tree.query)):
        tree.query[j] = tree.points[leaf, j, tree.where[i] % ROOM]
    return leaf


@kernel
def all_distances(tree, distances, indices):
    """Fill the squared distances of all living records to ``tree.query``, with their indices."""
    filled = 0
    for leaf in range(len(tree.living)):
        if tree.living[leaf] > 0:
            leaf_distances(tree.points, leaf, tree.query, tree.near)
            for i in range(tree.living[leaf]):
                distances[filled] = tree.near[i]
                indices[filled] = tree.record[leaf, i]
                filled += 1
    return filled
