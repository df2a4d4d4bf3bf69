"""Pair search with any cost model: every swap and every shift between two neighbouring cells, priced at once.

What `pairs` does for coordinates in single precision, for the models of `cells`: a price is what the model
says, exactly, and pricing ends where a move is too dear for any noise to make it the best one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.anneal import QUANTILES
from voronym._kernels.cells import (
    FREE,
    Cells,
    approach,
    begin,
    change,
    cost,
    move,
    move_logged,
    refresh,
    release,
    shift,
    swap,
    take_back,
    update,
)
from voronym._kernels.random import below, uniform

MOST = float(QUANTILES[0])
STAMP, TOP = 0, 1  # the counters in Pairs.count


class Pairs(NamedTuple):
    """The state of the search. Made by `make`."""

    near: NDArray[np.int64]  # (room, K) the nearest cells of each
    heat: NDArray[np.float64]  # (room,) cost of a record in the neighbourhood
    quantiles: NDArray[np.float64]  # `QUANTILES`
    random: NDArray[np.uint64]  # (1,)
    seen: NDArray[np.int64]  # (room,) the last look at a cell
    count: NDArray[np.int64]  # stamp, and numbers of cells that were ever taken


def make(near: NDArray[np.int64], heat: NDArray[np.float64], cells: Cells, seed: int) -> Pairs:
    """Return a search among cells; the first have these nearest cells, the others are free."""
    taken, room = len(near), len(cells.sizes)
    more = np.zeros((room - taken, near.shape[1]), np.int64)
    pairs = Pairs(
        np.concatenate([near, more]),
        np.concatenate([heat, np.zeros(len(more))]),
        QUANTILES,
        np.array([seed | 1], np.uint64),
        np.zeros(room, np.int64),
        np.array([0, taken]),
    )
    cells.free[: len(more)] = np.arange(room)[: taken - 1 : -1]  # the lowest is on top of the stack
    return pairs


@inner
def best_move(model, cells, pairs, p, q, k, temperature, tiny):
    """Return the records of p and of q to move (-1: none) with the lowest price less its noise."""
    none = min(-1, k)
    result, two, best = none, none, -tiny
    random, quantiles = pairs.random, pairs.quantiles
    limit = best + temperature * MOST
    into = cells.sizes[p] > k and cells.sizes[q] < cells.capacity[q]
    back = cells.sizes[q] > k and cells.sizes[p] < cells.capacity[p]
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        shared = approach(model, cells, i, q)
        for u in range(cells.start[q] - 1, cells.start[q] + cells.sizes[q]):
            j = none
            if u >= cells.start[q]:
                j = cells.members[u]
                price = swap(model, cells, i, j, shared, limit)
            else:
                price = shift(model, cells, i, q, shared, limit) if into else math.inf
            if price < limit:
                price -= temperature * quantiles[below(random, len(quantiles))]
                if price < best:
                    result, two, best, limit = i, j, price, price + temperature * MOST
    if back:
        for u in range(cells.start[q], cells.start[q] + cells.sizes[q]):
            j = cells.members[u]
            price = shift(model, cells, j, p, approach(model, cells, j, p), limit)
            if price < limit:
                price -= temperature * quantiles[below(random, len(quantiles))]
                if price < best:
                    result, two, best, limit = none, j, price, price + temperature * MOST
    return result, two


@inner
def visit(model, cells, pairs, p, q, k, temperature, tiny):
    """Make the best move between two cells, each price less an exponential noise; return how many."""
    i, j = best_move(model, cells, pairs, p, q, k, temperature, tiny)
    if i >= 0:
        move(cells, i, q)
    if j >= 0:
        move(cells, j, p)
    if i < 0 and j < 0:
        return 0
    refresh(model, cells, p)
    refresh(model, cells, q)
    return 1


@inner
def dissolve(model, cells, pairs, p, limit):
    """Send the records of a cell to near ones with room; return the change, infinity from ``limit`` on.

    Then the cells are left as they are in the middle, to be taken back.
    """
    none = min(-1, p)
    total = -cost(model, cells, p)
    while cells.sizes[p] > 0:
        i = cells.members[cells.start[p] + cells.sizes[p] - 1]
        best, chosen = math.inf, none
        for t in range(pairs.near.shape[1]):
            q = pairs.near[p, t]
            if q != p and 0 < cells.sizes[q] < cells.capacity[q]:
                price = change(model, cells, q, none, i, best)
                if price < best:
                    best, chosen = price, q
        total += best
        if chosen < 0 or not total < limit:
            return math.inf
        move_logged(cells, i, chosen)
        update(model, cells, chosen, none, i)
    refresh(model, cells, p)
    release(cells, p)
    return total


@inner
def cheapest(model, cells, pairs, p, new, k):
    """Return the record of p or near cells of more than k that moves to ``new`` for least, and the price."""
    none = min(-1, p)
    best, chosen = math.inf, none
    for t in range(-1, pairs.near.shape[1]):
        q = p if t < 0 else pairs.near[p, t]
        if cells.sizes[q] <= k or q == new or (q == p and t >= 0):
            continue
        for u in range(cells.start[q], cells.start[q] + cells.sizes[q]):
            i = cells.members[u]
            away = change(model, cells, q, i, none, math.inf)
            price = away + change(model, cells, new, none, i, best - away)
            if price < best:
                best, chosen = price, i
    return chosen, best


@inner
def found(model, cells, pairs, p, k, limit):
    """Found a cell of records that p and near ones can spare; return the change, infinity from ``limit``."""
    none = min(-1, k)
    if cells.count[FREE] == 0 or cells.sizes[p] <= k:
        return math.inf
    spare = cells.sizes[p] - k
    for t in range(pairs.near.shape[1]):
        if pairs.near[p, t] != p:
            spare += max(0, cells.sizes[pairs.near[p, t]] - k)
    if spare < k:
        return math.inf
    cells.count[FREE] -= 1
    new = cells.free[cells.count[FREE]]
    i = cells.members[cells.start[p] + below(pairs.random, cells.sizes[p])]
    total = change(model, cells, p, i, none, math.inf)
    for size in range(1, k + 1):
        old = cells.labels[i]
        move_logged(cells, i, new)
        update(model, cells, old, i, none)
        update(model, cells, new, none, i)
        if size < k:
            i, price = cheapest(model, cells, pairs, p, new, k)
            total += price
            if i < 0:
                return math.inf
    if not total < limit:
        return math.inf
    for t in range(pairs.near.shape[1]):
        pairs.near[new, t] = pairs.near[p, t]
    pairs.near[new, pairs.near.shape[1] - 1] = p
    pairs.heat[new] = pairs.heat[p]
    pairs.count[TOP] = max(pairs.count[TOP], new + 1)
    return total


@inner
def jump(model, cells, pairs, p, k, limit):
    """Dissolve a cell, or open one near it, if the cost changes by less than ``limit``; return whether."""
    begin(cells)
    if below(pairs.random, 2) == 0:
        total = dissolve(model, cells, pairs, p, limit)
    else:
        total = found(model, cells, pairs, p, k, limit)
    if total < math.inf:
        begin(cells)
        return 1
    pairs.count[STAMP] += 1
    take_back(model, cells, pairs.seen, pairs.count[STAMP])
    return 0


@kernel
def thin(model, cells, pairs, wanted):
    """Dissolve about this number of cells, drawn at random, if cells near them have room."""
    for _ in range(int(wanted + uniform(pairs.random))):
        p = below(pairs.random, pairs.count[TOP])
        if cells.sizes[p] > 0:
            begin(cells)
            if dissolve(model, cells, pairs, p, math.inf) == math.inf:
                pairs.count[STAMP] += 1
                take_back(model, cells, pairs.seen, pairs.count[STAMP])
    begin(cells)


@kernel
def sweep(model, cells, pairs, k, heat, tiny, first, visits, jumps):
    """Visit pairs of neighbours, the cells by turns from turn ``first`` on; return how many moves were made.

    ``heat`` is the temperature in terms of what a record costs in the neighbourhood. In the share ``jumps``
    of the turns a cell may be dissolved, or founded, instead.
    """
    moves = min(0, k)
    random = pairs.random
    for turn in range(first, first + visits):
        p = turn % pairs.count[TOP]
        if cells.sizes[p] == 0 or cost(model, cells, p) <= 0.0:
            continue  # a cell of equal records has nothing to gain; others may ask it
        q = pairs.near[p, below(random, pairs.near.shape[1])]
        temperature = heat * 0.5 * (pairs.heat[p] + pairs.heat[q])
        if uniform(random) < jumps:
            noise = temperature * pairs.quantiles[below(random, len(pairs.quantiles))]
            moves += jump(model, cells, pairs, p, k, noise - tiny)
        elif q != p and cells.sizes[q] > 0:
            moves += visit(model, cells, pairs, p, q, k, temperature, tiny)
    return moves
