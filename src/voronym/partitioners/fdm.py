"""FDM: one tour through the records, cut for every k."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import shorten as kernels
from voronym.core.context import Context, ProgressCallback
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.partitioners._near import neighbourhoods
from voronym.partitioners._order import cut, nearest_next, outermost
from voronym.problem import Problem, check_k, check_points

NEAR = 10
"""Number of near records with which a record's edges are compared."""

LEAST = 8
"""Smallest number of records for which the moves on a tour are possible."""


@classic(
    "fdm",
    more="no cut of the same tour loses less",
    cost="O(n) searches in a k-d tree, O(n) moves of O(n) steps at worst, O(n k) steps; memory O(n d)",
    reference="Mortazavi, Jalili: Fast data-oriented microaggregation algorithm, 2014",
)
def fdm(problem: Problem, ctx: Context) -> Partition:
    """Make a short tour of all records, then cut it at the best places.

    The tour does not depend on k; `fdm_partitions` cuts it for many k at once.

    Notes
    -----
    The description leaves the order of the records open. Here it goes to the nearest record next, is then
    shortened by 2-opt and Or-opt moves among each record's 10 nearest until none helps, and opened at its
    longest edge. Without the moves this is "npn-mhm", which lost 3 to 27 % more on the reference data.

    References
    ----------
    R. Mortazavi and S. Jalili, "Fast data-oriented microaggregation algorithm for large numerical datasets",
    Knowledge-Based Systems 67 (2014), 195-205.
    """
    X, k = problem.points, problem.k
    return _partitions(X, [k], ctx)[k]


def fdm_partitions(
    X: ArrayLike, ks: Iterable[int], *, progress: ProgressCallback | None = None
) -> dict[int, Partition]:
    """Partition records for several k in one run: one tour, and one pass over its runs for all k.

    Guarantee: each result is the partition of method "fdm" for its k. The sum of squares of a run is
    computed once for all k, so the cost is that of the largest k, plus O(n k) steps for each.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers, used as they are.
    ks : iterable of int
        Least numbers of records in a cell, each from 2 to n.
    progress : callable, optional
        Called with a `voronym.Progress` now and then; it may raise to stop the work.

    Returns
    -------
    dict
        k -> Partition, by rising k.

    Examples
    --------
    >>> from voronym.partitioners import fdm_partitions
    >>> parts = fdm_partitions([[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]], [2, 3])
    >>> {k: part.n_cells for k, part in parts.items()}
    {2: 3, 3: 2}
    """
    points = check_points(X)
    wanted = sorted({check_k(k, len(points)) for k in ks})
    if not wanted:
        raise InputError("give at least one k")
    return _partitions(points, wanted, Context(progress=progress))


def _partitions(X: NDArray[np.float64], ks: list[int], ctx: Context) -> dict[int, Partition]:
    order = short_tour(X, ctx.part(0.0, 0.9))
    return cut(X, order, ks, ctx.part(0.9, 1.0))


def short_tour(X: NDArray[np.float64], ctx: Context) -> NDArray[np.int64]:
    """Return the records in the order of a short tour that begins after its longest edge."""
    n = len(X)
    tour = nearest_next(X, outermost(X), ctx.part(0.0, 0.3))
    if n < LEAST:
        return tour
    near = neighbourhoods(X, min(NEAR + 1, n), ctx.part(0.3, 0.5)).near
    place, segment, state = np.argsort(tour), np.empty(kernels.SEGMENT, np.int64), np.array([0, 0])
    best = 0.0

    def work(budget: int) -> float:
        nonlocal best
        kernels.shorten(X, tour, place, near, segment, state, budget)
        best = max(best, float(state[1]) / n)
        return best

    ctx.part(0.5, 1.0).pieces(work, budget=20_000)
    steps = np.square(X[tour] - X[np.roll(tour, 1)]).sum(axis=1)
    return np.roll(tour, -int(np.argmax(steps)))
