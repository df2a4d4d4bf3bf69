"""Noise, drawn by OpenDP only: discrete, so that floating point reveals nothing.

There are two currencies. Without δ the budget is an ε, and noise is discrete Laplace. With δ it is a ρ of
zero-concentrated differential privacy, and noise is discrete Gaussian. Each mechanism states its cost before
use, and is refused if it exceeds its share.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import MissingExtraError, VoronymError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXTRA = "differential privacy needs OpenDP, which draws the noise: pip install 'voronym[dp]'"
WIDER = 1.0 + 1e-9
"""Factor on the width of the noise; it exceeds rounding errors, so that no share is exceeded."""


def library() -> Any:
    """Return OpenDP, or raise with how to install it."""
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise MissingExtraError(EXTRA) from None
    opendp.enable_features("contrib")
    return opendp


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Return the scale of Laplace noise for sums that one record changes by ``sensitivity`` in total."""
    return WIDER * sensitivity / epsilon


def gaussian_scale(sensitivity: float, rho: float) -> float:
    """Return the standard deviation of normal noise for sums that one record changes by ``sensitivity``."""
    return WIDER * sensitivity / math.sqrt(2.0 * rho)


def choice_scale(sensitivity: float, share: float, pure: bool) -> float:
    """Return the scale of the noise on scores for reporting the largest."""
    return WIDER * 2.0 * sensitivity / (share if pure else math.sqrt(8.0 * share))


@lru_cache(maxsize=512)
def _laplace(scale: float) -> Any:
    dp = library()
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=512)
def _gaussian(scale: float) -> Any:
    dp = library()
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float), scale=scale)


@lru_cache(maxsize=512)
def _largest(scale: float, pure: bool) -> Any:
    dp = library()
    measure = dp.max_divergence() if pure else dp.zero_concentrated_divergence()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T="i64"), measure, scale=scale)


def _check(cost: float, share: float) -> None:
    if cost > share:
        raise VoronymError(f"a mechanism would cost {cost:g}, and its share of the budget is {share:g}")


def noisy(values: Ints, total: int, length: float, share: float, *, pure: bool) -> tuple[Ints, float]:
    """Return whole numbers with noise, and the variance of the noise.

    Parameters
    ----------
    values : array of int
        Sums or counts.
    total : int
        Largest total change by one unit, as the sum of absolute changes (for Laplace noise).
    length : float
        Largest change as Euclidean length (for Gaussian noise).
    share : float
        Share of the budget: ε, or ρ.
    pure : bool
        Whether the budget is an ε without δ.
    """
    if pure:
        scale = laplace_scale(float(total), share)
        mechanism = _laplace(scale)
        cost = mechanism.map(total)
        variance = _laplace_variance(scale)
    else:
        scale = gaussian_scale(length, share)
        mechanism = _gaussian(scale)
        cost = mechanism.map(length)
        variance = scale * scale
    _check(cost, share)
    flat = np.asarray(values, np.int64)
    drawn = mechanism(flat.ravel().tolist())
    return np.array(drawn, np.int64).reshape(flat.shape), variance


def _laplace_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise."""
    q = math.exp(-1.0 / scale)
    return 2.0 * q / (1.0 - q) ** 2


def largest(scores: Ints, share: float, *, sensitivity: int = 1, pure: bool) -> Ints:
    """Return the place of the largest noisy score in each row.

    Parameters
    ----------
    scores : array of int
        One row for each choice.
    share : float
        Share of the budget, for each row.
    sensitivity : int
        The largest change of a score by one unit.
    pure : bool
        Whether the budget is an ε: then it is permute-and-flip; else the exponential mechanism.
    """
    mechanism = _largest(choice_scale(float(sensitivity), share, pure), pure)
    _check(mechanism.map(sensitivity), share)
    return np.array([mechanism(row) for row in np.asarray(scores, np.int64).tolist()], np.int64)
