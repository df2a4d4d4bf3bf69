"""Exact sizes by shortest augmenting paths, from units that are each in their best cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym._kernels import flow as kernels
from voronym.quantize.costs.base import Bounds, Floats, Integers
from voronym.quantize.costs.sources import Arcs, Source, widen

BUDGET = 4_000
"""Number of cells visited between two ticks."""

MANY = 0.15
"""Share of units with a better cell outside their arcs above which more arcs are needed."""


@dataclass(frozen=True, eq=False)
class Repaired:
    """The places of units after a repair: pieces of them in cells, by ascending unit."""

    done: bool
    costs: Floats
    unit: Integers
    cell: Integers
    amount: Integers
    paths: int


def repair(source: Source, arcs: Arcs, sizes: Bounds, c: Floats, limit: float) -> Repaired:
    """Give cells their sizes by the cheapest moves along arcs, and update the costs.

    With a limit: if costs rise by it, or the arcs do not suffice, ``done`` is false, and the caller
    repeats with the new costs. Without a limit, all units are compared with all cells at the end; units
    with a better cell move there, and the repair continues. If these are too many, ``done`` is false, and
    the caller repeats with more arcs.
    """
    mass, m = source.mass, len(c)
    node, real, state = _start(np.bincount(arcs.labels, mass, m).astype(np.int64), sizes, c)
    flow = np.where(arcs.cell == arcs.labels[arcs.unit], mass[arcs.unit], 0)
    room = min(m, 128 if m < 20_000 else 32)
    f = arrange(arcs, flow, node, real, state, room)
    costs = real[kernels.COST, :m]
    while True:
        answer = kernels.repair(f, limit, BUDGET)
        source.tick()
        if answer == kernels.PAUSED:
            continue
        flow = f.arc[kernels.FLOW]
        if answer == kernels.CRAMPED:
            room = min(m, 2 * room)
            f = arrange(arcs, flow, node, real, state, room)
            continue
        if limit < np.inf or arcs.complete:
            break
        if answer == kernels.STUCK:
            return Repaired(False, c, arcs.unit, arcs.cell, flow, 0)
        units, best = objectors(source, arcs, flow, f.ptr, costs)
        if len(units) == 0:
            break
        if len(units) > MANY * len(mass):
            return Repaired(False, c, arcs.unit, arcs.cell, flow, 0)
        arcs, flow = widen(source, arcs, flow, units, costs)
        move(arcs, flow, units, best[units], mass, node[kernels.COUNT])
        f = arrange(arcs, flow, node, real, state, room)
    unit, cell, amount = pieces(arcs, f.arc[kernels.FLOW], f.ptr, mass)
    return Repaired(
        answer == kernels.DONE, costs - real[kernels.COST, m], unit, cell, amount, int(state[kernels.PATHS])
    )


def _start(count: Integers, sizes: Bounds, c: Floats) -> tuple[Integers, Floats, Integers]:
    """Return the arrays of the cells, as `arrange` takes them, from the load of each cell."""
    m, (low, high) = len(c), sizes
    node, real, state = np.zeros((14, m + 1), np.int64), np.zeros((3, m + 1)), np.zeros(3, np.int64)
    node[kernels.COUNT, :m], node[kernels.LOW, :m], node[kernels.HIGH, :m] = count, low, high
    due = np.where(c > 0.0, high, np.where(c < 0.0, low, np.clip(count, low, high)))
    node[kernels.DUE, :m] = due
    real[kernels.COST, :m] = c
    state[kernels.LACKS] = count.sum() - due.sum()
    return node, real, state


def arrange(
    arcs: Arcs, flow: Integers, node: Integers, real: Floats, state: Integers, room: int
) -> kernels.Flow:
    """Return the state of a repair with these arcs and flows, and room for a cell's neighbours."""
    units = len(arcs.labels)
    ptr = np.zeros(units + 1, np.int64)
    np.cumsum(np.bincount(arcs.unit, minlength=units), out=ptr[1:])
    arc = np.empty((5, len(arcs.unit)), np.int64)
    arc[kernels.UNIT], arc[kernels.CELL], arc[kernels.FLOW] = arcs.unit, arcs.cell, flow
    m = node.shape[1] - 1
    node[kernels.STEPS] = kernels.NEW
    step, by = np.empty((m, room)), np.empty((3, m, room), np.int64)
    f = kernels.Flow(ptr, arc, arcs.value, node, real, step, by, state)
    kernels.link_all(f)
    return f


def pieces(arcs: Arcs, flow: Integers, ptr: Integers, mass: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the units, cells and amounts of the pieces, units ascending."""
    held = np.flatnonzero(flow)
    if mass.sum() == len(mass):
        cell = arcs.labels.copy()
        cell[arcs.unit[held]] = arcs.cell[held]
        return np.arange(len(mass)), cell, mass
    fixed = np.flatnonzero(ptr[1:] == ptr[:-1])
    unit = np.concatenate([fixed, arcs.unit[held]])
    order = np.argsort(unit, kind="stable")
    cell = np.concatenate([arcs.labels[fixed], arcs.cell[held]])[order]
    return unit[order], cell, np.concatenate([mass[fixed], flow[held]])[order]


def objectors(
    source: Source, arcs: Arcs, flow: Integers, ptr: Integers, c: Floats
) -> tuple[Integers, Integers]:
    """Return the units with a better cell outside their arcs, and the best cell of every unit."""
    best = source.scan(c, 0.0).labels
    least = source.distances(best) + c[best]
    unit, cell, _ = pieces(arcs, flow, ptr, source.mass)
    loss = values(source, unit, cell) + c[cell] - least[unit]
    return np.unique(unit[loss > 1e-12 * (np.abs(c).max() + least[unit])]), best


def values(source: Source, unit: Integers, cell: Integers) -> Floats:
    """Return the distances of pieces, if units may be divided."""
    if len(unit) == len(source.mass):
        return source.distances(cell)
    out = np.empty(len(unit))
    turn = np.arange(len(unit)) - np.searchsorted(unit, unit)
    some = np.zeros(len(source.mass), np.int64)
    for number in range(int(turn.max()) + 1):
        now = turn == number
        some[unit[now]] = cell[now]
        out[now] = source.distances(some)[unit[now]]
    return out


def move(
    arcs: Arcs, flow: Integers, units: Integers, cells: Integers, mass: Integers, count: Integers
) -> None:
    """Move whole units to other cells along their arcs; change flows and counts in place."""
    to = np.full(len(mass), -1, np.int64)
    to[units] = cells
    theirs = np.flatnonzero(to[arcs.unit] >= 0)
    np.subtract.at(count, arcs.cell[theirs], flow[theirs])
    flow[theirs] = np.where(arcs.cell[theirs] == to[arcs.unit[theirs]], mass[arcs.unit[theirs]], 0)
    np.add.at(count, arcs.cell[theirs], flow[theirs])
