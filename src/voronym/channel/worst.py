"""Channels for the worst case: every published letter reveals little about W."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from voronym.channel.alphabet import Alphabet, Array, check_alphabet, feasible
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.cones import Cone, cones
from voronym.channel.perfect import perfect
from voronym.channel.seeing import check_letters
from voronym.channel.traces import TRACE
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError

DISTANCES = ("total-variation", "ordered", "kl")
_NEGLIGIBLE = 1e-9  # share of the records below which a letter is not published
_ROOM = 1e-12


@dataclass(frozen=True)
class WorstCaseChannel(FiniteChannel):
    """A rule of least distortion that keeps a limit for every published letter, with its proof.

    Parameters
    ----------
    measure : str
        The limited quantity: "delta", "total-variation", "ordered" or "kl".
    limit : float
        Its limit.
    worst : float
        The largest over the published letters: at most the limit.
    """

    measure: str = ""
    limit: float = 0.0
    worst: float = 0.0

    def __str__(self) -> str:
        n, m = self.matrix.shape
        return (
            f"WorstCaseChannel {n} x {m}: {self.measure} at most {self.worst:.6g} for every letter, "
            f"distortion {self.distortion:.6g}, within {self.gap:.1g} of the least possible"
        )


@checked
def worst_case(
    p_wx: ArrayLike,
    d: ArrayLike,
    *,
    t: float | None = None,
    delta: float | None = None,
    distance: str = "total-variation",
    sees_w: bool = False,
    tolerance: float = 1e-6,
    progress: ProgressCallback | None = None,
) -> WorstCaseChannel:
    """Find the rule of least distortion in which every published letter reveals little about W.

    `privacy_distortion` limits the average information: a rare letter may reveal everything. Here each
    letter is limited: randomised t-closeness (``t``) or δ-disclosure (``delta``). The problem is convex.
    The answer comes with a proven lower bound on the distortion of every rule that keeps the limit.

    Parameters
    ----------
    p_wx : array, shape (k, n)
        Joint probabilities of the confidential letters w (rows) and the key letters x (columns).
    d : array, shape (n, m) or (k, n, m)
        Distortion of publishing letter x̂ (last axis) for letter x, or for the pair of w and x.
    t : float
        Largest distance of p(w|x̂) and p(w), for every x̂ that is published.
    delta : float
        Largest ``|ln p(w|x̂)/p(w)|``, for every x̂ that is published and every w. Give this or ``t``.
    distance : {"total-variation", "ordered", "kl"}
        The distance of ``t``, as in the model t-closeness: half the sum of absolute differences; the earth
        mover's distance of letters w as far apart as their rows, divided by their number less 1; relative
        entropy in nats.
    sees_w : bool
        Whether the rule may look at w, too: p(x̂|w, x).
    tolerance : float
        Stop when the proven gap is at most this share of the distortion of the best single letter.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to get the best rule
        so far.

    Returns
    -------
    WorstCaseChannel
        The limit is met exactly, not approximately. The gap may exceed the tolerance if steps or digits run
        out; it is still valid.

    Notes
    -----
    This is a promise about the law of the published letters: among ten records published as the same letter,
    W also varies by chance. Cost of a step: ``m n r min(n, r)`` operations, where r is the number of letters
    w, twice that for ``delta``.

    Examples
    --------
    >>> import numpy as np
    >>> p_wx = np.array([[0.4, 0.1], [0.1, 0.4]])  # two diagnoses, two regions
    >>> channel = worst_case(p_wx, 1.0 - np.eye(2), delta=0.2)
    >>> channel.worst <= 0.2, channel.gap < 1e-6, round(channel.distortion, 3)
    (True, True, 0.349)
    """
    ctx = Context(progress=progress)
    worst_case_channel = limited_rule(
        p_wx, d, ctx, {"t": t, "delta": delta}, distance=distance, sees_w=sees_w, tolerance=tolerance
    )
    ctx.done()
    return worst_case_channel


def limited_rule(
    p_wx: ArrayLike,
    d: ArrayLike,
    ctx: Context,
    limits: dict[str, float | None],
    *,
    distance: str = "total-variation",
    sees_w: bool = False,
    tolerance: float = 1e-6,
) -> WorstCaseChannel:
    """Find the rule of `worst_case`; a request to finish returns the best rule so far."""
    name, limit = one_limit(**limits)
    if distance not in DISTANCES:
        raise InputError(f"no distance is called {distance!r}; there are: {', '.join(DISTANCES)}")
    if not 0.0 < tolerance < 1.0:
        raise InputError("tolerance is a share of the distortion, between 0 and 1, such as 1e-6")
    measure = "delta" if name == "delta" else distance
    alphabet, joint, cost = check_letters(p_wx, d, sees_w=sees_w)
    J, bound, steps = _solve(alphabet, measure, limit, ctx, tolerance)
    return WorstCaseChannel(
        matrix=alphabet.rule(J, joint.shape[1]),
        distortion=alphabet.distortion(J),
        risk=alphabet.risk(J),
        multiplier=0.0,
        objective="distortion",
        bound=max(bound, alphabet.least_distortion),
        joint=joint,
        d=cost,
        method="cones",
        iterations=steps,
        sees_w=sees_w,
        measure=measure,
        limit=limit,
        worst=worst_of(alphabet, J, measure),
    )


def worst_of(alphabet: Alphabet, J: Array, measure: str) -> float:
    """Return the largest distance of p(w|y) and p(w) over the letters y that are published."""
    mass = J.sum(axis=0)
    there = mass > 0.0
    posterior, prior = (alphabet.B @ J[:, there]) / mass[there], alphabet.pw[:, None]
    if measure == "total-variation":
        return float(0.5 * np.abs(posterior - prior).sum(axis=0).max())
    if measure == "ordered":
        far = np.abs(np.cumsum(posterior - prior, axis=0)).sum(axis=0)
        return float(far.max() / max(len(prior) - 1, 1))
    with np.errstate(divide="ignore"):
        logs = np.log(posterior / prior)
    if measure == "delta":
        return float(np.abs(logs).max())
    logs[posterior == 0.0] = 0.0
    return max(0.0, float((posterior * logs).sum(axis=0).max()))


def _solve(
    a: Alphabet, measure: str, limit: float, ctx: Context, tolerance: float
) -> tuple[Array, float, int]:
    near = a.nearest()
    if worst_of(a, near, measure) <= limit:
        return near, a.least_distortion, 0
    if limit == 0.0:
        return *perfect(a, ctx), 0
    result = cones(a, _cone(a, measure, limit), ctx, tolerance=tolerance)
    return _within(a, result.J, measure, limit), result.bound, result.iterations


def _cone(a: Alphabet, measure: str, limit: float) -> Cone:
    """Return the constraints on a column for a measure."""
    prior = a.pw[:, None]
    none = np.empty(0)
    if measure == "kl":
        return Cone(np.empty((0, len(a.p))), np.ones(1), none, none, kl=limit)
    if measure == "delta":
        A = np.vstack([a.B - np.exp(limit) * prior, np.exp(-limit) * prior - a.B])
        return Cone(A, np.concatenate([a.pw, a.pw]), none, none)
    # Helpers are no less than the differences, and add up to no more than the limit's share of the column.
    if measure == "total-variation":  # the surplus equals the deficit
        G, most, scale = a.B - prior, limit, a.pw
    else:
        G = np.cumsum(a.B - prior, axis=0)[:-1]
        scale = np.full(len(G), 1.0 / len(G))
        G, most = np.vstack([G, -G]), limit * len(a.pw[:-1])
    e = len(scale)
    eye = np.tile(np.eye(e), (len(G) // e, 1))
    A = np.block([[G, -eye], [np.full((1, len(a.p)), -most), np.ones((1, e))]])
    rows = np.concatenate([np.tile(scale, len(G) // e), [1.0]])
    return Cone(A, rows, scale, 0.5 * most * scale / scale.sum())


def cleared(channel: WorstCaseChannel) -> WorstCaseChannel:
    """Return the rule without letters and transitions too rare to be drawn; the limit still holds."""
    alphabet, _, _ = check_alphabet(channel.joint, channel.d)
    J = channel.matrix[alphabet.used] * alphabet.p[:, None]
    J[:, J.sum(axis=0) < TRACE] = 0.0
    J[0.1 * TRACE * alphabet.p[:, None] > J] = 0.0
    J = _within(alphabet, J, channel.measure, channel.limit)
    return replace(
        channel,
        matrix=alphabet.rule(J, channel.joint.shape[1]),
        distortion=alphabet.distortion(J),
        risk=alphabet.risk(J),
        worst=worst_of(alphabet, J, channel.measure),
    )


def _within(a: Alphabet, J: Array, measure: str, limit: float) -> Array:
    """Return a rule within the limit for every letter, with as little of the overall law as possible."""
    J = np.maximum(J, 0.0)
    J[:, J.sum(axis=0) < _NEGLIGIBLE] = 0.0
    J[J.sum(axis=1) <= 0.0] += J.sum(axis=0)  # a letter without transitions left: it reveals nothing
    J = feasible(a, J)
    flat = np.outer(a.p, J.sum(axis=0))
    low, high = 0.0, 1.0
    if worst_of(a, J, measure) <= limit:
        return J
    for _ in range(100):
        share = max(_ROOM, 10.0 * low) if high == 1.0 and low < 0.1 else 0.5 * (low + high)
        if worst_of(a, (1.0 - share) * J + share * flat, measure) <= limit:
            high = share
        else:
            low = share
        if high - low <= 1e-3 * high:
            break
    return (1.0 - high) * J + high * flat
