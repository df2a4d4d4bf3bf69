"""The default choice: the best partition for the seconds granted, and what is proven about it."""

from __future__ import annotations

from voronym.certify import Bound, prove
from voronym.context import Context
from voronym.errors import Unfinished
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.registry import REFINERS
from voronym.registry import METHODS, algorithm

QUICK = 6_000
"""Records up to which annealing pays within a second or a few."""
MIDDLE = 100_000
"""Records up to which a local search does, in a space without coordinates."""
COLUMNS = 5_000
"""Records up to which column generation is tried: it keeps every pair of neighbours in memory."""
SMALL, LARGEST = 6, 12
"""Largest k for which column generation finds better partitions, and for which it proves a useful bound: the
number of groups to price grows steeply with k."""
SEARCH, MOSTLY = 0.3, 0.75
"""Shares of the time for annealing before column generation, for small k and for larger."""


@algorithm(
    "auto",
    guarantee="every group has k to 2k-1 records",
    cost="that of MDAV or less, and a second or a few; with a time limit, that time",
    reference="this project",
    timed=True,
    anywhere=True,
    max_size=lambda k: 2 * k - 1,
)
def auto(problem: Problem, ctx: Context) -> Partition:
    """Choose by size and time: one column's optimum; annealing and column generation, or pairs of groups."""
    return solve(problem, ctx)[0]


def solve(problem: Problem, ctx: Context) -> tuple[Partition, Bound | None]:
    """Return the best partition for the time granted, and the bound proven on the way, if any.

    Up to 6,000 records, without a time limit: MDAV and a short, repeatable search. With one: annealing until
    it is over, or, for small k, annealing for a part of it and column generation after that, which proves a
    bound and often finds a better partition too. More records: the pair search, either way.
    """
    n, k = problem.n, problem.k
    if n < 2 * k:
        return problem.one_group(), None
    flat = problem.records.points is not None
    if flat and problem.X.shape[1] == 1:
        proven = prove(problem, ctx, kind="exact")
        if proven.partition is not None:
            return proven.partition, proven
    if flat and n > QUICK:
        return METHODS["pairs"].partition(problem, ctx), None
    start = METHODS["mdav"].partition(problem, ctx.part(0.0, 0.1))
    search = ctx.part(0.1, 1.0)
    if not ctx.timed:
        return (start if n > MIDDLE else _short(problem, start, search, flat)), None
    if not flat or n > COLUMNS or k > LARGEST:  # no bound is known in other spaces
        refiner = "anneal" if flat else "exchange"
        return REFINERS[refiner].improve(problem, start, search), None
    share = SEARCH if k <= SMALL else MOSTLY
    best = REFINERS["anneal"].improve(problem, start, ctx.part(0.1, share, time=share))
    try:
        bound = prove(problem, ctx.part(share, 1.0, stage="proving"), kind="columns", part=best)
    except Unfinished:
        return best, None
    if bound.partition is not None:
        best = problem.better(best, bound.partition.labels)
    return best, bound


def _short(problem: Problem, start: Partition, ctx: Context, flat: bool) -> Partition:
    """Search as long as it pays, the same on every machine."""
    if flat:
        return REFINERS["anneal"].improve(problem, start, ctx)
    refiner = REFINERS["exchange"]
    return refiner.improve(problem, start, ctx, refiner.method.options(iterations=0))  # type: ignore[call-arg]
