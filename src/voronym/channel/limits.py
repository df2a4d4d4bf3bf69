"""Limits on the risk at a distortion: proven for a table, for normal data, and reached by a randomised rule.

The table is taken as a law: a random record has keys X and a confidential level W. Distortion is ``E |X -
X̂|²`` as a share d of the variance of X, over all coordinates. Risk is ``I(W; X̂)`` in nats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.base import joint_law
from voronym.channel.function import best_rule
from voronym.core import later
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.problem import Problem, check_points

ndtr = later.called("scipy.special", "ndtr")
ndtri = later.called("scipy.special", "ndtri")

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 65_536
_SINGULAR = 1e-10  # variances below this share of the largest are none
_STEP = 1.01  # ratio of neighbouring arguments where a supremum is searched
_DIRECTIONS = 4
_WORK = 2e8  # distances that the finer partitions of a table may take together
LETTERS = 48


def greatest_error(b: ArrayLike, v: ArrayLike, D: ArrayLike) -> Array:
    """Return ``max b'Tb`` over ``0 <= T <= I`` with ``tr(diag(v) T) <= D``, for each D.

    This is the largest part of the variance of a linear form of X that the error at distortion D can
    contain: v are the variances of X along its principal axes, and b is the form in units of these axes.
    The dual has one variable: ``min over τ >= 0 of (D + τ) Σ b_i² / (v_i + τ)``. Every τ gives an upper
    bound, so a coarse search errs on the safe side.

    Examples
    --------
    >>> greatest_error([0.6], [1.0], [0.0, 0.5, 2.0]).round(3).tolist()
    [0.0, 0.18, 0.36]
    """
    square, v, at = np.square(np.asarray(b, float)), np.asarray(v, float), np.atleast_1d(np.asarray(D, float))
    scale = float(v.max())
    tau = np.concatenate([[0.0], scale * np.geomspace(1e-9, 1e9, 1801)])
    weight = (square / (v + tau[:, None])).sum(axis=1)
    values = (at[:, None] + tau) * weight
    return np.asarray(np.clip(values.min(axis=1), 0.0, square.sum()))


class _Axes:
    """Principal axes: ``(X - mean) @ turn`` has mean 0 and variance 1 along each; constants are dropped.

    The turned records are never stored, only sums over them: they would take as much memory as X.
    """

    def __init__(self, X: Array) -> None:
        self.mean = X.mean(axis=0)
        covariance = np.zeros((X.shape[1], X.shape[1]))
        for start in range(0, len(X), _BLOCK):
            centred = X[start : start + _BLOCK] - self.mean
            covariance += centred.T @ centred
        values, vectors = np.linalg.eigh(covariance / len(X))
        keep = values > _SINGULAR * max(float(values[-1]), 1e-300)
        self.variances, self.turn = values[keep], vectors[:, keep] / np.sqrt(values[keep])

    def sums(self, X: Array, codes: Ints) -> Array:
        """Return the sums of the turned records of each level, shape (levels, axes)."""
        raw = np.stack([np.bincount(codes, column) for column in X.T], axis=1)
        return np.asarray((raw - np.bincount(codes)[:, None] * self.mean) @ self.turn)

    def product(self, X: Array, weights: Array) -> Array:
        """Return the sum of the turned records, each times its weight."""
        return np.asarray((weights @ X - weights.sum() * self.mean) @ self.turn)


def proxy_variance(values: ArrayLike, weights: ArrayLike) -> float:
    """Return σ² with ``ln E exp(t (f - E f)) <= σ² t² / 2`` for all t, at most 2 % above the least one.

    On an interval [t, 1.01 t] the left side, which grows with the size of t, is at most its value at the
    end. Below the first argument it is ``t² Var f / 2`` up to a thousandth; above the last one it grows
    only like t, and does not matter. Hoeffding's quarter of the squared range is used if it is smaller.

    Examples
    --------
    >>> round(proxy_variance([0.0, 1.0], [0.5, 0.5]), 4)  # a fair coin: a quarter
    0.25
    """
    p = np.asarray(weights, float) / np.sum(weights)
    f = np.asarray(values, float)
    f = f - p @ f
    width, variance = float(np.ptp(f)), float(p @ np.square(f))
    if variance <= 0.0:
        return 0.0
    first, last = 1e-3 / width, 2.0 * width / variance
    count = int(np.ceil(np.log(max(last / first, 2.0)) / np.log(_STEP))) + 1
    t = first * _STEP ** np.arange(count)
    result = 1.002 * variance
    for sign in (1.0, -1.0):
        exponent = sign * t[:, None] * f
        top = exponent.max(axis=1)
        cumulant = top + np.log(np.exp(exponent - top[:, None]) @ p)
        result = max(result, float((2.0 * cumulant / np.square(t)).max()) * _STEP**2)
    return min(result, 0.25 * width**2)


class Floor:
    r"""A lower bound on the risk of every rule on this table, whatever it looks at; exact arithmetic apart.

    Let f be a number for each level of W, of variance 1 over the records; X̂ any published column and C the
    class of equal X̂; Q the mean of X over the class, so ``E |X - Q|² <= E |X - X̂|² = D``. Let aX be the best
    linear guess of f from X, ``s = Var aX`` and r the rest, uncorrelated with X. At most e of s is in the
    error, ``e = greatest_error(..., D)``. Then ``Cov(f, aQ) = Var aQ + Cov(r, a(Q - X))``, which is at least
    ``s - e - sqrt((1 - s) e)``, and by Cauchy and Schwarz ``Var E[f | C] >= (s - e - sqrt((1 - s) e))² /
    (s - e)``. If σ² is a variance proxy of f (see `proxy_variance`), then ``KL(p || q) >= (E_p f - E_q f)² /
    2σ²`` (Donsker and Varadhan), so ``I(W; C) >= Var E[f | C] / 2σ²``.

    No assumption on the law, none on the rule: it may be random and look at W. It is loose where W and X
    hardly depend on each other. The best of a few f is taken, those that the keys guess best.

    Parameters
    ----------
    X : array, shape (n, d)
        Encoded keys.
    codes : array of int, shape (n,)
        Level of W of each record, 0..m-1.

    Examples
    --------
    >>> x = np.repeat([0.0, 1.0], 50)
    >>> floor = Floor(x, x.astype(int))  # W is X: a bit
    >>> floor([0.0, 0.1, 1.0]).round(3).tolist()
    [0.5, 0.45, 0.0]
    """

    def __init__(self, X: ArrayLike, codes: Ints) -> None:
        points = check_points(X)
        axes, n = _Axes(points), len(points)
        self._v = axes.variances
        counts = np.bincount(codes).astype(float)
        self._terms: list[tuple[Array, float, float]] = []
        self._variance = float(self._v.sum())
        if not len(self._v) or np.count_nonzero(counts) < 2:
            return
        sums = axes.sums(points, codes)
        means = sums / np.maximum(counts, 1.0)[:, None]
        _, directions = np.linalg.eigh((means.T * counts) @ means)
        for u in directions.T[::-1][:_DIRECTIONS]:
            f = means @ u
            f = f - counts @ f / n
            spread = float(np.sqrt(counts @ np.square(f) / n))
            if spread < 1e-9:
                continue
            f = f / spread
            b = sums.T @ f / n
            self._terms.append((b, min(1.0, float(b @ b)), proxy_variance(f, counts)))

    def __call__(self, shares: ArrayLike) -> Array:
        """Return the bound in nats at shares of the variance."""
        at = np.atleast_1d(np.asarray(shares, float))
        out = np.zeros(len(at))
        for b, s, proxy in self._terms:
            e = np.minimum(greatest_error(b, self._v, at * self._variance), s)
            left = np.maximum(s - e, 1e-300)
            sure = np.maximum(0.0, left - np.sqrt(max(0.0, 1.0 - s) * e))
            out = np.maximum(out, np.square(sure) / left / (2.0 * proxy))
        return out


class NormalCurve:
    """The least risk at a distortion if X and a transform of W were jointly normal: formula (6), one column.

    W is replaced by its normal scores, which have the same ranks. This leaves the mutual information
    unchanged, and makes the entropy term of formula (6) that of a normal variable. Measurements use W in
    bins; bins hide at most ``I(W; X) - I(bin; X)``, which is computed for normal data and subtracted. So
    for normal data no rule on the keys is below the curve. For other data it is a reference, not a bound:
    the proof needs ``E[W | X]`` linear in X.

    Parameters
    ----------
    X : array, shape (n, d)
        Encoded keys of the records whose W is known.
    ranks : array of int, shape (n,)
        W as ordered levels, 0..m-1, as fine as it is.
    bins : array of int, shape (n,)
        W as the ordered levels that are measured; coarser or the same.

    Attributes
    ----------
    correlation : float
        Multiple correlation of the scores with the keys.
    information : float
        ``I(W; X)`` of such normal data in nats; infinite where the keys determine the scores.
    hidden : float
        Upper limit on the information that the bins hide, in nats.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer: From t-closeness-like privacy to postrandomization via
    information theory, IEEE Transactions on Knowledge and Data Engineering (2010), theorem 2.
    """

    def __init__(self, X: ArrayLike, ranks: Ints, bins: Ints) -> None:
        points = check_points(X)
        axes = _Axes(points)
        self._v = axes.variances
        if not len(self._v) or np.ptp(ranks) == 0:
            raise InputError("keys and confidential column must both vary")
        counts = np.bincount(ranks)
        middle = (np.cumsum(counts) - 0.5 * counts) / len(points)
        score = ndtri(np.clip(middle, 1e-12, 1 - 1e-12))[ranks]
        score = (score - score.mean()) / score.std()
        self._b = axes.product(points, score) / len(points)
        self._variance = float(self._v.sum())
        self.explained = min(1.0, float(self._b @ self._b))
        self.correlation = self.explained**0.5
        determined = self.explained > 1.0 - 1e-9
        self.information = inf if determined else -0.5 * float(np.log1p(-self.explained))
        self.hidden = inf if determined else self._hidden(np.bincount(bins) / len(bins))

    def _hidden(self, weights: Array) -> float:
        """Return ``I(W; X) - I(bin; X)`` for normal data and bins of these probabilities."""
        edges = ndtri(np.clip(np.cumsum(weights[weights > 0])[:-1], 1e-15, 1 - 1e-15))
        u = np.linspace(-8.0, 8.0, 1601)
        density = np.exp(-0.5 * u**2)
        density /= density.sum()
        noise = (1.0 - self.explained) ** 0.5
        below = ndtr((edges - self.correlation * u[:, None]) / noise)
        p = np.diff(np.hstack([np.zeros((len(u), 1)), below, np.ones((len(u), 1))]), axis=1)
        q = density @ p
        there = p > 0.0
        result = np.where(there, p * np.log(np.where(there, p, 1.0) / np.maximum(q, 1e-300)), 0.0).sum(axis=1)
        return max(0.0, self.information - float(density @ result))

    def __call__(self, shares: ArrayLike) -> Array:
        """Return the curve in nats at shares of the variance."""
        at = np.atleast_1d(np.asarray(shares, float))
        if self.information == inf:
            return np.zeros(len(at))  # bins may hide everything
        e = np.minimum(greatest_error(self._b, self._v, at * self._variance), self.explained)
        inside = 1.0 - self.explained + e
        return np.maximum(0.0, -0.5 * np.log(np.minimum(inside, 1.0)) - self.hidden)


@dataclass(frozen=True)
class Reached:
    """Risks that known rules on this table reach, by distortion: upper bounds on the least risk.

    The corners of a convex line from the unchanged keys, ``(0, I(W; X))``, to one record for all, ``(1,
    0)``. Between two corners, a rule chooses one of them at random. A table drawn by such a rule shows
    slightly more than the rule's risk, because of small classes.
    """

    corners: tuple[tuple[float, float], ...]
    letters: int

    def __call__(self, shares: ArrayLike) -> Array:
        """Return the risk in nats at shares of the variance."""
        x, y = np.array(self.corners).T
        return np.asarray(np.interp(np.atleast_1d(np.asarray(shares, float)), x, y))

    def and_also(self, points: Sequence[tuple[float, float]]) -> Reached:
        """Return the line with more measured rules, as pairs of distortion and risk, and their mixtures.

        Examples
        --------
        >>> Reached(((0.0, 2.0), (1.0, 0.0)), 0).and_also([(0.1, 1.0)])([0.1, 0.55])
        array([1. , 0.5])
        """
        return Reached(_lower_hull([*self.corners, *points]), self.letters)


def reached(
    X: ArrayLike,
    codes: Ints,
    information: float,
    *,
    letters: int = LETTERS,
    points: int = 8,
    ctx: Context | None = None,
) -> Reached:
    """Find the risks that rules reach on a table: microaggregation, and randomised rules on coarse keys.

    Cells of a few records (MDAV), repeatedly halved, are deterministic rules. Then the keys are divided
    into at most ``letters`` cells of about equal size, and the best rules between their means are found
    by `privacy_distortion`, at several exchange rates. Distortions add up, because errors inside a cell
    have mean 0. The mutual-information upper bound (9) is the line without all these.

    Parameters
    ----------
    X : array, shape (n, d)
        Encoded keys.
    codes : array of int, shape (n,)
        Level of W of each record.
    information : float
        ``I(W; X)`` of the table: the risk of publishing the keys unchanged.
    letters, points : int
        Most cells, and how many exchange rates.
    ctx : Context, optional
        A request to finish keeps the rules found so far.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(400)
    >>> w = (x + rng.standard_normal(400) > 0).astype(int)
    >>> line = reached(x, w, 0.69)
    >>> bool(line([0.5])[0] < 0.69 * 0.5)
    True
    """
    data = check_points(X)
    ctx = Context() if ctx is None else ctx
    n = len(data)
    total = float(np.square(data - data.mean(axis=0)).sum())
    ends = [(0.0, float(information)), (1.0, 0.0)]
    count = min(letters, n // 4)
    if count < 2 or total <= 0.0 or information <= 0.0:
        return Reached(tuple(ends), 0)
    k, work = n // count, 0.0
    while (k := k // 2) > 1 and (work := work + n * n / k) <= _WORK:
        part = METHODS["mdav"].partition(Problem.of(data, k), ctx.part(0.0, 0.5))
        ends.append((part.sse(data) / total, _information(codes, part.labels)))
    part = METHODS["mdav"].partition(Problem.of(data, n // count), ctx.part(0.5, 0.6))
    centres = part.centroids(data)
    inside, result = part.sse(data) / total, _information(codes, part.labels)
    ends.append((inside, result))
    joint = joint_law(codes, part.labels)
    d = np.square(centres[:, None] - centres[None]).sum(axis=2) * (n / total)
    for number, slope in enumerate(np.geomspace(0.1, 30.0, points) / max(result, 1e-9)):
        if ctx.over:
            break
        rate = ctx.part(0.6 + 0.4 * number / points, 0.6 + 0.4 * (number + 1) / points)
        rule = best_rule(joint, d, rate, {"multiplier": float(slope)}, tolerance=1e-4)
        ends.append((inside + rule.distortion, rule.risk))
    return Reached(_lower_hull(ends), part.n_cells)


def _information(codes: Ints, labels: Ints) -> float:
    """Return the mutual information of counts in nats, without a table of cells x levels."""
    pair, count = np.unique(labels * (int(codes.max()) + 1) + codes, return_counts=True)
    cell, level = np.divmod(pair, int(codes.max()) + 1)
    outer = np.bincount(labels)[cell] * np.bincount(codes)[level].astype(float)
    return max(0.0, float((count * np.log(count * len(codes) / outer)).sum()) / len(codes))


def _lower_hull(points: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    hull: list[tuple[float, float]] = []
    for p in sorted(p for p in points if p[0] <= 1.0):
        while len(hull) > 1 and _right(hull[-2], hull[-1], p) <= 0.0:
            hull.pop()
        if not hull or p[0] > hull[-1][0]:
            hull.append(p)
    return tuple(hull)


def _right(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
