"""Interval disclosure: the share of people whose true value lies close to the released one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.jsonable import Plain
from voronym.core.rate import Rate, rate
from voronym.errors import InputError


@dataclass(frozen=True)
class Interval(Plain):
    """The interval disclosure of one column.

    Parameters
    ----------
    column : str
        Its name.
    percent : float
        Half width of the intervals: percent of the standard deviation, and of the ranks.
    sd : Rate
        SDID: share of originals within ``percent`` of a standard deviation of their released value.
    rank : Rate
        RID: share of originals inside the interval of released values with ranks within ``percent`` of the
        number of records.
    """

    column: str
    percent: float
    sd: Rate
    rank: Rate


def interval_disclosure(
    original: ArrayLike,
    linked: ArrayLike,
    *,
    column: str = "",
    percent: float = 10.0,
    published: ArrayLike | None = None,
    population: int | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """Count how often a released value pins the original down to a narrow interval.

    Parameters
    ----------
    original : array, shape (n,)
        True values of a numeric column; NaN is missing.
    linked : array, shape (n,)
        Released value that belongs to each of them (or that an intruder believes to).
    column : str
        Name, for the result.
    percent : float
        Half width of the interval: ``linked +- percent/100 * sd(original)``, and ``percent/100 * m`` ranks on
        either side of the linked value among the m published ones.
    published : array, shape (m,), optional
        All released values, for the ranks; by default ``linked``.
    population : int, optional
        Records that the originals were drawn from; by default they are all there are.
    confidence : float
        Coverage of the intervals around the rates.

    Returns
    -------
    Interval or None
        None when every original is missing. Originals that are missing are no targets; a released missing
        value discloses nothing.

    References
    ----------
    Mateo-Sanz, J. M., Sebe, F., Domingo-Ferrer, J.: Outlier protection in continuous microdata masking.
    In: Privacy in Statistical Databases, LNCS 3050, 2004.

    Examples
    --------
    sd is 5, so 20 percent of it is 1: the first and the last value are within reach.

    >>> found = interval_disclosure([0.0, 10.0, 0.0, 10.0], [1.0, 7.0, 7.0, 10.0], percent=20)
    >>> found.sd.value
    0.5
    """
    x, y = np.asarray(original, np.float64), np.asarray(linked, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"one released value per original is needed: shapes {x.shape} and {y.shape}")
    if not 0.0 < percent <= 100.0:
        raise InputError(f"percent must be above 0 and at most 100, not {percent!r}")
    here = ~np.isnan(x)
    total = len(x) if population is None else population
    x, y = x[here], y[here]
    if len(x) == 0:
        return None
    with np.errstate(invalid="ignore"):  # a missing released value compares as False: nothing disclosed
        within = np.abs(x - y) <= percent / 100.0 * x.std()
    pool = y if published is None else np.asarray(published, np.float64)
    pool = np.sort(pool[~np.isnan(pool)])
    inside = np.zeros(len(x), bool)
    known = ~np.isnan(y)
    if len(pool) and known.any():
        reach = int(np.floor(percent / 100.0 * len(pool)))
        value, back = np.unique(y[known], return_inverse=True)  # few values, searched in order: fast
        low = pool[np.maximum(np.searchsorted(pool, value, "left") - reach, 0)]
        high = pool[np.minimum(np.searchsorted(pool, value, "right") - 1 + reach, len(pool) - 1)]
        inside[known] = (low[back] <= x[known]) & (x[known] <= high[back])
    return Interval(
        column,
        float(percent),
        rate(within, population=total - int((~here).sum()), confidence=confidence),
        rate(inside, population=total - int((~here).sum()), confidence=confidence),
    )
