"""V-MDAV: MDAV with cells of variable size."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import plain
from voronym._kernels import tree as trees
from voronym._kernels import vmdav as kernels
from voronym.context import Context
from voronym.errors import InputError
from voronym.options import Options, option
from voronym.partition import Partition
from voronym.partitioners.mixed import check_mixed, vmdav_mixed
from voronym.problem import Problem
from voronym.registry import algorithm

GAMMAS = tuple(round(0.1 * step, 1) for step in range(21))
"""What gamma="best" tries: 0 to 2 in steps of 0.1."""

FAST_FROM = 5_000
"""Records from which on the tree pays."""


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
    found = []
    for number, gamma in enumerate(gammas):
        here = ctx.part(number / len(gammas), (number + 1) / len(gammas))
        found.append(Partition(_labels(problem, gamma, here), k=problem.k))
    return min(found, key=problem.cost) if len(found) > 1 else found[0]


def _labels(problem: Problem, gamma: float, ctx: Context) -> NDArray[np.int64]:
    if problem.records.points is None:
        return vmdav_mixed(*check_mixed(problem), problem.k, gamma, ctx)
    partition = partition_fast if problem.n >= FAST_FROM else partition_plain
    return partition(problem.points, problem.k, gamma, ctx)


def partition_plain(X: NDArray[np.float64], k: int, gamma: float, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of V-MDAV by scans over all remaining records."""
    n, d = len(X), X.shape[1]
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0, 0])
    point, near = np.empty(d), np.empty(n)
    distances, members = np.empty(k), np.empty(k, np.int64)
    order = outermost_first(X)

    def work(budget: int) -> float:
        kernels.vmdav_plain(X, k, gamma, order, labels, alive, state, point, distances, members, near, budget)
        return 1.0 if state[0] < k else 1.0 - (float(state[0]) / n) ** 2

    ctx.pieces(work, budget=2_000_000)
    attach_leftovers(X, labels, alive[: state[0]])
    return labels


def partition_fast(X: NDArray[np.float64], k: int, gamma: float, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of V-MDAV by a k-d tree that records leave."""
    n = len(X)
    labels, state = np.full(n, -1, np.int64), np.array([n, 0, 0])
    distances, members = np.empty(2 * k), np.empty(2 * k, np.int64)
    near, next_one, pair = np.empty(2 * k), np.empty(2 * k, np.int64), np.empty(2, np.int64)
    order = outermost_first(X)
    tree = trees.grow(X, X.mean(axis=0))

    def work(budget: int) -> float:
        kernels.vmdav_fast(
            X, tree, k, gamma, order, labels, state, distances, members, near, next_one, pair, budget
        )
        return 1.0 if state[0] < k else 1.0 - float(state[0]) / n

    ctx.pieces(work, budget=1_000)
    attach_leftovers(X, labels, np.flatnonzero(labels < 0))
    return labels


def outermost_first(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the records by falling distance to the mean of all, ties by lowest index."""
    high, low, distance = np.empty(X.shape[1]), np.empty(X.shape[1]), np.empty(len(X))
    plain.start_sums(X, high, low)
    kernels.distances_to(X, high / len(X), distance)
    return np.argsort(-distance, kind="stable")


def attach_leftovers(X: NDArray[np.float64], labels: NDArray[np.int64], left: NDArray[np.int64]) -> None:
    """Put the records left over into the cells with the nearest means."""
    if len(left):
        done = labels >= 0
        centroids = Partition(labels[done]).centroids(X[done])
        first = np.unique(labels[done], return_index=True)[1]
        kernels.attach(X, labels, centroids[Partition(labels[done]).labels[first]], left, len(left))
