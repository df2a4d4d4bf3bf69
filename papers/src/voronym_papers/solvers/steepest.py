"""The projected steepest descent of the paper on t-closeness, for comparison."""

from __future__ import annotations

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, feasible
from voronym.channel.function import SOLVERS
from voronym.channel.interior import Solution
from voronym.core.context import Context

_LOOK = 1000  # steps between two certificates


@SOLVERS.register("steepest")
def steepest(
    alphabet: Alphabet,
    ctx: Context,
    *,
    weight_d: float,
    weight_r: float,
    tolerance: float,
    iterations: int = 32_000,
    rate: float = 1e-4,
    start: float = 0.5,
) -> Solution:
    """Minimise ``weight_d D + weight_r R`` by the paper's projected steepest descent, for comparison.

    A step goes against the gradient by ``p(y|x)``, times the paper's 1e-4, projected on the rows that add
    up to 1; negative entries are then set to 0 and the rows renormalised. ``start`` is the share of "one
    letter always" in the first rule; the rest publishes X. Convergence is not proven; the bound is valid.
    """
    p = alphabet.p[:, None]
    J = (1.0 - start) * alphabet.nearest() + start * alphabet.constant()
    best, step = -np.inf, 0
    for step in range(iterations + 1):
        if step % _LOOK == 0 or step == iterations or ctx.over:
            best = max(best, _proven(alphabet, J, weight_d, weight_r))
            cost = weight_d * alphabet.distortion(J) + weight_r * alphabet.risk(J)
            if cost - best <= tolerance * max(abs(cost), 1e-12) or step == iterations or ctx.over:
                break
            ctx.tell(step / max(iterations, 1))
        # derivative by p(y|x) is p(x) times the one by the joint weight; columns without weight have -inf
        gradient = p * (weight_d * alphabet.d + weight_r * _slope(alphabet, J))
        gradient -= gradient.mean(axis=1, keepdims=True)
        J = feasible(alphabet, J - rate * p * gradient)
    return Solution(J, weight_d, weight_r, best, step)


def _slope(alphabet: Alphabet, J: Array) -> Array:
    """Return the slope slightly inside: at the boundary logarithms are infinite or undefined."""
    inside = (1.0 - 1e-9) * J + 1e-9 * alphabet.p[:, None] / J.shape[1]
    return alphabet.risk_slope(inside)


def _proven(alphabet: Alphabet, J: Array, weight_d: float, weight_r: float) -> float:
    """Return the best bound that the point proves, from positions slightly or farther inside."""
    flat = np.outer(alphabet.p, J.sum(axis=0)) + 1e-12 * alphabet.p[:, None] / J.shape[1]
    result = -np.inf
    for inward in (1e-6, 1e-3):
        point = feasible(alphabet, (1.0 - inward) * J + inward * flat)
        result = max(result, alphabet.certificate(point, weight_d=weight_d, weight_r=weight_r))
    return result
