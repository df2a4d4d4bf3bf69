"""Partitions from groups: the restricted integer problem, and dives through the relaxation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.certify.state import State
from voronym.core.context import Context
from voronym.core.linear import Programme

Integers = NDArray[np.int64]

LARGEST_POOL = 100_000
"""Largest number of groups in an integer problem."""

TIRED = 6
"""Number of consecutive regions without a gain after which larger regions are tried."""


def candidates(state: State, ctx: Context, pool: int) -> tuple[list[Integers], bool]:
    """Return the ``pool`` likeliest groups of a better partition, and whether these are all.

    With feasible prices all reduced costs are at least 0, and those of a partition's groups add up to at
    most its SSE minus the bound. So a group whose reduced cost is not below the gap is in no better
    partition.
    """
    gap = (state.upper - state.bound) * (1.0 + 1e-9)
    room = 4e8 / (state.n * state.k * 16 * state.k)  # bytes for the groups of all anchors and sizes
    most = int(max(4, min(room, 64 if pool < 10_000 else 512)))
    cuts = state.cuts(state.padded())
    priced = state.pricer(state.center, ctx, limit=gap, budget=100_000, most=most, cuts=cuts, tell=state.tell)
    likely = np.argsort(priced.costs, kind="stable")[:pool]
    everything = priced.complete and priced.all_found and len(priced.costs) <= pool
    return [priced.groups[s] for s in likely], everything


def restricted(state: State, ctx: Context, seconds: float, *, pool: int) -> tuple[bool, bool]:
    """Choose the best partition among the likeliest groups by branch and bound.

    The cuts are included. ``seconds`` is for the search alone. If the groups are all that a better
    partition could use, a completed search proves that the best is optimal. Return whether the best
    improved, and whether the search was completed.
    """
    result, everything = candidates(state, ctx, pool)
    cells = [np.sort(cell) for cell in state.partition.cells()]
    taken, ended = choose(state, cells, result, np.arange(state.n), ctx.limited(seconds))
    better = bool(taken) and state.offer(taken)
    if everything and ended and taken:
        state.settle()
    return better, ended


def choose(
    state: State, cells: list[Integers], candidates: list[Integers], records: Integers, ctx: Context
) -> tuple[list[Integers], bool]:
    """Partition ``records`` into groups among ``cells``, a first partition of them, and ``candidates``.

    Minimise the SSE by branch and bound. Return the groups (empty without an answer in time), and whether
    the search was completed.
    """
    groups = list({group.tobytes(): group for group in [*cells, *candidates]}.values())
    whole = len(records) == state.n
    place = np.full(state.n, -1, np.int64)
    place[records] = np.arange(len(records))
    rows = [state.master.rows(group) if whole else place[group] for group in groups]
    height = len(records) + (len(state.master.cuts) if whole else 0)
    low = np.where(np.arange(height) < len(records), 1.0, -np.inf)
    programme = Programme(
        low, np.ones(height), presolve="on", solver="choose", mip_rel_gap=0.0, mip_abs_gap=1e-9
    )
    programme.add_columns([state.costs.group(group) for group in groups], rows, upper=1.0)
    programme.make_integer((np.arange(len(groups)) < len(cells)).astype(float))
    ended = programme.run(ctx, tell=state.tell)
    taken = [groups[s] for s in np.flatnonzero(programme.values > 0.5)]
    covered = np.sort(np.concatenate(taken)) if taken else np.empty(0, np.int64)
    return (taken if np.array_equal(covered, np.sort(records)) else []), ended


def regions(state: State, ctx: Context, *, size: int) -> bool:
    """Improve the worst regions of the best partition, one at a time; return whether that still pays.

    The reduced costs of its groups add up to at least the gap, so they show where a gain is possible. A
    group is drawn by its reduced cost, and neighbours join up to ``size`` records. The likeliest groups
    within the region, with a reduced cost below the total of the region's groups, go into a small integer
    problem. After `TIRED` consecutive regions without a gain it no longer pays.
    """
    failures = 0
    tired: dict[int, int] = {}
    while not ctx.over and failures < TIRED and not state.closed:
        cells = [np.sort(cell) for cell in state.partition.cells()]
        worth, meeting = _worth(state, cells)
        draw = np.maximum(worth, 0.0) / (1.0 + np.array([tired.get(int(cell[0]), 0) for cell in cells])) ** 2
        if draw.sum() <= 0.0:
            return False
        first = cells[int(ctx.rng.choice(len(cells), p=draw / draw.sum()))]
        tired[int(first[0])] = tired.get(int(first[0]), 0) + 1
        inside = _around(state, first, size)
        old = [cells[label] for label in inside]
        result = _likely(state, ctx, inside, np.sort(np.concatenate(old)), worth, meeting)[: 5 * size]
        taken, _ = choose(state, old, result, np.sort(np.concatenate(old)), ctx.limited(5.0))
        state.tell()
        rest = [cells[label] for label in range(len(cells)) if label not in inside]
        if taken and state.offer([*rest, *taken]):
            failures = 0
            tired.clear()
        else:
            failures += 1
    return failures < TIRED


def _worth(state: State, cells: list[Integers]) -> tuple[NDArray[np.float64], Integers]:
    """Return the reduced costs of the best partition's groups, and the group that meets each cut, or -1."""
    worth = np.array([state.costs.group(cell) - state.center[cell].sum() for cell in cells])
    meeting = np.full(len(state.master.cuts), -1)
    for place, cut in enumerate(state.master.cuts):
        counts = np.bincount(state.partition.labels[list(cut.records)])
        if counts.max() >= cut.least:
            meeting[place] = counts.argmax()
    np.add.at(worth, meeting[meeting >= 0], state.padded()[meeting >= 0])
    return worth, meeting


def _around(state: State, first: Integers, size: int) -> list[int]:
    """Return the labels of a group and of its nearest groups, up to a number of records."""
    near = np.argsort(state.D2[first].min(axis=0), kind="stable")
    total, inside = 0, list[int]()
    for label in dict.fromkeys(state.partition.labels[near].tolist()):
        total += int(state.partition.sizes[label])
        if inside and total > size:
            break
        inside.append(label)
    return inside


def _likely(
    state: State,
    ctx: Context,
    inside: list[int],
    records: Integers,
    worth: NDArray[np.float64],
    meeting: Integers,
) -> list[Integers]:
    """Return groups within a region that a better partition could contain, the likeliest first."""
    fines = state.padded()
    free = np.zeros(state.n, bool)
    free[records] = True
    open_cuts = [free[list(cut.records)].sum() >= cut.least for cut in state.master.cuts]
    open_fines = fines[np.array(open_cuts, bool) & ~np.isin(meeting, inside)].sum()
    limit = float(worth[inside].sum() + open_fines) * (1.0 + 1e-9)
    prices = np.where(free, state.center, -1e15)
    priced = state.pricer(
        prices, ctx, limit=limit, budget=1000, most=16, cuts=state.cuts(fines), tell=state.tell
    )
    return [priced.groups[s] for s in np.argsort(priced.costs, kind="stable")]


def dive(state: State, ctx: Context, *, budget: int = 3000) -> bool:
    """Fix the groups that the relaxation prefers, price the others again, repeat; return whether it paid."""
    master = state.master
    free = np.ones(state.n, bool)
    fixed: list[int] = []
    master.unbox()
    try:
        while free.any() and not ctx.over:
            for _ in range(3):
                master.solve(ctx, state.tell)
                prices = np.where(free, master.prices, -1e15)
                cuts = state.cuts(state.fined())
                priced = state.pricer(
                    prices, ctx, limit=-1e-6, budget=budget, most=2, cuts=cuts, tell=state.tell
                )
                state.tell()
                if master.add(priced.groups) == 0:
                    break
            else:
                master.solve(ctx, state.tell)
            if master.artificial > 1e-6 or master.objective >= state.upper * (1.0 - 1e-12):
                return False
            weights = master.weights.copy()
            weights[fixed] = 0.0
            top = float(weights.max())
            taken = np.flatnonzero(weights > 0.999)
            if len(taken) == 0:
                near = np.flatnonzero(weights >= top - 1e-9)
                taken = near[[int(ctx.rng.integers(len(near)))]] if top > 0.0 else near[:0]
            if len(taken) == 0:
                return False
            master.fix(taken)
            fixed += taken.tolist()
            for s in taken:
                free[master.groups[s]] = False
    finally:
        master.release(fixed)
    return not free.any() and state.offer(master.groups[s] for s in fixed)
