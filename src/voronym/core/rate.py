"""A measured rate and its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.jsonable import Plain
from voronym.errors import InputError


@dataclass(frozen=True)
class Rate(Plain):
    """The mean of credits between 0 and 1, with a confidence interval.

    Parameters
    ----------
    value : float
        Mean credit over the targets.
    low, high : float
        Chernoff-Hoeffding interval, see `interval`.
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
    method: str = "Chernoff-Hoeffding"
    """How the interval was found."""

    @property
    def exact(self) -> bool:
        """Whether every record was measured, so that ``value`` has no sampling error for this table."""
        return self.n == self.population

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain, JSON-able types."""
        plain = super().to_dict()
        return {**plain, "exact": self.exact, "interval": plain.pop("method")}

    def __str__(self) -> str:
        basis = f"all {self.n:,} records" if self.exact else f"{self.n:,} of {self.population:,} records"
        return f"{self.value:.2%} ({self.confidence:.0%} interval {self.low:.2%} to {self.high:.2%}, {basis})"


def rate(credits_: ArrayLike, *, population: int, confidence: float = 0.95, ceiling: float = 1.0) -> Rate:
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
        The most that a credit can be, known without looking at the credits. The interval is that of
        ``credit / ceiling``, scaled back: narrower, and still valid.

    Examples
    --------
    >>> print(rate([0.0, 0.5, 0.5, 0.0], population=4))
    25.00% (95% interval 0.27% to 85.44%, all 4 records)
    """
    values = np.asarray(credits_, dtype=np.float64)
    if values.size == 0:
        raise InputError("there is no target to measure")
    mean = math.fsum(values.tolist()) / len(values)  # exact sum: the order of rows changes nothing
    low, high = interval(mean / ceiling, len(values), confidence=confidence)
    low, high = min(mean, low * ceiling), max(mean, high * ceiling)  # scaling back must not round inside
    return Rate(mean, low, high, len(values), int(population), float(confidence), float(ceiling))


def interval(mean: float, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Chernoff-Hoeffding interval for the expectation of variables in [0, 1].

    The interval is all p with ``n kl(mean, p) <= log(2 / alpha)``, where ``kl(a, b) = a log(a / b) +
    (1 - a) log((1 - a) / (1 - b))`` and ``alpha = 1 - confidence``.

    Why not Clopper-Pearson: that one counts successes, and a link to one of f equally near records is 1/f of
    a success. Why it is valid: for independent variables in [0, 1] with mean p, ``P(mean >= x) <=
    exp(-n kl(x, p))`` for x >= p, and the same for the lower tail (Hoeffding 1963, Theorem 1). Drawing
    without replacement only lowers these bounds (his Theorem 4). As ``kl(x, p)`` grows with x above p, each
    tail in which the interval misses p has probability at most alpha / 2. No sample is too small, nothing is
    normal, and for a mean of 0 the upper end is that of Clopper-Pearson. The price: for means near 1/2 it is
    about 1.4 times as wide as the normal interval.

    Parameters
    ----------
    mean : float
        Mean of the n variables.
    n : int
        How many there are.
    confidence : float
        Coverage, above 0 and below 1.

    References
    ----------
    Hoeffding, W.: Probability inequalities for sums of bounded random variables. JASA 58, 1963.
    doi:10.1080/01621459.1963.10500830

    Examples
    --------
    >>> low, high = interval(0.0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence is a probability between 0 and 1, not {confidence!r}")
    mean = min(max(mean, 0.0), 1.0)
    limit = math.log(2.0 / (1.0 - confidence)) / n
    return _edge(mean, 0.0, limit), _edge(mean, 1.0, limit)


def _edge(mean: float, end: float, limit: float) -> float:
    """Find where kl(mean, p) reaches the limit between the mean and one end, by bisection."""
    inside, outside = mean, end
    if _kl(mean, end) <= limit:
        return end
    for _ in range(200):
        middle = (inside + outside) / 2.0
        if middle in (inside, outside):
            break
        if _kl(mean, middle) <= limit:
            inside = middle
        else:
            outside = middle
    return outside  # the outer side of the last step: never narrower than promised


def _kl(a: float, b: float) -> float:
    total = 0.0
    for x, y in ((a, b), (1.0 - a, 1.0 - b)):
        if x > 0.0:
            if y <= 0.0:
                return math.inf
            total += x * math.log(x / y)
    return total
