"""Valid prices for groups of 2, 3, ... records, each step from the last; they speed up pricing for larger k.

While a group of m is built, q of its records are unknown. The sum of their pairwise distances is at least q
times the SSE of a group of q, which valid prices for groups of q bound from below. That is far better than a
bound by the nearest neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.certify.prices import Prices
from voronym.certify.relax import relax
from voronym.certify.state import State
from voronym.core.context import Context

Floats = NDArray[np.float64]

ENOUGH = 0.01
"""Relative gap at which the prices of a step are good enough."""


def climb(state: State, ctx: Context) -> None:
    """Improve the bounds for groups of fewer than k records, and start the prices for k from them."""
    for size in range(2, state.k):
        if ctx.over:
            break
        step = Prices(state.costs, size, state.sums)
        here = ctx.limited(ctx.left / (state.k - size)) if ctx.timed else ctx
        relax(step, here, enough=ENOUGH, brief=True)
        spread(state.sums, size, step.center)
    state.restart(state.sums[:, state.k - 1] / (2 * state.k))


def spread(near: Floats, size: int, prices: Floats) -> None:
    """Enter valid prices for groups of ``size`` into the table, for that size and larger ones.

    The pairwise distances of q records sum up to the mean over their subsets of ``size``, times ``q (q-1)
    / (size (size-1))``, and each record is in a share ``size / q`` of the subsets. So the pairs sum up to
    at least ``size (q-1) / (size-1)`` times the prices.
    """
    for q in range(size, near.shape[1] + 1):
        pairs = 2.0 * size * (q - 1) / (size - 1) * prices
        if pairs.sum() > near[:, q - 1].sum():
            near[:, q - 1] = pairs
