"""Measure how well a model tells original from released records: the propensity score mean squared error.

Stack both tables, let a logistic regression guess the table of each record, and measure how far its guesses
are from "no idea".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context
from voronym.core.jsonable import Plain
from voronym.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MAX_FEATURES = 100
_CLIP = 4.0  # standard deviations; keeps a few extreme values from ruling the fit
_SHARE = 0.02  # categories rarer than this share a common feature: the absence of all others


@dataclass(frozen=True)
class PMSE(Plain):
    """Result of `pmse`.

    Parameters
    ----------
    value : float
        Mean of ``(p_i - c)^2`` over the N stacked records, ``p_i`` the fitted probability of being a released
        one and c their share. 0 when the tables look the same, at most ``c (1 - c)``.
    expected : float
        Its expectation if both tables were independent samples of one population.
    ratio : float
        ``value / expected``. About 1: no more different than two samples. Well below 1: more alike than that.
        0 for a copy.
    z : float
        ``(value - expected) / sd`` under the same assumption.
    parameters : int
        Parameters of the model, the intercept included.
    n_original, n_released : int
        Records that were used.
    """

    value: float
    expected: float
    ratio: float
    z: float
    parameters: int
    n_original: int
    n_released: int


def pmse(original: ArrayLike, released: ArrayLike, *, ctx: Context | None = None) -> PMSE | None:
    """Return the pMSE of two sets of features, with its expectation under the null hypothesis.

    The null hypothesis: both tables are independent samples of one population. With r independent
    features besides the intercept, the fit is ``p_i - c ~ c (1 - c) x_i' b`` with b of covariance ``(c (1
    - c) X'X)^-1``, so ``N value / (c (1 - c))`` is asymptotically chi-square with r degrees of freedom.
    Hence ``expected = r c (1 - c) / N`` and ``sd = sqrt(2 r) c (1 - c) / N``. Snoke et al. condition on
    the original table, so only the other one varies; their expectation is ``1 - c`` times this one.

    Parameters
    ----------
    original, released : arrays, shapes (n, p) and (m, p)
        Features, finite. Columns that depend on others are found and do not count as parameters.
    ctx : Context, optional
        May stop the work between two steps of the fit.

    Returns
    -------
    PMSE or None
        None when every feature is constant. Time O((n + m) p^2) per step of the fit.

    References
    ----------
    Woo, M.-J. et al.: Global measures of data utility for microdata masked for disclosure limitation. Journal
    of Privacy and Confidentiality 1(1), 2009. Snoke, J. et al.: General and specific utility measures for
    synthetic data. JRSS A 181(3), 2018. doi:10.1111/rssa.12358

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((500, 2))
    >>> round(pmse(x, x).value, 12), pmse(x, x + 1.0).ratio > 20
    (0.0, True)
    """
    A, B = np.asarray(original, np.float64), np.asarray(released, np.float64)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1] or not len(A) or not len(B):
        raise InputError(f"two tables with the same features are needed, not shapes {A.shape} and {B.shape}")
    F = np.vstack([A, B])
    F = F - F.mean(axis=0)
    spread = F.std(axis=0)
    F = F[:, spread > 1e-12] / spread[spread > 1e-12]
    if F.shape[1] == 0:
        return None
    # Principal axes instead of the features: independent, of unit variance, and the fit is the same.
    values, axes = np.linalg.eigh(F.T @ F / len(F))
    keep = values > 1e-9 * values[-1]
    F = F @ (axes[:, keep] / np.sqrt(values[keep]))
    y = np.repeat([0.0, 1.0], [len(A), len(B)])
    share = float(y.mean())
    score = fit_logistic(F, y, ctx=Context() if ctx is None else ctx)
    value = float(np.square(score - share).mean())
    r, unit = F.shape[1], share * (1.0 - share) / len(F)
    return PMSE(
        value=value,
        expected=r * unit,
        ratio=value / (r * unit),
        z=(value - r * unit) / (np.sqrt(2.0 * r) * unit),
        parameters=r + 1,
        n_original=len(A),
        n_released=len(B),
    )


def fit_logistic(F: Floats, y: Floats, *, ctx: Context, steps: int = 40) -> Floats:
    """Return the fitted probabilities of a logistic regression with intercept, by Newton's method (IRLS).

    Each step solves a weighted least squares problem; it is halved until the likelihood does not fall. A
    tiny ridge keeps the system solvable if the classes can be separated: then the coefficients grow
    without limit, but the probabilities, which alone are used, approach 0 and 1.
    """
    X = np.column_stack([np.ones(len(F)), F])
    beta = np.zeros(X.shape[1])
    share = float(y.mean())
    beta[0] = np.log(share / (1.0 - share))
    eta = X @ beta
    loss = _loss(eta, y)
    ridge = 1e-8 * len(X) * np.eye(X.shape[1])
    for number in range(steps):
        ctx.tell(number / steps, whole=True)
        p = _sigmoid(eta)
        weight = p * (1.0 - p)
        step = np.linalg.solve(X.T @ (X * weight[:, None]) + ridge, X.T @ (y - p))
        change = X @ step
        size = 1.0
        while size > 1e-6 and _loss(eta + size * change, y) > loss:
            size /= 2.0
        eta = eta + size * change
        before, loss = loss, _loss(eta, y)
        if before - loss <= 1e-10 * max(loss, 1e-12):
            break
    return _sigmoid(eta)


def _sigmoid(eta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -35.0, 35.0))))


def _loss(eta: Floats, y: Floats) -> float:
    return float((np.logaddexp(0.0, eta) - y * eta).sum())


def features(
    numeric: Sequence[tuple[Floats, Floats]], nominal: Sequence[tuple[Codes, Codes]]
) -> tuple[Floats, Floats]:
    """Build the features of the propensity model from the columns of both tables.

    A number gives its value (standardised over both tables, cut at four standard deviations, missing
    values at the mean), its square and a missing indicator. A category of at least 2 % gives an
    indicator. Products of pairs of numbers follow, up to a hundred features. Masking by centroids keeps
    means and shrinks variances, so squares and products show it.

    Parameters
    ----------
    numeric : sequence of (array, array)
        Columns of numbers of the two tables, NaN where missing.
    nominal : sequence of (array, array)
        Codes of categories, the same codes in both tables.
    """
    n = len((numeric[0] if numeric else nominal[0])[0])
    made: list[Floats] = []
    standard: list[Floats] = []
    for pair in numeric:
        x = np.concatenate(pair)
        gone = np.isnan(x)
        if gone.all():
            continue
        middle, sd = x[~gone].mean(), x[~gone].std()
        z = np.where(gone, 0.0, np.clip((x - middle) / (sd if sd > 0.0 else 1.0), -_CLIP, _CLIP))
        standard.append(z)
        made += [z, np.square(z)]
        if gone.any():
            made.append(gone.astype(np.float64))
    for both in nominal:
        code = np.concatenate(both)
        count = np.bincount(code)
        made += [(code == c).astype(np.float64) for c in np.flatnonzero(count >= _SHARE * len(code))]
    for i, a in enumerate(standard):
        for b in standard[:i]:
            if len(made) >= MAX_FEATURES:
                break
            made.append(a * b)
    if not made:
        made = [np.zeros(sum(map(len, (numeric or nominal)[0])))]
    F = np.column_stack(made[: max(MAX_FEATURES, 1)])
    return F[:n], F[n:]
