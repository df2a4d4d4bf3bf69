"""Intervals for shares of people who are not independent of each other, because they share groups.

A share p of credits between 0 and 1, people in clusters. Its variance is that between clusters (Taylor
linearisation); n* = p(1-p)/variance is how many independent people would know p as well, corrected for the
few degrees of freedom; the interval is Clopper and Pearson's for n* people, n* p of them found (Korn and
Graubard 1998). It covers at least as often as it says where the cluster is the unit that repeats, also for
shares near 0 and 1, where normal intervals fail. A difference of two shares takes each end from the ends of
both (Newcombe 1998, "square-and-add"), which is cautious where the two go up and down together, as they do
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.attacks.base import Found
from voronym.core import later
from voronym.errors import InputError

special = later.module("scipy.special")


@dataclass(frozen=True)
class Share:
    """A share and its confidence interval."""

    value: float
    low: float
    high: float


def share(
    credits_: ArrayLike,
    clusters: NDArray[np.int64] | None = None,
    *,
    confidence: float = 0.95,
    ceiling: float = 1.0,
) -> Share:
    """Return the mean of credits from 0 to the ceiling, with its interval.

    Parameters
    ----------
    credits_ : array, shape (n,)
        How right the intruder is about each person.
    clusters : array of int, shape (n,), optional
        Which people stand and fall together; by default everybody is for themselves.
    confidence : float
        Coverage of the interval.
    ceiling : float
        The most that a credit can be, known beforehand.

    References
    ----------
    Korn, E. L., Graubard, B. I.: Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology 24, 1998.

    Examples
    --------
    >>> found = share([1.0] * 5 + [0.0] * 95)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0163, 0.1133)
    """
    credit = np.asarray(credits_, np.float64) / ceiling
    n = len(credit)
    if n == 0:
        raise InputError("there is nobody to attack")
    p = min(1.0, max(0.0, float(credit.mean())))
    rest = credit - p
    if clusters is None:
        g, spread = n, float((rest**2).sum())
    else:
        _, label = np.unique(clusters, return_inverse=True)
        totals = np.bincount(label, weights=rest)
        g, spread = len(totals), float((totals**2).sum())
    variance = g / (g - 1) * spread / n**2 if g > 1 else 0.0
    if g == 1:
        return Share(p * ceiling, 0.0, ceiling)
    effective = float(g) if variance <= 1e-18 else min(float(n), p * (1 - p) / variance)
    tail = (1 - confidence) / 2
    effective *= (special.stdtrit(n - 1, 1 - tail) / special.stdtrit(g - 1, 1 - tail)) ** 2
    hits = p * effective
    low = 0.0 if hits <= 0 else float(special.betaincinv(hits, effective - hits + 1, tail))
    high = 1.0 if hits >= effective else float(special.betaincinv(hits + 1, effective - hits, 1 - tail))
    return Share(p * ceiling, min(p, low) * ceiling, max(p, high) * ceiling)


def excess(success: Share, control: Share | float) -> tuple[float, float]:
    """Return the interval of success minus control, both shares.

    Parameters
    ----------
    success : Share
        Of the intruder.
    control : Share or float
        Of who guesses without the release; a number where it is known without error.

    References
    ----------
    Newcombe, R. G.: Interval estimation for the difference between independent proportions: comparison of
    eleven methods. Statistics in Medicine 17, 1998.

    Examples
    --------
    >>> excess(Share(0.5, 0.4, 0.6), 0.1)
    (0.30000000000000004, 0.5)
    """
    other = control if isinstance(control, Share) else Share(control, control, control)
    middle = success.value - other.value
    below = math.hypot(success.value - success.low, other.high - other.value)
    above = math.hypot(success.high - success.value, other.value - other.low)
    return max(-1.0, middle - below), min(1.0, middle + above)


def judge(
    credit: ArrayLike,
    control: ArrayLike | Share,
    says: Callable[[float, float], str],
    *,
    clusters: NDArray[np.int64] | None = None,
    confidence: float = 0.95,
    ceiling: float = 1.0,
    kind: Literal["measured", "at most"] = "measured",
    details: Mapping[str, Any] | None = None,
) -> Found:
    """Turn what the intruder got right, person by person, into figures and a sentence.

    Parameters
    ----------
    credit : array, shape (n,)
        How right the intruder is about each person, from 0 to the ceiling.
    control : float, Share or array, shape (n,)
        The same for who guesses without the release; a number where it is known.
    says : callable
        ``(success, control) -> sentence``.
    clusters, confidence, ceiling : optional
        See `share`.
    kind, details : optional
        Fields of the outcome.
    """
    credits_ = np.asarray(credit, np.float64)
    success = share(credits_, clusters, confidence=confidence, ceiling=ceiling)
    if not isinstance(control, Share):
        known = np.asarray(control, np.float64)
        known_value = float(known) if known.ndim == 0 else 0.0
        exact = Share(known_value, known_value, known_value)
        control = exact if known.ndim == 0 else share(known, clusters, confidence=confidence)
    value = control.value
    low, high = excess(success, control)
    people = len(credits_)
    result = says(success.value, value)
    return Found(success.value, value, low, high, people, result, kind, {} if details is None else details)
