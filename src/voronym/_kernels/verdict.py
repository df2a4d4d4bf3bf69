"""How far a cell violates a privacy model, from the sorted codes of its confidential values.

Time O(size log levels), whatever the number of levels: sums over levels that no record has come from prefix
sums over the whole table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

FOREIGN, DISTINCT, ENTROPY, RECURSIVE, ORDERED, EQUAL, KL, DELTA, INFORMATION = range(9)

SLACK = 1e-12
"""A threshold that is met up to rounding is met."""


class Rules(NamedTuple):
    """The demands: J rules on C confidential columns."""

    kind: NDArray[np.int64]  # (J,) one of the names above
    need: NDArray[np.float64]  # (J,) the threshold
    factor: NDArray[np.float64]  # (J,) the c of recursive l-diversity
    scale: NDArray[np.float64]  # (J,) violations are divided by it
    column: NDArray[np.int64]  # (J,)
    begin: NDArray[np.int64]  # (C,) where a column's levels begin in the next three
    levels: NDArray[np.int64]  # (C,)
    share: NDArray[np.float64]  # share of each level in the table
    below: NDArray[np.float64]  # share of the records at a level or lower
    area: NDArray[np.float64]  # sum of ``below`` over lower levels
    records: int
    top: NDArray[np.int64]  # (some,) room for the largest counts


@kernel
def stretch(rules, begin, a, b, c):
    """Return the sum over levels a..b-1 of ``|c - below|``: one crossing, since ``below`` rises."""
    low, high = a, b
    while low < high:
        middle = (low + high) // 2
        if rules.below[begin + middle] > c:
            high = middle
        else:
            low = middle + 1
    area = rules.area
    return (
        c * (low - a)
        - (area[begin + low] - area[begin + a])
        + area[begin + b]
        - area[begin + low]
        - c * (b - low)
    )


@kernel
def part(rules, j, v, count, size):
    """Return what level v adds to the figure of rule j at a given count in the cell.

    Levels that a cell does not have add 0, or what `base` knows.
    """
    kind = rules.kind[j]
    if kind == DISTINCT:
        return 1.0 if count > 0 else 0.0
    share = rules.share[rules.begin[rules.column[j]] + v]
    mine = count / size
    if kind == EQUAL:
        return 0.5 * abs(mine - share)
    if kind == DELTA:
        return 1.0 if count == 0 else max(0.0, abs(math.log(mine / share)) - rules.need[j])
    if count == 0:
        return 0.0
    if kind == ENTROPY:
        return -mine * math.log(mine)
    if kind == INFORMATION:
        return mine * math.log(mine / share) * size / rules.records
    return mine * math.log(mine / share)


@kernel
def measure(rules, j, codes, size):
    """Return the figure of rule j for a cell: a distance, an entropy, a number of values.

    ``codes[:size]`` ascend. For recursive diversity the figure is ``r_1 - c (r_l + ... + r_m)``; for
    delta-disclosure a sum of excesses over the threshold, so that every step towards it counts.
    """
    kind, begin, levels = rules.kind[j], rules.begin[rules.column[j]], rules.levels[rules.column[j]]
    most, largest, last, at = 0, 0, 0, 0
    total, reached = 0.0, 0.0
    if kind == EQUAL:
        total = 0.5  # of the levels that the cell does not have; taken back for those it has
    elif kind == DELTA:
        total = float(levels)
    elif kind == RECURSIVE:
        most = min(int(rules.need[j] + 0.5) - 1, len(rules.top))
        for t in range(most):
            rules.top[t] = 0
    while at < size:
        v, count = codes[at], 0
        while at < size and codes[at] == v:
            count += 1
            at += 1
        if kind == ORDERED:
            total += stretch(rules, begin, last, v, reached)
            last, reached = v, at / size
        elif kind == RECURSIVE:
            largest = max(largest, count)
            for t in range(most):
                if count > rules.top[t]:
                    rules.top[t], count = count, rules.top[t]
        else:
            total += part(rules, j, v, count, size)
            if kind in (EQUAL, DELTA):
                total -= part(rules, j, v, 0, size)
    if kind == ORDERED:
        total += stretch(rules, begin, last, levels - 1, reached)
        return total / max(levels - 1, 1)
    if kind == RECURSIVE:
        tail = float(size)
        for t in range(most):
            tail -= rules.top[t]
        return largest - rules.factor[j] * tail
    return total


@kernel
def excess(rules, j, value, size):
    """Return how far a figure violates rule j, in units of its scale: 0 if the rule holds.

    For mutual information, which is a sum over cells, the cell's share of it.
    """
    kind, need = rules.kind[j], rules.need[j]
    if kind == FOREIGN:
        return 0.0
    if kind == INFORMATION:
        return max(value, 0.0) / rules.scale[j]
    if kind in (DISTINCT, ENTROPY):
        over = need - value
    elif kind == RECURSIVE:
        over = (value + 0.5) / size if value >= -SLACK * size else 0.0
    elif kind == DELTA:
        over = value
    else:
        over = value - need
    return over / rules.scale[j] if over > SLACK else 0.0


@kernel
def violation(rules, j, codes, size):
    """Return how far a cell violates rule j: 0 if the rule holds."""
    return excess(rules, j, measure(rules, j, codes, size), size)


@kernel
def first_at(codes, begin, end, v):
    """Return the first place in begin..end-1 whose code is v or higher."""
    while begin < end:
        middle = (begin + end) // 2
        if codes[middle] < v:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def exchanged(rules, j, codes, begin, size, value, out, new):
    """Return the violation of a cell, of figure ``value``, when one record of level ``out`` becomes ``new``.

    For figures that are sums over levels: two levels change. ``codes[begin : begin + size]`` ascend.
    """
    end = begin + size
    outs = first_at(codes, begin, end, out + 1) - first_at(codes, begin, end, out)
    news = first_at(codes, begin, end, new + 1) - first_at(codes, begin, end, new)
    value += part(rules, j, out, outs - 1, size) - part(rules, j, out, outs, size)
    value += part(rules, j, new, news + 1, size) - part(rules, j, new, news, size)
    return excess(rules, j, value, size)


@kernel
def union(item, two, buffer):
    """Merge two ascending lists into the buffer; return their length."""
    a, b, n, m = 0, 0, len(item), len(two)
    for at in range(n + m):
        if b == m or (a < n and item[a] <= two[b]):
            buffer[at] = item[a]
            a += 1
        else:
            buffer[at] = two[b]
            b += 1
    return n + m


@kernel
def unions(rules, j, own, packed, ends, out, buffer):
    """Set ``out`` to rule j's violation of a cell merged with each of several, which end at ``ends``."""
    begin = 0
    for c in range(len(ends)):
        size = union(own, packed[begin : ends[c]], buffer)
        out[c] = violation(rules, j, buffer, size)
        begin = ends[c]


@kernel
def violations(rules, j, packed, ends, out):
    """Set ``out`` to rule j's violation of each cell; codes ascend in each."""
    begin = 0
    for c in range(len(ends)):
        out[c] = violation(rules, j, packed[begin : ends[c]], ends[c] - begin)
        begin = ends[c]
