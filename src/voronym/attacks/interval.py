"""Intervals for shares of people who share groups, and so are not independent.

A share has the interval of `voronym.core.rate.share`, as in reports. A difference of two shares combines the
ends of both intervals (Newcombe 1998, "square-and-add"). This is cautious if the two shares rise and fall
together, as they do here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.attacks.base import Found
from voronym.core.rate import Share, share

__all__ = ["Share", "excess", "judge", "share"]


def excess(success: Share, control: Share | float) -> tuple[float, float]:
    """Return the interval of success minus control, both shares.

    Parameters
    ----------
    success : Share
        Success rate of the intruder.
    control : Share or float
        Success rate of a guess without the release; a number if it is known without error.

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
    """Turn the intruder's hits, person by person, into figures and a sentence.

    Parameters
    ----------
    credit : array, shape (n,)
        The intruder's credit for each person, from 0 to the ceiling.
    control : float, Share or array, shape (n,)
        The credit of a guess without the release; a number if it is known.
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
