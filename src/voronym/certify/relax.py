"""The linear relaxation over all groups: prices that rise until no group is cheaper than its records."""

from __future__ import annotations

from voronym.certify.prices import Prices
from voronym.core.context import Context

WIDTH = 0.15
"""Half width of the box around the best feasible prices, as a share of them."""

SOLVED, WIDER = 0.003, 2.0
"""Relative gap at which the problem inside the box counts as solved, and the factor that then widens the box.
"""

BUDGET = 1000
"""Nodes per anchor at first; a search that ends at this limit finds groups, but proves little."""

CONVERGED = 1e-6
"""Relative gap between the restricted problem and the bound that counts as solved."""


def relax(state: Prices, ctx: Context, *, budget: int = BUDGET, enough: float = CONVERGED) -> bool:
    """Solve the linear relaxation by adding groups of negative reduced cost; return whether it was solved.

    Prices of a restricted problem oscillate; two measures damp them. A box around the best feasible
    prices so far (artificial columns pay for leaving it) keeps them near good values, and groups are
    priced half way between the two. Both measures fade: the box moves with the bound, and widens if it
    binds and the problem inside is nearly solved, or at the end; the half becomes a quarter, and so on,
    when there are no more groups to add.

    Every pricing proves a bound, so the best so far is valid whenever this stops.
    """
    master = state.master
    width, smooth = WIDTH, 0.5
    master.box(state.center, width)
    while not ctx.over and not state.closed:
        master.solve(ctx, state.tell)
        before = state.bound
        priced = state.price(smooth, ctx, budget=budget)
        new = master.add(priced.groups)
        state.tell()
        inside = master.artificial <= 1e-9
        if inside and master.objective - state.bound <= enough * abs(master.objective):
            return True
        if new == 0:
            if smooth > 0.01:
                smooth /= 2.0
            elif not inside:
                width *= WIDER
            elif priced.complete:
                return True
        if not priced.complete and state.bound <= before:
            budget *= 3
        if new == 0 or state.bound > before:
            if not inside and master.objective - state.bound < SOLVED * master.objective:
                width *= WIDER
            master.box(state.center, width)
    return False
