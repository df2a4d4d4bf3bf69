"""Change of a distribution of distances: histograms, Kullback-Leibler and earth mover's distance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import records as kernels

MOST_BINS = 16
_SAME = 1e-9  # relative
Array = NDArray[np.float64]


def edges(distances: Array) -> Array:
    """Return the inner borders of the bins for a cluster's distances.

    The number of bins is about the square root of the number of distances, 2 to 16, with equally many
    distances in each as far as ties allow. No bin is empty. If all distances are equal, there is one bin.
    """
    ordered = np.sort(distances)
    bins = int(np.clip(round(math.sqrt(len(ordered))), 2, MOST_BINS))
    inner = ordered[(np.arange(1, bins) * len(ordered)) // bins - 1]
    # Halfway to the next distance, and not between two that differ by rounding only: sums in another order
    # must not fall into another bin.
    gaps = np.flatnonzero(np.diff(ordered) > _SAME * max(float(ordered[-1]), 1e-300))
    middles = (ordered[gaps] + ordered[gaps + 1]) / 2.0
    at = np.searchsorted(middles, inner)
    return np.unique(middles[at[at < len(middles)]])


def histogram(distances: Array, borders: Array) -> NDArray[np.int64]:
    """Return the number of distances in each bin."""
    return np.bincount(np.searchsorted(borders, distances), minlength=len(borders) + 1).astype(np.int64)


def divergence(before: NDArray[np.int64], after: NDArray[np.int64], measure: str = "kl") -> float:
    """Return the divergence of the second histogram from the first.

    ``kl``: the sum of ``f log(f / g)`` in nats, infinite if g is empty in a bin of f. ``emd``: the sum of
    the differences of the cumulative shares over the number of bins less one, from 0 to 1.

    Examples
    --------
    >>> round(divergence(np.array([1, 1]), np.array([3, 1])), 4)
    0.1438
    >>> divergence(np.array([2, 0, 0]), np.array([0, 0, 2]), "emd")
    1.0
    """
    f, g = before / before.sum(), after / after.sum()
    return float(kernels.divergence(f, g, 1.0, measure == "emd"))
