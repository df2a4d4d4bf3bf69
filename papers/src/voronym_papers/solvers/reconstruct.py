"""Reconstruction: the published value is the best guess of the key, given the drawn letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from voronym.channel.alphabet import Array
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.function import best_rule
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points

_SAME = 1e-9  # letters nearer than this share of the spread are one


@dataclass(frozen=True)
class Reconstructed:
    """A rule and the points that it publishes.

    Parameters
    ----------
    channel : FiniteChannel
        The rule ``p(q|x)``; its bound is for the letters of the last round but one.
    letters : array, shape (m, c)
        The point x̂(q) that is published for each q: the mean of the keys given q.
    history : tuple of float
        The objective after every round; it never rises.
    """

    channel: FiniteChannel
    letters: Array = field(repr=False)
    history: tuple[float, ...] = ()


def reconstruction(channel: FiniteChannel, points: ArrayLike) -> tuple[Array, float]:
    """Return the mean of the keys for each published letter, and the mean squared error with these.

    Proposition 3: for squared errors this is optimal, and the information about W stays, because the new
    letter is a function of the old one. Letters that are never published keep the overall mean.
    """
    X = check_points(points)
    J = channel.joint.sum(axis=0)[:, None] * channel.matrix
    if len(X) != len(J):
        raise InputError(f"the rule has {len(J)} letters x, and there are {len(X)} points; they must agree")
    mass = J.sum(axis=0)
    there = mass > 0.0
    letters = np.tile(J.sum(axis=1) @ X, (len(mass), 1))
    letters[there] = (J[:, there].T @ X) / mass[there, None]
    return letters, float(np.vdot(J, _squares(X, letters)))


@checked
def reconstruct(
    p_wx: ArrayLike,
    points: ArrayLike,
    letters: ArrayLike,
    *,
    multiplier: float | None = None,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    rounds: int = 20,
    tolerance: float = 1e-6,
    progress: ProgressCallback | None = None,
) -> Reconstructed:
    """Find a rule and the points that it publishes: equation (4) of the paper, for squared errors.

    It alternates the best rule for the letters, with a proof, and the best letters for the rule: the
    means of the keys given the letter. Neither step can raise the objective. Coinciding letters are
    merged, which cannot raise the risk. The result is a local optimum in the letters.

    Parameters
    ----------
    p_wx : array, shape (k, n)
        Joint probabilities of the confidential letters w (rows) and the key letters x (columns).
    points : array, shape (n, c)
        The key letters as points.
    letters : array, shape (m, c)
        First letters; their number limits the published letters.
    multiplier, max_distortion, max_risk : float
        Exactly one of them, as in `privacy_distortion`.
    rounds : int
        Most rounds.
    tolerance : float
        Stop when a round lowers the objective by less than this share.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    Reconstructed

    Examples
    --------
    >>> import numpy as np
    >>> p_wx = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> found = reconstruct(p_wx, [[0.0], [1.0]], [[0.2], [0.9]], max_risk=0.05)
    >>> found.history[-1] <= found.history[0], found.channel.risk <= 0.05
    (True, True)
    """
    ctx = Context(progress=progress)
    X, Y = check_points(points), check_points(letters).copy()
    if X.shape[1] != Y.shape[1]:
        raise InputError(f"points have {X.shape[1]} coordinates, letters {Y.shape[1]}; they must agree")
    limits = {"multiplier": multiplier, "max_distortion": max_distortion, "max_risk": max_risk}
    one_limit(**limits)
    history: list[float] = []
    channel, best = _round(p_wx, X, Y, ctx, limits, tolerance)
    for number in range(rounds):
        history.append(best)
        Y, distortion = reconstruction(channel, X)
        channel, Y = _merged(replace(channel, distortion=distortion, d=_squares(X, Y)), Y, X)
        after, value = _round(p_wx, X, Y, ctx, limits, tolerance)
        if value >= channel.value - tolerance * abs(channel.value) or ctx.over:
            channel = after if value < channel.value else channel
            history.append(min(value, channel.value))
            break
        channel, best = after, value
        ctx.tell((number + 1) / rounds)
    ctx.done()
    return Reconstructed(channel, Y, tuple(history))


def _round(
    p_wx: ArrayLike, X: Array, Y: Array, ctx: Context, limits: Mapping[str, float | None], tolerance: float
) -> tuple[FiniteChannel, float]:
    channel = best_rule(p_wx, _squares(X, Y), ctx.part(0.0, 0.0), limits, tolerance=0.1 * tolerance)
    return channel, channel.value if channel.value < inf else channel.risk


def _squares(X: Array, Y: Array) -> Array:
    return np.asarray(np.square(X[:, None] - Y).sum(axis=2))


def _merged(channel: FiniteChannel, Y: Array, X: Array) -> tuple[FiniteChannel, Array]:
    """Return the rule with coinciding letters joined."""
    spread = float(np.ptp(X, axis=0).max()) or 1.0
    _, first, place = np.unique(np.rint(Y / (_SAME * spread)), axis=0, return_index=True, return_inverse=True)
    if len(first) == len(Y):
        return channel, Y
    matrix = np.zeros((len(channel.matrix), len(first)))
    np.add.at(matrix.T, place.reshape(-1), channel.matrix.T)
    return replace(channel, matrix=matrix, d=channel.d[:, first]), Y[first]
