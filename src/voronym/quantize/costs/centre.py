"""Costs in the middle of all costs that prove an assignment, so that few points lie on a border.

Shortest paths end at a vertex of the dual: for as many points as there are cells, less one, a second cell is
equally good. A rule would have to break these ties, and would break them wrongly. But the costs that prove an
assignment form a whole polyhedron, given by differences. The costs c + x prove it as well as c if

    x_p - x_q <= slack_pq = min over the points i of cell p of (d_iq + c_q) - (d_ip + c_p)   for all p, q,

and, if sizes have bounds, x_p <= -c_p for a cell below its upper bound, x_p >= -c_p for a cell above its
lower bound. Unknown slacks may be replaced by smaller ones: the result is still a part of the polyhedron.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.quantize.costs.base import Bounds, Floats, Integers
from voronym.quantize.costs.repair import Repaired, values
from voronym.quantize.costs.sources import BLOCK, Source

DENSE = 5_000_000
"""Number of units times cells up to which all slacks are computed."""

ROOM = 20_000_000
"""Approximate limit on the stored slacks of points near borders."""

FEW = 256
"""Number of cells up to which all slacks are kept."""

NEIGHBOURS = 16
"""Approximate number of slacks kept per cell, if there are more cells."""

SWEEPS = 1000
"""Largest number of times that all costs move towards the middle."""

NEAR = 40
"""Approximate number of points per cell whose slacks are examined, if there are very many points."""


@dataclass(frozen=True, eq=False)
class Slacks:
    """The least loss of members of cell ``tail`` in cell ``head``; ``rest`` for any other cell."""

    tail: Integers
    head: Integers
    value: Floats
    rest: float


def centre(source: Source, pieces: Repaired, sizes: Bounds, c: Floats) -> Floats:
    """Return costs that prove the same assignment without needless ties.

    Cost: O(n m) if that is small, else a few passes over the points; then about a hundred times the pairs
    of neighbouring cells. With very many points near borders the costs stay unchanged.
    """
    m, (low, high) = len(c), sizes
    if m == 1:
        return c
    count = np.bincount(pieces.cell, pieces.amount, m)
    free = (low < high) & (c == 0.0)  # no cost where none is needed
    upper = np.where((count < high) & (low < high) | free, np.maximum(-c, 0.0), np.inf)
    lower = np.where((count > low) & (low < high) | free, np.minimum(-c, 0.0), -np.inf)
    little = len(pieces.unit) * m <= DENSE
    slacks = _every(source, pieces, c) if little else _near(source, pieces, c)
    if not slacks.rest > 0.0:
        return c
    moved = c + _middle(source, slacks, lower, upper)
    return moved - moved.min() if sizes.exact else moved


def _every(source: Source, pieces: Repaired, c: Floats) -> Slacks:
    """Return the slacks of all pairs of cells, or the least of each cell."""
    m = len(c)
    W = np.full((m, m), np.inf)
    order = np.argsort(pieces.cell, kind="stable")
    step = max(1, BLOCK // m)
    for begin in range(0, len(order), step):
        some = order[begin : begin + step]
        cell = pieces.cell[some]
        total = source.rows(pieces.unit[some]) + c
        total -= np.take_along_axis(total, cell[:, None], axis=1)
        start = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
        held = cell[start]
        W[held] = np.minimum(W[held], np.minimum.reduceat(total, start, axis=0))
        source.tick()
    np.maximum(W, 0.0, out=W)
    np.fill_diagonal(W, np.inf)
    known = np.isfinite(W)
    rest = 4.0 * float(W[known].max(initial=0.0))  # only an empty cell has slacks that are not known
    if m > FEW:  # the borders are with a few neighbours
        least = np.partition(W, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]
        rest = float(np.median(np.minimum(least, rest)))
        known = rest > W
    tail, head = np.nonzero(known)
    return Slacks(tail, head, W[tail, head], rest)


def _near(source: Source, pieces: Repaired, c: Floats) -> Slacks:
    """Return the slacks of points near borders."""
    m = len(c)
    unit, cell = pieces.unit, pieces.cell
    own = values(source, unit, cell)
    mean = float(own @ pieces.amount) / float(pieces.amount.sum())
    margin = 0.5 * mean * min(1.0, NEAR * m / len(unit))
    for _ in range(20):
        close = int((source.scan(c, margin).second >= 0).sum())
        if close * min(m, 64) <= ROOM:
            break
        margin /= 8.0
    else:
        margin = 0.0
    if margin == 0.0:
        return Slacks(unit[:0], unit[:0], own[:0], 0.0)
    arcs = source.arcs(c, margin, 1, None)
    first = np.searchsorted(arcs.unit, unit)
    number = np.searchsorted(arcs.unit, unit, side="right") - first
    piece = np.repeat(np.arange(len(unit)), number)
    arc = np.arange(len(piece)) + np.repeat(first - (np.cumsum(number) - number), number)
    loss = arcs.value[arc] + c[arcs.cell[arc]] - own[piece] - c[cell[piece]]
    tail, head = cell[piece], arcs.cell[arc]
    other = np.flatnonzero(tail != head)
    key = tail[other] * m + head[other]
    order = np.argsort(key, kind="stable")
    key, loss = key[order], loss[other][order]
    start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.empty(0, np.int64)
    least = np.minimum.reduceat(loss, start) if len(key) else loss
    return Slacks(key[start] // m, key[start] % m, np.clip(least, 0.0, margin), margin)


def _middle(source: Source, slacks: Slacks, lower: Floats, upper: Floats) -> Floats:
    """Return a change of the costs towards the middle: each cell moves half of its room, many times.

    A step takes at most a quarter of a slack from either side, so half of it is left, and cells that are
    not tied stay so. A tied cell gets room as soon as a neighbour has moved.
    """
    m = len(lower)
    top, bottom = np.minimum(upper, 0.5 * slacks.rest), np.maximum(lower, -0.5 * slacks.rest)
    out, into = np.argsort(slacks.tail, kind="stable"), np.argsort(slacks.head, kind="stable")
    tails, starts = np.unique(slacks.tail[out], return_index=True)
    heads, begins = np.unique(slacks.head[into], return_index=True)
    above, room = slacks.head[out], slacks.value[out]
    below, need = slacks.tail[into], slacks.value[into]
    x = np.zeros(m)
    for sweep in range(SWEEPS):
        if sweep % 64 == 63:
            source.tick()
            if source.ctx.over:  # what there is proves as much
                break
        most, least = top.copy(), bottom.copy()
        if len(slacks.value):
            most[tails] = np.minimum(most[tails], np.minimum.reduceat(x[above] + room, starts))
            least[heads] = np.maximum(least[heads], np.maximum.reduceat(x[below] - need, begins))
        change = 0.5 * (0.5 * (most + least) - x)
        x += change
        if (
            np.abs(change).max() <= 1e-9 * slacks.rest
        ):  # half of the way there already: more digits move no point
            break
    return x
