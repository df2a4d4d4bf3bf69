"""Normal data: covariances, and the noise that reveals least for its mean squared error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.base import one_limit
from voronym.channel.logdet import Optimum, maximise
from voronym.core import later
from voronym.core.chance import masking
from voronym.core.context import Context
from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError
from voronym.problem import check_points

linalg = later.module("scipy.linalg")
optimize = later.module("scipy.optimize")

Array = NDArray[np.float64]

_SINGULAR = 1e-10  # variances below this share of the largest are none
_ONE = 1e-12


@checked
@dataclass(frozen=True)
class GaussianSource:
    """Covariances of the confidential W and the keys X.

    Directions of X or W without variance are omitted from all computations, because they reveal nothing.

    Parameters
    ----------
    sigma_x, sigma_w, sigma_wx : arrays, shapes (n, n), (m, m), (m, n)
        Covariances; their joint matrix must be nonnegative definite.
    mean_x : array, shape (n,), optional
        Means of X, 0 by default.

    Examples
    --------
    >>> source = GaussianSource([[1.0]], [[1.0]], [[0.95]])
    >>> round(source.information, 3)
    1.164
    """

    sigma_x: Array
    sigma_w: Array
    sigma_wx: Array
    mean_x: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        x, w, wx = (_numbers(a, 2) for a in (self.sigma_x, self.sigma_w, self.sigma_wx))
        n, m = len(x), len(w)
        if x.shape != (n, n) or w.shape != (m, m) or wx.shape != (m, n):
            raise InputError(
                f"covariances do not fit: X {x.shape}, W {w.shape}, W with X {wx.shape}; "
                "they must be (n, n), (m, m) and (m, n)"
            )
        mean = _numbers(self.mean_x, 1) if len(self.mean_x) else np.zeros(n)
        if len(mean) != n:
            raise InputError(f"mean_x has {len(mean)} entries for {n} columns of X")
        whole = np.block([[x, wx.T], [wx, w]])
        scale = float(np.abs(whole).max())
        if not np.allclose(whole, whole.T, rtol=1e-9, atol=1e-12 * scale):
            raise InputError("a covariance matrix is symmetric; these are not")
        if float(np.linalg.eigvalsh(whole)[0]) < -1e-8 * scale:
            raise InputError("the joint covariance of X and W has a negative eigenvalue: no data have that")
        if not x.diagonal().max() > 0.0:
            raise InputError("X does not vary: there is nothing to perturb")
        for name, value in (("sigma_x", x), ("sigma_w", w), ("sigma_wx", wx), ("mean_x", mean)):
            object.__setattr__(self, name, value)

    @classmethod
    def estimate(cls, X: ArrayLike, W: ArrayLike) -> GaussianSource:
        """Take means and covariances from records: rows of X (n columns) and of W (m columns)."""
        x, w = check_points(X), check_points(W)
        if len(x) != len(w):
            raise InputError(f"X has {len(x)} rows and W has {len(w)}; they are the same records")
        if len(x) < 2:
            raise InputError("one record has no covariance; give more")
        mean = x.mean(axis=0)
        a, b = x - mean, w - w.mean(axis=0)
        return cls(a.T @ a / len(x), b.T @ b / len(x), b.T @ a / len(x), mean)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Principal axes of X with variance, shape (n, r), and the variances along them."""
        values, vectors = np.linalg.eigh(self.sigma_x)
        keep = values > _SINGULAR * values[-1]
        return vectors[:, keep], values[keep]

    @cached_property
    def correlations(self) -> Array:
        """Correlations of whitened W with X along its axes, shape (m', r); singular values at most 1."""
        values, vectors = np.linalg.eigh(self.sigma_w)
        keep = values > _SINGULAR * max(values[-1], 1e-300)
        Q, v = self.axes
        K = (vectors[:, keep] / np.sqrt(values[keep])).T @ self.sigma_wx @ (Q / np.sqrt(v))
        U, s, Vt = np.linalg.svd(K, full_matrices=False)
        return np.asarray((U * np.where(s > 1.0 - _ONE, 1.0, s)) @ Vt)

    @property
    def variance(self) -> float:
        """Total variance of X."""
        return float(np.trace(self.sigma_x))

    @property
    def information(self) -> float:
        """``I(W; X)`` in nats for normal data; infinite if X determines a part of W."""
        s = np.linalg.svd(self.correlations, compute_uv=False)
        return inf if (s >= 1.0).any() else max(0.0, -0.5 * float(np.log1p(-(s**2)).sum()))

    @cached_property
    def perfect(self) -> tuple[Array, float]:
        """The T without risk (see `least_risk`) and its distortion; X is kept where independent of W."""
        N = linalg.null_space(self.correlations, rcond=1e-9)
        T = np.eye(len(self.axes[1])) - N @ N.T
        return T, float(self.axes[1] @ np.diag(T))


@dataclass(frozen=True)
class GaussianChannel:
    """The rule ``X̂ = (I - A) X + A Z``: it pulls X to its mean and adds noise.

    For jointly normal W and X no rule with the same mean squared error reveals less about W. For other data
    the distortion is exact, and the risk is that of normal data with these covariances.

    Parameters
    ----------
    source : GaussianSource
        The covariances it was made for.
    sigma : array, shape (n, n)
        Covariance of the error, between 0 and that of X; ``A`` is sigma times the inverse of that of X.
    distortion : float
        ``E |X - X̂|²``, the trace of sigma.
    risk : float
        ``I(W; X̂)`` in nats, for normal data.
    gap : float
        Proven limit on the excess of the risk over the least at this distortion.
    """

    source: GaussianSource
    sigma: Array
    distortion: float
    risk: float
    gap: float

    @property
    def share(self) -> float:
        """Distortion as a share of the variance of X."""
        return self.distortion / self.source.variance

    @property
    def risk_bits(self) -> float:
        """The risk in bits."""
        return self.risk / log(2.0)

    @cached_property
    def _whitened(self) -> tuple[Array, Array]:
        """The pull ``I - T`` and a root of the noise's covariance, along the axes of X at unit variance."""
        Q, v = self.source.axes
        T = (Q / np.sqrt(v)).T @ self.sigma @ (Q / np.sqrt(v))
        t, U = np.linalg.eigh(0.5 * (T + T.T))
        t = np.clip(t, 0.0, 1.0)
        return (U * (1.0 - t)) @ U.T, U * np.sqrt(t * (1.0 - t))

    @property
    def A(self) -> Array:  # noqa: N802 - the paper's name
        """The share of X that is replaced by noise, as a matrix."""
        Q, v = self.source.axes
        return np.asarray(self.sigma @ (Q / v) @ Q.T)

    @property
    def noise(self) -> Array:
        """Covariance of the added noise ``A (Z - E Z)``."""
        Q, v = self.source.axes
        root = (Q * np.sqrt(v)) @ self._whitened[1]
        return np.asarray(root @ root.T)

    def apply(self, X: ArrayLike, *, seed: int | np.random.Generator | None = None) -> Array:
        """Perturb records.

        Parameters
        ----------
        X : array, shape (r, n)
            Records with the means and covariances of the source.
        seed : int, Generator or None
            By default drawn from the system. A number gives the same noise again, with a warning: anybody who
            knows it can subtract the noise.

        Returns
        -------
        array, shape (r, n)
        """
        points = check_points(X)
        if points.shape[1] != len(self.source.sigma_x):
            raise InputError(f"X has {points.shape[1]} columns, the channel {len(self.source.sigma_x)}")
        rng = masking(seed)
        Q, v = self.source.axes
        pull, root = self._whitened
        Y = (points - self.source.mean_x) @ (Q / np.sqrt(v))
        Y = Y @ pull + rng.standard_normal(Y.shape) @ root.T
        return np.asarray(self.source.mean_x + Y @ (Q * np.sqrt(v)).T)

    def __str__(self) -> str:
        return (
            f"GaussianChannel on {len(self.sigma)} columns: distortion {self.distortion:.6g} "
            f"({100 * self.share:.3g} % of the variance), risk {self.risk:.6g} nats"
        )


@checked
def gaussian_channel(
    source: GaussianSource,
    *,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    tolerance: float = 1e-8,
) -> GaussianChannel:
    """Find the noise with the least risk for a distortion, or the other way round, for normal data.

    The problem, formula (6): maximise ``1/2 log det(Σ_W|X + Σ_WX Σ_X⁻¹ Σ Σ_X⁻¹ Σ_XW)`` over covariances Σ
    of the error, ``0 <= Σ <= Σ_X`` and ``tr Σ <= D``. Solved by a barrier method; the dual proves the
    gap.

    Parameters
    ----------
    source : GaussianSource
        Covariances of W and X.
    max_distortion, max_risk : float
        One of them: the largest mean squared error (in the unit of X, all columns together), or the largest
        risk in nats.
    tolerance : float
        Stop at this gap, in nats.

    Returns
    -------
    GaussianChannel

    References
    ----------
    D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer: From t-closeness-like privacy to postrandomization via
    information theory, IEEE Transactions on Knowledge and Data Engineering (2010), theorem 2.

    Examples
    --------
    >>> source = GaussianSource([[1.0]], [[1.0]], [[0.95]])
    >>> channel = gaussian_channel(source, max_distortion=0.5)
    >>> round(channel.risk, 4)
    0.3001
    """
    limits = {"max_distortion": max_distortion, "max_risk": max_risk}
    return best_noise(source, Context(), limits, tolerance=tolerance)


def best_noise(
    source: GaussianSource,
    ctx: Context,
    limits: Mapping[str, float | None],
    *,
    tolerance: float = 1e-8,
) -> GaussianChannel:
    """Find the noise of `gaussian_channel`, obeying requests to stop.

    A limit on the distortion can be met at any time, with a larger proven gap. A limit on the risk cannot.
    """
    name, value = one_limit(**limits)
    if name == "max_distortion":
        return _channel(source, least_risk(source, value, ctx, tolerance))
    if source.information <= value:
        return _channel(source, least_risk(source, 0.0, ctx, tolerance))
    return _for_risk(source, value, ctx, tolerance)


def _for_risk(source: GaussianSource, limit: float, ctx: Context, tolerance: float) -> GaussianChannel:
    """Find the least distortion with the risk within its limit; the least risk falls with distortion."""

    def solve(D: float) -> Optimum:
        ctx.check()
        return least_risk(source, D, ctx, tolerance)

    most = source.perfect[1]
    if limit == 0.0:
        return _channel(source, solve(most))
    D = 1e-9 * most
    if -solve(D).value > limit:
        D = optimize.brentq(lambda D: -solve(D).value - limit, D, most, xtol=1e-12 * most, rtol=1e-12)
    gaussian_channel = _channel(source, solve(float(D)))
    for _ in range(60):  # the root is met from either side; the promise is kept from one
        if gaussian_channel.risk <= limit:
            return gaussian_channel
        D = min(most, D + max(1e-9 * most, 2.0 * (gaussian_channel.risk - limit) * most))
        gaussian_channel = _channel(source, solve(D))
    raise GuaranteeError("no noise meets max_risk exactly; change max_risk slightly")


def only_noise(source: GaussianSource) -> GaussianChannel:
    """Return the rule that publishes the overall mean, which reveals nothing for any data."""
    return GaussianChannel(source, source.sigma_x, source.variance, 0.0, 0.0)


def risk_of(channel: GaussianChannel, source: GaussianSource) -> float:
    """Return the risk of a rule on normal data with the same keys but other covariances."""
    Q, v = source.axes
    T = (Q / np.sqrt(v)).T @ channel.sigma @ (Q / np.sqrt(v))
    K = source.correlations
    sign, value = np.linalg.slogdet(np.eye(len(K)) - K @ K.T + K @ T @ K.T)
    return max(0.0, -0.5 * float(value)) if sign > 0 else inf


def least_risk(source: GaussianSource, D: float, ctx: Context, tolerance: float) -> Optimum:
    """Return the optimal T along the whitened axes of X, ``Σ = Q v^1/2 T v^1/2 Q'``; the risk is -value."""
    K, v = source.correlations, source.axes[1]
    S = np.eye(len(K)) - K @ K.T
    best, most = source.perfect
    if most * (1.0 - 1e-12) <= D:
        return Optimum(best, 0.0, 0.0, 0)
    if D <= 0.0:
        return Optimum(np.zeros_like(best), -source.information, 0.0, 0)
    if len(v) == 1:
        T = np.array([[min(1.0, D / v[0])]])
        return Optimum(T, 0.5 * float(np.linalg.slogdet(S + K @ T @ K.T)[1]), 0.0, 0)
    return maximise(S, K, np.diag(v), D, ctx, tolerance=tolerance)


def _channel(source: GaussianSource, optimum: Optimum) -> GaussianChannel:
    Q, v = source.axes
    root = Q * np.sqrt(v)
    sigma = root @ optimum.T @ root.T
    return GaussianChannel(source, sigma, float(np.trace(sigma)), max(0.0, -optimum.value), optimum.gap)


def _numbers(values: ArrayLike, dimensions: int) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.ndim != dimensions or not np.isfinite(array).all():
        raise InputError(f"covariances and means are finite numbers in {dimensions} dimensions")
    return array
