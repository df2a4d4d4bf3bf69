"""The entry point of every refiner."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from voronym._cuda.device import choose
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.registry import REFINERS
from voronym.space import Space


@checked
def refine(
    X: ArrayLike,
    part: Partition,
    *,
    k: int | None = None,
    method: str = "anneal",
    space: Space | None = None,
    weights: ArrayLike | None = None,
    time_limit: float | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: ProgressCallback | None = None,
    device: str = "cpu",
    **options: object,
) -> Partition:
    """Improve a partition: the same records, groups of at least k, no greater loss.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers, used as they are.
    part : Partition
        The start. Its groups may be larger than 2k - 1.
    k : int, optional
        Least number of records in a group; by default the partition's own k.
    method : str
        The refiner.
    space : Space, optional
        The cost between records; Euclidean by default. In a `voronym.space.Mixed`, X are its codes.
    weights : array, shape (n,), optional
        Weight of each record in means and loss, above 0; k still counts records. A method that cannot use
        weights names the methods that can.
    time_limit : float, optional
        Seconds; by default a fixed amount of work, so that the same seed gives the same result.
    seed : int, Generator or None
        For the random choices.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to finish with
        the best so far, or anything else to end the work.
    device : {"cpu", "cuda", "auto"}
        Where "mdav", "kd" and "pairs" run, alone or within another method: on the processor, on a GPU (needs
        the extra ``gpu``), or on a GPU if there is one. Groups of "mdav" are the same everywhere.
    **options
        Options of the refiner.

    Returns
    -------
    Partition
        With ``min(sizes) >= k`` and a sum of squares (in another space: a cost) no larger than that of
        ``part``.
    """
    chosen = REFINERS[method]
    read = chosen.method.options.of(method, options)
    least = part.k if k is None else k
    if least is None:
        raise InputError("the partition states no k: give one")
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress, device=choose(device))
    problem = Problem.of(X, least, space=space, weights=weights)
    problem.records.check(part)
    start = Partition(part.labels, k=problem.k)
    better = chosen.improve(problem, start, ctx.part(0.0, 1.0, stage="improving"), read)
    ctx.done()
    for note in ctx.notes:
        warnings.warn(note, stacklevel=2)
    return better
