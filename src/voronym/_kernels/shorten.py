"""Shorter tours: 2-opt and Or-opt over lists of near records."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance

LEAST = 1e-10  # relative gain below which a move may be rounding alone
SEGMENT = 3  # longest segment that Or-opt moves


@kernel
def between(X, i, j):
    """Return the distance of two records."""
    return math.sqrt(squared_distance(X, i, X[j]))


@kernel
def reverse(tour, place, i, j):
    """Reverse the tour from place i forward to place j, or its complement, whichever is shorter."""
    n = len(tour)
    length = (j - i) % n + 1
    if 2 * length > n:
        i, j, length = (j + 1) % n, (i - 1) % n, n - length
    for _ in range(length // 2):
        tour[i], tour[j] = tour[j], tour[i]
        place[tour[i]], place[tour[j]] = i, j
        i, j = (i + 1) % n, (j - 1) % n


@kernel
def move(tour, place, start, length, after, turned, segment):
    """Move ``length`` records from place ``start`` to after record ``after``, turned round if need be."""
    n = len(tour)
    for t in range(length):
        segment[t] = tour[(start + t) % n]
    forward = (place[after] - start - length + 1) % n
    if 2 * forward <= n:
        for t in range(forward):
            i = (start + t) % n
            tour[i] = tour[(i + length) % n]
            place[tour[i]] = i
        start = (start + forward) % n
    else:
        for t in range(n - length - forward):
            i = (start + length - 1 - t) % n
            tour[i] = tour[(i - length) % n]
            place[tour[i]] = i
        start = (start - (n - length - forward)) % n
    for t in range(length):
        i = (start + t) % n
        tour[i] = segment[length - 1 - t] if turned else segment[t]
        place[tour[i]] = i


@kernel
def two_opt(X, tour, place, near, a):
    """Replace two edges by the two that cross over, if that is shorter; return whether."""
    n = len(tour)
    for step in range(-1, 2, 2):
        b = tour[(place[a] + step) % n]
        old = between(X, a, b)
        for q in range(near.shape[1]):
            c = near[a, q]
            new = between(X, a, c)
            if new >= old:
                break
            e = tour[(place[c] + step) % n]
            removed = old + between(X, c, e)
            if c != a and removed - new - between(X, b, e) > LEAST * removed:
                if step > 0:
                    reverse(tour, place, place[b], place[c])
                else:
                    reverse(tour, place, place[c], place[b])
                return True
    return False


@kernel
def or_opt(X, tour, place, near, a, segment):
    """Move up to `SEGMENT` records that end in a next to a near record, if shorter; return whether."""
    n = len(tour)
    for length in range(1, SEGMENT + 1):
        for side in range(2):
            start = place[a] if side == 0 else (place[a] - length + 1) % n
            first, last = tour[start], tour[(start + length - 1) % n]
            before, behind = tour[(start - 1) % n], tour[(start + length) % n]
            removed = between(X, before, first) + between(X, last, behind)
            gain = removed - between(X, before, behind)
            other = last if side == 0 else first
            for q in range(near.shape[1]):
                c = near[a, q]
                if (place[c] - start) % n < length:
                    continue
                new = between(X, a, c)
                for step in range(-1, 2, 2):
                    e = tour[(place[c] + step) % n]
                    if (place[e] - start) % n < length:
                        continue
                    if gain - new - between(X, other, e) + between(X, c, e) > LEAST * removed:
                        after = c if step > 0 else e
                        turned = (first == a) != (after == c)
                        move(tour, place, start, length, after, turned, segment)
                        return True
    return False


@kernel
def shorten(X, tour, place, near, segment, state, budget):
    """Improve the tour record by record, from ``state`` (record, number of failures in a row).

    Done once all records in a row have given nothing.
    """
    n = len(tour)
    while state[1] < n and budget > 0:
        budget -= 1
        a = state[0]
        if two_opt(X, tour, place, near, a) or or_opt(X, tour, place, near, a, segment):
            state[1] = 0
        else:
            state[1] += 1
            state[0] = (a + 1) % n
