"""V-MDAV: MDAV with cells of variable size."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import scan as scans
from voronym._kernels import tree as trees
from voronym._kernels import vmdav as kernels
from voronym.core.context import Context
from voronym.core.options import Options, option
from voronym.errors import InputError
from voronym.method import algorithm
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space.points import Points
from voronym.space.records import Records

Ints = NDArray[np.int64]

GAMMAS = tuple(round(0.1 * step, 1) for step in range(21))
"""The values that gamma="best" tries: 0 to 2 in steps of 0.1."""

FAST_FROM = 5_000
"""Number of records above which the tree pays."""


def _check_gamma(name: str, gamma: Any) -> float | str:
    if isinstance(gamma, str) and gamma == "best":
        return gamma
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 <= float(gamma) < np.inf:
        raise InputError(f"{name} must be 'best' or a number that is not negative, not {gamma!r}")
    return float(gamma)


@dataclass(frozen=True)
class Gamma(Options):
    """Options of V-MDAV."""

    gamma: float | Literal["best"] = option(
        0.2,
        "how eagerly a group grows: 0 never; the authors advise 0.2 for scattered and 1.1 for clustered "
        "data; 'best' tries 0 to 2 in steps of 0.1 and keeps the least loss",
        check=_check_gamma,
    )


@algorithm(
    "vmdav",
    guarantee="every group has k to 3k-2 records",
    cost="O(n) searches in a k-d tree, O(n²) distances at worst, 21 times with gamma='best'; memory O(n d)",
    reference="Solanas, Martínez-Ballesté: V-MDAV: microaggregation with variable group size, 2006",
    max_size=lambda k: 3 * k - 2,
    anywhere=True,
    options=Gamma,
)
def vmdav(problem: Problem, ctx: Context, options: Gamma) -> Partition:
    """Build a cell at the far end, then let it grow while near records are nearer to it than to others.

    The unassigned record farthest from the overall mean, which stays fixed, forms a cell with its k-1
    nearest. Then, up to 2k-1 records: u is the unassigned record nearest to any member, e_in that distance,
    e_out the distance from u to the nearest other unassigned record; u joins if ``e_in < gamma * e_out``,
    else the cell is closed. The fewer than k records left at the end each join the cell whose mean (before
    any of them joined) is nearest. Ties go to the lowest index.

    Notes
    -----
    Readings chosen where the description leaves room: distances, not their squares, are compared; the
    distance to a cell is that to its nearest member; a last record without other unassigned ones joins, for
    any gamma > 0; leftovers go by the cell's mean. In a `voronym.space.Mixed` costs take the place of
    distances and centroids that of means; O(n²) costs.

    References
    ----------
    A. Solanas and A. Martínez-Ballesté, "V-MDAV: a multivariate microaggregation with variable group size",
    COMPSTAT 2006, 917-925.

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1]]
    >>> vr.microaggregate(X, 2, method="vmdav", gamma=1.1).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """
    gammas = GAMMAS if isinstance(options.gamma, str) else (options.gamma,)
    result = []
    for number, gamma in enumerate(gammas):
        here = ctx.part(number / len(gammas), (number + 1) / len(gammas))
        result.append(Partition(partition(problem.records, problem.k, gamma, here), k=problem.k))
    return min(result, key=problem.cost) if len(result) > 1 else result[0]


def partition(records: Records, k: int, gamma: float, ctx: Context) -> Ints:
    """Return the labels of V-MDAV, by the faster of two algorithms."""
    if isinstance(records, Points) and len(records) >= FAST_FROM:
        return partition_fast(records, k, gamma, ctx)
    return partition_plain(records, k, gamma, ctx)


def partition_plain(records: Records, k: int, gamma: float, ctx: Context) -> Ints:
    """Return the labels of V-MDAV by scans over all remaining records."""
    n, scan, work = len(records), records.full_scan(), scans.make_remaining(len(records), k)
    order, ratio = outermost_first(scan, n), records.ratio(gamma)

    def piece(budget: int) -> float:
        scans.vmdav(scan, work, k, ratio, order, budget)
        return 1.0 if work.state[0] < k else 1.0 - (float(work.state[0]) / n) ** 2

    ctx.pieces(piece, budget=1_000_000)
    attach_leftovers(records, work.labels)
    return work.labels


def partition_fast(records: Points, k: int, gamma: float, ctx: Context) -> Ints:
    """Return the labels of V-MDAV by a k-d tree that records leave."""
    n, X = len(records), records.points
    order, ratio = outermost_first(records.full_scan(), n), records.ratio(gamma)
    work = scans.make_remaining(n, 2 * k)
    next_one, tree = np.empty(2 * k, np.int64), trees.grow(X, X.mean(axis=0))

    def piece(budget: int) -> float:
        kernels.vmdav_fast(X, tree, work, next_one, order, k, ratio, budget)
        return 1.0 if work.state[0] < k else 1.0 - float(work.state[0]) / n

    ctx.pieces(piece, budget=1_000)
    attach_leftovers(records, work.labels)
    return work.labels


def outermost_first(scan: Any, n: int) -> Ints:
    """Return the records by falling cost to the centroid of all, ties by lowest index."""
    costs = np.empty(n)
    scans.costs_to_centroid(scan, np.arange(n), costs)
    return np.argsort(-costs, kind="stable")


def attach_leftovers(records: Records, labels: Ints) -> None:
    """Put the records without a group into the groups with the nearest centroids."""
    left = np.flatnonzero(labels < 0)
    if len(left):
        done = np.flatnonzero(labels >= 0)
        part = Partition(labels[done])
        numbers = labels[done][np.unique(part.labels, return_index=True)[1]]
        order = np.argsort(numbers)  # the lowest of the given numbers among equals
        centroids = records.subset(done).centroids(part)[order]
        labels[left] = numbers[order][np.argmin(records.space.cost(records.X[left], centroids), axis=1)]
