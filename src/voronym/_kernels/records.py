"""Cells of bounded diameter, and the repair of a shuffle."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voronym._kernels import kernel
from voronym._kernels.mixed import distance, mapped


class Lines(NamedTuple):
    """Columns on a line: the place of each record, and how much a cell may span."""

    places: Any
    spans: Any


class Others(NamedTuple):
    """Columns that are no lines, nor shared by a whole block.

    ``few`` says where values are so few that a cell notes which it has, from ``start`` on in `Cells.has`.
    """

    column: Any
    few: Any
    limits: Any
    start: Any


class Cells(NamedTuple):
    """The known values of each cell: its span on the lines, and its values in the other columns.

    For a column of many values that is the value of the first member, ``centre``, and how far from it the
    others are, ``reach``.
    """

    low: Any
    high: Any
    centre: Any
    reach: Any
    has: Any


class Hosts(NamedTuple):
    """Cells by block: ``order[start[b]:start[b + 1]]``, by falling size at first."""

    block: Any
    order: Any
    start: Any


@kernel
def _divide(Z, order, at, start, stop, border):
    """Move the records below a border to the front; return where the others begin."""
    left, right = start, stop - 1
    while left <= right:
        if Z[order[left], at] < border:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left


@kernel
def split(Z, limits, order, stack, labels, state, budget):
    """Cut blocks of records until no coordinate of a piece spans more than its limit.

    ``order`` holds the records block by block, ``stack`` the bounds of blocks yet to be looked at; ``state``
    is (entries on the stack, cells made). A block is cut in the coordinate whose span is the most times its
    limit, into two at a border of equal parts no wider than the limit.
    """
    q = Z.shape[1]
    while state[0] > 0 and budget > 0:
        state[0] -= 1
        start, stop = stack[state[0], 0], stack[state[0], 1]
        budget -= stop - start
        worst, at, low_at, span_at = 1.0, -1, 0.0, 0.0
        for c in range(q):
            low = high = Z[order[start], c]
            for i in range(start + 1, stop):
                z = Z[order[i], c]
                low, high = min(low, z), max(high, z)
            if high - low > limits[c]:  # the very number that a pair of records has as its distance
                span = high - low
                ratio = span / limits[c] if limits[c] > 1e-9 * span else 1e9
                ratio = max(ratio, 1.0 + 1e-15)
                if ratio > worst:
                    worst, at, low_at, span_at = ratio, c, low, high - low
        if at < 0:
            for i in range(start, stop):
                labels[order[i]] = state[1]
            state[1] += 1
            continue
        parts = math.ceil(worst)
        border = low_at + span_at * ((parts // 2) / parts)
        left = _divide(Z, order, at, start, stop, border)
        if left in (start, stop):  # rounding put the border on an end: cut off the lowest value
            left = _divide(Z, order, at, start, stop, np.nextafter(low_at, np.inf))
        stack[state[0], 0], stack[state[0], 1] = start, left
        stack[state[0] + 1, 0], stack[state[0] + 1, 1] = left, stop
        state[0] += 2


@kernel
def _fits(p, x, cell, others, cells):
    """Whether a record is near enough to all members of a cell, in columns that are no lines."""
    for f in range(len(others.column)):
        k = others.column[f]
        limit = others.limits[f]
        if others.few[f]:  # every value that the cell has is looked at
            has = cells.has[cell, others.start[f] :]
            for level in range(p.levels[k]):
                if has[level] > 0 and distance(p, k, x[k], level) > limit:
                    return False
        else:  # the triangle inequality
            away = distance(p, k, x[k], cells.centre[cell, f])
            if away > 0.0 and away + cells.reach[cell, f] > limit * (1.0 - 1e-12):
                return False
    return True


@kernel
def _note(p, x, place, cell, others, cells):
    """Note that a record is a member of a cell."""
    for c in range(len(place)):
        cells.low[cell, c] = min(cells.low[cell, c], place[c])
        cells.high[cell, c] = max(cells.high[cell, c], place[c])
    for f in range(len(others.column)):
        k = others.column[f]
        if others.few[f]:
            cells.has[cell, others.start[f] + x[k]] = 1
        elif cells.centre[cell, f] < 0:
            cells.centre[cell, f] = x[k]
        else:
            away = distance(p, k, x[k], cells.centre[cell, f])
            cells.reach[cell, f] = max(cells.reach[cell, f], away)


@kernel
def summarize(p, X, labels, lines, others, cells):
    """Note the members of all cells."""
    for i in range(X.shape[0]):
        _note(p, X[i], lines.places[i], labels[i], others, cells)


@kernel
def adopt(p, X, rows, labels, sizes, m, lines, others, cells, hosts):
    """Move records of cells with at most m into another cell that they fit, values unchanged.

    Only cells of the record's block can fit. The first that fits and has more than m ends the search;
    otherwise the largest that fits is taken, if it is larger than the record's own, or of its size and lower
    number. Returns how many moved.
    """
    moved = 0
    for r in range(len(rows)):
        i = rows[r]
        own = labels[i]
        if sizes[own] > m:
            continue
        block, place = hosts.block[i], lines.places[i]
        best = -1
        for h in range(hosts.start[block], hosts.start[block + 1]):
            cell = hosts.order[h]
            inside = True
            for c in range(len(place)):
                span = lines.spans[c]
                if place[c] - cells.low[cell, c] > span or cells.high[cell, c] - place[c] > span:
                    inside = False
                    break
            if not inside or cell == own or sizes[cell] == 0 or (best >= 0 and sizes[cell] <= sizes[best]):
                continue
            if sizes[cell] < sizes[own] or (sizes[cell] == sizes[own] and cell > own):
                continue
            if len(others.column) > 0 and not _fits(p, X[i], cell, others, cells):
                continue
            best = cell
            if sizes[cell] > m:
                break
        if best >= 0:
            sizes[own] -= 1
            sizes[best] += 1
            labels[i] = best
            _note(p, X[i], place, best, others, cells)
            moved += 1
    return moved


@kernel
def to_centroids(p, k, codes, centroids, labels, out, bent):
    """Write each record's distance to its cell's centroid in column k, mapped and weighted where ``bent``."""
    for i in range(len(codes)):
        if bent:
            out[i] = mapped(p, k, codes[i], centroids[labels[i]])
        else:
            out[i] = distance(p, k, codes[i], centroids[labels[i]])


@kernel
def divergence(f, h, total, emd):
    """Return KL(f || h) in nats, or the earth mover's distance, of two histograms of ``total`` records."""
    result, run = 0.0, 0.0
    for b in range(len(f)):
        if emd:
            run += f[b] - h[b]
            result += abs(run)
        elif f[b] > 0:
            if h[b] == 0:
                return np.inf
            result += f[b] * math.log(f[b] / h[b])
    if emd:
        return result / total / max(1, len(f) - 1)
    return max(0.0, result / total)


@kernel
def repair(D, base, places, edges, f, h, bound, emd, draws, sums, start):
    """Swap values between two records of a cell until the divergence is within the bound.

    ``D[k, v]`` is the distance to the centroid of the v-th value of shuffled column k, ``places[k, r]`` the
    value that record r holds, ``base`` the distance in the columns that stay. ``draws`` has rows (column,
    record, record). A swap is kept if it does not increase the divergence (an infinite one is compared by
    its empty bins). Returns the number of draws used; ``h`` and ``places`` hold the state.
    """
    size = places.shape[1]
    if start:
        for b in range(len(h)):
            h[b] = 0
        for r in range(size):
            sums[r] = base[r]
            for k in range(places.shape[0]):
                sums[r] += D[k, places[k, r]]
            h[_bin(edges, sums[r])] += 1
    score = _score(f, h, size, emd)
    used = 0
    while used < draws.shape[0] and score > bound:
        k, r, s = draws[used, 0], draws[used, 1], draws[used, 2]
        used += 1
        gain = D[k, places[k, s]] - D[k, places[k, r]]
        if gain == 0.0:
            continue
        old_r, old_s = _bin(edges, sums[r]), _bin(edges, sums[s])
        new_r, new_s = _bin(edges, sums[r] + gain), _bin(edges, sums[s] - gain)
        h[old_r] -= 1
        h[old_s] -= 1
        h[new_r] += 1
        h[new_s] += 1
        now = _score(f, h, size, emd)
        if now <= score:
            score = now
            sums[r] += gain
            sums[s] -= gain
            places[k, r], places[k, s] = places[k, s], places[k, r]
        else:
            h[new_r] -= 1
            h[new_s] -= 1
            h[old_r] += 1
            h[old_s] += 1
    return used


@kernel
def _bin(edges, x):
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _score(f, h, total, emd):
    """Return the divergence; if it is infinite, a large number that falls with every bin that fills."""
    result = divergence(f, h, total, emd)
    if result < np.inf:
        return result
    lacking = 0.0
    for b in range(len(f)):
        if f[b] > 0 and h[b] == 0:
            lacking += f[b]
    return 1e6 + lacking
