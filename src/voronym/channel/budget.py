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

References
----------
J. Dong, A. Roth, W. J. Su: Gaussian differential privacy, Journal of the Royal Statistical Society B 84
(2022).
"""

# promise: doc-budget
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.channel.base import Ints
from voronym.channel.gaussian import GaussianSource
from voronym.core import later

ndtr = later.called("scipy.special", "ndtr")

Array = NDArray[np.float64]

BUDGET = 0.5
"""The μ of a release: an intruder tells two neighbours apart with probability 0.6 at most."""

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


def blurred(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return a joint law near that of the counts, from noisy counts; with the margins of the exact ones.

    Parameters
    ----------
    counts : array of int, shape (k, n)
        How many records have each confidential class (rows) and letter (columns).
    mu : float
        The budget.
    rng : Generator
        Draws the noise.

    Returns
    -------
    array, shape (k, n)
        A function of the noisy counts and of both margins, and of nothing else; positive where both margins
        are.
    """
    noisy = noisy_counts(counts, mu, rng)
    rows, columns = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)
    independent = np.outer(rows, columns) / max(1.0, rows.sum())
    law = np.maximum(noisy, _FLOOR * independent)
    for _ in range(2000):  # fit the margins in turn
        law *= (rows / np.maximum(law.sum(axis=1), 1e-300))[:, None]
        law *= columns / np.maximum(law.sum(axis=0), 1e-300)
        if np.abs(law.sum(axis=1) - rows).max() < 1e-9:
            break
    return np.asarray(law / law.sum())


def noisy_counts(counts: Ints, mu: float, rng: np.random.Generator) -> Array:
    """Return counts with noise of the budget, as whole numbers."""
    return np.rint(counts + rng.normal(0.0, _SWAP / mu, counts.shape))


def blurred_source(X: Array, W: Array, mu: float, rng: np.random.Generator) -> GaussianSource:
    """Return covariances of records with noise on those between W and X.

    Exchanging the values of two people changes the covariances by ``(x - x')(w' - w)' / n``: by at most the
    product of both ranges over n. So that an outlier does not set the range, keys count no farther than
    2.5 standard deviations from their mean here.
    """
    exact = GaussianSource.estimate(X, W)
    reach = _REACH * np.sqrt(exact.sigma_x.diagonal())
    inner = np.clip(X - exact.mean_x, -reach, reach)
    most = np.linalg.norm(np.ptp(inner, axis=0)) * np.linalg.norm(np.ptp(W, axis=0)) / len(X)
    between = (W - W.mean(axis=0)).T @ inner / len(X)
    noisy = between + rng.normal(0.0, most / mu, between.shape)
    return GaussianSource(exact.sigma_x, exact.sigma_w, _possible(exact, noisy), exact.mean_x)


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
