"""The default method: the best partition for the granted seconds, and its proof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voronym.certify import Bound, prove
from voronym.certify.front import COLUMNS, priceable
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.method import METHODS, algorithm
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.anneal import SWEEPS
from voronym.refiners.registry import REFINERS
from voronym.space.published import PublishedPoints

QUICK = 6_000
"""Up to this number of records, annealing pays within a few seconds."""
MIDDLE = 100_000
"""Up to this number of records a local search pays in a space without coordinates; its start is quadratic."""
SMALL = 6
"""Largest k for which column generation finds better partitions. The number of groups to price grows steeply
with k.
"""
SEARCH, MOSTLY = 0.3, 0.75
"""Shares of the time for annealing before column generation, for small k and for larger."""
GLANCE, FEW = 100.0, 500
"""Proposals per record of a short descent by means before the search by published values; and the number of
records up to which the whole search by means takes no noticeable time.
"""
LEAST = 500
"""Number of records whose proposals even a smaller table gets, for a fifth of a second of processor."""
VISITED = 0.5
"""Share of the visits by means, if the rest of the search is by published values."""
SHOWN = 0.6
"""The same share if groups publish modes, where column generation proves a bound but finds no better groups.
"""
VISITS, DEAR = 2.5e7, 3e6
"""Visits to pairs of groups without a time limit, with coordinates and without: some tens of seconds on two
cores.
"""
TRIAL = 20.0
"""Proposals per record in the trial that predicts the time of all."""
LONGEST = 64_000.0
"""Proposals per record above which another run is better than a longer one, for k above `SMALL`."""


@algorithm(
    "auto",
    guarantee="every group has k to 2k-1 records",
    cost="at most the time of MDAV and a few seconds; with a time limit, that time",
    reference="this project",
    timed=True,
    anywhere=True,
    weighted=True,
    max_size=lambda k: 2 * k - 1,
)
def auto(problem: Problem, ctx: Context) -> Partition:
    """Choose by size and time: the optimum for one column, annealing and column generation, or pairs."""
    return solve(problem, ctx)[0]


def solve(problem: Problem, ctx: Context) -> tuple[Partition, Bound | None]:
    """Return the best partition for the given time, and the bound proven on the way, if any.

    Up to 6,000 records without a time limit: MDAV and a short, repeatable search. With a limit: the same
    first, if the time suffices, so that a limit never gives a worse result. Then longer searches, and
    column generation, which proves a bound and often finds a better partition. For more records: the pair
    search. If groups publish other values than means, the loss of these values is minimised.
    """
    n, k = problem.n, problem.k
    if n < 2 * k:
        return problem.one_group(), None
    if isinstance(problem.records, PublishedPoints):
        return _published(problem, problem.records, ctx)
    flat = problem.records.points is not None
    alike = problem.weights is None
    if flat and alike and problem.X.shape[1] == 1:
        proven = prove(problem, ctx, kind="exact")
        if proven.partition is not None:
            return proven.partition, proven
    if max(n, ctx.stands_for) > (QUICK if flat else MIDDLE):
        return _pairs(problem, ctx), None
    start = METHODS[problem.records.begin or "mdav"].partition(problem, ctx.part(0.0, 0.1))
    search = ctx.part(0.1, 1.0)
    if not ctx.timed:
        return _short(problem, start, search), None
    if not flat:  # this search goes the same way without a limit, and is only cut earlier
        return REFINERS["exchange"].improve(problem, start, search), None
    if not alike:  # bounds hold only for records of equal weight
        return _anneal(problem, start, search), None
    best, seconds = _first(problem, start, ctx.part(0.1, 0.2))
    if seconds is None:
        return _better(problem, best, _anneal(problem, start, ctx.part(0.2, 1.0))), None
    share = SEARCH if k <= SMALL else MOSTLY
    best = _longer(problem, start, best, ctx.part(0.2, share, time=share), seconds)
    return _prove(problem, best, ctx.part(share, 1.0))


def _prove(problem: Problem, best: Partition, ctx: Context) -> tuple[Partition, Bound | None]:
    """Prove a bound and look for better groups; only search if a proof would be useless."""
    if problem.n > COLUMNS or not priceable(problem):
        return REFINERS["exchange"].improve(problem, best, ctx), None
    try:
        proving = ctx.stage.replace("grouping", "proving") or "proving"  # of whom: rows, or people's means
        bound = prove(problem, ctx.part(0.0, 1.0, stage=proving), kind="columns", part=best)
    except Unfinished:
        return best, None
    if bound.partition is not None:
        best = problem.better(best, bound.partition.labels)
    return best, bound


def _published(problem: Problem, records: PublishedPoints, ctx: Context) -> tuple[Partition, Bound | None]:
    """Search for groups with a small loss as published.

    First minimise the loss of means for a while; the loss as published needs most of the search.
    """
    means, many = Problem(records.plain(), problem.k), max(problem.n, ctx.stands_for)
    if many > QUICK:
        return _pairs(problem, ctx), None
    if not ctx.timed:
        if many <= FEW or means.X.shape[1] == 1:  # of one column the optimum is known
            best = solve(means, ctx.part(0.0, 0.2))[0]
        else:
            start = METHODS[records.begin or "mdav"].partition(means, ctx.part(0.0, 0.05))
            best = _anneal(means, start, ctx.part(0.05, 0.2), GLANCE)
        return records.best(best, _anneal(problem, best, ctx.part(0.2, 1.0))), None
    start = METHODS[records.begin or "mdav"].partition(means, ctx.part(0.0, 0.1))
    best, seconds = _first(means, start, ctx.part(0.1, 0.2))
    if seconds is None:
        return records.best(best, _anneal(problem, best, ctx.part(0.2, 1.0))), None
    begun = now()
    result = _anneal(problem, best, ctx.part(0.2, 0.3).unhurried())
    result = _longer(problem, result, result, ctx.part(0.3, SHOWN, time=SHOWN), now() - begun)
    return _prove(problem, records.best(best, result), ctx.part(SHOWN, 1.0))


def _pairs(problem: Problem, ctx: Context) -> Partition:
    """Search by pairs; without a time limit for some tens of seconds at most."""
    method = METHODS["pairs"]
    options = method.options()
    dear = problem.records.points is None or problem.weights is not None
    most = DEAR if dear else VISITS
    share = VISITED if isinstance(problem.records, PublishedPoints) and not ctx.timed else 1.0
    many = max(problem.n, ctx.stands_for)
    each = min(share * options.sweeps, most * problem.k / many)  # type: ignore[attr-defined]
    return method.partition(problem, ctx, replace(options, sweeps=each))  # type: ignore[call-arg]


def _anneal(problem: Problem, start: Partition, ctx: Context, sweeps: float | None = None) -> Partition:
    refiner = REFINERS["anneal"]
    options = refiner.method.options(sweeps=_usual(problem) if sweeps is None else sweeps)  # type: ignore[call-arg]
    return refiner.improve(problem, start, ctx, options)


def _usual(problem: Problem) -> float:
    """Return the proposals per record without a time limit, which are more for records of small tables."""
    return SWEEPS * max(1.0, LEAST / problem.n)


def _better(problem: Problem, partition: Partition, other: Partition) -> Partition:
    return problem.better(partition, other.labels)


def _first(problem: Problem, start: Partition, ctx: Context) -> tuple[Partition, float | None]:
    """Do the work of an unlimited run, if the time suffices one and a half times; return its seconds.

    Annealing has no useful result while it is hot. A few sweeps, which are useful by themselves, predict
    whether it can end in time.
    """
    trial = ctx.part(0.0, 0.1).unhurried()
    trial.rng = np.random.default_rng(0)  # the real run then draws the same numbers as without a limit
    seconds = []
    for sweeps in (TRIAL, 2.0 * TRIAL):
        begun = now()
        tried = _anneal(problem, start, trial, sweeps)
        seconds.append(now() - begun)
    more = max(seconds[1] - seconds[0], seconds[1] / 4)  # for TRIAL sweeps; the rest is for preparations
    if ctx.left < 1.5 * more * _usual(problem) / TRIAL:
        return tried, None
    begun = now()
    result = _short(problem, start, ctx.part(0.1, 1.0).unhurried())
    return _better(problem, tried, result), now() - begun


def _longer(problem: Problem, start: Partition, best: Partition, ctx: Context, seconds: float) -> Partition:
    """Anneal again, twice as long each time, while time remains.

    Above a certain length, if column generation will not help, the length stays and annealing is
    repeated. ``seconds`` is the time of the previous run.
    """
    sweeps, longest = _usual(problem), np.inf if problem.k <= SMALL else LONGEST
    while ctx.left > 1.2 * seconds * (growth := min(2.0, longest / sweeps)) and not ctx.over:
        sweeps, begun = growth * sweeps, now()
        best = _better(problem, best, _anneal(problem, start, ctx.unhurried(), sweeps))
        seconds = now() - begun
    return best


def _short(problem: Problem, start: Partition, ctx: Context) -> Partition:
    """Search as long as it pays; the result is the same on every machine."""
    if problem.records.points is not None:
        return _anneal(problem, start, ctx)
    refiner = REFINERS["exchange"]
    return refiner.improve(problem, start, ctx, refiner.method.options(iterations=0))  # type: ignore[call-arg]
