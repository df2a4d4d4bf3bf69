"""The entry point of every method that makes groups."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from voronym._cuda.device import choose
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.method import METHODS, Method
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space import Space


class OneGroupWarning(UserWarning):
    """Warns that fewer than 2k records become a single published record."""


@checked
def microaggregate(
    X: ArrayLike,
    k: int,
    *,
    method: str = "auto",
    space: Space | None = None,
    weights: ArrayLike | None = None,
    time_limit: float | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: ProgressCallback | None = None,
    device: str = "cpu",
    **options: object,
) -> Partition:
    """Partition records into groups of at least k with the least possible loss.

    The problem: minimise ``sum_i |x_i - mean(group of i)|^2`` over all partitions whose groups have at
    least k records. It is NP-hard for two or more columns; methods differ in loss and time.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers. Used as they are: no hidden scaling (see `voronym.standardize`).
    k : int
        Least number of records in a group, 2 or more.
    method : str
        A name from `voronym.algorithms`; "auto" chooses by the number of records and columns.
    space : Space, optional
        The cost between records; Euclidean by default.
    weights : array, shape (n,), optional
        Weight of each record in means and loss, above 0; k still counts records. A method that cannot use
        weights names the methods that can.
    time_limit : float, optional
        Seconds for the whole call, for methods that search (see `voronym.algorithms`). Without one, the same
        seed gives the same partition on every machine.
    seed : int, Generator or None
        Seed of random methods. The same seed gives the same partition.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to finish with
        the best so far, or anything else to end the work.
    device : {"cpu", "cuda", "auto"}
        Where "mdav", "kd" and "pairs" run, alone or within another method: on the processor, on a GPU (needs
        the extra ``gpu``), or on a GPU if there is one. Groups of "mdav" are the same everywhere.
    **options
        Options of the method, such as ``gamma`` for "vmdav".

    Returns
    -------
    Partition
        With ``min(sizes) >= k``, checked.

    Examples
    --------
    >>> import voronym as vr
    >>> part = vr.microaggregate([[1.0], [1.1], [5.0], [5.2], [5.1]], 2, method="mdav")
    >>> part.labels.tolist()
    [0, 0, 1, 1, 1]
    """
    chosen = METHODS[method]
    chosen.check_groups()
    check_time_limit(chosen, time_limit)
    read = chosen.options.of(method, options)
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress, device=choose(device))
    problem = Problem.of(X, k, space=space, weights=weights)
    note = one_group_note(problem.n, problem.k)
    if note is not None:
        warnings.warn(note, stacklevel=2)
    part = chosen.partition(problem, ctx.part(0.0, 1.0, stage="grouping"), read)
    ctx.done()
    for item in ctx.notes:
        warnings.warn(item, stacklevel=2)
    return part


def check_time_limit(method: Method, time_limit: object) -> None:
    """Refuse a time limit for a method that ignores it."""
    if time_limit is not None and not method.timed:
        able = ", ".join(name for name, item in METHODS.items() if item.timed)
        raise InputError(
            f"method {method.name!r} has no use for a time limit: it ends when it is done. These search for "
            f"as long as they may: {able}"
        )


def one_group_note(n: int, k: int) -> OneGroupWarning | None:
    """Return a warning if n records are too few for two groups of k."""
    if n >= 2 * k:
        return None
    return OneGroupWarning(
        f"{n} records are fewer than 2k={2 * k}: they form a single group, and every record is "
        "published with the same keys"
    )
