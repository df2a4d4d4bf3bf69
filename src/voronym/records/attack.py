"""Nearest-record linkage by mixed distance: the success of an intruder who knows the original keys."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.rate import Rate, rate
from voronym.core.validate import check_seed
from voronym.records.blocks import refined
from voronym.records.nearest import nearest
from voronym.records.options import TARGETS
from voronym.space.mixed import Mixed

Ints = NDArray[np.int64]


def credits_of(
    space: Mixed, original: Ints, masked: Ints, rows: Ints, *, ctx: Context | None = None
) -> NDArray[np.float64]:
    """Return the credit of an attack on each row: 1/f if its own record is among the f nearest, else 0.

    A request to finish ends the attack after some of the rows.
    """
    ctx = Context() if ctx is None else ctx
    result = nearest(space, original[rows], masked, wanted=rows, ctx=ctx, whole=False)
    return np.asarray(result.hit / result.ties)


def linkage(
    space: Mixed,
    original: Ints,
    masked: Ints,
    *,
    targets: int = TARGETS,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
    ctx: Context | None = None,
) -> Rate:
    """Link each original record to the nearest masked one, and count how often that is right.

    With f records equally near, the credit is 1/f if the record's own is among them. An unmasked table is
    attacked by equality, for all records. Takes O(targets n) at worst, and little memory.

    Parameters
    ----------
    space : Mixed
        The distance.
    original, masked : arrays of int, shape (n, d)
        Records as levels; row i of one belongs to row i of the other.
    targets : int
        Originals to attack at most.
    confidence : float
        Coverage of the interval.
    seed : int, Generator or None
        Draws the targets.
    ctx : Context, optional
        Gets a report after each block; a request to finish keeps the targets attacked so far.

    Returns
    -------
    Rate
        With the interval of `voronym.core.rate.share`.
    """
    n = len(original)
    if masked is original:  # the nearest are the equal ones, and oneself is among them: they are counted
        numbered = reduce(refined, original.T)
        return rate(1.0 / np.bincount(numbered)[numbered], population=n, confidence=confidence)
    # In random order, so that targets attacked before a request to finish are a fair sample.
    rows = check_seed(seed).choice(n, min(n, targets), replace=False)
    won = credits_of(space, original, masked, rows, ctx=ctx)
    return rate(won, population=n, confidence=confidence)
