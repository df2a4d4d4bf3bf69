"""Exchanges between cells that watch privacy rules: the squares fall, and rules hold or get closer."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance
from voronym._kernels.verdict import (
    FOREIGN,
    INFORMATION,
    ORDERED,
    RECURSIVE,
    SLACK,
    excess,
    exchanged,
    measure,
    violation,
)

TRIALS = 12
"""Exchanges with one cell, at most, that the rules may refuse before the next cell is tried."""


MEMBERS = 256
"""Members of a cell, at most, that a record looks at for a swap."""


class Groups(NamedTuple):
    """A partition under change, with the sorted codes of every cell."""

    labels: NDArray[np.int64]  # (n,)
    slot: NDArray[np.int64]  # (n,) place among the cell's members
    start: NDArray[np.int64]  # (cells,) where a cell's members begin
    room: NDArray[np.int64]  # (cells,) how many it may have
    sizes: NDArray[np.int64]  # (cells,)
    members: NDArray[np.int64]  # (all the room,)
    ordered: NDArray[np.int64]  # (C, all the room) codes of the members, ascending
    centroids: NDArray[np.float64]  # (cells, d)
    square: NDArray[np.float64]  # (n,) squared distance to the own centroid
    figure: NDArray[np.float64]  # (cells, J) what was measured
    violated: NDArray[np.float64]  # (cells, J) how far it is from what is asked
    weight: NDArray[np.float64]  # (cells,) sum of the violations
    totals: NDArray[np.float64]  # (J,) sum over all cells
    changed: NDArray[np.int64]  # (cells,) when a cell last changed
    checked: NDArray[np.int64]  # (n,) when a record last had nothing to gain
    clock: NDArray[np.int64]  # (1,)


class Memory(NamedTuple):
    """What trials of a record with a cell gave, by the profile (all codes) of its partner in a swap."""

    cost: NDArray[np.float64]  # (profiles + 1,) what the change of violations costs; the last is for shifts
    at: NDArray[np.int64]  # (profiles + 1,) the stamp of an entry
    stamp: NDArray[np.int64]  # (1,)
    buffer: NDArray[np.int64]  # (the largest room + 1,)
    pair: NDArray[np.float64]  # (2, J) violations of the two cells


@kernel
def refresh(X, groups, rules, p):
    """Compute centroid, squares and violations of a cell anew."""
    begin, size = groups.start[p], groups.sizes[p]
    for a in range(X.shape[1]):
        total = 0.0
        for t in range(begin, begin + size):
            total += X[groups.members[t], a]
        groups.centroids[p, a] = total / size
    for t in range(begin, begin + size):
        i = groups.members[t]
        groups.square[i] = squared_distance(X, i, groups.centroids[p])
    weight = 0.0
    for j in range(len(rules.kind)):
        codes = groups.ordered[rules.column[j], begin : begin + size]
        groups.figure[p, j] = measure(rules, j, codes, size) if rules.kind[j] != FOREIGN else 0.0
        fresh = excess(rules, j, groups.figure[p, j], size)
        groups.totals[j] += fresh - groups.violated[p, j]
        groups.violated[p, j] = fresh
        weight += fresh
    groups.weight[p] = weight
    groups.clock[0] += 1
    groups.changed[p] = groups.clock[0]


@kernel
def fill(X, groups, rules):
    """Compute all cells anew."""
    for p in range(len(groups.sizes)):
        refresh(X, groups, rules, p)


@kernel
def edited(groups, c, p, out, new, buffer):
    """Write a cell's sorted codes, less one ``out`` and with ``new`` (-1: none); return the size."""
    begin, at, gone, come = groups.start[p], 0, out < 0, new < 0
    for t in range(begin, begin + groups.sizes[p]):
        v = groups.ordered[c, t]
        if not come and new <= v:
            buffer[at] = new
            at += 1
            come = True
        if not gone and v == out:
            gone = True
            continue
        buffer[at] = v
        at += 1
    if not come:
        buffer[at] = new
        at += 1
    return at


@kernel
def tried(groups, rules, codes, p, out, new, buffer, found):
    """Set ``found`` to the violations of cell p if record ``out`` left and ``new`` came (-1: none)."""
    for j in range(len(rules.kind)):
        c = rules.column[j]
        a = codes[c, out] if out >= 0 else -1
        b = codes[c, new] if new >= 0 else -1
        if a == b:
            found[j] = groups.violated[p, j]
        elif rules.kind[j] == FOREIGN:
            found[j] = math.inf
        elif a >= 0 and b >= 0 and rules.kind[j] != ORDERED and rules.kind[j] != RECURSIVE:
            value = groups.figure[p, j]
            found[j] = exchanged(rules, j, groups.ordered[c], groups.start[p], groups.sizes[p], value, a, b)
        else:
            size = edited(groups, c, p, a, b, buffer)
            found[j] = violation(rules, j, buffer, size)


@kernel
def price(groups, rules, memory, codes, p, q, i, other, weight, hard):
    """Return what it costs that i of p goes to q, and ``other`` (-1: nobody) comes for it.

    Every unit of violation costs ``weight``. Infinity where it is forbidden. Hard: what holds must hold
    afterwards, and nothing may be violated more than it is.
    """
    for side in range(2):
        if side == 0:
            tried(groups, rules, codes, p, i, other, memory.buffer, memory.pair[0])
        else:
            tried(groups, rules, codes, q, other, i, memory.buffer, memory.pair[1])
    total = 0.0
    for j in range(len(rules.kind)):
        mine, theirs = memory.pair[0, j], memory.pair[1, j]
        change = mine - groups.violated[p, j] + theirs - groups.violated[q, j]
        if hard or change == math.inf:
            if rules.kind[j] == INFORMATION:
                if change > 0.0 and groups.totals[j] + change > rules.need[j] / rules.scale[j]:
                    return math.inf
            elif mine > groups.violated[p, j] + SLACK or theirs > groups.violated[q, j] + SLACK:
                return math.inf
        total += weight * change
    return total


@kernel
def best_for(X, groups, rules, memory, codes, profile, near, k, weight, hard, tiny, i):
    """Return the best shift or swap of record i with its near cells: (change, cell, partner or -1).

    Trials are remembered by the partner's profile, and made before distances where they may gain. Where
    violations have a price, pairs of cells without any are left alone.
    """
    p = groups.labels[i]
    best, cell, other = -tiny, -1, -1
    m_p = groups.sizes[p]
    since, mine = groups.checked[i], groups.square[i]
    fresh = groups.changed[p] > since
    for t in range(near.shape[1]):
        q = near[i, t]
        if q == p or not (fresh or groups.changed[q] > since):
            continue
        memory.stamp[0] += 1
        m_q = groups.sizes[q]
        across = squared_distance(X, i, groups.centroids[q])
        hope = weight * (groups.weight[p] + groups.weight[q])
        if weight > 0.0 and hope == 0.0:
            continue  # there is nothing to repair
        both = 1.0 / m_p + 1.0 / m_q
        root, refused = math.sqrt(across), 0
        for u in range(-1, min(m_q, MEMBERS)):
            if u < 0:
                if m_p <= k or m_q >= groups.room[q]:
                    continue
                j, b = -1, len(memory.at) - 1
                change = m_q / (m_q + 1.0) * across - m_p / (m_p - 1.0) * mine
                least = change
            else:
                # Of a large cell some members, others for each record.
                j = groups.members[groups.start[q] + (u if m_q <= MEMBERS else (u + 61 * i) % m_q)]
                b = profile[j]
                change = across - mine - groups.square[j]
                most = root + math.sqrt(groups.square[j])  # |x_i - x_j| at most
                least = change - both * most * most
                if least - hope >= best:
                    continue
                if hope == 0.0:  # distances cost less than trials
                    change += squared_distance(X, j, groups.centroids[p])
                    change -= both * squared_distance(X, i, X[j])
                    least = change
            cost = 0.0
            if j >= 0 and b == profile[i]:
                if least >= best:
                    continue
            else:
                if least - hope >= best:
                    continue
                if memory.at[b] != memory.stamp[0]:
                    memory.at[b] = memory.stamp[0]
                    memory.cost[b] = price(groups, rules, memory, codes, p, q, i, j, weight, hard)
                cost = memory.cost[b]
                if least + cost >= best:
                    if cost == math.inf:
                        refused += 1
                        if refused == TRIALS:
                            break
                    continue
            if j >= 0 and hope > 0.0:
                change += squared_distance(X, j, groups.centroids[p]) - both * squared_distance(X, i, X[j])
            if change + cost < best:
                best, cell, other = change + cost, q, j
    return best, cell, other


@kernel
def take(groups, codes, i, q):
    """Move record i to cell q, which has room. `refresh` both cells afterwards."""
    p = groups.labels[i]
    for c in range(len(codes)):
        v = codes[c, i]
        at = groups.start[p]
        while groups.ordered[c, at] != v:
            at += 1
        for t in range(at, groups.start[p] + groups.sizes[p] - 1):
            groups.ordered[c, t] = groups.ordered[c, t + 1]
        t = groups.start[q] + groups.sizes[q]
        while t > groups.start[q] and groups.ordered[c, t - 1] > v:
            groups.ordered[c, t] = groups.ordered[c, t - 1]
            t -= 1
        groups.ordered[c, t] = v
    groups.sizes[p] -= 1
    last = groups.members[groups.start[p] + groups.sizes[p]]
    groups.members[groups.start[p] + groups.slot[i]] = last
    groups.slot[last] = groups.slot[i]
    groups.members[groups.start[q] + groups.sizes[q]] = i
    groups.slot[i] = groups.sizes[q]
    groups.sizes[q] += 1
    groups.labels[i] = q


@kernel
def settle(X, groups, rules, memory, codes, profile, near, k, weight, hard, tiny, begin, end):
    """Make the best shift or swap of each of the records begin..end-1, where it gains; return their number.

    A cell has one place more than its room, for the middle of a swap.
    """
    moves = 0
    for i in range(begin, end):
        p = groups.labels[i]
        _, q, j = best_for(X, groups, rules, memory, codes, profile, near, k, weight, hard, tiny, i)
        if q < 0:
            groups.checked[i] = groups.clock[0]
            continue
        moves += 1
        for side in range(2):
            if side == 0 or j >= 0:
                take(groups, codes, i if side == 0 else j, q if side == 0 else p)
        for side in range(2):
            refresh(X, groups, rules, p if side == 0 else q)
    return moves
