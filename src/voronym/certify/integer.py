"""Partitions from groups: the restricted integer problem, and dives through the relaxation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.certify.master import group_cost, new_solver
from voronym.certify.state import State

Integers = NDArray[np.int64]

LARGEST_POOL = 100_000
"""Most groups in an integer problem."""

TIRED = 6
"""Regions in a row without a gain after which larger ones are tried."""


def candidates(state: State, pool: int) -> tuple[list[Integers], bool]:
    """Return groups that a better partition could have, the likeliest ``pool``; and whether these are all.

    Against feasible prices all reduced costs are 0 or more, and those of the groups of a partition add up to
    its SSE minus the bound at most. So a group whose reduced cost is not below the gap is in no better one.
    """
    gap = (state.upper - state.bound) * (1.0 + 1e-9)
    room = 4e8 / (state.n * state.k * 16 * state.k)  # bytes for the groups of all anchors and sizes
    most = int(max(4, min(room, 64 if pool < 10_000 else 512)))
    cuts = state.cuts(state.padded())
    priced = state.pricer(state.center, limit=gap, budget=100_000, most=most, cuts=cuts, until=state.deadline)
    likely = np.argsort(priced.costs, kind="stable")[:pool]
    everything = priced.complete and priced.all_found and len(priced.costs) <= pool
    return [priced.groups[s] for s in likely], everything


def restricted(state: State, seconds: float, *, pool: int) -> tuple[bool, bool]:
    """Choose the best partition among the likeliest groups by branch and bound.

    The cuts go along. Where the groups are all that a better partition could have, the end of the search is
    the proof that the best is optimal. Returns whether the best became better, and whether the search ended.
    """
    found, everything = candidates(state, pool)
    cells = [np.sort(cell) for cell in state.partition.cells()]
    taken, ended = choose(state, cells, found, np.arange(state.n), seconds)
    better = bool(taken) and state.offer(taken)
    if everything and ended:
        state.settle()
    return better, ended


def choose(
    state: State, cells: list[Integers], found: list[Integers], records: Integers, seconds: float
) -> tuple[list[Integers], bool]:
    """Partition ``records`` into groups among ``cells``, a partition of them to start from, and ``found``.

    Minimises the SSE by branch and bound. Returns the groups, none where there is no answer in time, and
    whether the search ended.
    """
    import highspy

    groups = list({group.tobytes(): group for group in [*cells, *found]}.values())
    whole = len(records) == state.n
    place = np.full(state.n, -1, np.int64)
    place[records] = np.arange(len(records))
    rows = [state.master.rows(group) if whole else place[group] for group in groups]
    count, height = len(groups), len(records) + (len(state.master.triples) if whole else 0)
    solver = new_solver()
    options = {"presolve": "on", "solver": "choose", "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.setOptionValue("time_limit", max(seconds, 0.1))
    least = np.where(np.arange(height) < len(records), 1.0, -highspy.kHighsInf)
    nothing = np.zeros(height, np.int32), np.empty(0, np.int32), np.empty(0)
    solver.addRows(height, least, np.ones(height), 0, *nothing)
    sizes = np.array([len(r) for r in rows])
    starts, indices = (np.cumsum(sizes) - sizes).astype(np.int32), np.concatenate(rows).astype(np.int32)
    costs = np.array([group_cost(state.D2, group) for group in groups])
    ones = np.ones(count)
    solver.addCols(count, costs, np.zeros(count), ones, len(indices), starts, indices, np.ones(len(indices)))
    kinds = np.full(count, highspy.HighsVarType.kInteger)
    solver.changeColsIntegrality(count, np.arange(count, dtype=np.int32), kinds)
    start = highspy.HighsSolution()
    start.col_value = (np.arange(count) < len(cells)).astype(float).tolist()
    solver.setSolution(start)
    run(solver, state)
    values = np.array(solver.getSolution().col_value)
    taken = [groups[s] for s in np.flatnonzero(values > 0.5)] if len(values) else []
    covered = np.sort(np.concatenate(taken)) if taken else np.empty(0, np.int64)
    ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return (taken if np.array_equal(covered, np.sort(records)) else []), ended


def regions(state: State, rng: np.random.Generator, seconds: float, *, size: int) -> bool:
    """Improve the best partition where it is worst, a region at a time; say whether that still pays.

    The reduced costs of its cells add up to the gap at least: they say where there is something to gain. A
    cell is drawn by them, its neighbours join up to ``size`` records, and the groups inside whose reduced
    cost is below those of the region's cells together go into a small integer problem, the likeliest ones.
    It pays no longer after `TIRED` regions in a row without a gain.
    """
    until = min(state.deadline, perf_counter() + seconds)
    failures = 0
    tired: dict[int, int] = {}
    fines = state.padded()
    triples = np.array(state.master.triples, np.int64).reshape(-1, 3)
    while perf_counter() < until and failures < TIRED and not state.closed:
        cells = [np.sort(cell) for cell in state.partition.cells()]
        worth = np.array([group_cost(state.D2, cell) - state.center[cell].sum() for cell in cells])
        labels = state.partition.labels[triples]
        a, b, c = labels.T if len(labels) else np.empty((3, 0), np.int64)
        twice = np.where((a == b) | (a == c), a, np.where(b == c, b, -1))
        np.add.at(worth, twice[twice >= 0], fines[twice >= 0])
        draw = np.maximum(worth, 0.0) / (1.0 + np.array([tired.get(int(cell[0]), 0) for cell in cells])) ** 2
        if draw.sum() <= 0.0:
            return False
        first = cells[int(rng.choice(len(cells), p=draw / draw.sum()))]
        near = np.argsort(state.D2[first].min(axis=0), kind="stable")
        order = list(dict.fromkeys(state.partition.labels[near].tolist()))
        total, inside = 0, list[int]()
        for label in order:
            total += len(cells[label])
            if inside and total > size:
                break
            inside.append(label)
        tired[int(first[0])] = tired.get(int(first[0]), 0) + 1
        old = [cells[label] for label in inside]
        records = np.sort(np.concatenate(old))
        free = np.zeros(state.n, bool)
        free[records] = True
        open_fines = fines[(free[triples].sum(axis=1) >= 2) & ~np.isin(twice, inside)].sum()
        limit = float(worth[inside].sum() + open_fines) * (1.0 + 1e-9)
        prices = np.where(free, state.center, -1e15)
        priced = state.pricer(
            prices, limit=limit, budget=1000, most=16, cuts=state.cuts(fines), until=state.deadline
        )
        likely = np.argsort(priced.costs, kind="stable")[: 5 * size]
        taken, _ = choose(state, old, [priced.groups[s] for s in likely], records, min(5.0, state.left()))
        state.tell("improve regions")
        rest = [cells[label] for label in range(len(cells)) if label not in inside]
        if taken and state.offer([*rest, *taken]):
            failures = 0
            tired.clear()
        else:
            failures += 1
    return failures < TIRED


def run(solver: Any, state: State) -> None:
    """Run a solver in a thread of its own, so that progress is told and Ctrl-C answered meanwhile."""
    stop = False

    def interrupt(event: Any) -> None:
        if stop:
            event.interrupt()

    solver.cbMipInterrupt.subscribe(interrupt)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(solver.run)
        try:
            while True:
                try:
                    future.result(timeout=0.2)
                    return
                except NotYet:
                    state.tell("choose groups")
        finally:
            stop = True


def dive(state: State, rng: np.random.Generator, *, until: float, budget: int = 3000) -> bool:
    """Fix the groups that the relaxation likes best, price again for the rest, repeat; say if it paid."""
    master = state.master
    free = np.ones(state.n, bool)
    fixed: list[int] = []
    master.unbox()
    try:
        while free.any() and perf_counter() < until:
            for _ in range(3):
                master.solve(state.left())
                prices, fines = state.mix(0.0)
                prices = np.where(free, prices, -1e15)
                priced = state.pricer(
                    prices, limit=-1e-6, budget=budget, most=2, cuts=state.cuts(fines), until=state.deadline
                )
                state.tell("dive")
                if master.add(priced.groups) == 0:
                    break
            else:
                master.solve(state.left())
            if master.artificial > 1e-6 or master.objective >= state.upper * (1.0 - 1e-12):
                return False
            weights = master.weights.copy()
            weights[fixed] = 0.0
            top = float(weights.max())
            taken = np.flatnonzero(weights > 0.999)
            if len(taken) == 0:
                near = np.flatnonzero(weights >= top - 1e-9)
                taken = near[[int(rng.integers(len(near)))]] if top > 0.0 else near[:0]
            if len(taken) == 0:
                return False
            master.fix(taken)
            fixed += taken.tolist()
            for s in taken:
                free[master.groups[s]] = False
    finally:
        master.release(fixed)
    return not free.any() and state.offer(master.groups[s] for s in fixed)
