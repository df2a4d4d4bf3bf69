"""Post-randomisation of categorical columns, and its correction by analysts.

PRAM publishes a category drawn from the row of a known transition matrix. Anybody who knows the matrix can
correct for it on average: the original frequencies solve a linear system. For one person the matrix gives
only probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.base import FiniteChannel, Ints, draw, joint_counts, one_limit
from voronym.channel.budget import BUDGET, NoisyCounts
from voronym.channel.margin import Allowance
from voronym.channel.planned import plan_rule
from voronym.core.chance import masking
from voronym.core.context import Context, ProgressCallback
from voronym.core.options import number
from voronym.core.validate import checked
from voronym.errors import InputError

Array = NDArray[np.float64]

_CONDITION = 1e4
"""Largest magnification of errors by solving; beyond it, the rounding of a published matrix shows in the
shares."""
_UNKNOWN = 0.5
"""A share with a larger standard error counts as unknown."""


@dataclass(frozen=True)
class Recovered:
    """Frequencies of the original table, estimated from the randomised one.

    Parameters
    ----------
    shares : array, shape (n,) or (n, c)
        Estimated shares of the original categories; in columns for the other variable, if one was given.
    errors : array, same shape
        Standard errors of the unbiased estimator, from drawing the records as well as from randomising them.
    estimator : {"unbiased", "nonnegative"}
        "unbiased" may have shares below 0; "nonnegative" has none and is not unbiased.
    condition : float
        Condition number of the matrix: by how much solving can magnify errors.
    """

    shares: Array
    errors: Array
    estimator: str
    condition: float


@dataclass(frozen=True)
class Pram:
    """A column after randomisation, and its matrix.

    Publish the matrix with the table, so that analysts can correct for it.
    """

    codes: Ints
    matrix: Array
    channel: FiniteChannel | None = None

    def recover(
        self, other: ArrayLike | None = None, *, nonnegative: bool = False, codes: ArrayLike | None = None
    ) -> Recovered:
        """Estimate the frequencies of the original; see `recover`."""
        return recover(self.codes if codes is None else codes, self.matrix, other, nonnegative=nonnegative)


@checked
def pram(
    codes: ArrayLike,
    confidential: ArrayLike | None = None,
    *,
    matrix: ArrayLike | None = None,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    d: ArrayLike | None = None,
    budget: float = BUDGET,
    invariant: bool = False,
    seed: int | np.random.Generator | None = None,
    progress: ProgressCallback | None = None,
) -> Pram:
    """Randomise a categorical column.

    With a limit, the matrix minimises the risk ``I(W; X̂)`` about the confidential column for the
    distortion, or the distortion for the risk (see `voronym.channel.privacy_distortion`). It uses the
    joint frequencies of the table with noise, so the matrix may be published, see
    `voronym.channel.budget`. A limit on the risk is kept with a margin for the noise. Or give a matrix.

    Parameters
    ----------
    codes : array of int, shape (r,)
        The column as categories 0..n-1.
    confidential : array of int, shape (r,), optional
        The confidential column as categories; needed with a limit.
    matrix : array, shape (n, m), optional
        Transition probabilities, rows add up to 1.
    max_distortion, max_risk : float, optional
        The limits; by default, without ``d``, the distortion is the share of changed records.
    d : array, shape (n, m), optional
        Distortion of publishing one category for another; 0 on the diagonal and 1 elsewhere by default.
    budget : float
        The μ of the noise on the frequencies: the lower it is, the less the matrix reveals about them.
    invariant : bool
        Keep the expected share of every category, at more distortion; then no correction is needed.
    seed, progress : int, Generator or None; callable, optional
        See `voronym.channel.mask_keys`.

    Returns
    -------
    Pram

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf: Post randomisation for statistical
    disclosure control: Theory and implementation, Journal of Official Statistics 14(4) (1998).

    Examples
    --------
    >>> column = np.array([0, 1] * 500)
    >>> illness = np.array([0, 1, 0, 0] * 250)
    >>> released = pram(column, illness, max_distortion=0.1)
    >>> round(float((released.codes != column).mean()), 1)
    0.1
    """
    letters = _codes(codes, "codes")
    if matrix is not None:
        if max_distortion is not None or max_risk is not None:
            raise InputError("give a matrix, or a limit from which to find one, not both")
        rule = check_matrix(matrix)
        return Pram(draw(rule, letters, masking(seed)), rule)
    if confidential is None:
        raise InputError("the solver needs the confidential column; give it, or a matrix")
    about = _paired(confidential, "confidential", letters)
    cost = np.asarray(1.0 - np.eye(int(letters.max()) + 1) if d is None else d, dtype=np.float64)
    if invariant and (cost.ndim != 2 or cost.shape[0] != cost.shape[1]):
        raise InputError("an invariant matrix publishes the categories that there are: d must be square")
    rng = masking(seed)
    ctx = Context(seed=rng, progress=progress)
    name, value = one_limit(max_distortion=max_distortion, max_risk=max_risk)
    counts = joint_counts(about, letters)
    mu = float(number(above=0.0)("budget", budget))
    allowance = Allowance(mu) if name == "max_distortion" else Allowance.of(mu, len(letters))
    noisy = NoisyCounts.draw(counts, allowance, rng)
    exact = counts / counts.sum()
    channel = plan_rule(exact, noisy, cost, ctx, {name: value}, invariant=invariant).channel
    ctx.done()
    return Pram(channel.apply(letters, seed=rng), channel.matrix, channel)


@checked
def recover(
    codes: ArrayLike, matrix: ArrayLike, other: ArrayLike | None = None, *, nonnegative: bool = False
) -> Recovered:
    """Estimate the shares of the original categories from a randomised column and its matrix.

    With T the published shares and θ the original ones, ``E T = P' θ``; the estimator solves ``P' θ =
    T``. If there are more published letters than original ones, it is the least-squares solution among
    shares with the same sums as T: 1, or the share of each category of ``other``. It is unbiased. The
    nonnegative variant maximises the likelihood of T over shares of at least 0, by the EM algorithm:
    ``θ_x <- θ_x sum_y T_y P_xy / (P'θ)_y``.

    Parameters
    ----------
    codes : array of int, shape (r,)
        The randomised column.
    matrix : array, shape (n, m)
        Transition probabilities.
    other : array of int, shape (r,), optional
        Another column of the same table, as categories: then joint shares are estimated, one column for each
        of its categories.
    nonnegative : bool
        Take the nonnegative variant.

    Returns
    -------
    Recovered
        Standard errors are those of the unbiased estimator in both cases.

    Raises
    ------
    InputError
        The matrix cannot be inverted, or the errors would be useless: its condition number is above 10,000,
        or a standard error is above 0.5.

    Examples
    --------
    >>> found = recover([0] * 60 + [1] * 40, [[0.9, 0.1], [0.1, 0.9]])
    >>> found.shares.round(3).tolist()
    [0.625, 0.375]
    """
    rule = check_matrix(matrix)
    letters = _codes(codes, "codes")
    if letters.max() >= rule.shape[1]:
        raise InputError(f"codes go up to {int(letters.max())}, the matrix has {rule.shape[1]} columns")
    groups = np.zeros(len(letters), np.int64) if other is None else _paired(other, "other", letters)
    T = np.zeros((rule.shape[1], int(groups.max()) + 1))
    np.add.at(T, (letters, groups), 1.0 / len(letters))
    never = int(T[rule.sum(axis=0) == 0.0].sum() * len(letters) + 0.5)
    if never:
        raise InputError(
            f"{never} of {len(letters)} records have a category that is never published by this matrix: "
            "the matrix belongs to another column, or its columns have another order"
        )
    condition = _condition(rule)
    inverse = _inverse(rule)
    shares = inverse @ T
    # The variance is that of the fitted law, not of T: a letter that nobody happens to show may still weigh.
    possible = np.maximum(shares, 0.0)
    fitted = rule.T @ (possible * (T.sum(axis=0) / np.maximum(possible.sum(axis=0), 1e-300)))
    second = np.square(inverse) @ fitted
    errors = np.sqrt(np.maximum(second - np.square(shares), 0.0) / len(letters))
    if errors.max() > _UNKNOWN:
        raise InputError(
            f"the corrected shares would say nothing: their standard errors are up to "
            f"{errors.max():.2g}, with "
            f"{len(letters)} records and errors magnified up to {condition:.3g} times; merge categories with "
            "similar rows, or ask for less privacy"
        )
    if nonnegative:
        shares = np.column_stack([_likeliest(rule, column) for column in T.T])
    if other is None:
        shares, errors = shares[:, 0], errors[:, 0]
    return Recovered(shares, errors, "nonnegative" if nonnegative else "unbiased", condition)


def _condition(rule: Array) -> float:
    """Return the factor by which solving can magnify errors; refuse a matrix with too large a factor."""
    singular = np.linalg.svd(rule, compute_uv=False)
    rank = int((singular > 1e-10 * singular[0]).sum())
    if rank < len(rule):
        raise InputError(
            f"the matrix cannot be inverted: {len(rule)} categories are mapped onto {rank} independent laws, "
            "so the original frequencies cannot be recovered; merge categories with equal rows, or allow "
            "more risk"
        )
    condition = float(singular[0] / singular[-1])
    if condition > _CONDITION:
        raise InputError(
            f"the corrected shares would say nothing: errors are magnified up to {condition:.3g} times, "
            "because "
            f"different categories are published by nearly the same law; merge categories with similar "
            "rows, or "
            "ask for less privacy"
        )
    return condition


def _inverse(rule: Array) -> Array:
    """Return G with G P' = I whose columns add up to 1, so that the shares G T have the same sum as T.

    The pseudoinverse of a square P' has this property. Otherwise the missing part is added along ``(P
    P')^-1 1``, as in least squares with a given sum. P' keeps sums, so G P' = I still holds.
    """
    inverse = np.linalg.pinv(rule.T)
    if rule.shape[0] == rule.shape[1]:
        return np.asarray(inverse)
    along = inverse @ inverse.sum(axis=0)  # (P P')^-1 1, as G G' = (P P')^-1
    return np.asarray(inverse + np.outer(along / along.sum(), 1.0 - inverse.sum(axis=0)))


def _likeliest(rule: Array, T: Array, *, iterations: int = 20_000) -> Array:
    """Find the nonnegative original shares that explain the published ones best, by EM."""
    total = float(T.sum())
    share = np.full(len(rule), total / len(rule))
    if total == 0.0:
        return share
    there = T > 0.0
    for _ in range(iterations):
        ratio = T[there] / (share @ rule[:, there])
        new = share * (rule[:, there] @ ratio)
        if float(np.abs(new - share).max()) <= 1e-13 * total:
            return np.asarray(new)
        share = new
    return np.asarray(share)


def check_matrix(matrix: ArrayLike) -> Array:
    """Return a transition matrix as an array whose rows add up to 1; raise if it is invalid."""
    try:
        rule = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("a transition matrix has numbers, and as many in every row") from None
    if rule.ndim != 2 or rule.size == 0 or not np.isfinite(rule).all():
        raise InputError("a transition matrix has rows and columns of finite numbers")
    if (rule < 0.0).any():
        raise InputError(f"the transition matrix has {int((rule < 0.0).sum())} negative probabilities")
    wrong = int((np.abs(rule.sum(axis=1) - 1.0) > 1e-9).sum())
    if wrong:
        raise InputError(f"{wrong} of {len(rule)} rows of the transition matrix do not add up to 1")
    return np.asarray(rule / rule.sum(axis=1, keepdims=True))


def _paired(values: ArrayLike, name: str, letters: Ints) -> Ints:
    """Return another column of the same records."""
    codes = _codes(values, name)
    if len(codes) != len(letters):
        raise InputError(f"codes has {len(letters)} rows and {name} {len(codes)}; they are one table")
    return codes


def _codes(values: ArrayLike, name: str) -> Ints:
    codes = np.asarray(values)
    if codes.ndim != 1 or codes.size == 0 or not np.issubdtype(codes.dtype, np.integer):
        raise InputError(f"{name} must be whole numbers in one column, 0 for the first category")
    if (codes < 0).any():
        raise InputError(
            f"{name} has {int((codes < 0).sum())} negative codes; give missing values a category"
        )
    return codes.astype(np.int64)
