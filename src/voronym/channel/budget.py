"""Rules that do not tell the counts: they are made from counts and covariances with noise of a stated budget.

A rule that is optimal for exact counts is a function of them. Whoever sees it printed tries all counts, and
often one of them fits: how many of a ward of fourteen are ill. So the solver never sees the exact table of
confidential values and keys.

What is protected is *who has which confidential value*. The keys are what an intruder knows, and the
confidential columns are published as they are, each alone; so neighbours are two tables in which two people
exchanged their confidential values. The noise is normal with standard deviation (greatest difference of
neighbours) / μ. Guarantee (μ-Gaussian differential privacy): telling two neighbours apart by the rules is no
easier than telling a standard normal number from one shifted by μ; whoever knows all else and guesses is
right with probability Φ(μ/2) at most. Budgets of several rules add up as μ² = μ1² + μ2² + ...

A limit on what a rule tells is held against the tables that the noise leaves plausible, never against the
exact one: a check against exact counts would be one more function of them, which no budget covers.

References
----------
J. Dong, A. Roth, W. J. Su: Gaussian differential privacy, Journal of the Royal Statistical Society B 84
(2022).
"""

# promise: doc-budget
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.channel.base import Ints
from voronym.channel.gaussian import GaussianSource
from voronym.core import later

brentq = later.called("scipy.optimize", "brentq")
chdtri = later.called("scipy.special", "chdtri")
ndtr = later.called("scipy.special", "ndtr")

Array = NDArray[np.float64]

BUDGET = 0.5
"""The μ of a release: an intruder tells two neighbours apart with probability 0.6 at most."""

DRAWS = 200
"""Plausible tables that a limit on what a rule tells is held against."""
SURE = 0.99
"""Share of them that must keep it."""

_SWAP = 2.0  # two people exchange their values: four counts change by one
_SURE = 0.999  # a correlation beyond which noise is all there is to it
_REACH = 2.5  # standard deviations
_FLOOR = 0.01  # of what independence would put there: a count is never 0, so that margins can be kept


def guess(mu: float) -> float:
    """Return how often somebody is right who guesses which of two neighbours it was, at most.

    Examples
    --------
    >>> round(guess(0.5), 3), guess(0.0)
    (0.599, 0.5)
    """
    return float(ndtr(0.5 * mu))


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Counts with noise of a budget, beside the margins of the exact ones, which are no secret.

    Parameters
    ----------
    noisy : array, shape (k, n)
        How many records have each confidential class (rows) and letter (columns), with noise.
    rows, columns : array
        Both margins of the exact counts.
    mu : float
        The budget.
    """

    noisy: Array
    rows: Array
    columns: Array
    mu: float

    @classmethod
    def draw(cls, counts: Ints, mu: float, rng: np.random.Generator) -> NoisyCounts:
        """Add the noise."""
        margins = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)
        return cls(noisy_counts(counts, mu, rng), *margins, mu)

    @property
    def law(self) -> Array:
        """A joint law near that of the counts, with their margins; positive where both margins are."""
        return np.asarray(self._fitted(self.noisy[None], 2000)[0])

    def plausible(self, rng: np.random.Generator) -> list[Array]:
        """Return laws that the exact one may be, as the noisy counts have it; `DRAWS` of them."""
        total = max(1.0, self.rows.sum())
        independent = np.outer(self.rows, self.columns) / total
        drawn = _exact(self.noisy - independent, independent, _SWAP / self.mu, rng)
        return list(self._fitted(independent + drawn, 100))

    def _fitted(self, counts: Array, steps: int) -> Array:
        """Fit tables to the margins: a function of the noisy counts and of both margins, and nothing else."""
        independent = np.outer(self.rows, self.columns) / max(1.0, self.rows.sum())
        law = np.maximum(counts, _FLOOR * independent)
        for _ in range(steps):  # the margins in turn
            law *= (self.rows / np.maximum(law.sum(axis=2), 1e-300))[:, :, None]
            law *= (self.columns / np.maximum(law.sum(axis=1), 1e-300))[:, None, :]
            if np.abs(law.sum(axis=2) - self.rows).max() < 1e-9:
                break
        return np.asarray(law / law.sum(axis=(1, 2), keepdims=True))


def blurred(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return a joint law near that of the counts, from noisy counts; with the margins of the exact ones."""
    return NoisyCounts.draw(counts, mu, rng).law


def noisy_counts(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return counts with noise of the budget, as whole numbers."""
    return np.rint(counts + rng.normal(0.0, _SWAP / mu, counts.shape))


@dataclass(frozen=True, eq=False)
class NoisyCovariances:
    """Covariances of keys and confidential columns, with noise of a budget on those between the two.

    Parameters
    ----------
    margins : GaussianSource
        What is no secret: the covariances of the keys, and those of the confidential columns.
    between : array, shape (k, n)
        The others, with noise.
    scale : float
        Standard deviation of the noise.
    """

    margins: GaussianSource
    between: Array
    scale: float

    @classmethod
    def draw(cls, X: Array, W: Array, mu: float, rng: np.random.Generator) -> NoisyCovariances:
        """Add the noise.

        Exchanging the values of two people changes the covariances by ``(x - x')(w' - w)' / n``: by at most
        the product of both ranges over n. So that an outlier does not set the range, keys count no farther
        than 2.5 standard deviations from their mean here.
        """
        exact = GaussianSource.estimate(X, W)
        reach = _REACH * np.sqrt(exact.sigma_x.diagonal())
        inner = np.clip(X - exact.mean_x, -reach, reach)
        most = np.linalg.norm(np.ptp(inner, axis=0)) * np.linalg.norm(np.ptp(W, axis=0)) / len(X)
        between = (W - W.mean(axis=0)).T @ inner / len(X)
        scale = float(most / mu)
        return cls(exact, between + rng.normal(0.0, scale, between.shape), scale)

    @property
    def source(self) -> GaussianSource:
        """The covariances that a rule is made for."""
        return self._with(self.between)

    def plausible(self, rng: np.random.Generator) -> list[GaussianSource]:
        """Return covariances that the exact ones may be, as the noisy ones have it; `DRAWS` of them."""
        w, x = self.margins.sigma_w.diagonal(), self.margins.sigma_x.diagonal()
        drawn = _exact(self.between, np.outer(w, x), self.scale, rng)
        return [self._with(item) for item in drawn]

    def _with(self, between: Array) -> GaussianSource:
        own = self.margins
        return GaussianSource(own.sigma_x, own.sigma_w, _possible(own, between), own.mean_x)


def blurred_source(X: Array, W: Array, mu: float, rng: np.random.Generator) -> GaussianSource:
    """Return covariances of records with noise on those between W and X."""
    return NoisyCovariances.draw(X, W, mu, rng).source


def nearly_all(values: Sequence[float]) -> float:
    """Return what 99 of 100 values are at most."""
    return float(np.quantile(values, SURE, method="higher"))


def _exact(noisy: Array, spread: Array, sd: float, rng: np.random.Generator) -> Array:
    """Draw what departures from independence may be that were seen with noise; `DRAWS` times.

    By Bayes, with a normal prior whose variance is φ times the spread of each. φ is what the data have at
    most, with 99 % confidence: under it the sum of squares is a chi-square, and lies at its lower end. A flat
    prior would count the noise twice; the most likely one would leave no margin where noise is all that is
    seen.
    """
    least = float(chdtri(noisy.size, SURE))

    def above(log: float) -> float:
        return float((np.square(noisy) / (np.exp(log) * spread + sd**2)).sum()) - least

    ends = np.log(max(sd**2, 1e-300) / max(float(spread.max()), 1e-300)) + np.array([-10.0, 30.0])
    phi = np.exp(brentq(above, *ends)) if above(ends[0]) > 0.0 > above(ends[1]) else np.exp(ends[0])
    share = phi * spread / (phi * spread + sd**2)
    return np.asarray(share * noisy + np.sqrt(share) * rng.normal(0.0, sd, (DRAWS, *noisy.shape)))


def _possible(source: GaussianSource, sigma_wx: Array) -> Array:
    """Return covariances that data can have: correlations at most 1, none along what does not vary.

    Noise is not taken off again: what is stated is then rather too high than too low.
    """
    Q, v = source.axes
    values, vectors = np.linalg.eigh(source.sigma_w)
    keep = values > 1e-10 * max(float(values[-1]), 1e-300)
    R, w = vectors[:, keep], values[keep]
    U, s, Vt = np.linalg.svd((R / np.sqrt(w)).T @ sigma_wx @ (Q / np.sqrt(v)), full_matrices=False)
    return np.asarray((R * np.sqrt(w)) @ (U * np.minimum(s, _SURE)) @ Vt @ (Q * np.sqrt(v)).T)
