"""The door to every bound."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.certify.bound import Bound
from voronym.certify.columns import LARGEST, columns
from voronym.certify.exact import SUBSETS, exact
from voronym.certify.neighbours import neighbours
from voronym.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import Problem, check_k, check_points
from voronym.progress import Progress, silent
from voronym.registry import METHODS

KINDS = ("auto", "neighbours", "columns", "exact")

WIDEST = 12
"""Largest k that "auto" tries columns for: beyond, pricing ends at its node limits and proves little more."""


def lower_bound(
    X: ArrayLike,
    k: int,
    *,
    time_limit: float | None = 60.0,
    partition: Partition | None = None,
    kind: str = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Bound:
    """Prove how little any partition into cells of at least k records can lose.

    The claim: for every partition of the rows of X into cells of at least k, its sum of squared distances to
    the cells' means is at least ``bound.sse``.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers, used as they are (see `voronym.standardize`).
    k : int
        Least number of records in a cell.
    time_limit : float, optional
        Seconds that "columns" and "exact" may take; None lets them work until they have nothing left to try.
    partition : Partition, optional
        A good partition, if you have one: it shortens the work, and the bound's own partition is no worse.
    kind : str
        "neighbours": O(n log n), any number of records, some 60 to 80 % of the optimum. "columns": column
        generation, up to 6,000 records and small k, usually within a few percent. "exact": one column, or few
        records; it says by ``optimal`` whether the time was enough. "auto": the best that fits.
    seed : int
        For random choices.
    progress : callable, optional
        Called with a `voronym.progress.Step` that has loss and bound, in percent. It may raise
        `voronym.progress.Stop` to end the work with what is proven so far.

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
    started = perf_counter()
    points = check_points(X)
    n, k = len(points), check_k(k, len(points))
    tell = silent if progress is None else progress
    if kind not in KINDS:
        raise InputError(f"no bound is called {kind!r}; there are: {', '.join(KINDS)}")
    if time_limit is not None and not time_limit >= 0.0:
        raise InputError("time_limit must be a number of seconds, 0 or more, or None")
    if partition is not None:
        if partition.n != n:
            raise InputError(f"the partition is of {partition.n} records, X has {n}")
        partition = Partition(partition.labels, k=k)
    if kind in ("columns", "exact") and n > LARGEST and points.shape[1] > 1:
        raise InputError(
            f"{n} records are more than the {LARGEST} that kind {kind!r} takes; try 'neighbours'"
        )
    small = n <= SUBSETS or points.shape[1] == 1 or n < 2 * k
    if kind == "exact" or (kind == "auto" and small):
        return exact(points, k, time_limit=time_limit, partition=partition, seed=seed, progress=tell)
    if kind == "neighbours" or (kind == "auto" and (n > LARGEST or k > WIDEST)):
        return replace(neighbours(points, k, progress=tell), partition=partition)
    first = (
        start(points, k, time_limit=time_limit, seed=seed, progress=tell) if partition is None else partition
    )
    left = None if time_limit is None else max(0.0, time_limit - (perf_counter() - started))
    bound = columns(points, k, first, time_limit=left, seed=seed, progress=tell)
    return replace(bound, seconds=perf_counter() - started)


def start(
    X: NDArray[np.float64], k: int, *, time_limit: float | None, seed: int, progress: Progress
) -> Partition:
    """Return a good partition to start from: annealing, for a tenth of the time."""
    limit = None if time_limit is None else min(20.0, 0.1 * time_limit)
    ctx = Context(seed=seed, time_limit=limit, progress=progress)
    return METHODS["anneal"].partition(Problem.of(X, k), ctx)


def prove(problem: Problem, ctx: Context, *, kind: str = "auto", part: Partition | None = None) -> Bound:
    """Prove a bound for a problem in Euclidean space, see `lower_bound`."""
    return lower_bound(
        problem.points,
        problem.k,
        time_limit=ctx.left if ctx.timed else None,
        partition=part,
        kind=kind,
        seed=int(ctx.rng.integers(2**31)),
        progress=ctx,
    )
