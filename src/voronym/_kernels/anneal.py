"""Annealing by random moves between neighbouring cells: up to millions of proposals a second.

Moves: shift a record, swap two, rotate three, push a chain over three cells, dissolve a cell into its
neighbours, found a new one. How much worse a proposal may be is drawn before it is priced, so that pricing
ends where it is too much; it comes from a table of quantiles of the exponential distribution, as a logarithm
for each would take as long as the price.

A proposal takes some 70 ns. The functions for one record to three are inlined, as a call copies the addresses
of all arrays, which takes as long as the price. Those for jumps are not: inlined, they slow down the others.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.cells import begin, change, move, saving, take_back, update
from voronym._kernels.exchange import STAMP, dissolve, start_cell
from voronym._kernels.random import below, uniform

QUANTILES = -np.log((np.arange(4096) + 0.5) / 4096)
"""Tolerances of proposals in temperatures: each is equally likely."""


class Heat(NamedTuple):
    """The temperature and the kinds of proposals."""

    quantiles: NDArray[np.float64]  # `QUANTILES`
    temperature: float
    jumps: float  # share of the proposals that would change the number of cells
    chains: float  # share of the others that involve three cells


@partial(inner, inline=True)
def try_shift(model, cells, i, b, limit):
    """Shift record i to cell b, if that is no more than ``limit`` worse; return the change."""
    a = cells.labels[i]
    none = min(-1, i)
    here = change(model, cells, a, i, none, np.inf)
    total = here + change(model, cells, b, none, i, limit - here)
    if total > limit:
        return 0.0
    move(cells, i, b)
    update(model, cells, a, i, none)
    update(model, cells, b, none, i)
    return total


@partial(inner, inline=True)
def try_swap(model, cells, i, v, limit):
    """Swap two records of different cells, if that is no more than ``limit`` worse; return the change."""
    a, b = cells.labels[i], cells.labels[v]
    # What comes to b adds something or nothing: b saves no more than it would by losing v.
    here = change(model, cells, a, i, v, limit + saving(model, cells, v))
    if here == np.inf:
        return 0.0
    total = here + change(model, cells, b, v, i, limit - here)
    if total > limit:
        return 0.0
    move(cells, i, b)
    move(cells, v, a)
    update(model, cells, a, i, v)
    update(model, cells, b, v, i)
    return total


@partial(inner, inline=True)
def try_three(model, cells, i, v, c, w, limit):
    """Send i to the cell of v, v to cell c, and w of c to the cell of i (-1: nobody), if accepted.

    It is where it is no more than ``limit`` worse; return the change.
    """
    a, b = cells.labels[i], cells.labels[v]
    total = change(model, cells, a, i, w, np.inf)
    total += change(model, cells, b, v, i, np.inf)
    total += change(model, cells, c, w, v, limit - total)
    if total > limit:
        return 0.0
    move(cells, i, b)
    move(cells, v, c)
    if w >= 0:
        move(cells, w, a)
    update(model, cells, a, i, w)
    update(model, cells, b, v, i)
    update(model, cells, c, w, v)
    return total


@inner
def try_jump(model, cells, search, k, i, limit):
    """Dissolve the cell of record i, or open one at it, if the cost rises by at most ``limit``."""
    begin(cells)
    if below(search.random, 2) == 0:
        total = dissolve(model, cells, search, cells.labels[i], False)
    else:
        total = start_cell(model, cells, search, k, i, False)
    if total <= limit:
        begin(cells)
        return total
    search.count[STAMP] += 1
    take_back(model, cells, search.seen, search.count[STAMP])
    return 0.0


@kernel
def anneal(model, cells, search, k, heat, proposals):
    """Make proposals at one temperature (Metropolis); return the change of the cost."""
    near, random = search.near, search.random
    n, width = near.shape
    total = 0.0
    for _ in range(proposals):
        i = below(random, n)
        limit = heat.temperature * heat.quantiles[below(random, len(heat.quantiles))]
        if uniform(random) < heat.jumps:
            total += try_jump(model, cells, search, k, i, limit)
            continue
        a = cells.labels[i]
        b = cells.labels[near[i, below(random, width)]]
        if a == b:
            continue
        spare = cells.sizes[a] > k
        kind = uniform(random)
        if spare and cells.sizes[b] < cells.capacity[b] and kind < 0.5:
            total += try_shift(model, cells, i, b, limit)
            continue
        v = cells.members[cells.start[b] + below(random, cells.sizes[b])]
        if kind < 1.0 - heat.chains:
            total += try_swap(model, cells, i, v, limit)
            continue
        c = cells.labels[near[v, below(random, width)]]
        if c == a or c == b:  # noqa: SIM109 - a tuple would be built in the loop
            continue
        w = min(-1, i)
        if not (spare and cells.sizes[c] < cells.capacity[c]):
            w = cells.members[cells.start[c] + below(random, cells.sizes[c])]
        total += try_three(model, cells, i, v, c, w, limit)
    return total
