"""Exchanges between groups that watch privacy rules: the cost falls, and rules hold or get closer."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.cells import approach, least_swap, move, refresh, shift, swap
from voronym._kernels.verdict import (
    FOREIGN,
    INFORMATION,
    ORDERED,
    RECURSIVE,
    SLACK,
    Rules,
    excess,
    exchanged,
    measure,
    violation,
)

TRIALS = 12
"""Largest number of exchanges with one group that the rules refuse before the next group is tried."""

MEMBERS = 256
"""Largest number of members of a group that a record considers for a swap."""


class Watch(NamedTuple):
    """The verdicts of the rules on the groups, and the search's memory."""

    rules: Rules
    codes: NDArray[np.int64]  # (C, n) confidential values of the records
    profile: NDArray[np.int64]  # (n,) a number for all of them together
    ordered: NDArray[np.int64]  # (C, all places) codes of the members of each group, ascending
    figure: NDArray[np.float64]  # (groups, J) measures
    violated: NDArray[np.float64]  # (groups, J) distances from the thresholds
    weight: NDArray[np.float64]  # (groups,) sum of the violations
    totals: NDArray[np.float64]  # (J,) sum over all groups
    changed: NDArray[np.int64]  # (groups,) when a group last changed
    checked: NDArray[np.int64]  # (n,) when a record last had nothing to gain
    clock: NDArray[np.int64]  # (1,)
    # What trials of a record with a group gave, by the profile of its partner; the last entry is for shifts.
    cost: NDArray[np.float64]  # (profiles + 1,) what the change of violations costs
    at: NDArray[np.int64]  # (profiles + 1,) the stamp of an entry
    stamp: NDArray[np.int64]  # (1,)
    buffer: NDArray[np.int64]  # (the largest group + 2,) room for codes
    pair: NDArray[np.float64]  # (2, J) violations of two groups


class Terms(NamedTuple):
    """Which exchanges are allowed."""

    k: int
    weight: float  # what a unit of violation costs
    hard: bool  # whether what holds must hold afterwards, and nothing may be violated more than it is
    tiny: float  # what a gain must exceed


@inner
def judge(model, cells, watch, p):
    """Compute cost and violations of a group again."""
    refresh(model, cells, p)
    rules, begin, size = watch.rules, cells.start[p], cells.sizes[p]
    weight = 0.0
    for j in range(len(rules.kind)):
        codes = watch.ordered[rules.column[j], begin : begin + size]
        watch.figure[p, j] = measure(rules, j, codes, size) if rules.kind[j] != FOREIGN else 0.0
        fresh = excess(rules, j, watch.figure[p, j], size)
        watch.totals[j] += fresh - watch.violated[p, j]
        watch.violated[p, j] = fresh
        weight += fresh
    watch.weight[p] = weight
    watch.clock[0] += 1
    watch.changed[p] = watch.clock[0]


@kernel
def judge_all(model, cells, watch, first, last):
    """Compute the groups first..last-1 again."""
    for p in range(first, last):
        judge(model, cells, watch, p)


@inner
def edited(cells, watch, c, p, out, new):
    """Write a group's sorted codes, less one ``out`` and with ``new`` (-1: none); return the size."""
    begin, at, gone, come = cells.start[p], 0, out < 0, new < 0
    buffer = watch.buffer
    for t in range(begin, begin + cells.sizes[p]):
        v = watch.ordered[c, t]
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


@inner
def tried(cells, watch, p, out, new, side):
    """Set a row of ``watch.pair`` to the violations of p if ``out`` left and ``new`` came (-1: none)."""
    rules, codes, result = watch.rules, watch.codes, watch.pair[side]
    for j in range(len(rules.kind)):
        c = rules.column[j]
        a = codes[c, out] if out >= 0 else -1
        b = codes[c, new] if new >= 0 else -1
        if a == b:
            result[j] = watch.violated[p, j]
        elif rules.kind[j] == FOREIGN:
            result[j] = math.inf
        elif a >= 0 and b >= 0 and rules.kind[j] != ORDERED and rules.kind[j] != RECURSIVE:
            value = watch.figure[p, j]
            result[j] = exchanged(rules, j, watch.ordered[c], cells.start[p], cells.sizes[p], value, a, b)
        else:
            size = edited(cells, watch, c, p, a, b)
            result[j] = violation(rules, j, watch.buffer, size)


@inner
def price(cells, watch, terms, q, i, other):
    """Return the change in violations if i goes to q and ``other`` (-1: nobody) comes in return.

    Infinity where it is forbidden.
    """
    p, rules = cells.labels[i], watch.rules
    for side in range(2):
        if side == 0:
            tried(cells, watch, p, i, other, side)
        else:
            tried(cells, watch, q, other, i, side)
    total = 0.0
    for j in range(len(rules.kind)):
        mine, theirs = watch.pair[0, j], watch.pair[1, j]
        change = mine - watch.violated[p, j] + theirs - watch.violated[q, j]
        if terms.hard or change == math.inf:
            if rules.kind[j] == INFORMATION:
                if change > 0.0 and watch.totals[j] + change > rules.need[j] / rules.scale[j]:
                    return math.inf
            elif mine > watch.violated[p, j] + SLACK or theirs > watch.violated[q, j] + SLACK:
                return math.inf
        total += terms.weight * change
    return total


@inner
def best_for(model, cells, watch, near, terms, i):
    """Return the best shift or swap of record i with its near groups: (group, partner or -1); -1: none gains.

    Trials are remembered by the partner's profile, and made before costs are computed where they may gain.
    Where violations have a price, pairs of groups without any are left alone.
    """
    p = cells.labels[i]
    none = min(-1, p)
    best, cell, other = -terms.tiny, none, none
    m_p = cells.sizes[p]
    since = watch.checked[i]
    fresh = watch.changed[p] > since
    for t in range(near.shape[1]):
        q = near[i, t]
        if q == p or not (fresh or watch.changed[q] > since):
            continue
        watch.stamp[0] += 1
        m_q = cells.sizes[q]
        hope = terms.weight * (watch.weight[p] + watch.weight[q])
        if terms.weight > 0.0 and hope == 0.0:
            continue  # there is nothing to repair
        shared, refused = approach(model, cells, i, q), 0
        for u in range(-1, min(m_q, MEMBERS)):
            if u < 0:
                if m_p <= terms.k or m_q >= cells.capacity[q]:
                    continue
                j, b = none, len(watch.at) - 1
                change = shift(model, cells, i, q, shared, math.inf)
                least = change
            else:
                # Of a large group some members, others for each record.
                j = cells.members[cells.start[q] + (u if m_q <= MEMBERS else (u + 61 * i) % m_q)]
                b = watch.profile[j]
                change = math.inf
                least = least_swap(model, cells, i, j, shared)
                if least - hope >= best:
                    continue
                if hope == 0.0:  # costs are computed sooner than trials are made
                    change = swap(model, cells, i, j, shared, best)
                    least = change
            paid = 0.0
            if j >= 0 and b == watch.profile[i]:
                if least >= best:
                    continue
            else:
                if least - hope >= best:
                    continue
                if watch.at[b] != watch.stamp[0]:
                    watch.at[b] = watch.stamp[0]
                    watch.cost[b] = price(cells, watch, terms, q, i, j)
                paid = watch.cost[b]
                if least + paid >= best:
                    if paid == math.inf:
                        refused += 1
                        if refused == TRIALS:
                            break
                    continue
            if j >= 0 and hope > 0.0:
                change = swap(model, cells, i, j, shared, best - paid)
            if change + paid < best:
                best, cell, other = change + paid, q, j
    return cell, other


@inner
def take(cells, watch, i, q):
    """Move record i with its codes to group q, which has room. Call `judge` on both groups afterwards."""
    p, ordered = cells.labels[i], watch.ordered
    for c in range(len(watch.codes)):
        v = watch.codes[c, i]
        at = cells.start[p]
        while ordered[c, at] != v:
            at += 1
        for t in range(at, cells.start[p] + cells.sizes[p] - 1):
            ordered[c, t] = ordered[c, t + 1]
        t = cells.start[q] + cells.sizes[q]
        while t > cells.start[q] and ordered[c, t - 1] > v:
            ordered[c, t] = ordered[c, t - 1]
            t -= 1
        ordered[c, t] = v
    move(cells, i, q)


@kernel
def settle(model, cells, watch, near, terms, first, last):
    """Make the best shift or swap of each of the records first..last-1 if it gains; count them."""
    moves = 0
    for i in range(first, last):
        p = cells.labels[i]
        q, j = best_for(model, cells, watch, near, terms, i)
        if q < 0:
            watch.checked[i] = watch.clock[0]
            continue
        moves += 1
        for side in range(2):
            if side == 0 or j >= 0:
                take(cells, watch, i if side == 0 else j, q if side == 0 else p)
        for side in range(2):
            judge(model, cells, watch, p if side == 0 else q)
    return moves
