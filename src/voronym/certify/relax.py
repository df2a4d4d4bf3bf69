"""The linear relaxation over all groups: prices that rise until no group is cheaper than its records."""

from __future__ import annotations

import math

import numpy as np

from voronym.certify.centres import CentrePricer
from voronym.certify.prices import Prices
from voronym.core.clock import now
from voronym.core.context import Context

WIDTH, WIDE = 0.15, 0.4
"""Half width of the box around the best feasible prices, as a share of them; the second with cuts, where
prices change more.
"""

SOLVED, WIDER = 0.003, 2.0
"""Relative gap at which the problem inside the box counts as solved, and the factor that then widens the box.
"""

SLOW, HALF = 20, 0.5
"""Search nodes per record above which a pricing is slow, and the share of feasible prices in its prices then.
"""

BUDGET = 1000
"""Nodes per anchor at first; a search that ends at this limit finds groups, but proves little."""

ROUGHLY, MANY = 100, 0.02
"""Nodes per anchor of a rough pricing, and the number of new groups per record that calls for one."""

WORTH = 0.5
"""Share of the gap between the restricted problem and the bound that a proof with cuts should close."""

CONVERGED = 1e-6
"""Relative gap between the restricted problem and the bound that counts as solved."""

LOOKS = ((30, 0.03, 0.15), (300, 0.015, 0.45))
"""How prices are guessed, twice: nodes per anchor, the relative gap that is small enough, and the share of
the time after which it ends.
"""

NARROW = 0.08
"""Half width of the box while prices are guessed by the centres of groups: in a narrow box the simplex method
needs few steps.
"""

PROVEN, PROGRESS, PROOFS = (0.03, 0.01, 0.005), 0.02, 1.5
"""Relative gaps at which such prices are proven, each again while that raises the bound by this share. A
multiple of the longest time so far is left for the last proof.
"""


def relax(
    state: Prices, ctx: Context, *, budget: int = BUDGET, enough: float = CONVERGED, brief: bool = False
) -> bool:
    """Solve the linear relaxation by adding groups of negative reduced cost; return whether it was solved.

    Prices of a restricted problem oscillate. A box around the best feasible prices so far (artificial
    columns pay for leaving it) keeps them near good values. It moves with the bound, and widens if it
    binds and the problem inside is nearly solved, or if there are no more groups to add. If pricing is
    slow, or the time is ``brief``, groups are priced half way between the two prices, so that fewer rounds
    prove nothing; the half becomes a quarter, and so on, when there are no more groups to add.

    Every pricing proves a bound, so the best so far is valid whenever this stops.
    """
    master = state.master
    cutting = bool(master.cuts)
    width, smooth, rough, worth = (WIDE, 0.0, True, WORTH) if cutting else (WIDTH, HALF, False, 0.0)
    master.box(state.center, width)
    while not ctx.over and not state.closed:
        master.solve(ctx, state.tell)
        before, slow = state.bound, smooth > 0.01 and (brief or state.nodes > SLOW * state.n)
        if rough:
            new = master.add(state.price(ctx, budget=ROUGHLY, rough=True).groups)
            rough = new > MANY * state.n
            continue
        priced = state.price(ctx, budget=budget, share=smooth if slow else 0.0, worth=worth)
        new = master.add(priced.groups)
        if new == 0 and worth > 0.0 and state.bound <= before and priced.groups:
            worth = 0.0  # no group of k is new: only a proof can show what is lacking
            continue
        rough, worth = cutting and new > MANY * state.n, WORTH if cutting else 0.0
        state.tell()
        inside = master.artificial <= 1e-9
        if inside and master.objective - state.bound <= enough * abs(master.objective):
            return True
        if new == 0:
            if slow:
                smooth /= 2.0
            elif not inside:
                width *= WIDER
            elif priced.complete and (state.centres is None or not state.centres.sharpen()):
                return True
        if not priced.complete and state.bound <= before:
            budget *= 3
        if new == 0 or state.bound > before:
            if not inside and master.objective - state.bound < SOLVED * master.objective:
                width *= WIDER
            master.box(state.center, width)
    return False


def guess(state: Prices, target: float, ctx: Context) -> None:
    """Find good prices by groups that a short search finds, then prove them by a full one.

    For large k, where a full search takes long: it would find most of its groups in a small share of
    its time. As in `relax`, with the total of prices that no *found* group contradicts in place of
    the bound.

    Parameters
    ----------
    state : Prices
        The prices, without cuts.
    target : float
        A cost to start from: the first prices add up to it, valid or not.
    ctx : Context
        Its deadline ends the proof, which then holds for the records with the highest prices.
    """
    master, likely, most = state.master, state.center, 0.0
    likely = likely * max(1.0, target / math.fsum(likely))
    for look, enough, share in LOOKS:
        width, most = WIDTH, 0.0
        master.box(likely, width)
        while not ctx.over and (not ctx.timed or ctx.spent < share * (ctx.spent + ctx.left)):
            master.solve(ctx, state.tell)
            priced = state.quick(master.prices, ctx, budget=look, most=3, limit=-1e-7, tell=state.tell)
            repaired = master.prices - priced.hinted(state.k)
            if (total := math.fsum(repaired)) > most:
                most, likely = total, repaired
            new, gap = master.add(priced.groups), master.objective - most
            if gap < enough * master.objective or new == 0:
                if master.artificial <= 1e-9 or (new and gap > SOLVED * master.objective):
                    break
                width *= WIDER
            master.box(likely, width)
    state.keep(likely, state.quick(likely, ctx, most=3, limit=-1e-7, tell=state.tell))


def approach(state: Prices, centres: CentrePricer, target: float, ctx: Context) -> None:
    """Raise prices by the best groups near records and near groups in use; prove them now and then.

    As `guess`, for tables with few columns of numbers. A proof takes about as long as ten such rounds. It
    also shows where the found groups promised too much: the next round starts from proven prices.

    Parameters
    ----------
    state : Prices
        The prices, without cuts.
    centres : CentrePricer
        Finds the groups, and proves the prices.
    target : float
        A cost to start from: the first prices add up to it, valid or not.
    ctx : Context
        Its deadline ends the proof, which then holds where it ended.
    """
    master, width, longest, steps = state.master, NARROW, 0.0, list(PROVEN)
    total = math.fsum(state.center)
    likely = state.center * (max(1.0, target / total) if total > 0.0 else 1.0)
    most, gap, new, late = math.inf, 1.0, 0, False
    while not ctx.over:
        if late or new == 0 or gap < steps[0]:
            begun, before = now(), state.bound
            state.keep(likely, centres(likely, ctx, tell=state.tell))
            longest = max(longest, now() - begun)
            if (gap < steps[0] or new == 0) and state.bound <= (1.0 + PROGRESS) * before:
                steps.pop(0)
            if late or state.tight or not steps:
                return
            likely, most = state.center, state.bound
        master.box(likely, width)
        master.solve(ctx, state.tell)
        used = [master.groups[s] for s in np.flatnonzero(master.weights > 1e-6)]
        priced = centres.glance(master.prices, used, ctx, tell=state.tell)
        repaired = master.prices - priced.hinted(state.k)
        new = master.add(priced.groups)
        if (total := math.fsum(repaired)) > most:
            most, likely = total, repaired
        gap = 1.0 - most / master.objective if master.objective > 0.0 else 0.0
        if new == 0 and master.artificial > 1e-9:
            width *= WIDER
        late = ctx.timed and ctx.left < PROOFS * longest
