"""Nearest-record linkage by mixed distance: what an intruder who knows the original keys gets right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.progress import Progress, silent
from voronym.rate import Rate, rate
from voronym.records.pushback import nearest
from voronym.space.mixed import Mixed

TARGETS = 2000
"""Originals to attack; more are sampled without replacement."""


def credits_of(
    space: Mixed,
    original: NDArray[np.int64],
    masked: NDArray[np.int64],
    rows: NDArray[np.int64],
    *,
    progress: Progress = silent,
) -> NDArray[np.float64]:
    """Return the credit of an attack on each of the rows: 1/f if one's own is among the f nearest, else 0."""
    found = nearest(space, original[rows], masked, own=rows, progress=progress, stage="linkage")
    return np.asarray(found.own / found.ties)


def linkage(
    space: Mixed,
    original: NDArray[np.int64],
    masked: NDArray[np.int64],
    *,
    targets: int = TARGETS,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Rate:
    """Link each original record to the nearest masked one, and count how often that is right.

    With f records equally near, the credit is 1/f where one's own is among them. An unmasked table is
    attacked by equality, for all records. O(targets n) at worst, no memory.

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
    rng : Generator, optional
        Draws the targets.
    progress : callable, optional
        Told after each block.

    Returns
    -------
    Rate
        With the interval of `voronym.rate.interval`.
    """
    n = len(original)
    rows = np.arange(n)
    if masked is original:  # the nearest are the equal ones, and oneself is among them: they are counted
        _, back, often = np.unique(original, axis=0, return_inverse=True, return_counts=True)
        return rate(1.0 / often[back.reshape(-1)], population=n, confidence=confidence)
    if n > targets:
        rows = np.sort((np.random.default_rng(0) if rng is None else rng).choice(n, targets, replace=False))
    won = credits_of(space, original, masked, rows, progress=silent if progress is None else progress)
    return rate(won, population=n, confidence=confidence)
