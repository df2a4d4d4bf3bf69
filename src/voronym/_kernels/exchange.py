"""Local search with candidate lists: a record may go to, or change places with, cells of its neighbours."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.moves import CLOSE, Cells, joining, leaving, move, refresh
from voronym._kernels.plain import squared_distance

CLOCK, STAMP, HEAD, WAITING, LOGGED, FREE = 0, 1, 2, 3, 4, 5  # the counters in Search.count


class Search(NamedTuple):
    """What the search knows."""

    cells: Cells
    near: NDArray[np.int64]  # (n, K) the nearest other records
    touched: NDArray[np.int64]  # (room,) when a cell last changed
    checked: NDArray[np.int64]  # (n,) when a record last had nothing to gain
    seen: NDArray[np.int64]  # (room,) the last look at a cell
    queue: NDArray[np.int64]  # (n,) records to look at, a ring
    queued: NDArray[np.int64]  # (n,)
    log: NDArray[np.int64]  # (some, 3) moves since it began: record, from, to; room for 3k+8 at least
    count: NDArray[
        np.int64
    ]  # clock, stamp, head and length of the queue, length of the log, the cell dissolved last
    random: NDArray[np.uint64]  # (1,) state of the generator


@kernel
def draw(random, n):
    """Return a whole number below n (xorshift64*)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return np.int64((x * np.uint64(2685821657736338717) >> np.uint64(33)) % np.uint64(n))


@kernel
def look_at(search, i):
    """Put a record into the queue, unless it waits there already."""
    if search.queued[i] == 0:
        search.queued[i] = 1
        n = len(search.queue)
        search.queue[(search.count[HEAD] + search.count[WAITING]) % n] = i
        search.count[WAITING] += 1


@kernel
def renew(X, search, p):
    """Compute a cell that has changed anew, and look at its members and at those near them."""
    refresh(X, search.cells, p)
    search.count[CLOCK] += 1
    search.touched[p] = search.count[CLOCK]
    for t in range(search.cells.sizes[p]):
        i = search.cells.members[p, t]
        look_at(search, i)
        for u in range(search.near.shape[1]):
            look_at(search, search.near[i, u])


@kernel
def go(search, i, q):
    """Move a record, and remember it."""
    at = search.count[LOGGED]
    search.log[at, 0], search.log[at, 1], search.log[at, 2] = i, search.cells.labels[i], q
    search.count[LOGGED] = at + 1
    move(search.cells, i, q)


@kernel
def take_back(X, search):
    """Undo the moves in the log, and forget who was to be looked at because of them.

    The queue was empty when the log began, so what was known about the cells before is true again.
    """
    moves = search.count[LOGGED]
    for at in range(moves - 1, -1, -1):
        move(search.cells, search.log[at, 0], search.log[at, 1])
    search.count[STAMP] += 1
    for at in range(moves):
        for side in range(1, 3):
            p = search.log[at, side]
            if search.seen[p] != search.count[STAMP]:
                search.seen[p] = search.count[STAMP]
                refresh(X, search.cells, p)
                search.touched[p] = 0
    search.count[LOGGED] = 0
    while search.count[WAITING] > 0:
        search.count[WAITING] -= 1
        search.queued[search.queue[search.count[HEAD]]] = 0
        search.count[HEAD] = (search.count[HEAD] + 1) % len(search.queue)


@kernel
def best_for(X, search, k, i):
    """Return the best shift or swap of record i: (change, cell, record that comes for it or -1).

    Only cells of its nearest records are looked at, and of them only those that changed, or whose partner
    did, since the record last had nothing to gain.
    """
    cells = search.cells
    p = cells.labels[i]
    best, cell, other = 0.0, -1, -1
    since = search.checked[i]
    fresh = search.touched[p] > since
    search.count[STAMP] += 1
    stamp = search.count[STAMP]
    m_p = cells.sizes[p]
    away, inner = leaving(cells, i), math.sqrt(cells.square[i])
    for t in range(search.near.shape[1]):
        q = cells.labels[search.near[i, t]]
        if q == p or search.seen[q] == stamp or not (fresh or search.touched[q] > since):
            continue
        search.seen[q] = stamp
        m_q = cells.sizes[q]
        across = squared_distance(X, i, cells.centroids[q])
        if m_p > k and m_q < 2 * k - 1:
            change = m_q / (m_q + 1.0) * across + away
            if change < best:
                best, cell, other = change, q, -1
        weight = 1.0 / m_p + 1.0 / m_q
        root = math.sqrt(across)
        for u in range(m_q):
            j = cells.members[q, u]
            most = root + math.sqrt(cells.square[j])
            if across - cells.square[i] - cells.square[j] - CLOSE * weight * most * most >= best:
                continue
            between = squared_distance(X, i, X[j])
            change = across - cells.square[i] - cells.square[j] - weight * between
            least = max(0.0, math.sqrt(between) - inner)
            if change + least * least / CLOSE >= best:
                continue
            change += squared_distance(X, j, cells.centroids[p])
            if change < best:
                best, cell, other = change, q, j
    return best, cell, other


@kernel
def settle(X, search, k, tiny, budget):
    """Shift and swap until nobody waits, the log is full or the budget is spent; return the change.

    The budget is the number of records looked at.
    """
    total = 0.0
    while search.count[WAITING] > 0 and budget > 0 and search.count[LOGGED] + 2 <= len(search.log):
        budget -= 1
        i = search.queue[search.count[HEAD]]
        search.count[HEAD] = (search.count[HEAD] + 1) % len(search.queue)
        search.count[WAITING] -= 1
        search.queued[i] = 0
        p = search.cells.labels[i]
        change, q, j = best_for(X, search, k, i)
        if change < -tiny:
            total += change
            go(search, i, q)
            if j >= 0:
                go(search, j, p)
            renew(X, search, p)
            renew(X, search, q)
        else:
            search.checked[i] = search.count[CLOCK]
    return total


@kernel
def dissolve(X, search, k, p):
    """Send every member of a cell to the best cell near it that has room; return the change, or infinity.

    Where a member finds no room the cells are left as they are in the middle: `take_back` restores them.
    """
    cells = search.cells
    total = 0.0
    for t in range(cells.sizes[p]):
        total -= cells.square[cells.members[p, t]]
    while cells.sizes[p] > 0:
        i = cells.members[p, cells.sizes[p] - 1]
        best, cell = math.inf, -1
        for t in range(search.near.shape[1]):
            q = cells.labels[search.near[i, t]]
            if q != p and cells.sizes[q] < 2 * k - 1:
                change = joining(X, cells, i, q)
                if change < best:
                    best, cell = change, q
        if cell < 0:
            return math.inf
        go(search, i, cell)
        renew(X, search, cell)
        total += best
    search.count[FREE] = p
    return total


@kernel
def found(X, search, k, i):
    """Make a cell of record i and the records nearest to it that their cells can spare; return the change.

    It takes the number of the cell dissolved last. Infinity where there are too few records: `take_back`
    restores what is half done.
    """
    cells = search.cells
    new = search.count[FREE]
    if cells.sizes[new] > 0 or cells.sizes[cells.labels[i]] <= k:
        return math.inf
    total = 0.0
    for t in range(-1, search.near.shape[1]):
        u = i if t < 0 else search.near[i, t]
        p = cells.labels[u]
        if p == new or cells.sizes[p] <= k:
            continue
        total += leaving(cells, u)
        go(search, u, new)
        renew(X, search, p)
        if cells.sizes[new] == k:
            renew(X, search, new)
            for s in range(k):
                total += cells.square[cells.members[new, s]]
            return total
    return math.inf


@kernel
def settle_all(X, search, k, tiny):
    """Shift and swap until nobody waits; return the change. The moves cannot be taken back."""
    total = 0.0
    while search.count[WAITING] > 0:
        search.count[LOGGED] = 0
        total += settle(X, search, k, tiny, X.shape[0])
    return total


@kernel
def dissolve_all(X, search, k, tiny, begin, end):
    """Dissolve those of the cells begin..end-1 that lose less without themselves; return the change."""
    total = 0.0
    for p in range(begin, end):
        if search.cells.sizes[p] == 0:
            continue
        search.count[LOGGED] = 0
        change = dissolve(X, search, k, p)
        if change < -tiny:
            total += change + settle_all(X, search, k, tiny)
        else:
            take_back(X, search)
    return total


@kernel
def shake(X, search, k):
    """Disturb the cells around a record drawn at random; return the change.

    One time in three its cell is dissolved; one time in three it is, and a cell is founded on one of the
    records near; else up to three records change places with near ones.
    """
    cells = search.cells
    i = draw(search.random, X.shape[0])
    kind = draw(search.random, 3)
    width = search.near.shape[1]
    if kind < 2:
        change = dissolve(X, search, k, cells.labels[i])
        if kind == 1 and change < math.inf and width >= k:
            centre = search.near[i, draw(search.random, width)]
            change += found(X, search, k, centre)
        return change
    total = 0.0
    for _ in range(1 + draw(search.random, 3)):
        p = cells.labels[i]
        a = cells.members[p, draw(search.random, cells.sizes[p])]
        b = search.near[a, draw(search.random, width)]
        q = cells.labels[b]
        if p != q:
            total += (
                squared_distance(X, b, cells.centroids[p])
                - cells.square[b]
                + squared_distance(X, a, cells.centroids[q])
                - cells.square[a]
                - squared_distance(X, a, X[b]) * (1.0 / cells.sizes[p] + 1.0 / cells.sizes[q])
            )
            go(search, a, q)
            go(search, b, p)
            renew(X, search, p)
            renew(X, search, q)
    return total


@kernel
def iterate(X, search, k, tiny, kicks):
    """Shake and settle so many times, and take back what does not gain; return the change."""
    total = 0.0
    for _ in range(kicks):
        search.count[LOGGED] = 0
        change = shake(X, search, k)
        if change < math.inf:
            change += settle(X, search, k, tiny, X.shape[0])
        if change < -tiny:
            total += change + settle_all(X, search, k, tiny)
        else:
            take_back(X, search)
    return total
