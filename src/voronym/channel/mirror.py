"""A first-order solver: entropic mirror descent."""

from __future__ import annotations

import numpy as np

from voronym.channel.alphabet import Alphabet, feasible
from voronym.channel.interior import Solution
from voronym.core.context import Context

_LOOK = 20  # steps between two certificates


def mirror(
    alphabet: Alphabet,
    ctx: Context,
    *,
    weight_d: float,
    weight_r: float,
    tolerance: float,
    iterations: int = 20_000,
) -> Solution:
    """Minimise ``weight_d D + weight_r R`` by entropic mirror descent with unit steps.

    ``p(y|x) <- p(y|x) exp{ -sum_w p(w|x) log[p(y|w)/p(y)] - d(x, y)/λ }``, rows renormalised. The risk is
    1-smooth relative to ``-H(Y|X)``: their difference ``I(X; Y|W) - H(Y)`` is convex. So every step lowers
    the cost, and after t steps it is within ``λ E KL(p*||p0) / t`` of the least. For W = X this is the
    algorithm of Blahut and Arimoto.
    """
    if weight_r <= 0.0:
        J = alphabet.nearest()
        return Solution(J, weight_d, weight_r, weight_d * alphabet.least_distortion, 0)
    beta = weight_d / weight_r
    n, m = alphabet.d.shape
    logs = np.full((n, m), -np.log(m))
    best = None
    for step in range(iterations + 1):
        J = feasible(alphabet, np.exp(logs) * alphabet.p[:, None])
        slope = alphabet.risk_slope(J)
        if step % _LOOK == 0 or step == iterations or ctx.over:
            bound = alphabet.certificate(J, weight_d=weight_d, weight_r=weight_r)
            cost = weight_d * alphabet.distortion(J) + weight_r * alphabet.risk(J)
            bound = bound if best is None else max(bound, best.bound)
            best = Solution(J, weight_d, weight_r, bound, step)
            if cost - bound <= tolerance * max(abs(cost), 1e-12) or ctx.over:
                break
            ctx.tell(step / max(iterations, 1))
        logs = np.maximum(logs - slope - beta * alphabet.d, -700.0)  # e^-700 is the least positive number
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    assert best is not None  # noqa: S101 - step 0 has one
    return best
