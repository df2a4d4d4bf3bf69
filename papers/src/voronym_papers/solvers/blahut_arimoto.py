"""Shannon's rate-distortion function by the algorithm of Blahut and Arimoto."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from voronym.channel.alphabet import check_alphabet, feasible
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.function import channel_of
from voronym.core.validate import checked
from voronym.errors import InputError


@checked
def blahut_arimoto(
    p_x: ArrayLike,
    d: ArrayLike,
    *,
    multiplier: float,
    tolerance: float = 1e-9,
    iterations: int = 100_000,
) -> FiniteChannel:
    """Find a point of Shannon's rate-distortion function, the case W = X, by Blahut and Arimoto.

    Minimise ``D + λ I(X; X̂)`` by alternating ``p(x̂|x) ∝ p(x̂) exp(-d/λ)`` and ``p(x̂) = sum_x p(x)
    p(x̂|x)``. It shares no code with the general solvers, and checks them. The bound is the classical
    one: ``-λ sum_x p(x) log sum_x̂ p(x̂) e^{-d/λ} - λ log max_x̂ sum_x p(x) e^{-d/λ} / sum_ŷ p(ŷ)
    e^{-d/λ}``.

    References
    ----------
    T. M. Cover, J. A. Thomas: Elements of Information Theory, 2nd edition, Wiley (2006), section 10.8.

    Examples
    --------
    >>> channel = blahut_arimoto([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], multiplier=0.5)
    >>> bool(abs(channel.distortion - 1 / (1 + np.exp(2.0))) < 1e-9)
    True
    """
    p = np.asarray(p_x, dtype=np.float64)
    if p.ndim != 1:
        raise InputError("p_x is one row of probabilities")
    alphabet, joint, distortion = check_alphabet(np.diag(p), d)
    if one_limit(multiplier=multiplier)[1] == 0.0:
        raise InputError("the multiplier must be above 0; with 0 the nearest letter is the answer")
    law = np.full(alphabet.d.shape[1], 1.0 / alphabet.d.shape[1])
    near = alphabet.d.min(axis=1, keepdims=True)
    kernel = np.exp((near - alphabet.d) / multiplier)  # scaled by row: no underflow to 0 everywhere
    steps, bound = 0, -inf
    while steps < iterations:
        steps += 1
        total = kernel @ law
        ratio = (alphabet.p / total) @ kernel
        value = alphabet.least_distortion - multiplier * float(alphabet.p @ np.log(total))
        bound = value - multiplier * float(np.log(ratio.max()))
        new = law * ratio
        upper = value - multiplier * float(new @ np.log(np.maximum(ratio, 1e-300)))
        law = new
        if upper - bound <= tolerance * max(abs(upper), 1e-12):
            break
    J = feasible(alphabet, kernel * law * (alphabet.p / (kernel @ law))[:, None])
    answer = (J, float(multiplier), bound, steps)
    return channel_of(alphabet, joint, distortion, answer, "cost", "blahut-arimoto")
