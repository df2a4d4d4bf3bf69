"""Column generation: the linear relaxation over all groups of k to 2k-1 records, and its consequences."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from voronym.certify.bound import Bound
from voronym.certify.centres import DIMENSIONS, LEAST, TOLERANCE, CentrePricer
from voronym.certify.costs import Costs
from voronym.certify.integer import LARGEST_POOL, dive, regions, restricted
from voronym.certify.ladder import climb
from voronym.certify.relax import CONVERGED, approach, guess, relax
from voronym.certify.state import LEAP, Enough, State
from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.partition import Partition
from voronym.problem import Problem

LARGEST = 6000
"""Largest number of records: all distances are stored, which takes 8 n^2 bytes."""

REGION = 400
"""Number of records in the first regions that are improved separately."""

POOL = 3000
"""Number of groups in the first integer problem over the whole table."""

CUTS = 400
"""Largest number of cuts per round."""

LOOSE, RAISED = 0.05, 1e-5
"""Share of the gap that may be left between the relaxation and its proof before there are new cuts; and the
share by which cuts must raise the bound to be followed by others.
"""

PROOF = 0.75
"""Share of the time after which work on the bound stops, so that partitions can be searched."""

FIRST, CLIMB = 0.1, 0.35
"""Shares of the time for the first try, and for a second with prices of smaller groups."""

HARD = 50
"""Search nodes per record above which pricing is slow: then prices of smaller groups pay off, or guesses."""

LARGE = (0, 0, 8, 10)
"""From these k on, groups are priced by their centres, with no, one, two and three columns of numbers."""

CUTTABLE = 12
"""Largest k for cuts after pricing by centres: groups with cuts are listed member by member, up to 2k - 1."""

LONGEST = 600.0
"""Seconds planned for the first steps if there is more time, or no limit."""


def columns(
    problem: Problem,
    part: Partition,
    ctx: Context,
    *,
    seeds: Sequence[Partition] = (),
    enough: Enough | None = None,
) -> Bound:
    """Bound the SSE by the linear relaxation of set partitioning, and search its groups for partitions.

    The problem: choose groups of k to 2k-1 records, each record in exactly one, with the least total SSE
    (or the least loss as published, if groups publish modes). In the relaxation, groups may be taken in
    part. Prices of the records prove a bound, their sum, if no group costs less than its records' prices.
    Groups that cost less are found exactly, by branch and bound, and added until there are none.
    Cuts then exclude fractional solutions: the groups with more than half of some records have a total
    weight of at most 1. Dives and the integer problem over the likeliest groups give
    partitions. If these groups are all that a better partition could use, the result is the optimum.

    Guarantee: the bound is valid whenever the work stops, by the deadline or by a request to finish.
    Before the distances are computed, such a request raises `voronym.errors.Unfinished`. Cost: memory 8
    n^2 bytes; time grows with k.

    Parameters
    ----------
    problem : Problem
        The records, and k.
    part : Partition
        A partition to start from: the better, the sooner the proof ends.
    ctx : Context
        Gets loss and bound; without a deadline the work ends when nothing more can be done.
    seeds : sequence of Partition
        Further partitions with useful groups.
    enough : Enough, optional
        When to end before the time is over; by default with the optimum.

    References
    ----------
    D. Aloise, P. Hansen and L. Liberti, "An improved column generation algorithm for minimum sum-of-squares
    clustering", Mathematical Programming 131 (2012). O. du Merle, D. Villeneuve, J. Desrosiers and P. Hansen,
    "Stabilized column generation", Discrete Mathematics 194 (1999). M. Jepsen, B. Petersen, S. Spoorendonk
    and D. Pisinger, "Subset-row inequalities applied to the vehicle-routing problem with time windows",
    Operations Research 56 (2008).

    Examples
    --------
    >>> from voronym import Partition, Problem, datasets
    >>> X = datasets.gaussian(30, 2)
    >>> bound = columns(Problem.of(X, 2), Partition([0, 1] * 15, k=2), Context())
    >>> bound.optimal, bound.sse <= bound.partition.sse(X)
    (True, True)
    """
    ctx = ctx.part(0.0, 1.0)
    state = State(Costs.of(problem, ctx), problem.k, part, ctx, enough)
    for start in seeds:
        state.add_partition(start)
    with suppress(Unfinished):  # what is proven stays
        _search(state, ctx)
    while state.drifted and not ctx.over:
        try:
            state = state.rescaled()
            _search(state, ctx)
        except Unfinished:
            break
    ctx.check(whole=False)
    return state.result()


def _search(state: State, ctx: Context) -> None:
    """Solve and cut the relaxation while that helps; then look for partitions in ever larger regions."""
    planned = min(LONGEST, ctx.spent + ctx.left)
    if state.costs.width <= DIMENSIONS and state.k >= LARGE[state.costs.width]:
        # A brief proof has no time for the last hundredths of a percent.
        least = LEAST if state.enough is None else TOLERANCE
        state.centres = CentrePricer(state.costs, state.k, least)
        if state.costs.width > 1:
            approach(state, state.centres, LEAP * state.upper, ctx.limited(planned))
    else:
        _members(state, ctx, planned)
    if state.enough is not None or not state.flat:  # the bound is all that is wanted, or can be had
        tighten(state, ctx)
        return
    tighten(state, ctx.limited(max(0.0, PROOF * planned - ctx.spent)))  # leave time for partitions
    if not state.closed:
        dive(state, ctx.limited(0.1 * planned))
    size, pool, seconds = REGION, POOL, 20.0
    while not ctx.over and not state.closed and not state.drifted:
        if size < state.n:
            if not regions(state, ctx.limited(max(5.0, 0.1 * planned)), size=size):
                size *= 2
            continue
        better, ended = restricted(state, ctx, seconds, pool=pool)
        if better or state.closed:
            continue
        if not ended:
            seconds *= 2.0
            if seconds > planned:
                return
        elif pool < LARGEST_POOL:
            pool *= 3
        else:
            return  # nothing left to try
        tighten(state, ctx)


def _members(state: State, ctx: Context, planned: float) -> None:
    """Raise the first prices by groups that are searched member by member."""
    state.leap(ctx.limited(FIRST * planned))
    hard = state.nodes > HARD * state.n
    if hard and not state.flat:
        guess(state, LEAP * state.upper, ctx.limited(planned))
    if state.flat:  # prices of smaller groups are of squares
        solved = relax(state, ctx.limited(FIRST * planned))
        if not solved and not state.closed and state.nodes > HARD * state.n:
            climb(state, ctx.limited(CLIMB * planned))


def tighten(state: State, ctx: Context) -> None:
    """Solve the relaxation, then solve it again with cuts while these raise the bound."""
    relax(state, ctx)
    if state.centres is not None and state.k > CUTTABLE:
        return
    while not ctx.over and not state.closed:
        before = state.bound
        cuts = state.master.violated(CUTS)
        if not cuts:
            return
        state.master.cut(cuts)
        for enough in (max(CONVERGED, LOOSE * (1.0 - state.bound / state.upper)), CONVERGED):
            relax(state, ctx, enough=enough)
            if state.bound - before >= RAISED * state.bound:
                break
        else:
            return
