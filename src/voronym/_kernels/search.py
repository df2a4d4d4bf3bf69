"""Nearest and farthest records by a tree.

Boxes bound computed distances, not just true ones. Rounding is monotone: for x between low and high,
``x - q`` computed lies between ``low - q`` and ``high - q`` computed, and so do squares and sums taken in the
same order. A lane is passed over only if its bound is worse than what has been found, or equal and its
lowest index higher. Hence the answers, ties included, are those of a scan over all records.
"""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import arrange, insert, worst_of
from voronym._kernels.tree import LANES, NOBODY, ROOM

SLACK = 1.0 + 1e-9  # for bounds through square roots, which rounding does not respect
TINY = 1e-290  # the same, where squares fall below the range of normal numbers


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
def scan_leaf(index, leaf, count, near, size, result, distances, members):
    """Put the records of a leaf, at distances ``near``, into the list of the nearest."""
    worst = worst_of(size)
    for i in range(count):
        if result < size or near[i] <= distances[worst]:
            result = insert(distances, members, result, size, near[i], index[leaf, i])
    return result


@kernel
def nearest(tree, leaf, size, distances, members):
    """Fill the ``size`` records nearest to ``tree.query``, a point of a leaf, by distance and index.

    The search begins in the leaf and climbs: at each level the other lanes are searched if they may hold
    a nearer record.
    """
    stack, bounds, lanes, query = tree.stack, tree.bounds, tree.lanes, tree.query
    lowest = max(1, len(tree.living) // LANES)
    last = worst_of(size)
    leaf_distances(tree.points, leaf, query, tree.near)
    result = min(0, size)  # no literal, as above
    result = scan_leaf(tree.record, leaf, tree.living[leaf], tree.near, size, result, distances, members)
    came = leaf
    while came >= 0:
        group = came // LANES
        known = came % LANES
        came = tree.parent[group]
        top = 0
        while True:
            lower_bounds(tree.box, group, query, lanes)
            worst = distances[last] if result == size else math.inf
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
                if result == size:
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
                    result = scan_leaf(
                        tree.record, below, tree.living[below], tree.near, size, result, distances, members
                    )
            if group < 0:
                break
    arrange(distances, members, result, size)
    return result


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
    """Make record i the query point; return its leaf."""
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
