"""A k-d tree that records leave: build, remove, nearest, farthest.

The tree is balanced and implicit: node v has children 2v and 2v+1, leaf l is node ``leaves + l``. A leaf has room
for `ROOM` records, its living ones in front, stored column by column so that the distances to all of them are a
few vector instructions. Every node has the box of its living records, the lowest index among them
(`NOBODY` where none is left) and their largest distance to a fixed centre.

Boxes bound computed distances, not just true ones. Rounding is monotone: for x between low and high,
``x - q`` computed lies between ``low - q`` and ``high - q`` computed, and so do squares and sums taken in the
same order. A node is passed over only if its bound is worse than what has been found, or equal and its
lowest index higher. Hence the answers, ties included, are those of a scan over all records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.plain import insert

ROOM = 32
NOBODY = np.iinfo(np.int64).max
SLACK = 1.0 + 1e-9  # for bounds through square roots, which rounding does not respect
TINY = 1e-290  # the same, where squares fall below the range of normal numbers


class Tree(NamedTuple):
    """The arrays of a tree, made by `grow`."""

    points: NDArray[np.float64]  # (leaves, d + 1, ROOM); the last row is the distance to the centre
    index: NDArray[np.int64]  # (leaves, ROOM)
    count: NDArray[np.int64]  # (leaves,) living records
    where: NDArray[np.int64]  # (n,) leaf * ROOM + place
    box: NDArray[np.float64]  # (2 leaves, 2, d)
    first: NDArray[np.int64]  # (2 leaves,) lowest living index
    reach: NDArray[np.float64]  # (2 leaves,) largest distance to the centre
    center: NDArray[np.float64]  # (d,)
    stack: NDArray[np.int64]  # scratch for searches
    bounds: NDArray[np.float64]
    near: NDArray[np.float64]  # (ROOM,) scratch for distances
    dirty: NDArray[np.int64]  # scratch for leaves to be updated
    query: NDArray[np.float64]  # (d,) the point asked about


def grow(X: NDArray[np.float64], center: NDArray[np.float64]) -> Tree:
    """Return the tree of all records."""
    n, d = X.shape
    leaves = 1
    while leaves * ROOM < n:
        leaves *= 2
    depth = leaves.bit_length() + 2
    tree = Tree(
        points=np.zeros((leaves, d + 1, ROOM)),
        index=np.zeros((leaves, ROOM), np.int64),
        count=np.zeros(leaves, np.int64),
        where=np.empty(n, np.int64),
        box=np.empty((2 * leaves, 2, d)),
        first=np.full(2 * leaves, NOBODY),
        reach=np.empty(2 * leaves),
        center=np.ascontiguousarray(center),
        stack=np.empty(2 * depth, np.int64),
        bounds=np.empty(2 * depth),
        near=np.empty(ROOM),
        dirty=np.empty(leaves, np.int64),
        query=np.empty(d),
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
    """Split the records at the median of the widest column, down to the leaves; then fill boxes upwards."""
    d = rows.shape[1]
    leaves = len(tree.count)
    for node in range(1, leaves):
        a, b = start[node], stop[node]
        axis = 0
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
        tree.count[leaf] = b - a
        for i in range(a, b):
            square = 0.0
            for j in range(d):
                tree.points[leaf, j, i - a] = rows[i, j]
                square += (rows[i, j] - tree.center[j]) ** 2
            tree.points[leaf, d, i - a] = math.sqrt(square)
            tree.index[leaf, i - a] = order[i]
            tree.where[order[i]] = leaf * ROOM + i - a
        fit_leaf(tree, leaf)
    for node in range(leaves - 1, 0, -1):
        fit_node(tree, node)


@kernel
def fit_leaf(tree, leaf):
    """Fit the box of a leaf to its living records."""
    d = tree.points.shape[1] - 1
    count = tree.count[leaf]
    node = len(tree.count) + leaf
    first = NOBODY
    reach = 0.0
    for i in range(count):
        first = min(first, tree.index[leaf, i])
        reach = max(reach, tree.points[leaf, d, i])
    tree.first[node] = first
    tree.reach[node] = reach
    for j in range(d):
        low = math.inf
        high = -math.inf
        for i in range(count):
            value = tree.points[leaf, j, i]
            low = min(low, value)
            high = max(high, value)
        tree.box[node, 0, j] = low
        tree.box[node, 1, j] = high


@kernel
def fit_node(tree, node):
    """Fit the box of a node to those of its children; return whether anything changed."""
    left, right = 2 * node, 2 * node + 1
    changed = False
    first = min(tree.first[left], tree.first[right])
    reach = max(tree.reach[left], tree.reach[right])
    if first != tree.first[node] or reach != tree.reach[node]:
        changed = True
        tree.first[node] = first
        tree.reach[node] = reach
    for j in range(tree.box.shape[2]):
        low = min(tree.box[left, 0, j], tree.box[right, 0, j])
        high = max(tree.box[left, 1, j], tree.box[right, 1, j])
        if low != tree.box[node, 0, j] or high != tree.box[node, 1, j]:
            changed = True
            tree.box[node, 0, j] = low
            tree.box[node, 1, j] = high
    return changed


@kernel
def remove(tree, members, size):
    """Take records out of the tree."""
    d = tree.points.shape[1] - 1
    leaves = len(tree.count)
    touched = 0
    for q in range(size):
        place = tree.where[members[q]]
        leaf = place // ROOM
        i = place % ROOM
        tree.count[leaf] -= 1
        last = tree.count[leaf]
        if i != last:
            for j in range(d + 1):
                tree.points[leaf, j, i] = tree.points[leaf, j, last]
            moved = tree.index[leaf, last]
            tree.index[leaf, i] = moved
            tree.where[moved] = place
        if tree.reach[leaves + leaf] >= 0.0:
            tree.reach[leaves + leaf] = -1.0  # noted already; fitting sets it again
            tree.dirty[touched] = leaf
            touched += 1
    for t in range(touched):
        fit_leaf(tree, tree.dirty[t])
    for t in range(touched):
        node = (leaves + tree.dirty[t]) // 2
        while node > 0 and fit_node(tree, node):
            node //= 2


@kernel
def leaf_distances(tree, leaf):
    """Fill ``tree.near`` with the squared distances of the records of a leaf to ``tree.query``."""
    block = tree.points[leaf]
    near = tree.near
    value = tree.query[0]
    for i in range(ROOM):
        difference = block[0, i] - value
        near[i] = difference * difference
    for j in range(1, len(tree.query)):
        value = tree.query[j]
        for i in range(ROOM):
            difference = block[j, i] - value
            near[i] += difference * difference


@kernel
def lower_bound(tree, node):
    """Return the least squared distance from ``tree.query`` to the box of a node."""
    total = 0.0
    for j in range(len(tree.query)):
        value = tree.query[j]
        low = tree.box[node, 0, j] - value
        high = value - tree.box[node, 1, j]
        gap = max(low, high, 0.0)
        total += gap * gap
    return total


@kernel
def scan_leaf(tree, leaf, size, found, distances, members):
    """Put the living records of a leaf into the list of the nearest."""
    leaf_distances(tree, leaf)
    for i in range(tree.count[leaf]):
        if found < size or tree.near[i] <= distances[size - 1]:
            found = insert(distances, members, found, size, tree.near[i], tree.index[leaf, i])
    return found


@kernel
def nearest(tree, leaf, size, distances, members):
    """Fill the ``size`` records nearest to ``tree.query``, which lies in a leaf; sorted by distance and index.

    The search begins in the leaf and climbs: at each ancestor the other child is searched if it may hold
    a nearer record.
    """
    leaves = len(tree.count)
    stack, bounds = tree.stack, tree.bounds
    found = scan_leaf(tree, leaf, size, 0, distances, members)
    climb = leaves + leaf
    while climb > 1:
        stack[0] = climb ^ 1
        bounds[0] = lower_bound(tree, climb ^ 1)
        climb //= 2
        top = 1
        while top > 0:
            top -= 1
            node, bound = stack[top], bounds[top]
            if tree.first[node] == NOBODY:
                continue
            if found == size:
                worst = distances[size - 1]
                if bound > worst or (bound == worst and tree.first[node] > members[size - 1]):
                    continue
            if node >= leaves:
                found = scan_leaf(tree, node - leaves, size, found, distances, members)
                continue
            near, far = 2 * node, 2 * node + 1
            near_bound, far_bound = lower_bound(tree, near), lower_bound(tree, far)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            stack[top], bounds[top] = far, far_bound
            stack[top + 1], bounds[top + 1] = near, near_bound
            top += 2
    return found


@kernel
def upper_bound(tree, node, radius):
    """Return a bound on the squared distance from ``tree.query`` to the living records of a node.

    The lesser of two: to the farthest corner of the box; and, with c the centre, r the query and R the reach,
    |x - r|² = |x - c|² + |r - c|² - 2 (x - c)(r - c), where |x - c| <= R and the product is least at a corner.
    """
    corner = 0.0
    product = 0.0
    for j in range(len(tree.query)):
        value = tree.query[j]
        low, high = tree.box[node, 0, j], tree.box[node, 1, j]
        gap = max(value - low, high - value)
        corner += gap * gap
        c = tree.center[j]
        product += max((c - low) * (value - c), (c - high) * (value - c))
    reach = tree.reach[node]
    ball = reach * reach + radius * radius + 2.0 * min(reach * radius, product)
    scale = (reach + radius) * (reach + radius)
    return min(corner, ball + scale * (SLACK - 1.0) + TINY)


@kernel
def farthest(tree):
    """Return the living record farthest from ``tree.query``, ties by lowest index, and the squared distance."""
    leaves = len(tree.count)
    stack, bounds = tree.stack, tree.bounds
    radius = 0.0
    for j in range(len(tree.query)):
        radius += (tree.query[j] - tree.center[j]) ** 2
    radius = math.sqrt(radius)
    best = -1.0
    chosen = NOBODY
    stack[0] = 1
    bounds[0] = math.inf
    top = 1
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best or (bound == best and tree.first[node] > chosen):
            continue
        if node >= leaves:
            leaf = node - leaves
            leaf_distances(tree, leaf)
            for i in range(tree.count[leaf]):
                distance = tree.near[i]
                if distance > best or (distance == best and tree.index[leaf, i] < chosen):
                    best = distance
                    chosen = tree.index[leaf, i]
            continue
        near, far = 2 * node, 2 * node + 1
        near_bound = -2.0 if tree.first[near] == NOBODY else upper_bound(tree, near, radius)
        far_bound = -2.0 if tree.first[far] == NOBODY else upper_bound(tree, far, radius)
        if far_bound < near_bound:
            near, far = far, near
            near_bound, far_bound = far_bound, near_bound
        if near_bound >= best:
            stack[top], bounds[top] = near, near_bound
            top += 1
        if far_bound >= best:
            stack[top], bounds[top] = far, far_bound
            top += 1
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
    for leaf in range(len(tree.count)):
        if tree.count[leaf] > 0:
            leaf_distances(tree, leaf)
            for i in range(tree.count[leaf]):
                distances[filled] = tree.near[i]
                indices[filled] = tree.index[leaf, i]
                filled += 1
    return filled
