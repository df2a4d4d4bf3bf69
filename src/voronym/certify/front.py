"""The entry point of every bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from voronym.certify.bound import Bound
from voronym.certify.centres import DIMENSIONS
from voronym.certify.columns import LARGEST, columns
from voronym.certify.exact import PUBLISHED, SUBSETS, exact, published_by_subsets
from voronym.certify.local import local
from voronym.certify.neighbours import neighbours
from voronym.certify.state import Enough
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space.published import PublishedPoints

KINDS = ("auto", "neighbours", "local", "columns", "exact")

FEW = 1000
"""Up to this number of records column generation starts even without time, because its first bound is quick.
"""

WIDEST, WIDEST_BY_CENTRES = 12, 30
"""Largest k for which column generation proves a useful bound: with many columns of numbers, and with up to
three, where groups are priced by their centres.
"""


@checked
def lower_bound(
    X: ArrayLike,
    k: int,
    *,
    time_limit: float | None = 60.0,
    partition: Partition | None = None,
    kind: str = "auto",
    seed: int | np.random.Generator | None = 0,
    progress: ProgressCallback | None = None,
) -> Bound:
    """Prove a lower bound on the loss of any partition into groups of at least k records.

    The claim: for every partition of the rows of X into groups of at least k, the sum of squared
    distances to the groups' means is at least ``bound.sse``.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers, used as they are (see `voronym.standardize`).
    k : int
        Least number of records in a group.
    time_limit : float, optional
        Seconds for the whole call, for "columns" and "exact"; with None they run until nothing is left to
        try.
    partition : Partition, optional
        A good partition, if you have one: it shortens the work, and the bound's own partition is no worse.
    kind : str
        "neighbours": O(n log n), any number of records, some 60 to 80 % of the optimum. "local": the same,
        improved by the neighbourhood of each record, in a multiple of the time. "columns": column generation,
        up to 6,000 records, usually within a few percent. "exact": one column, or few records; ``optimal``
        says whether the time was enough. "auto": the best kind that fits.
    seed : int, Generator or None
        For random choices.
    progress : callable, optional
        Called with a `voronym.Progress` that has loss and bound, in percent. It may raise
        `voronym.FinishEarly` to end the work with the best bound so far.

    Returns
    -------
    Bound
        ``sse``, ``information_loss`` in percent, ``optimal``, and the best ``partition`` met on the way.

    Examples
    --------
    >>> import voronym as vr
    >>> X = vr.datasets.gaussian(60, 2)
    >>> bound = vr.lower_bound(X, 3, time_limit=20)
    >>> part = vr.microaggregate(X, 3, method="mdav")
    >>> bound.sse <= part.sse(X)
    True
    """
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress).part(0.0, 1.0, stage="proving")
    bound = prove(Problem.of(X, k), ctx, kind=kind, part=partition)
    ctx.done()
    return bound


def prove(
    problem: Problem,
    ctx: Context,
    *,
    kind: str = "auto",
    part: Partition | None = None,
    enough: Enough | None = None,
) -> Bound:
    """Prove a bound for a problem in a context, as `lower_bound` does.

    At the deadline or a request to finish, it returns the bound so far; without one, the request raises
    `voronym.errors.Unfinished`.

    Parameters
    ----------
    problem : Problem
        Records with Euclidean coordinates.
    ctx : Context
        Gets loss and bound.
    kind : str
        See `lower_bound`.
    part : Partition, optional
        A good partition to start from.
    enough : Enough, optional
        When column generation may end before its time.
    """
    X, n, k = problem.points, problem.n, problem.k
    if kind not in KINDS:
        raise InputError(f"no bound is called {kind!r}; there are: {', '.join(KINDS)}")
    if part is not None:
        if part.n != n:
            raise InputError(f"the partition is of {part.n} records, X has {n}")
        part = problem.checked(part)
    if kind in ("columns", "exact") and n > LARGEST and X.shape[1] > 1:
        raise InputError(f"{n} records are more than the {LARGEST} that kind {kind!r} takes; try 'local'")
    records = problem.records
    means = not isinstance(records, PublishedPoints)  # modes have no such shortcuts
    small = n < 2 * k or (means and (n <= SUBSETS or X.shape[1] == 1))
    few = 2 * k <= n <= PUBLISHED and kind in ("auto", "exact")
    if few and isinstance(records, PublishedPoints) and not records.shown.publishes_medians:
        return published_by_subsets(problem, records, ctx)
    if kind == "exact" or (kind == "auto" and small):
        return exact(X, k, ctx, partition=part)
    if kind == "neighbours":
        return replace(neighbours(X, k, ctx), partition=part)
    if kind == "local" or (kind == "auto" and (n > LARGEST or not priceable(problem))):
        return replace(local(X, k, ctx), partition=part)
    first = _start(problem, ctx.part(0.0, 0.1, time=0.1)) if part is None else part
    if ctx.over and n > FEW:  # no time for all distances
        return replace(neighbours(X, k, ctx), partition=first)
    return replace(columns(problem, first, ctx.part(0.1, 1.0), enough=enough), seconds=ctx.spent)


def priceable(problem: Problem) -> bool:
    """Return whether k is small enough for a useful bound by column generation."""
    records = problem.records
    numbers = records.shown.bounded if isinstance(records, PublishedPoints) else problem.points
    return problem.k <= (WIDEST_BY_CENTRES if numbers.shape[1] <= DIMENSIONS else WIDEST)


def _start(problem: Problem, ctx: Context) -> Partition:
    """Return a good partition to start from, by annealing."""
    return METHODS["anneal"].partition(problem, ctx.limited(20.0) if ctx.timed else ctx)


BRIEF = 3.0
"""Largest number of seconds for the proof of a release without a time limit."""

COLUMNS = 5_000
"""Up to this number of records column generation is used; it keeps all distances in memory."""

_CHEAP, _FLAT = 1.5e11, 6
"""Above n² · d = 1.5e11 the nearest-neighbour bound takes more than a minute. With at most six columns it is
five times as fast, because boxes spare most distances.
"""


def prove_briefly(problem: Problem, part: Partition, ctx: Context) -> Bound | None:
    """Prove a bound for a partition within seconds; None if there are too many records.

    Up to 5,000 records and k = 12 (k = 30 with up to three columns of numbers) by column generation, for
    at most 3 s, or less if the gap is 5 % earlier, or cannot be by then. Otherwise from the neighbours
    of each record.
    """
    n, d = problem.points.shape
    if n <= COLUMNS and priceable(problem):
        enough, records = Enough(), problem.records
        if isinstance(records, PublishedPoints) and (lost := records.lost(part)) > 0.0:
            # The gap that a release shows is of the loss as published, a little more than its model.
            share = records.cost(part) / lost
            enough = replace(enough, gap=(1.0 + enough.gap) * share - 1.0)
        return prove(problem, ctx.limited(BRIEF), part=part, enough=enough)
    if n * n * d / (5 if d <= _FLAT else 1) > _CHEAP:
        return None
    return prove(problem, ctx.limited(60.0), kind="neighbours" if n <= COLUMNS else "local", part=part)
