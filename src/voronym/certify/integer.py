"""Partitions from groups: the restricted integer problem, and dives through the relaxation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.certify.master import group_cost, new_solver
from voronym.certify.state import State

Integers = NDArray[np.int64]

LARGEST_POOL = 100_000
"""Most groups in an integer problem."""


def candidates(state: State, pool: int) -> tuple[list[Integers], bool]:
    """Return groups that a better partition could have, the likeliest ``pool``; and whether these are all.

    Against feasible prices all reduced costs are 0 or more, and those of the groups of a partition add up to
    its SSE minus the bound at most. So a group whose reduced cost is not below the gap is in no better one.
    """
    gap = (state.upper - state.bound) * (1.0 + 1e-9)
    cuts = state.cuts(np.pad(state.fines, (0, len(state.master.triples) - len(state.fines))))
    room = 4e8 / (state.n * state.k * 16 * state.k)  # bytes for the groups of all anchors and sizes
    most = int(max(4, min(room, 64 if pool < 10_000 else 512)))
    priced = state.pricer(state.center, limit=gap, budget=100_000, most=most, cuts=cuts, until=state.deadline)
    likely = np.argsort(priced.costs, kind="stable")[:pool]
    everything = priced.complete and priced.all_found and len(priced.costs) <= pool
    return [priced.groups[s] for s in likely], everything


def restricted(state: State, seconds: float, *, pool: int) -> tuple[bool, bool]:
    """Choose the best partition among the likeliest groups by branch and bound.

    The cuts go along. Where the groups are all that a better partition could have, the end of the search is
    the proof that the best is optimal. Returns whether the best became better, and whether the search ended.
    """
    import highspy

    found, everything = candidates(state, pool)
    cells = [np.sort(cell) for cell in state.partition.cells()]
    groups = list({group.tobytes(): group for group in [*cells, *found]}.values())
    rows = [state.master.rows(group) for group in groups]
    n, count, height = state.n, len(groups), state.n + len(state.master.triples)
    solver = new_solver()
    options = {"presolve": "on", "solver": "choose", "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.setOptionValue("time_limit", max(seconds, 0.1))
    least = np.where(np.arange(height) < n, 1.0, -highspy.kHighsInf)
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
    whole = bool(taken) and bool((np.bincount(np.concatenate(taken), minlength=n) == 1).all())
    better = whole and state.offer(taken)
    ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    if everything and ended:
        state.settle()
    return better, ended


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


def dive(state: State, rng: np.random.Generator, *, greed: float = 1.0, budget: int = 3000) -> bool:
    """Fix the groups that the relaxation likes best, price again for the rest, repeat; say whether it paid.

    ``greed`` below 1 draws the group to fix among those of nearly the largest weight, so that dives differ.
    """
    master = state.master
    free = np.ones(state.n, bool)
    fixed: list[int] = []
    master.unbox()
    try:
        while free.any() and state.left() > 0.0:
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
                near = np.flatnonzero(weights >= greed * top)
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
