"""The default choice: the best partition for the seconds granted, and what is proven about it."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.partition import Partition
from voronym.partitioners._run import share
from voronym.progress import Progress, Stop
from voronym.registry import algorithm
from voronym.space import Space

if TYPE_CHECKING:
    from voronym.certify import Bound

QUICK = 6_000
"""Records up to which annealing pays within a second or a few."""
MIDDLE = 100_000
"""Records up to which a local search does."""
COLUMNS = 5_000
"""Records up to which column generation is tried: it keeps every pair of neighbours in memory."""
SMALL, LARGEST = 6, 12
"""Largest k for which column generation finds better partitions, and for which it proves a useful bound: the
number of groups to price grows steeply with k."""
SEARCH, MOSTLY = 0.3, 0.75
"""Shares of the time for annealing before column generation, for small k and for larger."""


@algorithm(
    "auto",
    guarantee="every cell has k to 2k-1 records",
    cost="that of MDAV and a second or a few; with a time limit, that time",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
    spaces=("euclidean", "mixed"),
)
def auto(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    time_limit: float | None = None,
) -> Partition:
    """Choose by size and time: the optimum for one column; else MDAV, annealing, column generation."""
    return solve(X, k, space=space, rng=rng, progress=progress, time_limit=time_limit)[0]


def solve(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    time_limit: float | None = None,
) -> tuple[Partition, Bound | None]:
    """Return the best partition for the time granted, and the bound proven on the way, if any.

    Without a time limit: MDAV and a short, repeatable search. With one: annealing until it is over, or,
    for tables of a few thousand records and small k, annealing for a part of it and column generation after
    that, which proves a bound and often finds a better partition too. Ctrl-C ends the part that runs.
    """
    from voronym.certify import lower_bound  # these rooms look into this one for MDAV
    from voronym.certify.exact import exact
    from voronym.refiners.anneal import anneal
    from voronym.refiners.exchange import exchange

    clock = perf_counter()
    if space.name == "mixed":  # no bound is known there
        return _mixed(X, k, space, rng, progress, time_limit), None
    if X.shape[1] == 1:
        proven = exact(X, k, progress=progress)
        if proven.partition is not None:
            return proven.partition, proven
    start = registry.get("mdav").function(X, k, space=space, rng=rng, progress=share(progress, 0.0, 0.1))
    if time_limit is None:
        if len(X) > MIDDLE:
            return start, None
        search = anneal if len(X) <= QUICK else exchange
        return search(X, k, start, rng=rng, progress=share(progress, 0.1, 1.0)), None
    left = max(0.0, time_limit - (perf_counter() - clock))
    if len(X) > COLUMNS or k > LARGEST:
        return anneal(X, k, start, rng=rng, progress=share(progress, 0.1, 1.0), time_limit=left), None
    part = SEARCH if k <= SMALL else MOSTLY
    best = anneal(X, k, start, rng=rng, progress=share(progress, 0.1, part), time_limit=part * left)
    left = max(0.0, time_limit - (perf_counter() - clock))
    try:
        bound = lower_bound(
            X,
            k,
            kind="columns",
            partition=best,
            time_limit=left,
            seed=int(rng.integers(2**31)),
            progress=share(progress, part, 1.0),
        )
    except (KeyboardInterrupt, Stop):
        return best, None
    if bound.partition is not None and bound.partition.sse(X) < best.sse(X):
        best = Partition(bound.partition.labels, k=k)
    return best, bound


def _mixed(
    X: NDArray[np.float64],
    k: int,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    time_limit: float | None,
) -> Partition:
    """Return MDAV's cells of mixed records, improved by a local search."""
    from voronym.refiners.exchange import exchange  # that room looks into this one for MDAV

    clock = perf_counter()
    start = registry.get("mdav").function(X, k, space=space, rng=rng, progress=share(progress, 0.0, 0.2))
    left = None if time_limit is None else max(0.0, time_limit - (perf_counter() - clock))
    if time_limit is None and len(X) > MIDDLE:
        return start
    kicks = 0 if left is None else None  # without a limit the search alone: the same answer every time
    return exchange(
        X,
        k,
        start,
        rng=rng,
        progress=share(progress, 0.2, 1.0),
        time_limit=left,
        iterations=kicks,
        space=space,
    )
