"""Remove a solver's remainders of about 1e-9 from a rule before it is drawn or published.

An interior-point method ends inside: letters that the best rule does not use keep a probability of about
1e-9. They are never drawn, but anybody who inverts the matrix divides by them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, check_alphabet, feasible
from voronym.channel.base import FiniteChannel
from voronym.channel.function import toward

TRACE = 1e-6
"""A letter with a smaller share of the records is not published."""


def without_traces(channel: FiniteChannel, *, limit: float | None = None) -> FiniteChannel:
    """Return a rule that publishes no letter for less than a millionth of the records.

    The mass of such letters, and of single transitions below a tenth of it, goes to the cheapest of the
    other letters. A limit that the rule met is met again, by mixing with the nearest remaining letters or
    with the best single letter.

    Parameters
    ----------
    channel : FiniteChannel
        The rule.
    limit : float, optional
        Largest distortion (objective "risk") or risk (objective "distortion").
    """
    alphabet, _, _ = check_alphabet(channel.joint, channel.d)
    J = channel.matrix[alphabet.used] * alphabet.p[:, None]
    alive = J.sum(axis=0) > TRACE
    here = _on(alphabet, alive)
    kept = np.where(J[:, alive] > 0.1 * TRACE * alphabet.p[:, None], J[:, alive], 0.0)
    lost = alphabet.p - kept.sum(axis=1)
    kept[np.arange(len(kept)), here.d.argmin(axis=1)] += np.maximum(lost, 0.0)
    kept = feasible(here, kept)
    if limit is not None and channel.objective == "risk":
        kept = toward(kept, here.nearest(), here.distortion, limit)
    if limit is not None and channel.objective == "distortion":
        kept = toward(kept, here.constant(), here.risk, limit)
    whole = np.zeros_like(J)
    whole[:, alive] = kept
    return replace(
        channel,
        matrix=alphabet.rule(whole, channel.joint.shape[1]),
        distortion=here.distortion(kept),
        risk=here.risk(kept),
    )


def _on(alphabet: Alphabet, alive: Array) -> Alphabet:
    """Return the problem with only the remaining letters to publish."""
    return replace(alphabet, d=np.ascontiguousarray(alphabet.d[:, alive]))
