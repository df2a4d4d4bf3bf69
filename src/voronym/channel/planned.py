"""The rule of a release: solved on noisy counts, cleared of traces, its limit held with a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, check_alphabet
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.budget import NoisyCounts, nearly_all
from voronym.channel.function import best_rule
from voronym.channel.traces import without_traces
from voronym.channel.worst import cleared, limited_rule, worst_of
from voronym.core.context import Context
from voronym.core.promise import meets

HALVINGS = 8
"""How often a limit is halved before the one rule is taken that tells nothing."""
_CLOSER = 2  # times that the largest part of a limit is looked for between a halving and the one before

WORST = {"max_t": ("t", "total-variation"), "max_delta": ("delta", "delta")}
"""Limits for every published letter: their names in `worst_case`, and what they measure."""

C = TypeVar("C")


@dataclass(frozen=True)
class Planned:
    """A rule, and what only the data holder may know about it.

    Parameters
    ----------
    channel : FiniteChannel
        The rule; its ``joint``, ``risk`` and ``bound`` are those of the blurred law.
    counted : float
        Its risk by the exact counts, in nats. Nothing that is published depends on it.
    limited : float
        What is limited (the risk, or the worst of all letters), by the exact counts.
    made_for : float
        The part of the limit that the rule was made for: the rest is a margin for the noise.
    """

    channel: FiniteChannel
    counted: float
    limited: float = 0.0
    made_for: float = 1.0


def plan_rule(
    exact: Array,
    noisy: NoisyCounts,
    d: Array,
    ctx: Context,
    limits: Mapping[str, float],
    *,
    invariant: bool = False,
) -> Planned:
    """Find a rule for noisy counts that keeps its limit with a margin for the noise.

    Parameters
    ----------
    exact : array, shape (k, n)
        The joint law of the records: for the figures of the data holder, and for nothing else.
    noisy : NoisyCounts
        What the rule is a function of.
    d : array, shape (n, n)
        Distortions.
    limits : mapping
        ``max_distortion``, ``max_risk``, or a limit for every published letter: ``max_t``, ``max_delta``.
    invariant : bool
        Whether the expected counts of all letters stay: see `invariant_rule`.
    """
    law = noisy.law

    def solve(value: float) -> FiniteChannel:
        result = _cleared(law, d, ctx, name, value)
        return _invariant(result, law, d, ctx, name, value) if invariant else result

    def tells(truth: Alphabet, rule: FiniteChannel, *, worst: bool) -> float:
        weights = np.asarray(rule.matrix[truth.used] * truth.p[:, None])
        return worst_of(truth, weights, WORST[name][1]) if worst else truth.risk(weights)

    def most(rule: FiniteChannel) -> float:
        return nearly_all([tells(law, rule, worst=name in WORST) for law in plausible])

    name, value = one_limit(**limits)
    if name == "max_distortion":
        outcome, part = solve(value), 1.0
    else:
        plausible = [check_alphabet(law, d)[0] for law in noisy.plausible(ctx.rng)]
        last = _silent(law, d)
        outcome, part = tightened(solve, most, value, invariant_rule(last) if invariant else last)
    truth = check_alphabet(exact, d)[0]
    counted = tells(truth, outcome, worst=False)
    return Planned(outcome, counted, tells(truth, outcome, worst=True) if name in WORST else counted, part)


def tightened(
    solve: Callable[[float], C], tells: Callable[[C], float], limit: float, silent: C
) -> tuple[C, float]:
    """Return a rule made for a part of a limit, so that ``tells`` keeps all of it; and the part.

    The part is halved until the rule does, and then looked for a little closer. The last rule is ``silent``,
    which tells nothing whatever the counts are. Nothing here looks at exact counts: the part of the limit
    that is found is as public as the rule.
    """
    low, high = 0.0, 1.0
    best = silent
    for times in range(HALVINGS if limit > 0.0 else 0):
        part = 0.5**times
        result = solve(limit * part)
        if meets(tells(result), limit):
            best, low = result, part
            break
        high = part
    for _ in range(_CLOSER if 0.0 < low < 1.0 else 0):
        middle = 0.5 * (low + high)
        result = solve(limit * middle)
        if meets(tells(result), limit):
            best, low = result, middle
        else:
            high = middle
    return best, low


def _cleared(law: Array, d: Array, ctx: Context, name: str, value: float) -> FiniteChannel:
    if name in WORST:
        return cleared(limited_rule(law, d, ctx, {WORST[name][0]: value}))
    return without_traces(best_rule(law, d, ctx, {name: value}), limit=value)


def _silent(law: Array, d: Array) -> FiniteChannel:
    """Return the best single letter: what tells nothing whatever the counts are."""
    alphabet, joint, cost = check_alphabet(law, d)
    J = alphabet.constant()
    distortion = alphabet.distortion(J)
    return FiniteChannel(
        alphabet.rule(J, joint.shape[1]), distortion, 0.0, np.inf, "distortion", 0.0, joint, cost, "constant"
    )


# -- expected counts kept --------------------------------------------------------------------------------


def invariant_rule(channel: FiniteChannel) -> FiniteChannel:
    """Return the rule followed by its own way back: expected counts stay as they are.

    A published letter y is replaced by a letter x with the probability p(x|y) that it came from x. So the
    law of what is published is again p(x): no category vanishes, and counts need no correction. The second
    step looks at what is published already and at nothing else, so that it cannot raise the risk. It costs
    distortion.

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf: Post randomisation for statistical
    disclosure control: Theory and implementation, Journal of Official Statistics 14(4) (1998), section 4.
    """
    alphabet, _, _ = check_alphabet(channel.joint, channel.d)
    used = np.flatnonzero(alphabet.used)
    J = channel.matrix[used] * alphabet.p[:, None]
    q = J.sum(axis=0)
    back = np.divide(J, q, out=np.zeros_like(J), where=q > 0.0).T  # p(x|y)
    both = np.zeros_like(channel.matrix)
    both[:, used] = channel.matrix @ back
    whole = both[used] * alphabet.p[:, None]
    return replace(
        channel,
        matrix=both,
        distortion=alphabet.distortion(whole),
        risk=alphabet.risk(whole),
        bound=0.0 if channel.objective == "risk" else alphabet.least_distortion,
    )


def _invariant(
    finite_channel: FiniteChannel, law: Array, d: Array, ctx: Context, name: str, value: float
) -> FiniteChannel:
    """Return an invariant rule within the limit; a limit on the distortion is looked for by bisection."""
    made = invariant_rule(finite_channel)
    if name != "max_distortion" or made.distortion <= value * (1.0 + 1e-9):
        return made
    low, high = 0.0, value
    best = invariant_rule(_cleared(law, d, ctx, name, 0.0))
    for _ in range(16):
        middle = 0.5 * (low + high)
        made = invariant_rule(_cleared(law, d, ctx, name, middle))
        if made.distortion <= value:
            low, best = middle, made
        else:
            high = middle
        ctx.check()
    return best
