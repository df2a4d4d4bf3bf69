"""The rule of a release: solved on noisy counts, cleared of traces, its limit tested through noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, check_alphabet
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.budget import NoisyCounts
from voronym.channel.function import best_rule
from voronym.channel.margin import Ladder
from voronym.channel.traces import without_traces
from voronym.channel.worst import WorstCaseChannel, cleared, limited_rule, worst_of
from voronym.core.context import Context

WORST = {"max_t": ("t", "total-variation"), "max_delta": ("delta", "delta")}
"""Limits for every published letter: their names in `worst_case`, and their measures."""

C = TypeVar("C")


@dataclass(frozen=True)
class Planned:
    """A rule, with facts that only the data holder may know.

    Parameters
    ----------
    channel : FiniteChannel
        The rule; its ``joint``, ``risk`` and ``bound`` are those of the noisy law.
    counted : float
        Its risk by the exact counts, in nats. Nothing that is published depends on it.
    limited : float
        The limited quantity (the risk, or the worst letter), by the exact counts.
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
        The input of the rule.
    d : array, shape (n, n)
        Distortions.
    limits : mapping
        ``max_distortion``, ``max_risk``, or a limit for every published letter: ``max_t``, ``max_delta``.
    invariant : bool
        Whether the expected counts of all letters stay: see `invariant_rule`.
    """
    law = noisy.law

    def solve(value: float, stirred: float = 0.0) -> FiniteChannel:
        result = _cleared(law, d, ctx, name, value)
        result = _invariant(result, law, d, ctx, name, value) if invariant else result
        return _stirred(result, stirred) if stirred > 0.0 else result

    def tells(truth: Alphabet, rule: FiniteChannel, *, worst: bool) -> float:
        weights = np.asarray(rule.matrix[truth.used] * truth.p[:, None])
        return worst_of(truth, weights, WORST[name][1]) if worst else truth.risk(weights)

    def keeps(rule: FiniteChannel) -> bool:
        return noisy.keeps(rule.matrix, WORST[name][1] if name in WORST else "risk", value, ctx.rng)

    name, value = one_limit(**limits)
    if name == "max_distortion":
        outcome, part = solve(value), 1.0
    else:
        last = _silent(law, d)
        last = invariant_rule(last) if invariant else last
        outcome, part = tightened(solve, keeps, value, noisy.allowance.ladder, last)
    truth = check_alphabet(exact, d)[0]
    counted = tells(truth, outcome, worst=False)
    return Planned(outcome, counted, tells(truth, outcome, worst=True) if name in WORST else counted, part)


def tightened(
    solve: Callable[[float, float], C], keeps: Callable[[C], bool], limit: float, ladder: Ladder, silent: C
) -> tuple[C, float]:
    """Return the rule for the largest part of a limit that passes its test, and that part.

    Tests bisect the ladder. ``solve`` gets a limit and a share of draws that ignore the keys. If none
    passes, the result is ``silent``, which reveals nothing for any counts. The part is as public as the
    rule, because the budget pays for the tests.
    """
    best, part = silent, 0.0
    low, high = 0, len(ladder) if limit > 0.0 else 0
    while low < high:
        middle = (low + high) // 2
        share, stirred = ladder[middle]
        result = solve(limit * share, stirred)
        if keeps(result):
            best, part, low = result, share, middle + 1
        else:
            high = middle
    return best, part


def _cleared(law: Array, d: Array, ctx: Context, name: str, value: float) -> FiniteChannel:
    if name in WORST:
        return cleared(limited_rule(law, d, ctx, {WORST[name][0]: value}))
    return without_traces(best_rule(law, d, ctx, {name: value}), limit=value)


def _stirred(channel: FiniteChannel, share: float) -> FiniteChannel:
    """Return a rule that, with this probability, ignores the letter and draws from the law of all records."""
    alphabet, _, _ = check_alphabet(channel.joint, channel.d)
    J = channel.matrix[alphabet.used] * alphabet.p[:, None]
    J = (1.0 - share) * J + share * np.outer(alphabet.p, J.sum(axis=0))
    made = replace(
        channel,
        matrix=alphabet.rule(J, channel.joint.shape[1]),
        distortion=alphabet.distortion(J),
        risk=alphabet.risk(J),
    )
    if isinstance(made, WorstCaseChannel):
        return replace(made, worst=worst_of(alphabet, J, made.measure))
    return made


def _silent(law: Array, d: Array) -> FiniteChannel:
    """Return the rule that publishes the best single letter; it reveals nothing for any counts."""
    alphabet, joint, cost = check_alphabet(law, d)
    J = alphabet.constant()
    distortion = alphabet.distortion(J)
    return FiniteChannel(
        alphabet.rule(J, joint.shape[1]), distortion, 0.0, np.inf, "distortion", 0.0, joint, cost, "constant"
    )


# -- expected counts kept --------------------------------------------------------------------------------


def invariant_rule(channel: FiniteChannel) -> FiniteChannel:
    """Return the rule followed by its inverse draw, so that expected counts stay the same.

    A published letter y is replaced by a letter x with the probability p(x|y) that it came from x. So the
    law of the published letters is again p(x): no category vanishes, and counts need no correction. The
    second step uses only the published letter, so it cannot raise the risk. It costs distortion.

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
    """Return an invariant rule within the limit; bisect for a limit on the distortion."""
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
