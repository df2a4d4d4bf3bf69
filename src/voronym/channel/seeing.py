"""Distortions that depend on w, and rules that see w: their letters are pairs of w and x."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from voronym.channel.alphabet import Alphabet, Array, check_alphabet
from voronym.errors import InputError


def check_letters(p_wx: ArrayLike, d: ArrayLike, *, sees_w: bool = False) -> tuple[Alphabet, Array, Array]:
    """Return the problem, its law and its distortions, for ``d(x, x̂)`` or ``d(w, x, x̂)``.

    A rule that does not see w pays on average over w given x. A rule that sees w is a rule for the
    letters (w, x); its law has a column ``w n + x`` for each.
    """
    cost = np.asarray(d)
    if cost.ndim == 2 and not sees_w:
        return check_alphabet(p_wx, d)
    law = np.asarray(p_wx)
    if law.ndim != 2 or cost.ndim not in (2, 3) or (cost.ndim == 3 and cost.shape[:2] != law.shape):
        raise InputError(
            f"p_wx is a matrix of letters w and x, and d has a row for each x, or one for each w and x; "
            f"their shapes are {law.shape} and {cost.shape}"
        )
    try:
        law, cost = law.astype(np.float64), cost.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("p_wx and d must be numbers") from None
    k, n = law.shape
    if not sees_w:
        total = law.sum(axis=0)
        share = np.divide(law, total, out=np.full_like(law, 1.0 / k), where=total > 0.0)
        return check_alphabet(law, np.einsum("wx,wxy->xy", share, cost))
    if cost.ndim == 2:
        cost = np.broadcast_to(cost, (k, *cost.shape))
    pairs = np.zeros((k, k, n))
    pairs[np.arange(k), np.arange(k)] = law
    return check_alphabet(pairs.reshape(k, k * n), cost.reshape(k * n, -1))
