"""The cost of another k: the ratios of MDAV's losses, on a sample if there are many records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.core.context import Context
from voronym.errors import VoronymError
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.space.records import Records

LADDER = (2, 3, 5, 7, 10, 15, 20, 30)
MOST_RECORDS = 2_500
"""Number of records above which the loss is estimated on a sample."""
_WORK = 60_000
"""Number of coordinates above which the sample has fewer records, because wide tables take longer."""
_LEAST = 400


@dataclass(frozen=True)
class OtherK:
    """Estimated losses for other k.

    Parameters
    ----------
    here : int
        The k of the release.
    loss : float
        Its loss, in percent: measured, not estimated.
    points : tuple of (int, float)
        k and estimated loss in percent, ascending; the release itself among them.
    records : int
        Number of records behind the ratios.
    """

    here: int
    loss: float
    points: tuple[tuple[int, float], ...]
    records: int


def other_k(records: Records, k: int, loss: float, ctx: Context) -> OtherK | None:
    """Estimate the loss at other k; None if groups lose nothing, or if there are too few records.

    The loss of the release is scaled by the change of MDAV's loss with k. The exponent of k is nearly the
    same in a sample as in the whole table, and so are the ratios.
    """
    n = len(records)
    width = 1 if records.points is None else max(1, records.points.shape[1])
    most = min(MOST_RECORDS, max(_LEAST, _WORK // width))
    if n > most:
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        records = records.subset(rows)
    fits = [size for size in sorted({*LADDER, k}) if 2 * size <= len(records)]
    if k not in fits or loss <= 0:
        return None
    result: dict[int, float] = {}
    method = METHODS["mdav"]
    for number, size in enumerate(fits):
        ctx.tell(number / len(fits), whole=True)
        problem = Problem(records, size)
        try:
            part = method.partition(problem, ctx.quiet(), method.options.of(method.name, {}))
        except VoronymError:  # a figure less is better than no report
            return None
        result[size] = problem.loss(part)
    if result[k] <= 0:
        return None
    points = tuple((size, loss * value / result[k]) for size, value in result.items())
    return OtherK(k, loss, points, len(records))
