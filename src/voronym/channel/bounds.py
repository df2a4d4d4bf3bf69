"""Bounds on the least risk at a distortion: in closed form for normal scalars, and for any covariances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.gaussian import GaussianSource, least_risk
from voronym.channel.waterfill import closed_form
from voronym.core.context import Context
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points


@checked
def scalar_risk(rho: float, share: float) -> float:
    """Return the least risk of normal scalars at a share d of the variance, (8): ``-1/2 ln(1 - (1 - d) ρ²)``.

    Examples
    --------
    >>> round(scalar_risk(0.95, 0.5), 4)
    0.3001
    """
    rho, share = _correlation(rho), _share(share)
    inside = 1.0 - max(0.0, 1.0 - share) * rho * rho
    return inf if inside <= 0.0 else max(0.0, -0.5 * log(inside))


@checked
def scalar_bound(entropy: float, sigma_w: float, rho: float, share: float) -> float:
    """Return the lower bound (7) on the risk of scalars: ``h(W) - 1/2 ln(2πe (1 - (1 - d) ρ²) σ_W²)``.

    It holds if E[W|X] is linear in X, as for normal data; see `gaussian_bound`.

    Parameters
    ----------
    entropy : float
        Differential entropy of W in nats; ``1/2 ln(2πe σ_W²)`` for normal W, and less otherwise.
    sigma_w : float
        Standard deviation of W.
    rho, share : float
        Correlation of W and X; distortion as a share of the variance of X.

    Examples
    --------
    >>> from math import e, log, pi
    >>> normal = 0.5 * log(2 * pi * e)
    >>> abs(scalar_bound(normal, 1.0, 0.95, 0.5) - scalar_risk(0.95, 0.5)) < 1e-12
    True
    """
    inside = (1.0 - max(0.0, 1.0 - _share(share)) * _correlation(rho) ** 2) * sigma_w**2
    return inf if inside <= 0.0 else max(0.0, entropy - 0.5 * (log(2.0 * pi * inside) + 1.0))


@checked
def scalar_multiplier(rho: float, share: float, *, variance: float = 1.0) -> float:
    """Return the λ of ``D + λ R`` that belongs to a point of (8): ``2 σ_X² (1/ρ² - 1 + d)``.

    Examples
    --------
    >>> [round(scalar_multiplier(0.95, d), 2) for d in (0.25, 0.5, 0.75)]
    [0.72, 1.22, 1.72]
    """
    return 2.0 * variance * (1.0 / _correlation(rho) ** 2 - 1.0 + _share(share))


def _correlation(rho: float) -> float:
    if not -1.0 <= rho <= 1.0:
        raise InputError(f"a correlation is between -1 and 1, not {rho}")
    return float(rho)


def _share(share: float) -> float:
    if not (isfinite(share) and share >= 0.0):
        raise InputError(f"a share of the variance is 0 or more, not {share}")
    return float(share)


@checked
def gaussian_bound(source: GaussianSource, distortion: float, *, entropy: float | None = None) -> float:
    """Return the quadratic-Gaussian lower bound (6) on the risk at a distortion, in nats.

    Theorem 2: no rule with ``E |X - X̂|² <= distortion`` has a smaller ``I(W; X̂)``, if E[W|X] is linear in X
    and ``entropy`` is the differential entropy of W. Normal data fulfil both, and then ``entropy`` can be
    left out. For other data the figure is a reference, not a bound. The paper states the theorem for any
    joint law; its proof needs the linear mean. A counterexample: X is -1 or 1 with probability 0.4 each, -2
    or 2 with 0.1 each; W is normal, and has the sign of X where ``|X| = 2``. Publishing 0 for -2 and 2 costs
    half the variance and reveals nothing about W, although the formula gives 0.016 nats.

    The figure is minus the dual value, so it is a true bound even where the solver stopped early.

    Examples
    --------
    >>> source = GaussianSource(np.eye(2), np.eye(2), [[0.9, 0.0], [0.0, 0.5]])
    >>> round(gaussian_bound(source, 0.5), 4)
    0.4034
    """
    result = least_risk(source, _share(distortion), Context(), 1e-9)
    bound = -result.value - result.gap
    if entropy is not None:
        sign, size = np.linalg.slogdet(source.sigma_w)
        if sign <= 0:
            raise InputError("W varies in fewer directions than it has columns: its entropy is not defined")
        m = len(source.sigma_w)
        bound += float(entropy) - 0.5 * (m * (log(2.0 * pi) + 1.0) + float(size))
    return max(0.0, bound)


@checked
def closed_form_bound(source: GaussianSource, distortion: float) -> tuple[float, bool]:
    """Return the looser bound of appendix C, and whether it equals the other one (proposition 6).

    It needs no optimisation, only eigenvalues and water-filling (see
    `voronym.channel.waterfill.closed_form`, with the proofs). X must not determine W.

    Examples
    --------
    >>> source = GaussianSource(np.eye(2), np.eye(2), [[0.9, 0.0], [0.0, 0.5]])
    >>> bound, tight = closed_form_bound(source, 0.5)
    >>> round(bound, 4), tight
    (0.4034, True)
    """
    K, (_, v) = source.correlations, source.axes
    S = np.eye(len(K)) - K @ K.T
    if float(np.linalg.eigvalsh(S)[0]) <= 1e-12:
        raise InputError("X determines a part of W: the closed form needs some noise between them")
    value, _, tight = closed_form(S, K / np.sqrt(v), np.diag(v), _share(distortion))
    return max(0.0, -value), tight


@checked
def information_bound(information: float, share: float) -> float:
    """Return the mutual-information upper bound (9) on the least risk: ``I(W; X) (1 - d)``.

    It is reached by publishing X with probability 1 - d and its mean otherwise; so a rule with a higher risk
    is worse than that crude rule.

    Parameters
    ----------
    information : float
        ``I(W; X)`` in nats.
    share : float
        Distortion as a share d of the variance of X, all columns together.

    Examples
    --------
    >>> information_bound(1.2, 0.25)
    0.8999999999999999
    """
    if not information >= 0.0 or not share >= 0.0:
        raise InputError("information and the share of the variance are 0 or more")
    left = max(0.0, 1.0 - share)
    return information * left if left else 0.0


@dataclass(frozen=True)
class Point:
    """A release in the plane of distortion and risk, between its bounds.

    Parameters
    ----------
    share : float
        Mean squared error as a share of the variance of X.
    risk : float
        Measured risk in nats.
    lower, upper : float
        The two bounds at the same distortion, in nats: `gaussian_bound`, `information_bound`.
    gaussian : bool
        Whether the lower bound assumes that W is normal; then it holds for normal data only.
    """

    share: float
    risk: float
    lower: float
    upper: float
    gaussian: bool

    def __str__(self) -> str:
        return (
            f"{100 * self.share:.3g} % of the variance, risk {self.risk:.4g} nats; "
            f"lower bound {self.lower:.4g}, upper {self.upper:.4g}"
        )


@checked
def between_bounds(
    X: ArrayLike,
    W: ArrayLike,
    published: ArrayLike,
    *,
    risk: float,
    information: float | None = None,
    entropy: float | None = None,
) -> Point:
    """Return a measured release as a point between its two bounds.

    Parameters
    ----------
    X, W, published : arrays, rows are records
        Keys, confidential columns, and the published keys, in the same order of rows and the same units.
    risk : float
        The measured ``I(W; X̂)`` in nats; how to measure it is the caller's choice.
    information : float, optional
        ``I(W; X)`` measured in the same way; the value of normal data by default.
    entropy : float, optional
        Differential entropy of W in nats, for data whose E[W|X] is linear; that of normal data by
        default (see `gaussian_bound`).

    Returns
    -------
    Point

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(1000)
    >>> point = between_bounds(x, x + rng.standard_normal(1000), 0 * x, risk=0.0)
    >>> point.lower
    0.0
    """
    before, after = check_points(X), check_points(published)
    if before.shape != after.shape:
        raise InputError(f"X has shape {before.shape}, what is published {after.shape}; rows must correspond")
    source = GaussianSource.estimate(X, W)
    distortion = float(np.square(before - after).sum() / len(before))
    known = source.information if information is None else information
    share = distortion / source.variance
    return Point(
        share,
        risk,
        gaussian_bound(source, distortion, entropy=entropy),
        information_bound(known, share),
        entropy is None,
    )


@checked
def curve(
    source: GaussianSource,
    shares: Sequence[float] | NDArray[np.float64],
    *,
    information: float | None = None,
) -> list[dict[str, float]]:
    """Return both bounds at several distortions, as rows to draw.

    Examples
    --------
    >>> source = GaussianSource([[1.0]], [[1.0]], [[0.95]])
    >>> [round(row["lower"], 2) for row in curve(source, [0.25, 0.5, 0.75])]
    [0.56, 0.3, 0.13]
    """
    if np.ndim(shares) != 1:
        raise InputError("shares must be a list of numbers, from 0 to 1")
    known = source.information if information is None else information
    return [
        {
            "share": float(share),
            "lower": gaussian_bound(source, float(share) * source.variance),
            "upper": information_bound(known, float(share)) if known < inf else inf,
        }
        for share in shares
    ]
