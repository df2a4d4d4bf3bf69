"""Test a limit: exact counts are compared through noise that the budget covers.

The distance of a table is the least number of exchanges of values between two people after which its rule
would break the limit. One exchange changes the distance by at most one. So the distance with normal noise of
standard deviation 1/μ is μ-Gaussian differentially private, however many counts there are. A rule passes if
the noisy distance is at least z/μ. A table that breaks the limit has distance 0, and passes with probability
Φ(-z).

The information of a rule is a convex function of the counts, whose margins are known. So its largest value
within j exchanges is reached if the same two pairs of class and letter exchange j times; all of these are
tried. (Counts below 0 are included: the distance is rather too small than too large.) For numbers, a bound on
the largest value is proven (`most_correlated`).

References
----------
C. Dwork, J. Lei: Differential privacy and robust statistics, Proceedings of STOC (2009): propose, test,
release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.promise import meets

ndtri = later.called("scipy.special", "ndtri")
minimize_scalar = later.called("scipy.optimize", "minimize_scalar")

Array = NDArray[np.float64]

SURE = 0.99
"""Least probability that all rules of a release keep their limit."""
LARGE = 10_000
"""Number of records above which a third test and a finer choice are worth their share of the budget."""

Ladder = tuple[tuple[float, float], ...]
SHORT_LADDER: Ladder = ((0.08, 0.3), (0.3, 0.05), (0.85, 0.0))
LONG_LADDER: Ladder = ((0.08, 0.3), (0.2, 0.1), (0.35, 0.0), (0.5, 0.0), (0.65, 0.0), (0.8, 0.0), (0.92, 0.0))
"""The part of a limit that a rule may aim at, and the share of its draws that ignore the keys.

Two tests find the largest passing part of three, and three tests that of seven. Draws that ignore the keys
reduce the influence of single people, which small tables need.
"""

_DESIGN = 0.3  # share of the squared budget that the noise on the counts gets; tests have the rest
_SMALL = 0.01, 0.3, 0.6
"""Ratio of probabilities below which a line replaces the risk, so that the risk stays convex and is not
underestimated.
"""
_ROOM = 1e-9, 30.0
"""Search range of the multiplier of the worst covariances, as the logarithm of its share of the least."""


@dataclass(frozen=True)
class Allowance:
    """The shares of a budget, and the confidence of a test.

    Parameters
    ----------
    design : float
        The μ of the counts that a rule is made from.
    test : float
        The μ of each test of its limit.
    z : float
        The least passing distance, in standard deviations of the noise.
    ladder : Ladder
        The candidate rules.
    """

    design: float
    test: float = 0.0
    z: float = 0.0
    ladder: Ladder = ()

    @classmethod
    def of(cls, mu: float, records: int, rules: int = 1) -> Allowance:
        """Divide the budget for one of several rules with tested limits."""
        ladder = SHORT_LADDER if records < LARGE else LONG_LADDER
        tests = len(ladder).bit_length()
        error = (1.0 - SURE) / (tests * rules)
        return cls(mu * _DESIGN**0.5, mu * ((1.0 - _DESIGN) / tests) ** 0.5, float(-ndtri(error)), ladder)

    def passes(self, most: Callable[[float], float], limit: float, rng: np.random.Generator) -> bool:
        """Test a limit; ``most`` returns the largest value within a number of exchanges."""
        far = (self.z - rng.normal()) / self.test
        return far <= 0.0 or meets(most(far), limit)


def most_risk(counts: Array, matrix: Array, swaps: float) -> float:
    """Return the largest risk of a rule after a number of exchanges, in nats.

    Parameters
    ----------
    counts : array, shape (k, n)
        Number of records with each confidential class (rows) and letter (columns).
    matrix : array, shape (n, m)
        The rule.
    swaps : float
        Number of pairs of people who exchange their confidential values.
    """
    after, rule, step, base = _after(counts, matrix, swaps)
    return min(_most_risk(after, rule, step, base, small) for small in _SMALL)


def _most_risk(after: Array, rule: Array, step: float, base: Array, small: float) -> float:
    before = base * _divergence(after / base, small)
    worst = 0.0
    for at in range(len(rule)):
        change = step * (rule - rule[at])  # (n, m): a class gains another letter for this one
        gain, loss = (
            (base[:, None] * _divergence((after[:, None] + by) / base[:, None], small)).sum(axis=2)
            for by in (change, -change)
        )
        own = before.sum(axis=1)[:, None]
        worst = max(worst, float(_two(gain - own, loss - own).max()))
    return max(0.0, float(before.sum())) + worst


def most_varied(counts: Array, matrix: Array, swaps: float) -> float:
    """Return the largest total variation of any letter after a number of exchanges: see `most_risk`."""
    after, rule, step, base = _after(counts, matrix, swaps)
    change = step * np.ptp(rule, axis=0)
    off = after - base
    up, down = np.abs(off + change) - np.abs(off), np.abs(off - change) - np.abs(off)
    worst = np.abs(off).sum(axis=0) + np.maximum(_two(up, down), 0.0)
    return float(0.5 * (worst / base.sum(axis=0)).max())


def most_disclosed(counts: Array, matrix: Array, swaps: float) -> float:
    """Return the largest ``|ln p(w|y)/p(w)|`` after a number of exchanges: see `most_risk`."""
    after, rule, step, base = _after(counts, matrix, swaps)
    change = step * np.ptp(rule, axis=0)
    with np.errstate(divide="ignore"):
        up, down = np.log((after + change) / base), -np.log(np.maximum(after - change, 0.0) / base)
    return float(max(up.max(), down.max()))


LARGEST_WITHIN = {"risk": most_risk, "total-variation": most_varied, "delta": most_disclosed}


def most_correlated(between: Array, left: Array, right: Array, radius: float) -> float:
    """Return a bound on the risk in nats of normal data with covariances within a radius of these.

    The risk is ``-ln(1 - s) / 2`` summed over the squared canonical correlations s, so at most that of
    their sum T. T is a quadratic function of the covariances. Choose axes in which it is a sum of ``d (b
    + e)^2``, with ``e^2`` adding up to at most the squared radius. For every λ above all d, ``λ radius^2
    + sum d b^2 λ / (λ - d)`` is at least T, and the least of them is T (S-lemma).

    Parameters
    ----------
    between : array, shape (k, n)
        Covariances of W and X.
    left, right : array
        Matrices that turn covariances into correlations of whitened W with the whitened published keys.
    radius : float
        Largest root of the sum of squared differences.
    """
    rows, U = np.linalg.eigh(left.T @ left)
    columns, V = np.linalg.eigh(right @ right.T)
    d = np.maximum(np.outer(rows, columns), 0.0)
    held = d * (U.T @ between @ V) ** 2
    top = float(d.max(initial=0.0))
    if top <= 0.0:
        return 0.0

    def total(log: float) -> float:
        room = top * np.expm1(log)  # λ = top exp(log), and λ - d without cancellation
        return float((top + room) * (radius**2 + (held / (room + (top - d))).sum()))

    made = minimize_scalar(total, bounds=_ROOM, method="bounded", options={"xatol": 1e-10})
    most = min(float(made.fun), *(total(log) for log in np.geomspace(*_ROOM, 60)))
    return np.inf if most >= 1.0 else max(0.0, -0.5 * float(np.log1p(-most)))


def _after(counts: Array, matrix: Array, swaps: float) -> tuple[Array, Array, float, Array]:
    """Return joint shares after a rule, the rule, the size of one exchange, and independent shares.

    Classes and letters that do not occur are omitted.
    """
    total = float(counts.sum())
    rows, columns = counts.sum(axis=1) > 0.0, counts.sum(axis=0) > 0.0
    table = counts[np.ix_(rows, columns)] / total
    rule = matrix[columns]
    q = table.sum(axis=0) @ rule
    rule, q = rule[:, q > 0.0], q[q > 0.0]
    return table @ rule, rule, swaps / total, np.outer(table.sum(axis=1), q)


def _divergence(ratio: Array, small: float) -> Array:
    """Return a ln a - a + 1 for ratios a; for small and negative ones a line that is no less."""
    log = np.log(np.maximum(ratio, small))
    return np.where(ratio < small, 1.0 + ratio * (np.log(small) - 1.0), ratio * log - ratio + 1.0)


def _two(gain: Array, loss: Array) -> Array:
    """Return, for each column, the largest sum of a gain of one class and a loss of another class."""
    if len(gain) < 2:
        return np.zeros(gain.shape[1])
    each = gain[:, None] + loss[None]
    each[np.arange(len(gain)), np.arange(len(gain))] = -np.inf
    return np.asarray(each.max(axis=(0, 1)))
