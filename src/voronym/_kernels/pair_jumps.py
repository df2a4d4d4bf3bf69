"""Moves of the pair search that change the number of cells: dissolve one, found one.

Both move one record after the other, always the cheapest, add up what each costs exactly, and take all of it
back where that is too much. Records move to the end of a cell, so taking back is moving the last ones.
"""

from __future__ import annotations

import numpy as np

from voronym._kernels import inner, kernel
from voronym._kernels.random import below, uniform

ZERO = np.float32(0.0)


@inner
def recentre(block, p):
    """Compute a centroid again."""
    size = block.size[p]
    for c in range(block.points.shape[1]):
        total = ZERO
        for t in range(size):
            total += block.points[p, c, t]
        block.centre[p, c] = total / np.float32(size)


@inner
def shift(block, p, i, q):
    """Move a record of p to q."""
    last, place = block.size[p] - 1, block.size[q]
    block.record[q, place] = block.record[p, i]
    block.record[p, i] = block.record[p, last]
    for c in range(block.points.shape[1]):
        block.points[q, c, place] = block.points[p, c, i]
        block.points[p, c, i] = block.points[p, c, last]
    block.size[p] = last
    block.size[q] = place + 1


@inner
def apart(block, p, i, q):
    """Return the squared distance of record i of cell p to the centroid of cell q."""
    total = ZERO
    for c in range(block.points.shape[1]):
        away = block.points[p, c, i] - block.centre[q, c]
        total += away * away
    return total


@inner
def roomy(block, p, i, k):
    """Return the near cell with room to which record i of p adds least, and the amount."""
    chosen = min(-1, p)
    least = np.float32(np.inf)
    for q in block.near[p]:
        size = block.size[q]
        if not 0 < size < 2 * k - 1:
            continue
        price = apart(block, p, i, q) * (np.float32(size) / np.float32(size + 1))
        if chosen < 0 or price < least:
            least = price
            chosen = q
    return chosen, least


@kernel
def dissolve(block, p, k, limit):
    """Move the records of a cell to near ones, if that costs less than ``limit``; return 1 if it is gone."""
    total = ZERO
    size = block.size[p]
    for i in range(size):
        total -= apart(block, p, i, p)
    for i in range(size - 1, -1, -1):
        q, price = roomy(block, p, i, k)
        total += price
        if q < 0 or not total < limit:
            for back in range(i + 1, size):
                q = block.moved[back]
                shift(block, q, block.size[q] - 1, p)
                recentre(block, q)
            return 0
        block.moved[i] = q
        shift(block, p, i, q)
        recentre(block, q)
    return 1


@inner
def closest(block, p, x, new, k):
    """Return the record nearest to a point among the cells near p that have more than k, and its cell."""
    chosen = place = min(-1, p)
    least = np.float32(np.inf)
    for t in range(-1, block.near.shape[1]):
        q = p if t < 0 else block.near[p, t]
        if block.size[q] <= k or q == new:
            continue
        for i in range(block.size[q]):
            total = ZERO
            for c in range(len(x)):
                away = block.points[q, c, i] - x[c]
                total += away * away
            if chosen < 0 or total < least:
                least = total
                chosen = q
                place = i
    return chosen, place


@kernel
def found(block, p, k, limit):
    """Found a cell near a random record of p, if that costs less than ``limit``; return 1 if it was."""
    free = block.size[p] - k
    for q in block.near[p]:
        free += max(0, block.size[q] - k)
    if free < k or block.spare[0] == 0:
        return 0
    new = len(block.size) - block.spare[0]
    x = block.centre[new]
    i = below(block.random, block.size[p])
    for c in range(len(x)):
        x[c] = block.points[p, c, i]
    total = ZERO
    for size in range(k):
        q, i = closest(block, p, x, new, k)
        rest = np.float32(block.size[q])
        total -= apart(block, q, i, q) * (rest / (rest - np.float32(1.0)))
        total += apart(block, q, i, new) * (np.float32(size) / np.float32(size + 1))
        block.moved[size] = q
        shift(block, q, i, new)
        recentre(block, q)
        recentre(block, new)
    if not total < limit:
        for size in range(k - 1, -1, -1):
            q = block.moved[size]
            shift(block, new, size, q)
            recentre(block, q)
        return 0
    for t in range(block.near.shape[1]):
        block.near[new, t] = block.near[p, t]
    block.near[new, block.near.shape[1] - 1] = p
    block.heat[new] = block.heat[p]
    block.spare[0] -= 1
    return 1


@kernel
def thin(block, k, wanted):
    """Dissolve about this number of cells, drawn at random, if cells near them have room."""
    for _ in range(int(wanted + uniform(block.random))):
        p = below(block.random, len(block.size) - block.spare[0])
        if block.size[p] > 0:
            dissolve(block, p, k, np.float32(np.inf))
