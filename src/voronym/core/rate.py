"""A measured rate and its confidence interval, as shown by reports, the page and attacks.

The rate p is a mean of credits between 0 and 1; people are in clusters. Its variance is the variance between
clusters (Taylor linearisation). n* = p(1-p)/variance is the number of independent people with the same
variance, corrected for few degrees of freedom. The interval is that of Clopper and Pearson for n* people, n*
p of them successes (Korn and Graubard 1998). It covers at least as often as stated if clusters are
independent, also for rates near 0 and 1, where normal intervals fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.errors import InputError

special = later.module("scipy.special")


@dataclass(frozen=True)
class Rate(Plain):
    """The mean of credits between 0 and 1, with a confidence interval.

    Parameters
    ----------
    value : float
        Mean credit over the targets.
    low, high : float
        Its interval, see `share`.
    n : int
        Targets measured.
    population : int
        Records that the targets were drawn from. When ``n == population`` every record was measured and
        ``value`` is exact for this table; the interval then speaks of further records like these.
    confidence : float
        Coverage that the interval promises.
    ceiling : float
        The most that a single credit can be; the interval does not reach beyond it.
    """

    value: float
    low: float
    high: float
    n: int
    population: int
    confidence: float = 0.95
    ceiling: float = 1.0
    method: str = "Korn-Graubard"
    """The method of the interval."""

    @property
    def exact(self) -> bool:
        """Whether all records were measured, so that ``value`` has no sampling error."""
        return self.n == self.population

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain, JSON-able types."""
        plain = super().to_dict()
        return {**plain, "exact": self.exact, "interval": plain.pop("method")}

    def __str__(self) -> str:
        basis = f"all {self.n:,} records" if self.exact else f"{self.n:,} of {self.population:,} records"
        interval = f"{percent(self.confidence)} interval {percent(self.low)} to {percent(self.high)}"
        return f"{percent(self.value)} ({interval}, {basis})"


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
        The intruder's credit for each person, from 0 to 1.
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
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence is a probability between 0 and 1, not {confidence!r}")
    p = min(1.0, max(0.0, math.fsum(credit.tolist()) / n))  # exact: the order of rows changes nothing
    rest = credit - p
    if clusters is None:
        g, spread = n, math.fsum((rest**2).tolist())
    else:
        _, label = np.unique(clusters, return_inverse=True)
        order = np.lexsort((rest, label))  # the order of rows changes no sum
        totals = np.bincount(label[order], weights=rest[order])
        g, spread = len(totals), math.fsum((totals**2).tolist())
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


def rate(
    credits_: ArrayLike,
    *,
    population: int,
    confidence: float = 0.95,
    ceiling: float = 1.0,
    clusters: NDArray[np.int64] | None = None,
) -> Rate:
    """Return the mean of credits in [0, 1] with its interval.

    Parameters
    ----------
    credits_ : array, shape (n,)
        One number from 0 to 1 per target.
    population : int
        Records that the targets were drawn from, without replacement.
    confidence : float
        Coverage, below 1.
    ceiling : float
        Largest possible credit, known without looking at the credits. The interval is computed for ``credit /
        ceiling`` and scaled back: narrower, and still valid.
    clusters : array of int, shape (n,), optional
        Which targets stand and fall together, such as the members of a group.

    Examples
    --------
    >>> print(rate([0.0, 0.5, 0.5, 0.0], population=4))
    25 % (95 % interval 0.63 % to 80.6 %, all 4 records)
    """
    values = np.asarray(credits_, dtype=np.float64)
    if values.size == 0:
        raise InputError("there is no target to measure")
    made = share(values, clusters, confidence=confidence, ceiling=ceiling)
    return Rate(made.value, made.low, made.high, len(values), population, float(confidence), float(ceiling))
