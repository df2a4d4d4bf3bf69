"""Rules that hide the counts: made from counts and covariances with noise of a stated budget.

A rule that is optimal for exact counts is a function of them. Anybody who sees it printed can try all counts,
and often only one fits: how many of a ward of fourteen are ill. So the solver never sees the exact table of
confidential values and keys.

The protected fact is *who has which confidential value*. An intruder knows the keys, and the confidential
columns are published unchanged, each by itself. So neighbours are two tables in which two people exchanged
their confidential values. The noise is normal with standard deviation (largest difference of neighbours) / μ.
Guarantee (μ-Gaussian differential privacy): telling two neighbours apart by the rules is no easier than
telling a standard normal number from one shifted by μ. An intruder who knows everything else is right with
probability at most Φ(μ/2). Budgets of several rules add up as μ² = μ1² + μ2² + ...

A limit on the information of a rule is tested through noise that most of the budget pays for (`margin`). A
test against exact counts would be one more function of them, outside the budget.

References
----------
J. Dong, A. Roth, W. J. Su: Gaussian differential privacy, Journal of the Royal Statistical Society B 84
(2022).
"""

# promise: doc-budget
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.channel.base import Ints
from voronym.channel.gaussian import GaussianChannel, GaussianSource
from voronym.channel.margin import LARGEST_WITHIN, Allowance, most_correlated
from voronym.core import later

ndtr = later.called("scipy.special", "ndtr")

Array = NDArray[np.float64]

BUDGET = 0.5
"""The μ of a release: an intruder tells two neighbours apart with a probability of at most 0.6."""

_SWAP = 2.0  # two people exchange their values: four counts change by one
_SURE = 0.999  # a correlation beyond which noise is all there is to it
_REACH = 2.5  # standard deviations
_FLOOR = 0.01  # share of the count under independence: no count is 0, so that margins can be kept


def guess(mu: float) -> float:
    """Return the largest probability of guessing correctly which of two neighbours it was.

    Examples
    --------
    >>> round(guess(0.5), 3), guess(0.0)
    (0.599, 0.5)
    """
    return float(ndtr(0.5 * mu))


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Counts with noise of a budget, and the exact margins, which are public.

    Parameters
    ----------
    noisy : array, shape (k, n)
        Number of records with each confidential class (rows) and letter (columns), with noise.
    counts : array, shape (k, n)
        The exact ones: for their margins, and for tests of a limit.
    allowance : Allowance
        The budget, and the part for tests of a limit.
    """

    noisy: Array
    counts: Array
    allowance: Allowance

    @classmethod
    def draw(cls, counts: Ints, allowance: Allowance, rng: np.random.Generator) -> NoisyCounts:
        """Add the noise."""
        return cls(noisy_counts(counts, allowance.design, rng), counts.astype(float), allowance)

    @property
    def law(self) -> Array:
        """A joint law near the counts, with their margins; positive if both margins are."""
        return self._fitted(self.noisy, 2000)

    def keeps(self, matrix: Array, measure: str, limit: float, rng: np.random.Generator) -> bool:
        """Test whether a rule keeps a limit; as often as is paid for.

        Parameters
        ----------
        matrix : array, shape (n, m)
            The rule.
        measure : {"risk", "total-variation", "delta"}
            The limited quantity.
        """
        most = LARGEST_WITHIN[measure]
        return self.allowance.passes(lambda swaps: most(self.counts, matrix, swaps), limit, rng)

    def _fitted(self, counts: Array, steps: int) -> Array:
        """Fit a table to the margins: a function of the noisy counts and both margins only."""
        rows, columns = self.counts.sum(axis=1), self.counts.sum(axis=0)
        k, n = counts.shape
        off_rows, off_columns = rows - counts.sum(axis=1), columns - counts.sum(axis=0)
        counts = counts + off_rows[:, None] / n + off_columns / k - off_rows.sum() / (k * n)  # the nearest
        independent = np.outer(rows, columns) / max(1.0, rows.sum())
        law = np.maximum(counts, _FLOOR * independent)
        for _ in range(steps):  # the margins in turn
            law *= (rows / np.maximum(law.sum(axis=1), 1e-300))[:, None]
            law *= columns / np.maximum(law.sum(axis=0), 1e-300)
            if np.abs(law.sum(axis=1) - rows).max() < 1e-9:
                break
        return np.asarray(law / law.sum())


def blurred(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return a joint law near that of the counts, from noisy counts and the exact margins."""
    return NoisyCounts.draw(counts, Allowance(mu), rng).law


def noisy_counts(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return counts with noise of the budget, as whole numbers."""
    return np.rint(counts + rng.normal(0.0, _SWAP / mu, counts.shape))


@dataclass(frozen=True, eq=False)
class NoisyCovariances:
    """Covariances of keys and confidential columns, with noise of a budget on those between the two.

    Parameters
    ----------
    margins : GaussianSource
        The public part: the covariances of the keys, and those of the confidential columns.
    between : array, shape (k, n)
        The others, with noise.
    exact : array, shape (k, n)
        The covariances without noise, for tests of a limit.
    step : float
        Largest change of them by two people who exchange their values.
    allowance : Allowance
        The budget, and the part for tests of a limit.
    """

    margins: GaussianSource
    between: Array
    exact: Array
    step: float
    allowance: Allowance

    @classmethod
    def draw(cls, X: Array, W: Array, allowance: Allowance, rng: np.random.Generator) -> NoisyCovariances:
        """Add the noise.

        Exchanging the values of two people changes the covariances by ``(x - x')(w' - w)' / n``: by at most
        the product of both ranges over n. So that an outlier does not set the range, keys count no farther
        than 2.5 standard deviations from their mean here.
        """
        exact = GaussianSource.estimate(X, W)
        ends = _REACH * np.sqrt(exact.sigma_x.diagonal())
        inner = np.clip(X - exact.mean_x, -ends, ends)
        # Of normal keys clipping keeps this share of a covariance (Stein): it is given back.
        inner /= (np.abs(X - exact.mean_x) <= ends).mean(axis=0)
        most = np.linalg.norm(np.ptp(inner, axis=0)) * np.linalg.norm(np.ptp(W, axis=0)) / len(X)
        between = (W - W.mean(axis=0)).T @ inner / len(X)
        noise = rng.normal(0.0, most / allowance.design, between.shape)
        return cls(exact, between + noise, between, float(most), allowance)

    @property
    def source(self) -> GaussianSource:
        """The covariances for which a rule is made."""
        return self._with(self.between)

    def keeps(self, channel: GaussianChannel, limit: float, rng: np.random.Generator) -> bool:
        """Test whether noise keeps a limit on the risk of normal data; the budget limits the tests."""
        Q, v = self.margins.axes
        R, w = _directions(self.margins)
        left, right = (R / np.sqrt(w)).T, Q / np.sqrt(v)
        kept = np.eye(len(v)) - right.T @ channel.sigma @ right
        values, vectors = np.linalg.eigh(0.5 * (kept + kept.T))
        right = right @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return self.allowance.passes(
            lambda swaps: most_correlated(self.exact, left, right, swaps * self.step), limit, rng
        )

    def _with(self, between: Array) -> GaussianSource:
        own = self.margins
        return GaussianSource(own.sigma_x, own.sigma_w, _possible(own, between), own.mean_x)


def _directions(source: GaussianSource) -> tuple[Array, Array]:
    """Return the principal axes of W with variance, and the variances."""
    values, vectors = np.linalg.eigh(source.sigma_w)
    keep = values > 1e-10 * max(float(values[-1]), 1e-300)
    return vectors[:, keep], values[keep]


def _possible(source: GaussianSource, sigma_wx: Array) -> Array:
    """Return possible covariances: correlations of at most 1, and 0 along constant directions.

    The noise is not subtracted, so the stated risk is rather too high than too low.
    """
    Q, v = source.axes
    R, w = _directions(source)
    U, s, Vt = np.linalg.svd((R / np.sqrt(w)).T @ sigma_wx @ (Q / np.sqrt(v)), full_matrices=False)
    return np.asarray((R * np.sqrt(w)) @ (U * np.minimum(s, _SURE)) @ Vt @ (Q * np.sqrt(v)).T)
