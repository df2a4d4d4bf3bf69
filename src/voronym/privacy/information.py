"""Estimates of mutual information from counts: plug-in, corrected, by chance, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voronym.core import later
from voronym.privacy.cells import Runs
from voronym.privacy.distances import kullback_leibler, ratio
from voronym.privacy.level import Floats, Ints, Levels

gammaln = later.called("scipy.special", "gammaln")
ndtri = later.called("scipy.special", "ndtri")

_MANY = 50
"""Expected records of a level in a class above which an expansion replaces the exact sum."""
_WHOLE = 1.25
"""Extra nats that the likelihood may fall beyond a chi-square law, because counts are whole numbers."""
_RANGE = 192
"""Number of terms in the exact sum below `_MANY`: up to twenty standard deviations above the mean."""


def contributions(runs: Runs, levels: Levels, *, unit: float = 1.0) -> Floats:
    """Return (size / n) KL(p || q) of each cell, in nats divided by ``unit``; the sum is I(W; cell)."""
    return np.asarray(kullback_leibler(runs, levels) * (runs.sizes / (levels.n * unit)))


@dataclass(frozen=True)
class Estimate:
    """The estimate of I(W; class), in nats.

    Parameters
    ----------
    plug_in : float
        The mutual information of the counts as they are.
    corrected : float
        Miller and Madow's: each entropy of I = H(W) + H(C) - H(W, C) is raised by its number of non-empty
        levels less 1, over 2n, which takes (pairs - levels - classes + 1) / 2n away; at least 0 and at most
        the logarithm of the number of levels. Right to the first order in 1/n; too little where classes
        hold a few records only.
    chance : float
        The expected plug-in value if the confidential values were assigned to the classes at random: the
        effect of small classes alone.
    excess : float
        ``plug_in - chance``, at least 0. Unbiased if keys and W are independent; otherwise too low, because
        the bias is smaller then.
    low, high : float
        Confidence interval for the population that the records were drawn from. One correction takes too
        little away and the other too much, so the interval reaches from the lesser less z standard errors to
        the greater plus as many. The standard error is asymptotic: that of the mean of
        ln p(w, c) / (p(w) p(c)) over the records. Where exceptions are rare it is too small, and 0 where
        none was seen; so below, the interval reaches at least as far as mixtures of the counts with
        independence do that the records do not rule out (see `likely_drop`). With many records in every
        class the corrections meet and this is the usual interval. It ends at the logarithm of the number of
        levels, which I cannot exceed; not at ``entropy``, which a sample shows too low.
    confidence : float
        Coverage of the interval.
    entropy : float
        H(W) of the counts: the largest possible information in this table.
    """

    plug_in: float
    corrected: float
    chance: float
    excess: float
    low: float
    high: float
    confidence: float
    entropy: float


def estimate(runs: Runs, levels: Levels, *, confidence: float = 0.95) -> Estimate:
    """Estimate I(W; cell) from counts."""
    n = levels.n
    share = runs.count / n
    score = np.log(ratio(runs, levels))
    plug_in = math.fsum(contributions(runs, levels))  # the order of cells cannot matter
    bias = (len(runs.cell) - levels.size - len(runs.occupied) + 1) / (2 * n)
    q = levels.counts / n
    entropy = max(0.0, float(-(q * np.log(q)).sum()))
    most = math.log(levels.size)  # the entropy of the counts is below that of the population
    corrected = min(max(0.0, plug_in - bias), most)
    spread = max(0.0, math.fsum(share * np.square(score)) - plug_in**2)
    z = float(ndtri(0.5 + confidence / 2))
    half = z * float(np.sqrt(spread / n))
    chance = expected_by_chance(runs.sizes[runs.occupied], levels.counts, n)
    excess = max(0.0, plug_in - chance)
    low = max(0.0, min(corrected, excess) - max(half, likely_drop(runs, levels, z)))
    high = min(most, max(corrected, excess) + half)
    return Estimate(plug_in, corrected, chance, excess, low, high, confidence, entropy)


def likely_drop(runs: Runs, levels: Levels, z: float) -> float:
    """Return how far I can fall towards independence before the records rule it out.

    The law p_s = (1 - s) p + s p(w) p(c) has the margins of the counts p; its likelihood relative to the
    maximum is exp(-n KL(p || p_s)). s is chosen where this is exp(-z²/2 - 5/4), as in a likelihood-ratio
    interval. Unlike a standard error, this accounts for pairs that did not occur. The 5/4 corrects for
    whole counts: with no or one exception the chi-square law is too narrow (an exact interval for a
    Poisson count needs 0.7 to 1.8 nats more).

    Examples
    --------
    >>> from voronym.privacy.cells import count_runs
    >>> w = Levels("w", np.repeat([0, 1], 50), False, ("a", "b"))
    >>> pairs = count_runs(w.codes, w.codes, 2, 2)  # a hundred records, no exception
    >>> round(likely_drop(pairs, w, 1.96), 3)
    0.139
    """
    share, r = runs.count / levels.n, ratio(runs, levels)
    by_chance = share / r  # p(w) p(c) of the pairs that occur
    unseen = max(0.0, 1.0 - math.fsum(by_chance))
    most = (z * z / 2.0 + _WHOLE) / levels.n
    low, high = 0.0, 1.0
    for _ in range(50):
        s = 0.5 * (low + high)
        mixed = (1.0 - s) + s / r
        low, high = (s, high) if -float(share @ np.log(mixed)) <= most else (low, s)
    mixed = (1.0 - low) * r + low
    left = float(by_chance @ (mixed * np.log(mixed))) + (unseen * low * math.log(low) if low > 0.0 else 0.0)
    return max(0.0, math.fsum(share * np.log(r)) - left)


def expected_by_chance(sizes: Ints, counts: Ints, n: int | None = None) -> float:
    """Return the mean plug-in mutual information over all assignments of the values to the classes.

    A class of s records gets X of the q records of a level; X is hypergeometric. The expectation of (X /
    n) ln(n X / (s q)) is summed over classes and levels, once for equal sizes and counts. If X is above
    `_MANY` on average, its expectation is taken to second order, Var X / (2 n E X), with an error below
    0.4 %. If the classes are a part of a larger table, ``n`` is its number of records, and the sum is
    their share of the expectation.

    References
    ----------
    Vinh, N.X., Epps, J., Bailey, J.: Information theoretic measures for clusterings comparison: variants,
    properties, normalization and correction for chance. JMLR 11, 2010.
    """
    n = int(sizes.sum()) if n is None else n
    size, times = np.unique(sizes, return_counts=True)
    count, often = np.unique(counts, return_counts=True)
    total = 0.0
    log_fact = gammaln(np.arange(n + 1) + 1.0)
    for s, repeated in zip(size.tolist(), times.tolist(), strict=True):
        few = s * count <= _MANY * n
        q = count[few]
        x = np.arange(1, min(s, _RANGE, int(count[-1])) + 1)[:, None]
        fits = (x <= q) & (s - x <= n - q)
        y, left = np.where(fits, x, 0), np.where(fits, s - x, 0)
        chance = (
            log_fact[q]
            - log_fact[y]
            - log_fact[q - y]
            + log_fact[n - q]
            - log_fact[left]
            - log_fact[np.maximum(n - q - left, 0)]
            - (log_fact[n] - log_fact[s] - log_fact[n - s])
        )
        term = np.where(fits, np.exp(np.minimum(chance, 0.0)) * x / n * np.log(n * x / (s * q)), 0.0)
        total += repeated * float(term.sum(axis=0) @ often[few])
        rest = (1 - count[~few] / n) * (n - s) / (2 * n * max(n - 1, 1))
        total += repeated * float(rest @ often[~few])
    return max(0.0, total)
