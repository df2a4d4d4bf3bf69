"""Local search with candidate lists: a record may go to, or change places with, cells of its neighbours.

One search for every cost model; every change of cost is exact.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.cells import (
    FREE,
    LOGGED,
    approach,
    begin,
    change,
    cost,
    move_logged,
    refresh,
    release,
    shift,
    swap,
    take_back,
    update,
)
from voronym._kernels.random import below

CLOCK, STAMP, HEAD, WAITING = 0, 1, 2, 3  # the counters in Search.count


class Search(NamedTuple):
    """The state of the search. Made by `make`."""

    near: NDArray[np.int64]  # (n, K) near records, whose cells are candidates
    touched: NDArray[np.int64]  # (room,) when a cell last changed
    checked: NDArray[np.int64]  # (n,) when a record last had nothing to gain
    seen: NDArray[np.int64]  # (room,) the last look at a cell
    queue: NDArray[np.int64]  # (n,) records to look at, a ring
    queued: NDArray[np.int64]  # (n,)
    count: NDArray[np.int64]  # clock, stamp, head and length of the queue
    random: NDArray[np.uint64]  # (1,) state of the generator


def make(near: NDArray[np.int64], room: int, seed: int) -> Search:
    """Return a search with all records in the queue."""
    n = len(near)
    search = Search(
        near,
        np.zeros(room, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(4, np.int64),
        np.array([seed], np.uint64),
    )
    wake(search)
    return search


def wake(search: Search) -> None:
    """Queue all records in order, and clear all knowledge."""
    search.count[CLOCK] += 1
    search.touched[:] = search.count[CLOCK]
    search.queue[:] = np.arange(len(search.queue))
    search.queued[:] = 1
    search.count[HEAD], search.count[WAITING] = 0, len(search.queue)


@inner
def look_at(search, i):
    """Put a record into the queue, unless it waits there already."""
    if search.queued[i] == 0:
        search.queued[i] = 1
        n = len(search.queue)
        search.queue[(search.count[HEAD] + search.count[WAITING]) % n] = i
        search.count[WAITING] += 1


@inner
def next_one(search):
    """Take the next record out of the queue."""
    i = search.queue[search.count[HEAD]]
    search.count[HEAD] = (search.count[HEAD] + 1) % len(search.queue)
    search.count[WAITING] -= 1
    search.queued[i] = 0
    return i


@inner
def renew(model, cells, search, p):
    """Refresh a changed cell, and queue its members and the records near them."""
    refresh(model, cells, p)
    search.count[CLOCK] += 1
    search.touched[p] = search.count[CLOCK]
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        look_at(search, i)
        for u in range(search.near.shape[1]):
            look_at(search, search.near[i, u])


@inner
def give_up(model, cells, search):
    """Undo the moves in the log, and unqueue the records they concerned.

    The queue was empty when the log began, so what was known about the cells before is true again.
    """
    search.count[STAMP] += 1
    for at in range(cells.count[LOGGED]):
        search.touched[cells.log[at, 1]] = 0
        search.touched[cells.log[at, 2]] = 0
    take_back(model, cells, search.seen, search.count[STAMP])
    while search.count[WAITING] > 0:
        next_one(search)


@partial(inner, inline=True)
def best_for(model, cells, search, k, i):
    """Return the best shift or swap of record i: (change, cell, record that comes for it or -1).

    Only cells of its near records are looked at, and of them only those that changed, or whose partner did,
    since the record last had nothing to gain.
    """
    p = cells.labels[i]
    none = min(-1, k)  # a literal would be a type of its own, and numba compile everything twice
    best, cell, other = 0.0, none, none
    since = search.checked[i]
    fresh = search.touched[p] > since
    search.count[STAMP] += 1
    stamp = search.count[STAMP]
    for t in range(search.near.shape[1]):
        q = cells.labels[search.near[i, t]]
        if q == p or search.seen[q] == stamp or not (fresh or search.touched[q] > since):
            continue
        search.seen[q] = stamp
        shared = approach(model, cells, i, q)
        if cells.sizes[p] > k and cells.sizes[q] < cells.capacity[q]:
            gain = shift(model, cells, i, q, shared, best)
            if gain < best:
                best, cell, other = gain, q, none
        for u in range(cells.start[q], cells.start[q] + cells.sizes[q]):
            j = cells.members[u]
            gain = swap(model, cells, i, j, shared, best)
            if gain < best:
                best, cell, other = gain, q, j
    return best, cell, other


@kernel
def settle(model, cells, search, k, tiny, budget):
    """Shift and swap until the queue is empty, the log is full or the budget is spent; return the change.

    The budget is the number of records looked at.
    """
    total = 0.0
    while search.count[WAITING] > 0 and budget > 0 and cells.count[LOGGED] + 2 <= len(cells.log):
        budget -= 1
        i = next_one(search)
        p = cells.labels[i]
        gain, q, j = best_for(model, cells, search, k, i)
        if gain < -tiny:
            total += gain
            move_logged(cells, i, q)
            if j >= 0:
                move_logged(cells, j, p)
            renew(model, cells, search, p)
            renew(model, cells, search, q)
        else:
            search.checked[i] = search.count[CLOCK]
    return total


@inner
def dissolve(model, cells, search, p, watched):
    """Send every member of a cell to the best cell near it that has room; return the change, or infinity.

    Where a member finds no room the cells are left as they are in the middle, to be taken back. Watched: who
    is near a change is to be looked at.
    """
    none = min(-1, p)
    total = -cost(model, cells, p)
    while cells.sizes[p] > 0:
        i = cells.members[cells.start[p] + cells.sizes[p] - 1]
        best, cell = math.inf, none
        for t in range(search.near.shape[1]):
            q = cells.labels[search.near[i, t]]
            if q != p and cells.sizes[q] < cells.capacity[q]:
                gain = change(model, cells, q, none, i, best)
                if gain < best:
                    best, cell = gain, q
        if cell < 0:
            return math.inf
        move_logged(cells, i, cell)
        if watched:
            renew(model, cells, search, cell)
        else:
            update(model, cells, cell, none, i)
        total += best
    refresh(model, cells, p)
    release(cells, p)
    return total


@inner
def start_cell(model, cells, search, k, i, watched):
    """Make a cell of record i and near ones that their cells can spare; return the change, or infinity.

    Infinity where there are too few records or no free number: what is half done is to be taken back.
    """
    if cells.count[FREE] == 0 or cells.sizes[cells.labels[i]] <= k:
        return math.inf
    none = min(-1, k)
    cells.count[FREE] -= 1
    new = cells.free[cells.count[FREE]]
    total = 0.0
    for t in range(-1, search.near.shape[1]):
        u = i if t < 0 else search.near[i, t]
        p = cells.labels[u]
        if p == new or cells.sizes[p] <= k:
            continue
        total += change(model, cells, p, u, none, math.inf)
        move_logged(cells, u, new)
        if watched:
            renew(model, cells, search, p)
        else:
            update(model, cells, p, u, none)
        if cells.sizes[new] == k:
            if watched:
                renew(model, cells, search, new)
            else:
                refresh(model, cells, new)
            return total + cost(model, cells, new)
    return math.inf


@inner
def settle_all(model, cells, search, k, tiny):
    """Shift and swap until the queue is empty; return the change. These moves cannot be undone."""
    total = 0.0
    while search.count[WAITING] > 0:
        begin(cells)
        total += settle(model, cells, search, k, tiny, len(cells.labels))
    return total


@kernel
def dissolve_all(model, cells, search, k, tiny, first, last):
    """Dissolve those of the cells first..last-1 whose members cost less elsewhere; return the change."""
    total = 0.0
    for p in range(first, last):
        if cells.sizes[p] == 0:
            continue
        begin(cells)
        gain = dissolve(model, cells, search, p, True)
        if gain < -tiny:
            total += gain + settle_all(model, cells, search, k, tiny)
        else:
            give_up(model, cells, search)
    return total


@inner
def shake(model, cells, search, k):
    """Disturb the cells around a record drawn at random; return the change.

    One time in three its cell is dissolved; one time in three it is, and a cell is founded on one of the
    records near; else up to three records change places with near ones.
    """
    random, width = search.random, search.near.shape[1]
    i = below(random, len(cells.labels))
    kind = below(random, 3)
    total = 0.0
    if kind < 2:
        total = dissolve(model, cells, search, cells.labels[i], True)
        if kind == 1 and total < math.inf and width >= k:
            total += start_cell(model, cells, search, k, search.near[i, below(random, width)], True)
        return total
    for _ in range(1 + below(random, 3)):
        p = cells.labels[i]
        a = cells.members[cells.start[p] + below(random, cells.sizes[p])]
        b = search.near[a, below(random, width)]
        q = cells.labels[b]
        if p != q:
            total += swap(model, cells, a, b, approach(model, cells, a, q), math.inf)
            move_logged(cells, a, q)
            move_logged(cells, b, p)
            renew(model, cells, search, p)
            renew(model, cells, search, q)
    return total


@kernel
def iterate(model, cells, search, k, tiny, kicks):
    """Shake and settle the given number of times; undo rounds without a gain; return the change."""
    total = 0.0
    for _ in range(kicks):
        begin(cells)
        gain = shake(model, cells, search, k)
        if gain < math.inf:
            gain += settle(model, cells, search, k, tiny, len(cells.labels))
        if gain < -tiny:
            total += gain + settle_all(model, cells, search, k, tiny)
        else:
            give_up(model, cells, search)
    return total
