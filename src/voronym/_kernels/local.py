"""Prices that are raised record by record, from lists of the nearest: a bound for tables of any size.

Records are in the order of their leaves, boxes of some tens of records each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.pricing import price_anchor


class Leaves(NamedTuple):
    """The records by leaf, and the boxes around them."""

    X: NDArray[np.float64]  # (n, d)
    starts: NDArray[np.int64]  # (leaves + 1,)
    low: NDArray[np.float64]  # (leaves, d)
    high: NDArray[np.float64]  # (leaves, d)


class Round(NamedTuple):
    """The state of a round: prices for groups of m, and bounds for smaller ones."""

    prices: NDArray[np.float64]  # (n,)
    near: NDArray[np.float64]  # (n, k) as for `pricing`
    worth: NDArray[np.float64]  # (n,) price less what the distances to the others cost at least
    best: NDArray[np.float64]  # (leaves,) the largest worth in a leaf
    lists: NDArray[np.int32]  # (n, count) the nearest records, the nearest first
    radius: NDArray[np.float64]  # (n,) nobody outside the list is nearer


class Room(NamedTuple):
    """Scratch of one thread: distances, prices and ranks within a list, and the groups found."""

    D2: NDArray[np.float64]  # (count + 1, count + 1)
    near: NDArray[np.float64]
    prices: NDArray[np.float64]
    members: NDArray[np.int64]
    least: NDArray[np.float64]  # (k,)
    values: NDArray[np.float64]  # (1,)
    sets: NDArray[np.int64]  # (1, 2k - 1)


@kernel
def to_box(x, low, high):
    """Return the squared distance of a point to a box."""
    total = 0.0
    for q in range(len(x)):
        gap = max(low[q] - x[q], x[q] - high[q])
        if gap > 0.0:
            total += gap * gap
    return total


@kernel
def apart(x, y):
    """Return the squared distance of two points."""
    total = 0.0
    for q in range(len(x)):
        gap = x[q] - y[q]
        total += gap * gap
    return total


@kernel
def scan(leaves, leaf, i, distances, members, result):
    """Merge the records of a leaf into the sorted nearest of record i; return their number."""
    room = len(distances)
    for j in range(leaves.starts[leaf], leaves.starts[leaf + 1]):
        if j == i:
            continue
        far = apart(leaves.X[i], leaves.X[j])
        if result == room and far >= distances[room - 1]:
            continue
        place = result if result < room else room - 1
        result = min(result + 1, room)
        while place > 0 and distances[place - 1] > far:
            distances[place] = distances[place - 1]
            members[place] = members[place - 1]
            place -= 1
        distances[place] = far
        members[place] = j
    return result


@kernel
def nearest(leaves, first, last, home, distances, lists, radius, near):
    """List the nearest records of records first..last-1, from their own leaf outwards.

    ``near[i, q]`` becomes the sum of the q least distances.
    """
    count = leaves.low.shape[0]
    for i in range(first, last):
        result = scan(leaves, home[i], i, distances, lists[i], 0)
        for step in range(1, count):
            for leaf in (home[i] - step, home[i] + step):
                if leaf < 0 or leaf >= count:
                    continue
                box = to_box(leaves.X[i], leaves.low[leaf], leaves.high[leaf])
                if result == len(distances) and box >= distances[result - 1]:
                    continue
                result = scan(leaves, leaf, i, distances, lists[i], result)
        radius[i] = distances[result - 1]
        near[i, 0] = 0.0
        for q in range(1, near.shape[1]):
            near[i, q] = near[i, q - 1] + distances[q - 1]


@kernel
def outside(leaves, state, i, m):
    """Return a lower bound on what a record outside the list of i adds to a group of m with i."""
    least = np.inf
    radius = state.radius[i] * (1.0 - 1e-12)
    for leaf in range(leaves.low.shape[0]):
        if radius / m - state.best[leaf] >= least:
            continue
        box = max(radius, to_box(leaves.X[i], leaves.low[leaf], leaves.high[leaf]))
        if box / m - state.best[leaf] >= least:
            continue
        for j in range(leaves.starts[leaf], leaves.starts[leaf + 1]):
            if radius / m - state.worth[j] < least:
                far = apart(leaves.X[i], leaves.X[j])
                if far >= radius and j != i:
                    least = min(least, far / m - state.worth[j])
    return least


@kernel
def gather(leaves, state, room, i):
    """Copy the known values of a record and its list, the record first."""
    size = state.lists.shape[1] + 1
    for a in range(size):
        p = i if a == 0 else state.lists[i, a - 1]
        room.members[a] = p
        room.prices[a] = state.prices[p]
        for q in range(room.near.shape[1]):
            room.near[a, q] = state.near[p, q]
        room.D2[a, a] = 0.0
        for b in range(a):
            far = apart(leaves.X[p], leaves.X[room.members[b]])
            room.D2[a, b] = far
            room.D2[b, a] = far


@kernel
def smallest(state, room, m, cap):
    """Return the least that m - 2 further records add, none above ``cap``."""
    result = min(0, m)
    for a in range(1, len(room.prices)):
        value = min(cap, room.D2[0, a] / m - state.worth[room.members[a]])
        if result < m - 2:
            place = result
            result += 1
        elif m > 2 and value < room.least[m - 3]:
            place = m - 3
        else:
            continue
        while place > 0 and room.least[place - 1] > value:
            room.least[place] = room.least[place - 1]
            place -= 1
        room.least[place] = value
    total = 0.0
    for q in range(m - 2):
        total += room.least[q]
    return total


@kernel
def spare(leaves, state, local, cuts, work, room, i, m, budget):
    """Return a lower bound on the cost beyond prices of any group of m with record i; 0 if unknown.

    Groups with a record outside the list cost what `outside` says; the others are searched.
    """
    gather(leaves, state, room, i)
    beyond = outside(leaves, state, i, m)
    limit = smallest(state, room, m, beyond) + beyond - room.prices[0]
    if limit <= 0.0:
        return 0.0
    pooled = len(room.prices) - 1
    for a in range(pooled):
        work.pool[a] = a + 1
    _, _, lower = price_anchor(local, cuts, work, 0, pooled, m, limit, np.inf, budget, room.values, room.sets)
    return max(0.0, lower)


@kernel
def raised(leaves, state, local, cuts, work, room, first, last, m, budget, error, out):
    """Fill ``out`` with how much the prices of records first..last-1 may rise: an m-th of `spare`.

    ``error`` is more than rounding can do to a cost.
    """
    for i in range(first, last):
        more = spare(leaves, state, local, cuts, work, room, i, m, budget)
        out[i] = max(0.0, (1.0 - 1e-12) * more - error) / m
