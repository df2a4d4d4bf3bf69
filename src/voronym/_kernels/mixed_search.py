"""Local search and annealing over cells of records of levels: shifts, swaps and dissolved cells.

The moves are those of `exchange`, with the costs of `mixed_cells`; every change of cost is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.exchange import CLOCK, FREE, HEAD, LOGGED, STAMP, WAITING, draw, look_at
from voronym._kernels.mixed_cells import Cells, after, move, price, price_wide, refresh, weigh


class Search(NamedTuple):
    """What the search knows."""

    cells: Cells
    near: NDArray[np.int64]  # (n, K) near records, whose cells are candidates
    touched: NDArray[np.int64]  # (room,) when a cell last changed
    checked: NDArray[np.int64]  # (n,) when a record last had nothing to gain
    seen: NDArray[np.int64]  # (room,) the last look at a cell
    queue: NDArray[np.int64]  # (n,) records to look at, a ring
    queued: NDArray[np.int64]  # (n,)
    log: NDArray[np.int64]  # (some, 3) moves since it began: record, from, to
    count: NDArray[np.int64]  # (6,) the counters of `exchange`
    random: NDArray[np.uint64]  # (1,) state of the generator


@kernel
def renew(p, s, q):
    """Compute a cell that has changed anew, and look at its members and at those near them."""
    c = s.cells
    refresh(p, c, q)
    weigh(p, c, q)
    s.count[CLOCK] += 1
    s.touched[q] = s.count[CLOCK]
    for t in range(c.sizes[q]):
        i = c.members[q, t]
        look_at(s, i)
        for u in range(s.near.shape[1]):
            look_at(s, s.near[i, u])


@kernel
def go(s, i, q):
    """Move a record, and remember it."""
    at = s.count[LOGGED]
    s.log[at, 0], s.log[at, 1], s.log[at, 2] = i, s.cells.labels[i], q
    s.count[LOGGED] = at + 1
    move(s.cells, i, q)


@kernel
def take_back(p, s):
    """Undo the moves in the log, and forget who was to be looked at because of them."""
    moves = s.count[LOGGED]
    for at in range(moves - 1, -1, -1):
        move(s.cells, s.log[at, 0], s.log[at, 1])
    s.count[STAMP] += 1
    for at in range(moves):
        for side in range(1, 3):
            q = s.log[at, side]
            if s.seen[q] != s.count[STAMP]:
                s.seen[q] = s.count[STAMP]
                refresh(p, s.cells, q)
                weigh(p, s.cells, q)
                s.touched[q] = 0
    s.count[LOGGED] = 0
    while s.count[WAITING] > 0:
        s.count[WAITING] -= 1
        s.queued[s.queue[s.count[HEAD]]] = 0
        s.count[HEAD] = (s.count[HEAD] + 1) % len(s.queue)


@kernel
def swap_change(p, c, i, j, limit):
    """Return by how much the cost changes if records i and j change places; infinity from ``limit`` on."""
    a, b = c.labels[i], c.labels[j]
    before = c.cost[a] + c.cost[b]
    # What comes to b adds something or nothing: b is left with its cost without j, at least.
    here = after(p, c, a, i, j, limit + c.cost[a] + c.drop[j])
    if here == math.inf:
        return here
    there = after(p, c, b, j, i, limit + before - here)
    return here + there - before


@kernel
def best_for(p, s, k, i):
    """Return the best shift or swap of record i: (change, cell, record that comes for it or -1)."""
    c = s.cells
    X, levels, at, rows, tables = c.X, c.levels, c.at, c.rows, c.tables
    low, high, column, sums, members, sizes = c.low, c.high, c.column, c.sums, c.members, c.sizes
    cost, drop, labels, near, seen, touched = c.cost, c.drop, c.labels, s.near, s.seen, s.touched
    wide = c.wide[0]
    a = labels[i]
    none = min(-1, k)  # a literal would be a type of its own
    best, cell, other = 0.0, none, none
    since = s.checked[i]
    fresh = touched[a] > since
    s.count[STAMP] += 1
    stamp = s.count[STAMP]
    for t in range(near.shape[1]):
        b = labels[near[i, t]]
        if b == a or seen[b] == stamp or not (fresh or touched[b] > since):
            continue
        seen[b] = stamp
        if sizes[a] > k and sizes[b] < 2 * k - 1:
            change = price(
                X, levels, at, rows, tables, low, high, column, sums, b, none, i, best + drop[i] + cost[b]
            )
            if wide > 0 and change < math.inf:
                change += price_wide(p, c, b, none, i)
            change -= cost[b] + drop[i]
            if change < best:
                best, cell, other = change, b, none
        before = cost[a] + cost[b]
        for u in range(sizes[b]):
            j = members[b, u]
            if -drop[i] - drop[j] >= best:  # a swap saves no more than two leavers do
                continue
            # What comes to b adds something or nothing: b is left with its cost without j, at least.
            limit = best + cost[a] + drop[j]
            here = price(X, levels, at, rows, tables, low, high, column, sums, a, i, j, limit)
            if wide > 0 and here < limit:
                here += price_wide(p, c, a, i, j)
            if here >= limit:
                continue
            limit = best + before - here
            there = price(X, levels, at, rows, tables, low, high, column, sums, b, j, i, limit)
            if wide > 0 and there < limit:
                there += price_wide(p, c, b, j, i)
            if there < limit and here + there - before < best:
                best, cell, other = here + there - before, b, j
    return best, cell, other


@kernel
def settle(p, s, k, tiny, budget):
    """Shift and swap until nobody waits, the log is full or so many were looked at; return the change."""
    total = 0.0
    while s.count[WAITING] > 0 and budget > 0 and s.count[LOGGED] + 2 <= len(s.log):
        budget -= 1
        i = s.queue[s.count[HEAD]]
        s.count[HEAD] = (s.count[HEAD] + 1) % len(s.queue)
        s.count[WAITING] -= 1
        s.queued[i] = 0
        a = s.cells.labels[i]
        change, b, j = best_for(p, s, k, i)
        if change < -tiny:
            total += change
            go(s, i, b)
            if j >= 0:
                go(s, j, a)
            renew(p, s, a)
            renew(p, s, b)
        else:
            s.checked[i] = s.count[CLOCK]
    return total


@kernel
def dissolve(p, s, k, q):
    """Send every member of a cell to the best cell near it that has room; return the change, or infinity."""
    c = s.cells
    none = min(-1, k)
    total = -c.cost[q]
    while c.sizes[q] > 0:
        i = c.members[q, c.sizes[q] - 1]
        best, cell = math.inf, none
        for t in range(s.near.shape[1]):
            b = c.labels[s.near[i, t]]
            if b != q and c.sizes[b] < 2 * k - 1:
                change = after(p, c, b, none, i, best + c.cost[b]) - c.cost[b]
                if change < best:
                    best, cell = change, b
        if cell < 0:
            return math.inf
        go(s, i, cell)
        renew(p, s, cell)
        total += best
    refresh(p, c, q)
    s.count[FREE] = q
    return total


@kernel
def found(p, s, k, i):
    """Make a cell of record i and near ones that their cells can spare; return the change, or infinity."""
    c = s.cells
    new = s.count[FREE]
    if c.sizes[new] > 0 or c.sizes[c.labels[i]] <= k:
        return math.inf
    total = 0.0
    for t in range(-1, s.near.shape[1]):
        u = i if t < 0 else s.near[i, t]
        a = c.labels[u]
        if a == new or c.sizes[a] <= k:
            continue
        total -= c.drop[u]
        go(s, u, new)
        renew(p, s, a)
        if c.sizes[new] == k:
            renew(p, s, new)
            return total + c.cost[new]
    return math.inf


@kernel
def dissolve_all(p, s, k, tiny, begin, end):
    """Dissolve those of the cells begin..end-1 that lose less without themselves; return the change."""
    total = 0.0
    for q in range(begin, end):
        if s.cells.sizes[q] == 0:
            continue
        s.count[LOGGED] = 0
        change = dissolve(p, s, k, q)
        if change < -tiny:
            total += change + settle_all(p, s, k, tiny)
        else:
            take_back(p, s)
    return total


@kernel
def settle_all(p, s, k, tiny):
    """Shift and swap until nobody waits; return the change. The moves cannot be taken back."""
    total = 0.0
    while s.count[WAITING] > 0:
        s.count[LOGGED] = 0
        total += settle(p, s, k, tiny, s.cells.X.shape[0])
    return total


@kernel
def jump(p, s, k, i, kind):
    """Dissolve the cell of record i (0), also found one near it (1), or found one only; return the change."""
    change = 0.0
    if kind < 2:
        change = dissolve(p, s, k, s.cells.labels[i])
    if kind > 0 and change < math.inf:
        change += found(p, s, k, s.near[i, draw(s.random, s.near.shape[1])])
    return change


@kernel
def shake(p, s, k):
    """Disturb the cells around a record drawn at random, as `exchange.shake` does; return the change."""
    c = s.cells
    i = draw(s.random, c.X.shape[0])
    kind = draw(s.random, 3)
    if kind < 2:
        return jump(p, s, k, i, kind)
    total = 0.0
    for _ in range(1 + draw(s.random, 3)):
        a = c.labels[i]
        one = c.members[a, draw(s.random, c.sizes[a])]
        other = s.near[one, draw(s.random, s.near.shape[1])]
        b = c.labels[other]
        if a != b:
            total += swap_change(p, c, one, other, math.inf)
            go(s, one, b)
            go(s, other, a)
            renew(p, s, a)
            renew(p, s, b)
    return total


@kernel
def iterate(p, s, k, tiny, kicks):
    """Shake and settle so many times, and take back what does not gain; return the change."""
    total = 0.0
    for _ in range(kicks):
        s.count[LOGGED] = 0
        change = shake(p, s, k)
        if change < math.inf:
            change += settle(p, s, k, tiny, s.cells.X.shape[0])
        if change < -tiny:
            total += change + settle_all(p, s, k, tiny)
        else:
            take_back(p, s)
    return total


@kernel
def free_cell(s):
    """Let the next cell that is founded have a free number, where there is one."""
    for q in range(len(s.cells.sizes)):
        if s.cells.sizes[q] == 0:
            s.count[FREE] = q
            return


@kernel
def anneal(p, s, k, temperature, jumps, proposals):
    """Make so many proposals at one temperature (Metropolis); return the change.

    How much worse a proposal may be is drawn before it is priced, so that pricing ends where it is too much.
    """
    c = s.cells
    X, levels, at, rows, tables = c.X, c.levels, c.at, c.rows, c.tables
    low, high, column, sums, members, sizes = c.low, c.high, c.column, c.sums, c.members, c.sizes
    cost, drop, labels, near = c.cost, c.drop, c.labels, s.near
    wide = c.wide[0]
    n, width = near.shape
    total = 0.0
    many = max(2**31, n)
    scale = 1.0 / many
    none, two, three = min(-1, k), min(2, k), min(3, k + 1)  # literals would be types of their own
    for _ in range(proposals):
        i = draw(s.random, n)
        chance = (draw(s.random, many) + 0.5) * scale
        limit = -temperature * math.log(chance) if temperature > 0.0 else 0.0
        if jumps > 0.0 and draw(s.random, many) * scale < jumps:
            s.count[LOGGED] = 0
            free_cell(s)
            change = jump(p, s, k, i, draw(s.random, three))
            if change < limit:
                total += change
                s.count[LOGGED] = 0
            else:
                take_back(p, s)
            continue
        a, b = labels[i], labels[near[i, draw(s.random, width)]]
        if a == b:
            continue
        before = cost[a] + cost[b]
        if sizes[a] > k and sizes[b] < 2 * k - 1 and draw(s.random, two) == 0:
            j = none
            here = cost[a] - drop[i]
        else:
            j = members[b, draw(s.random, sizes[b])]
            here = price(
                X, levels, at, rows, tables, low, high, column, sums, a, i, j, limit + cost[a] + drop[j]
            )
            if wide > 0 and here < math.inf:
                here += price_wide(p, c, a, i, j)
            if here >= limit + cost[a] + drop[j]:
                continue
        there = price(X, levels, at, rows, tables, low, high, column, sums, b, j, i, limit + before - here)
        if wide > 0 and there < math.inf:
            there += price_wide(p, c, b, j, i)
        change = here + there - before
        if change < limit:
            total += change
            move(c, i, b)
            if j >= 0:
                move(c, j, a)
            refresh(p, c, a)
            refresh(p, c, b)
            weigh(p, c, a)
            weigh(p, c, b)
    return total
