"""Bring columns to one scale: map pairwise distances to the distribution of Euclidean ones.

A year of age and a step in a taxonomy cannot be added. Their ranks can: a distance larger than 70 % of the
column's distances becomes the distance larger than 70 % of the Euclidean ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.errors import InputError
from voronym.space.field import SMALL, Field

ndtri = later.called("scipy.special", "ndtri")

PAIRS = 100_000
"""Pairs of records drawn if a column has too many distinct values for all of them."""

KNOTS = 512
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """The distribution of distances between two records in one column.

    Parameters
    ----------
    distances : array
        Distances that occur, ascending.
    cumulative : array
        Share of the pairs with at most this distance; the last entry is 1.
    exact : bool
        Whether all pairs were counted.
    pairs : int
        Pairs counted or drawn.
    """

    distances: Array
    cumulative: Array
    exact: bool
    pairs: int

    def error(self, confidence: float = 0.95) -> float:
        """Return the largest error of the cumulative shares, with the stated confidence.

        Dvoretzky, Kiefer and Wolfowitz with Massart's constant: ``sqrt(log(2 / alpha) / (2 pairs))`` for
        pairs drawn independently; 0 if all pairs were counted.
        """
        return 0.0 if self.exact else math.sqrt(math.log(2.0 / (1.0 - confidence)) / (2.0 * self.pairs))

    def quantile(self, share: float) -> float:
        """Return the least distance that at least ``share`` of the pairs do not exceed."""
        at = int(np.searchsorted(self.cumulative, share * (1.0 - 1e-12)))
        return float(self.distances[min(at, len(self.distances) - 1)])


def spread(field: Field, *, rng: np.random.Generator, pairs: int = PAIRS) -> Spread:
    """Return the distribution of the column's distances, over pairs of different records.

    If the column has at most 512 distinct values, all pairs are counted, by the frequencies of the
    values. Otherwise ``pairs`` of them are drawn. O(n + 512²) or O(n + pairs log pairs).
    """
    n = len(field.codes)
    if n < 2:
        return Spread(np.zeros(1), np.ones(1), True, 0)
    if field.levels <= SMALL:
        often = np.bincount(field.codes, minlength=field.levels).astype(np.float64)
        weight = np.outer(often, often) - np.diag(often)
        distances, at = np.unique(field.table(), return_inverse=True)
        shares = np.bincount(at.reshape(-1), weight.reshape(-1), len(distances))
        there = shares > 0
        distances, shares = distances[there], shares[there]
        exact, count = True, n * (n - 1) // 2
    else:
        result = rng.integers(0, n, pairs)
        other = (result + rng.integers(1, n, pairs)) % n  # never the record itself
        drawn = field.distance(field.codes[result], field.codes[other])
        distances, shares = np.unique(drawn, return_counts=True)
        exact, count = False, pairs
    cumulative = np.cumsum(shares) / shares.sum()
    cumulative[-1] = 1.0
    return Spread(distances, cumulative, exact, count)


@dataclass(frozen=True, eq=False)
class DistanceMap:
    """A monotone map of distances, linear between its knots; only 0 becomes 0.

    ``map(t) = Q((F(t-) + F(t)) / 2)``, with F the distribution of the column's distances and Q the quantiles
    of the Euclidean ones: the quantile matching of two distributions, with ties at the middle of their block.
    Beyond the largest distance it continues along the chord from the origin. The result need not obey the
    triangle inequality.

    Parameters
    ----------
    knots, heights : arrays
        Distances and their mapped values, both ascending from 0.
    error : float
        Largest error of F with 95 % confidence, because pairs were drawn; 0 if all pairs were counted.
    misfit : float
        Largest difference of the mapped distribution from the Euclidean one; ties cannot be torn apart.

    References
    ----------
    The idea of the mapping: equation 1 of the paper on anonymization as vector quantization over mixed
    records. Dvoretzky, A., Kiefer, J., Wolfowitz, J.: Asymptotic minimax character of the sample
    distribution function. Annals of Mathematical Statistics 27, 1956. Massart, P.: The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality. Annals of Probability 18, 1990.

    Examples
    --------
    Two values, equally frequent in a large table: half of the pairs are apart, the upper half, whose middle
    is the upper quartile of the distances between two standard normal numbers.

    >>> halves = Spread(np.array([0.0, 1.0]), np.array([0.5, 1.0]), True, 100)
    >>> round(DistanceMap.fit(halves)(1.0).item(), 3)
    1.627
    """

    knots: Array
    heights: Array
    error: float = 0.0
    misfit: float = 0.0

    @classmethod
    def fit(cls, spread: Spread, *, reference: str | ArrayLike = "normal") -> DistanceMap:
        """Match the quantiles of a column's distances with those of the reference.

        Parameters
        ----------
        spread : Spread
            The column's distances.
        reference : {"normal", "uniform"} or array
            Distances between two standard normal numbers, between two uniform ones on [0, 1], or a sample of
            Euclidean distances of your own.
        """
        positive = spread.distances > 0.0
        distances, upper = spread.distances[positive], spread.cumulative[positive]
        if not len(distances):
            return cls(np.zeros(1), np.zeros(1), spread.error())
        ties = 0.0 if positive[0] else spread.cumulative[0]  # share of pairs at distance 0
        lower = np.concatenate([[ties], upper[:-1]])
        if len(distances) > KNOTS:  # of even rank, the ends included
            at = np.unique(np.searchsorted(upper, np.linspace(upper[0], 1.0, KNOTS)).clip(0, len(upper) - 1))
            distances, upper, lower = distances[at], upper[at], lower[at]
        middle = (lower + upper) / 2.0
        heights = _quantiles(middle, reference)
        misfit = float(((upper - lower) / 2.0).max())
        keep = np.concatenate([[True], np.diff(heights) > 0.0]) & (heights > 0.0)
        if not keep.any():  # a reference that knows no distance above 0
            raise InputError("the reference distances must not all be 0")
        return cls(
            np.concatenate([[0.0], distances[keep]]),
            np.concatenate([[0.0], heights[keep]]),
            spread.error(),
            misfit,
        )

    @classmethod
    def identity(cls) -> DistanceMap:
        """Return the identity map."""
        return cls(np.array([0.0, 1.0]), np.array([0.0, 1.0]))

    def __call__(self, distances: ArrayLike) -> Array:
        """Return mapped distances."""
        given = np.asarray(distances, dtype=np.float64)
        last, top = self.knots[-1], self.heights[-1]
        if last <= 0.0:
            return given.copy()
        return np.where(given >= last, top * (given / last), np.interp(given, self.knots, self.heights))


def _quantiles(shares: Array, reference: str | ArrayLike) -> Array:
    if isinstance(reference, str):
        if reference == "normal":
            return np.asarray(math.sqrt(2.0) * ndtri((1.0 + shares) / 2.0))
        if reference == "uniform":
            return np.asarray(1.0 - np.sqrt(1.0 - shares))
        raise InputError(f"the reference is 'normal', 'uniform' or a sample of distances, not {reference!r}")
    sample = np.sort(np.asarray(reference, dtype=np.float64).reshape(-1))
    if not len(sample) or not np.isfinite(sample).all() or sample[0] < 0.0:
        raise InputError("the reference distances must be finite numbers, 0 or more")
    return np.asarray(np.quantile(sample, shares))
