"""The door to every refiner."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners.front import check_k, check_points, check_seed
from voronym.progress import Progress, silent
from voronym.refiners import registry
from voronym.space import Euclidean, Space


def refine(
    X: ArrayLike,
    part: Partition,
    *,
    k: int | None = None,
    method: str = "anneal",
    space: Space | None = None,
    time_limit: float | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
    **options: object,
) -> Partition:
    """Improve a partition: the same records, cells of at least k, no more loss than before.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers, used as they are.
    part : Partition
        Where to start. Its cells may be larger than 2k - 1.
    k : int, optional
        Least number of records in a cell; by default the partition's own k.
    method : str
        The refiner.
    space : Space, optional
        The cost between records; Euclidean by default. In a `voronym.space.Mixed`, X are its codes.
    time_limit : float, optional
        Seconds; where none is given, a fixed amount of work, so that the same seed gives the same answer.
    seed : int, Generator or None
        For the random choices.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then; it may raise to stop the work.
    **options
        Options of the refiner.

    Returns
    -------
    Partition
        With ``min(sizes) >= k`` and a sum of squares (in a mixed space: a cost) no larger than that of
        ``part``.
    """
    points = check_points(X)
    if part.n != len(points):
        raise InputError(f"the partition is of {part.n} records, X has {len(points)}")
    least = part.k if k is None else k
    if least is None:
        raise InputError("the partition states no k: give one")
    least = check_k(least, len(points))
    start = Partition(part.labels, k=least)
    chosen = registry.get(method)
    unknown = sorted(set(options) - set(chosen.options))
    if unknown:
        known = ", ".join(chosen.options) or "none"
        raise InputError(f"refiner {method!r} has no option {', '.join(map(repr, unknown))}; it has: {known}")
    extra = registry.in_space(Euclidean() if space is None else space, method, chosen.spaces)
    better = chosen.function(
        points,
        least,
        start,
        rng=check_seed(seed),
        progress=silent if progress is None else progress,
        time_limit=time_limit,
        **extra,
        **options,
    )
    return Partition(better.labels, k=least)
