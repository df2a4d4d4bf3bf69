"""V-MDAV: MDAV with cells of variable size."""

from __future__ import annotations

from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import plain
from voronym._kernels import tree as trees
from voronym._kernels import vmdav as kernels
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._run import check_space, in_pieces, share
from voronym.partitioners.mixed import check_mixed, mixed_centroids, vmdav_mixed
from voronym.progress import Progress
from voronym.registry import algorithm
from voronym.space import Space

GAMMAS = tuple(round(0.1 * step, 1) for step in range(21))
"""What gamma="best" tries: 0 to 2 in steps of 0.1."""

FAST_FROM = 5_000
"""Records from which on the tree pays."""


@algorithm(
    "vmdav",
    guarantee="every cell has k to 3k-2 records",
    cost="O(n) searches in a k-d tree, O(n²) distances at worst, 21 times with gamma='best'; memory O(n d)",
    reference="Solanas, Martínez-Ballesté: V-MDAV: microaggregation with variable group size, 2006",
    max_size=lambda k: 3 * k - 2,
    spaces=("euclidean", "mixed"),
)
def vmdav(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
    progress: Progress,
    gamma: float | Literal["best"] = 0.2,
) -> Partition:
    """Build a cell at the far end, then let it grow while near records are nearer to it than to others.

    The unassigned record farthest from the overall mean, which stays fixed, forms a cell with its k-1
    nearest. Then, up to 2k-1 records: u is the unassigned record nearest to any member, e_in that distance,
    e_out the distance from u to the nearest other unassigned record; u joins if ``e_in < gamma * e_out``,
    else the cell is closed. The fewer than k records left at the end each join the cell whose mean (before
    any of them joined) is nearest. Ties go to the lowest index.

    Parameters
    ----------
    gamma : float or "best"
        0 never extends a cell; the authors advise about 0.2 for scattered data (the default) and 1.1 for
        clustered data. "best" tries 0 to 2 in steps of 0.1 and keeps the lowest sum of squared errors.

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
    if space.name == "mixed":
        return _mixed(space, X, k, gamma, progress)
    check_space(space, "vmdav")
    if gamma == "best":
        return _best(X, k, progress)
    return Partition(_partition(X, k, _check_gamma(gamma), progress), k=k)


def _check_gamma(gamma: object) -> float:
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 <= float(gamma) < np.inf:
        raise InputError(f"gamma must be 'best' or a number that is not negative, not {gamma!r}")
    return float(gamma)


def _partition(X: NDArray[np.float64], k: int, gamma: float, progress: Progress) -> NDArray[np.int64]:
    partition = partition_fast if len(X) >= FAST_FROM else partition_plain
    return partition(X, k, gamma, progress)


def _mixed(space: Space, X: NDArray[np.float64], k: int, gamma: object, progress: Progress) -> Partition:
    """Return V-MDAV over mixed records, for one gamma or the best of all."""
    mixed, codes = check_mixed(space, X)
    gammas = GAMMAS if gamma == "best" else (_check_gamma(gamma),)
    found = []
    for number, value in enumerate(gammas):
        tell = share(progress, number / len(gammas), (number + 1) / len(gammas))
        part = Partition(vmdav_mixed(mixed, codes, k, value, tell), k=k)
        cost = mixed_centroids(mixed, codes, part).total if len(gammas) > 1 else 0.0
        found.append((cost, number, part))
    return min(found)[2]


def _best(X: NDArray[np.float64], k: int, progress: Progress) -> Partition:
    best: tuple[float, Partition] | None = None
    for number, gamma in enumerate(GAMMAS):
        tell = share(progress, number / len(GAMMAS), (number + 1) / len(GAMMAS))
        part = Partition(_partition(X, k, gamma, tell), k=k)
        loss = part.sse(X)
        if best is None or loss < best[0]:
            best = loss, part
    assert best is not None  # noqa: S101 - GAMMAS is not empty
    return best[1]


def partition_plain(X: NDArray[np.float64], k: int, gamma: float, progress: Progress) -> NDArray[np.int64]:
    """Return the labels of V-MDAV by scans over all remaining records."""
    n, d = len(X), X.shape[1]
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0, 0])
    point, near = np.empty(d), np.empty(n)
    distances, members = np.empty(k), np.empty(k, np.int64)
    order = outermost_first(X)

    def work(budget: int) -> float:
        kernels.vmdav_plain(X, k, gamma, order, labels, alive, state, point, distances, members, near, budget)
        return 1.0 if state[0] < k else 1.0 - (float(state[0]) / n) ** 2

    in_pieces(work, progress, budget=2_000_000)
    attach_leftovers(X, labels, alive[: state[0]])
    return labels


def partition_fast(X: NDArray[np.float64], k: int, gamma: float, progress: Progress) -> NDArray[np.int64]:
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

    in_pieces(work, progress, budget=1_000)
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
