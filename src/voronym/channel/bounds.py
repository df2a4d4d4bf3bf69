"""Bounds to stand beside a measured point (distortion, risk)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.gaussian import GaussianSource, qglb
from voronym.errors import InputError
from voronym.problem import check_points


def miub(information: float, share: float) -> float:
    """Return the mutual-information upper bound (9) on the least risk: ``I(W; X) (1 - d)``.

    It is reached by publishing X with probability 1 - d and its mean otherwise; so a rule whose risk is above
    this line is worse than that crude one.

    Parameters
    ----------
    information : float
        ``I(W; X)`` in nats.
    share : float
        Distortion as a share d of the variance of X, all columns together.

    Examples
    --------
    >>> miub(1.2, 0.25)
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
        QGLB and MIUB at the same distortion, in nats.
    gaussian : bool
        Whether the lower figure takes W as normal; then it is a bound for normal data only.
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


def beside(
    X: ArrayLike,
    W: ArrayLike,
    published: ArrayLike,
    *,
    risk: float,
    information: float | None = None,
    entropy: float | None = None,
) -> Point:
    """Put the bounds beside a measured release.

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
        default (see `voronym.channel.gaussian.qglb`).

    Returns
    -------
    Point

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(1000)
    >>> point = beside(x, x + rng.standard_normal(1000), 0 * x, risk=0.0)
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
    return Point(share, risk, qglb(source, distortion, entropy=entropy), miub(known, share), entropy is None)


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
    known = source.information if information is None else information
    return [
        {
            "share": float(share),
            "lower": qglb(source, float(share) * source.variance),
            "upper": miub(known, float(share)) if known < inf else inf,
        }
        for share in shares
    ]
