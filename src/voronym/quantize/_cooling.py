"""Cooling: assignments that are soft at first and harden slowly carry a design past poor arrangements."""

from __future__ import annotations

import numpy as np

from voronym.core.context import Context
from voronym.quantize._start import Start
from voronym.quantize.costs.base import Floats, Integers
from voronym.space import Space

COLD = 0.02
"""The last heat, as a share of the first of a whole cooling: a point then has nearly one cell."""

BALANCE = 6
"""Number of times that costs are balanced in a round."""

TINY = 1e-9
"""A cell with a smaller smooth count, in points, does not move."""


def cooled(
    X: Floats, begin: Start, sizes: Integers, space: Space, heat: float, rounds: int, ctx: Context
) -> Start:
    """Return centroids and costs after rounds of soft assignments at falling heat.

    Point i belongs to cell q with the share ``r_iq``, proportional to ``exp(-(d_iq + c_q) / heat)``: the
    limit of noisy PCL's clouds, without drawing them. Costs rise by ``heat log(count / size)``,
    Sinkhorn's step on a concave dual; centroids move to the means by shares. This is deterministic
    annealing with prescribed sizes. It gives no guarantee; the exact rounds that follow do.

    Parameters
    ----------
    heat : float
        The first one; a cell's own distortion makes it as soft as it is wide.

    References
    ----------
    K. Rose, "Deterministic annealing for clustering, compression, classification, regression, and related
    optimization problems", Proceedings of the IEEE 86 (1998).
    """
    C, c = begin.centroids.copy(), begin.costs.copy()
    if not heat > 0.0:
        return begin
    for number, warm in enumerate(np.geomspace(heat, COLD * heat, rounds)):
        if ctx.over:
            break
        ctx.tell(number / rounds)
        D = space.cost(X, C)
        for _ in range(BALANCE):
            shares = -(D + c) / warm
            shares -= shares.max(axis=1, keepdims=True)
            np.exp(shares, out=shares)
            shares /= shares.sum(axis=1, keepdims=True)
            counts = shares.sum(axis=0)
            c = c + warm * np.log(np.maximum(counts, TINY) / sizes)
            c -= c.min()
        there = counts > TINY
        C[there] = (shares.T @ X)[there] / counts[there, None]
    return Start(C, c)
