"""Exact sizes by shortest augmenting paths, from units that are each in their best cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import flow as kernels
from voronym.quantize.costs.sources import Arcs, Tick

BUDGET = 20_000
"""Cells visited between two ticks."""


@dataclass(frozen=True, eq=False)
class Repaired:
    """Where units are after a repair: pieces of them in cells, by ascending unit."""

    done: bool
    costs: NDArray[np.float64]
    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    amount: NDArray[np.int64]
    paths: int


def repair(
    arcs: Arcs,
    mass: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    c: NDArray[np.float64],
    limit: float,
    tick: Tick,
) -> Repaired:
    """Give cells their sizes by the least costly moves along arcs; the costs come along.

    Where costs rise by ``limit``, or the arcs do not lead on, ``done`` is false: come back with the new
    costs and more arcs.
    """
    m, units = len(c), len(mass)
    count = np.bincount(arcs.labels, mass, m).astype(np.int64)
    due = np.where(c > 0.0, high, np.where(c < 0.0, low, np.clip(count, low, high)))
    number = len(arcs.unit)
    ptr = np.zeros(units + 1, np.int64)
    np.cumsum(np.bincount(arcs.unit, minlength=units), out=ptr[1:])
    at_home = arcs.cell == arcs.labels[arcs.unit]
    state = np.zeros(4, np.int64)
    state[2] = mass.sum() - due.sum()
    f = kernels.Flow(
        ptr=ptr,
        unit=arcs.unit,
        cell=arcs.cell,
        value=arcs.value,
        flow=np.where(at_home, mass[arcs.unit], 0),
        head=np.empty(m, np.int64),
        after=np.empty(number, np.int64),
        before=np.empty(number, np.int64),
        c=np.append(c, 0.0),
        raised=np.zeros(m + 1),
        count=count,
        due=due,
        low=low,
        high=high,
        dist=np.empty(m + 1),
        out=np.empty(m + 1, np.int64),
        into=np.empty(m + 1, np.int64),
        origin=np.empty(m + 1, np.int64),
        seen=np.zeros(m + 1, np.int64),
        place=np.empty(m + 1, np.int64),
        heap=np.empty(m + 1, np.int64),
        visited=np.empty(m + 1, np.int64),
        state=state,
    )
    kernels.link_all(f)
    while True:
        answer = kernels.repair(f, limit, BUDGET)
        tick()
        if answer != kernels.PAUSED:
            break
    costs = f.c[:m] - f.c[m]
    if (ptr[1:] > ptr[:-1]).all():
        held = f.flow > 0
        unit, cell, amount = arcs.unit[held], arcs.cell[held], f.flow[held]
    elif mass.max() == 1:
        held = f.flow > 0
        cell = arcs.labels.copy()
        cell[arcs.unit[held]] = arcs.cell[held]
        unit, amount = np.arange(units), mass
    else:
        held = f.flow > 0
        fixed = np.flatnonzero(ptr[1:] == ptr[:-1])
        unit = np.concatenate([fixed, arcs.unit[held]])
        order = np.argsort(unit, kind="stable")
        unit = unit[order]
        cell = np.concatenate([arcs.labels[fixed], arcs.cell[held]])[order]
        amount = np.concatenate([mass[fixed], f.flow[held]])[order]
    return Repaired(answer == kernels.DONE, costs, unit, cell, amount, int(state[3]))
