"""The cut of a group of records in two that narrows their ranges most."""

from __future__ import annotations

import math

from voronym._kernels import inner, kernel
from voronym._kernels.ranges import LINE, TREE, joined, penalty


@inner
def merged(columns, c, a, b, item, other):
    """Return the range of column c that covers two ranges."""
    if a < 0:
        return item, other
    if item < 0:
        return a, b
    if columns.shape[c] == LINE:
        return min(a, item), max(b, other)
    if columns.shape[c] == TREE:
        width = columns.width[c]
        h = max(a, item)
        while (
            columns.nodes[columns.nodes_at[c] + h * width + b]
            != columns.nodes[columns.nodes_at[c] + h * width + other]
        ):
            h += 1
        return h, b
    return a | item, b


@inner
def kinds(columns, codes, rows, c, key):
    """Write the class of each record for a cut of column c: its code, or the child of the common ancestor.

    Return how many there may be.
    """
    width = columns.width[c]
    if columns.shape[c] != TREE:
        for t in range(len(rows)):
            key[t] = codes[rows[t], c]
        return width
    a, b = min(-1, c), min(-1, c)
    for t in range(len(rows)):
        a, b = joined(columns, c, a, b, codes[rows[t], c])
    level = columns.nodes_at[c] + max(a - 1, 0) * width
    for t in range(len(rows)):
        key[t] = columns.nodes[level + codes[rows[t], c]]
    return width


@inner
def of_state(columns, item, other):
    """Return the penalty of ranges, summed over columns."""
    total = 0.0
    for e in range(len(item)):
        total += penalty(columns, e, item[e], other[e])
    return total


@inner
def merge_into(columns, item, other, left, right):
    """Widen ranges by others."""
    for e in range(len(item)):
        item[e], other[e] = merged(columns, e, item[e], other[e], left[e], right[e])


@kernel
def best_cut(columns, codes, rows, k, key, count, states, side):
    """Find the cut of some records into two groups of k or more with the least cost; return the cost.

    ``side`` gets 1 for the records of one group and 0 for those of the other; the cost is infinity where
    there is no cut. ``key`` is room for a number for each record, ``count`` (w,) and ``states``
    (6, w + 1, d) for w kinds of values. Of equal cuts the more even one.
    """
    n, d = len(rows), codes.shape[1]
    best, even, chosen, at, alone = math.inf, n, -1, -1, False
    result, other, left, right, tail, end = states[0], states[1], states[2], states[3], states[4], states[5]
    for c in range(d):
        width = kinds(columns, codes, rows, c, key)
        for v in range(width + 1):
            if v < width:
                count[v] = 0
            for e in range(d):
                result[v, e], other[v, e] = -1, -1
                left[v, e], right[v, e] = -1, -1
                tail[v, e], end[v, e] = -1, -1
        for t in range(n):
            v = key[t]
            count[v] += 1
            for e in range(d):
                result[v, e], other[v, e] = joined(columns, e, result[v, e], other[v, e], codes[rows[t], e])
        for v in range(width):  # left[v]: all before v; tail[v]: v and all after
            for e in range(d):
                left[v + 1, e], right[v + 1, e] = merged(
                    columns, e, left[v, e], right[v, e], result[v, e], other[v, e]
                )
        for v in range(width - 1, -1, -1):
            for e in range(d):
                tail[v, e], end[v, e] = merged(
                    columns, e, result[v, e], other[v, e], tail[v + 1, e], end[v + 1, e]
                )
        before = 0
        for v in range(width):
            if count[v] > 0:
                if before >= k and n - before >= k:
                    cost = before * of_state(columns, left[v], right[v])
                    cost += (n - before) * of_state(columns, tail[v], end[v])
                    off = abs(n - 2 * before)
                    if cost < best - 1e-12 or (cost <= best + 1e-12 and off < even):
                        best, even, chosen, at, alone = cost, off, c, v, False
                if columns.shape[c] != LINE and count[v] >= k and n - count[v] >= k:
                    cost = count[v] * of_state(columns, result[v], other[v])
                    merge_into(columns, left[v], right[v], tail[v + 1], end[v + 1])
                    cost += (n - count[v]) * of_state(columns, left[v], right[v])
                    off = abs(n - 2 * count[v])
                    if cost < best - 1e-12 or (cost <= best + 1e-12 and off < even):
                        best, even, chosen, at, alone = cost, off, c, v, True
            before += count[v]
    if chosen >= 0:
        kinds(columns, codes, rows, chosen, key)
        for t in range(n):
            side[t] = 1 if (key[t] == at if alone else key[t] >= at) else 0
    return best
