"""Population uniques from the class sizes of the sample: three models of the size distribution.

Each assumes a simple random sample of n of N people, with ``s_i`` classes of i records. The models use only
the ``s_i``, not the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.percent import percent

least_squares = later.called("scipy.optimize", "least_squares")
minimize = later.called("scipy.optimize", "minimize")
digamma = later.called("scipy.special", "digamma")
expit = later.called("scipy.special", "expit")
gammaln = later.called("scipy.special", "gammaln")
polygamma = later.called("scipy.special", "polygamma")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FAR = 0.1
"""A model fits poorly if its expected counts differ by more than this share and three standard deviations."""

_EDGE = 1e-4  # alpha this near to 0 or 1 is at the limits of Pitman's formula


@dataclass(frozen=True, eq=False)
class Sizes:
    """Sizes of classes in a sample of a population.

    Parameters
    ----------
    size, count : arrays
        ``count[j]`` classes have ``size[j]`` records; sizes ascend.
    population : float
        N, at least the number of records.
    """

    size: Ints
    count: Floats
    population: float

    @classmethod
    def of(cls, sizes: Ints, population: float) -> Sizes:
        """Count the sizes of classes."""
        size, count = np.unique(sizes, return_counts=True)
        return cls(size.astype(np.int64), count.astype(np.float64), float(population))

    @cached_property
    def n(self) -> float:
        """Number of records."""
        return float((self.size * self.count).sum())

    @cached_property
    def classes(self) -> float:
        """Number of classes."""
        return float(self.count.sum())

    @property
    def fraction(self) -> float:
        """Share of the population in the sample."""
        return min(1.0, self.n / self.population)

    def of_size(self, i: int) -> float:
        """Return the number of classes of size i."""
        return float(self.count[self.size == i].sum())


@dataclass(frozen=True)
class Fit:
    """An estimate of population uniques: the number, its interval, and doubts about it."""

    uniques: float
    low: float
    high: float
    warning: str = ""


def pitman(sizes: Sizes) -> Fit | None:
    """Fit Pitman's sampling formula with theta and alpha by maximum likelihood; None if the fit fails.

    It expects ``E[S_1] = N (theta + alpha)_(N-1) / (theta + 1)_(N-1)`` population uniques, with rising
    factorials; for a large N this is ``Gamma(theta + 1) / Gamma(theta + alpha) N^alpha``. The interval
    comes from the curvature of the likelihood.

    References
    ----------
    Hoshino, N.: Applying Pitman's sampling formula to microdata disclosure risk assessment. J. of Official
    Statistics 17(4), 2001.
    """
    if sizes.classes < 2 or sizes.classes >= sizes.n:
        return None
    starts = [(-0.5, 2.0), (1.0, 4.0), (-2.0, 6.0), (-3.0, 1.0)]
    best = min(
        (minimize(_negative, start, args=(sizes,), jac=True, method="L-BFGS-B") for start in starts),
        key=lambda item: float(item.fun),
    )
    alpha, theta = _ordinary(best.x)
    if alpha > 1 - _EDGE:
        return None
    log_uniques = _log_expected(theta, alpha, sizes.population, 1)
    warning = _misfit(theta, alpha, sizes)
    if alpha < _EDGE:
        warning = "poor fit: sizes of classes are more even than any that Pitman's formula has"
    low, high = _around(log_uniques, _spread(theta, alpha, sizes), sizes)
    return Fit(float(np.exp(log_uniques)), low, high, warning)


def _ordinary(x: Floats) -> tuple[float, float]:
    """Return alpha and theta from the search variables logit(alpha) and log(theta + alpha)."""
    alpha = float(expit(x[0]))
    return alpha, float(np.exp(np.clip(x[1], -30, 40))) - alpha


def log_likelihood(theta: float, alpha: float, sizes: Sizes) -> float:
    """Return the log-likelihood of Pitman's sampling formula, constants left out."""
    i = np.arange(1, int(sizes.classes))
    inside = gammaln(sizes.size - alpha) - gammaln(1 - alpha)
    rising = gammaln(theta + sizes.n) - gammaln(theta + 1)
    return float(np.log(theta + i * alpha).sum() - rising + (sizes.count * inside).sum())


def _negative(x: Floats, sizes: Sizes) -> tuple[float, Floats]:
    """Return minus the log-likelihood per record, and its gradient."""
    alpha, theta = _ordinary(x)
    i = np.arange(1, int(sizes.classes))
    over = 1.0 / (theta + i * alpha)
    by_theta = over.sum() - digamma(theta + sizes.n) + digamma(theta + 1)
    by_alpha = (i * over).sum() + (sizes.count * (digamma(1 - alpha) - digamma(sizes.size - alpha))).sum()
    gradient = np.array([(by_alpha - by_theta) * alpha * (1 - alpha), by_theta * (theta + alpha)])
    return -log_likelihood(theta, alpha, sizes) / sizes.n, -gradient / sizes.n


def _log_expected(theta: float, alpha: float, n: float, j: int) -> float:
    """Return log E[S_j] among n records by Pitman's sampling formula."""
    choose = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    inside = gammaln(j - alpha) - gammaln(1 - alpha)
    others = gammaln(theta + alpha + n - j) - gammaln(theta + alpha)
    return float(choose + inside + others - gammaln(theta + n) + gammaln(theta + 1))


def _spread(theta: float, alpha: float, sizes: Sizes) -> float:
    """Return the standard error of log E[S_1] in the population, by the curvature of the likelihood."""
    i, many = np.arange(1, int(sizes.classes)), sizes.population
    over = 1.0 / np.square(theta + i * alpha)
    tt = -over.sum() - polygamma(1, theta + sizes.n) + polygamma(1, theta + 1)
    ta = -(i * over).sum()
    trigamma = polygamma(1, sizes.size - alpha) - polygamma(1, 1 - alpha)
    aa = -(i * i * over).sum() + (sizes.count * trigamma).sum()
    slope_t = (
        digamma(theta + 1)
        - digamma(theta + alpha)
        + digamma(theta + alpha + many - 1)
        - digamma(theta + many)
    )
    slope_a = digamma(theta + alpha + many - 1) - digamma(theta + alpha)
    slope = np.array([slope_t, slope_a])
    curvature = -np.array([[tt, ta], [ta, aa]])
    variance = float(slope @ np.linalg.solve(curvature, slope))
    return float(np.sqrt(variance)) if variance > 0 else float("inf")


def _around(log_value: float, error: float, sizes: Sizes) -> tuple[float, float]:
    """Return a 95 % interval, between no uniques and only uniques."""
    far = min(1.96 * error, 50.0)
    return float(np.exp(log_value - far)), float(min(np.exp(log_value + far), sizes.population))


def _misfit(theta: float, alpha: float, sizes: Sizes) -> str:
    """Describe a misfit: classes of one, two or three records with another frequency than expected."""
    for j in (1, 2, 3):
        wanted, seen = np.exp(_log_expected(theta, alpha, sizes.n, j)), sizes.of_size(j)
        if abs(wanted - seen) > max(_FAR * wanted, 3 * np.sqrt(wanted)):
            return (
                f"poor fit: {seen:,.0f} classes have {j} record{'' if j == 1 else 's'}, "
                f"and the model expects {wanted:,.0f}"
            )
    return ""


def zayatz(sizes: Sizes) -> Fit | None:
    """Estimate uniques if classes in the population have the size distribution of the sample.

    A sample unique is then a population unique with probability ``s_1 h_1(1) / sum_i s_i h_1(i)``.
    ``h_1(i)`` is the hypergeometric probability that exactly one member of a class of i is among n of N
    people. Population uniques are N/n times those in the sample. None without sample uniques.

    References
    ----------
    Zayatz, L.: Estimation of the percent of unique population elements on a microdata file using the sample.
    Statistical Research Division report 91/08, US Bureau of the Census, 1991.
    """
    value = _zayatz(sizes.size, sizes.count, sizes)
    if value is None:
        return None
    warning = ""
    if sizes.fraction < 0.5:
        warning = (
            f"with {percent(sizes.fraction)} of the population in the sample its classes are smaller than "
            "the population's, and this estimate is too high"
        )
    return Fit(value, *_resampled(lambda count: _zayatz(sizes.size, count, sizes), sizes, value), warning)


def _zayatz(size: Ints, count: Floats, sizes: Sizes) -> float | None:
    result = float(count[size == 1].sum())
    if not result:
        return None
    weights = np.exp(_log_alone(size.astype(np.float64), sizes))
    conditional = result * weights[size == 1].sum() / (count * weights).sum()
    return float(result * conditional / sizes.fraction)


def _log_alone(size: Floats, sizes: Sizes) -> Floats:
    """Return the log-probability that exactly one member of a class of each size is among n of N people."""
    many, n = sizes.population, min(sizes.n, sizes.population)

    def choose(a: Floats | float, b: Floats | float) -> Floats:
        return np.asarray(gammaln(np.add(a, 1)) - gammaln(np.add(b, 1)) - gammaln(np.subtract(a, b) + 1))

    possible = many - size >= n - 1  # else another of the class must be in the sample
    safe = np.where(possible, size, 1.0)
    log = np.log(safe) + choose(many - safe, n - 1) - choose(many, n)
    return np.where(possible, log, -np.inf)


def shlosser(size: Ints, count: Floats, pi: float) -> float:
    """Return Shlosser's estimate, as modified by Haas and Stokes, of the number of classes in the population.

    References
    ----------
    Haas, P. J., Stokes, L.: Estimating the number of classes in a finite population. J. of the American
    Statistical Association 93(444), 1998. doi:10.1080/01621459.1998.10473807
    """
    i = size.astype(np.float64)
    squares = (i * pi**2 * (1 - pi**2) ** (i - 1) * count).sum()
    both = (((1 - pi**2) ** i - (1 - pi) ** i) * count).sum()  # (1-pi)^i ((1+pi)^i - 1), which overflows
    unseen = ((1 - pi) ** i * count).sum()
    alone = (i * pi * (1 - pi) ** (i - 1) * count).sum()
    ones = float(count[size == 1].sum())
    if not both or not alone:
        return float(count.sum())
    return float(count.sum() + ones * squares / both * (unseen / alone) ** 2)


def snb(sizes: Sizes) -> Fit | None:
    """Fit slide negative binomial sizes (one plus a negative binomial number); None if the fit fails.

    K is the number of classes in the population, by Shlosser's estimate. alpha and beta are chosen to
    reproduce the numbers of sample classes with one and two records: ``E[s_1] = K pi G (1 + alpha q /
    (1-q))``, ``E[s_2] = K pi^2 G alpha (1-beta) (2 - (1-alpha) q) / (2 (1-q)^2)``, ``q =
    (1-pi)(1-beta)``, ``G = (beta / (1-q))^alpha``. Population uniques are ``K beta^alpha``.

    References
    ----------
    Chen, G., Keller-McNulty, S.: Estimation of identification disclosure risk in microdata. J. of Official
    Statistics 14(1), 1998.
    """
    if sizes.fraction >= 1.0:
        return Fit(*(sizes.of_size(1),) * 3)
    result = _snb(sizes.size, sizes.count, sizes.fraction)
    if result is None:
        return None
    value, implied, near = result

    def again(count: Floats) -> float | None:
        other = _snb(sizes.size, count, sizes.fraction, [near])
        return None if other is None else other[0]

    warning = ""
    if abs(implied / sizes.population - 1) > _FAR:
        warning = (
            f"poor fit: classes of the fitted sizes would be {implied:,.0f} people, and there are "
            f"{sizes.population:,.0f}"
        )
    return Fit(value, *_resampled(again, sizes, value), warning)


def snb_expected(classes: float, alpha: float, beta: float, pi: float) -> tuple[float, float]:
    """Return the expected numbers of sample classes with one and with two records."""
    q = (1 - pi) * (1 - beta)
    share = (beta / (1 - q)) ** alpha
    result = classes * pi * share * (1 + alpha * q / (1 - q))
    two = classes * pi**2 * share * alpha * (1 - beta) * (2 - (1 - alpha) * q) / (2 * (1 - q) ** 2)
    return result, two


_STARTS = [(-1.0, -3.0), (0.5, -5.0), (-3.0, -8.0), (1.5, 0.0)]


def _snb(
    size: Ints, count: Floats, pi: float, starts: Sequence[tuple[float, float]] = _STARTS
) -> tuple[float, float, tuple[float, float]] | None:
    """Return the population uniques of the fitted sizes, the people of these classes, and the fit."""
    classes = shlosser(size, count, pi)
    ones, twos = float(count[size == 1].sum()), float(count[size == 2].sum())
    if not ones or not twos:
        return None

    def off(x: Floats) -> Floats:
        result, two = snb_expected(classes, float(np.exp(x[0])), float(expit(x[1])), pi)
        return np.array([np.log(max(result, 1e-300) / ones), np.log(max(two, 1e-300) / twos)])

    for start in starts:
        result = least_squares(off, start, bounds=([-12, -25], [6, 12]), xtol=1e-12, ftol=1e-12)
        if np.abs(result.fun).max() < 1e-6:
            alpha, beta = float(np.exp(result.x[0])), float(expit(result.x[1]))
            near = float(result.x[0]), float(result.x[1])
            return classes * beta**alpha, classes * (1 + alpha * (1 - beta) / beta), near
    return None


def _resampled(
    estimate: Callable[[Floats], float | None], sizes: Sizes, value: float, *, many: int = 40
) -> tuple[float, float]:
    """Return a 95 % interval from estimates with redrawn counts of classes, each from a Poisson law."""
    rng = np.random.default_rng(0)
    drawn = [estimate(rng.poisson(sizes.count).astype(np.float64)) for _ in range(many)]
    result = np.array([item for item in drawn if item is not None])
    if len(result) < many // 2:
        return 0.0, sizes.population
    error = float(np.std(np.log(np.maximum(result, 1e-9))))
    low, high = value * np.exp(-1.96 * error), value * np.exp(1.96 * error)
    return float(low), float(min(high, sizes.population))
