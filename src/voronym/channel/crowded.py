"""k-anonymity and a limit on information in one convex problem, at the least distortion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.alphabet import Alphabet
from voronym.channel.base import FiniteChannel
from voronym.channel.function import channel_of, toward
from voronym.channel.seeing import check_letters
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError

Array = NDArray[np.float64]

INWARD = 1e-4
"""Distance that a point moves towards independence before a cut, so that every slope is finite."""


@checked
def crowded_channel(
    p_wx: ArrayLike,
    d: ArrayLike,
    *,
    max_risk: float,
    least: float,
    tolerance: float = 1e-4,
    iterations: int = 500,
    progress: ProgressCallback | None = None,
) -> FiniteChannel:
    """Find the rule of least distortion with limited information and only common letters.

    The problem: minimise ``E d(X, X̂)`` over rules ``p(x̂|x)`` with ``I(W; X̂) <= max_risk`` and ``P(x̂)
    >= least`` for every letter x̂. With ``least = k/n`` a letter is published for k of n people on
    average. So one convex problem combines the cells of a quantizer, a limit on their information, and
    the distortion.

    Parameters
    ----------
    p_wx : array, shape (w, n)
        Joint probabilities of the confidential letter and the key letter.
    d : array, shape (n, m)
        Distortion of publishing a letter for another; m letters are published, ``m least <= 1``.
    max_risk : float
        Limit on I(W; X̂), in nats.
    least : float
        Least probability of a published letter.
    tolerance : float
        The gap that is aimed at, as a share of the distortion.
    iterations : int
        Linear programmes, at most.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    FiniteChannel
        ``bound`` is proven: no rule with both properties has less distortion.

    Notes
    -----
    Mutual information is convex and homogeneous in the joint weights, so at any rule its tangent is below it
    everywhere: ``I(J) >= sum J log p0(w|x̂) / p(w)`` (Gibbs). A linear programme with such tangents in place
    of the information gives the bound. Its solution, mixed with a rule that reveals nothing until the limit
    holds, is the result; if it broke the limit, its tangent is added to the programme.

    Examples
    --------
    >>> p = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> rule = crowded_channel(p, 1 - np.eye(2), max_risk=0.05, least=0.3)
    >>> rule.risk <= 0.05, bool((p.sum(axis=0) @ rule.matrix >= 0.3 - 1e-9).all())
    (True, True)
    >>> 0 <= rule.distortion - rule.bound < 1e-3
    True
    """
    if not max_risk >= 0:
        raise InputError(f"max_risk must be 0 nats or more, not {max_risk!r}")
    alphabet, joint, distortion = check_letters(p_wx, d, sees_w=False)
    m = alphabet.d.shape[1]
    if not 0.0 <= least * m <= 1.0 + 1e-12:
        raise InputError(f"{m} letters cannot all have a probability of {least:g}: at most {1 / m:g} fits")
    ctx = Context(progress=progress)
    programme = _Programme(alphabet, max_risk, least)
    best = None
    bound = -np.inf
    for step in range(iterations):
        ctx.tell(step / iterations)
        J, value = programme.solve()
        bound = max(bound, value)
        made = J if max_risk == 0 else toward(J, programme.silent, alphabet.risk, max_risk)
        if best is None or alphabet.distortion(made) < alphabet.distortion(best):
            best = made
        gap = alphabet.distortion(best) - bound
        if gap <= tolerance * max(alphabet.distortion(best), 1e-12) or ctx.over:
            break
        programme.cut(J)
        programme.cut((J + best) / 2)
    ctx.done()
    assert best is not None  # noqa: S101 - there is a step
    if alphabet.risk(best) > max_risk + 1e-9:
        raise GuaranteeError("no rule keeps the limit")
    answer = (best, programme.price, min(bound, alphabet.distortion(best)), step + 1)
    return channel_of(alphabet, joint, distortion, answer, "distortion", "crowded")


class _Programme:
    """The linear programme: distortion, common letters, and tangents in place of the information."""

    def __init__(self, alphabet: Alphabet, max_risk: float, least: float) -> None:
        from scipy.sparse import csr_array, kron

        n, m = alphabet.d.shape
        self.alphabet, self.limit, self.least = alphabet, max_risk, least
        self.rows = csr_array(kron(np.eye(n), np.ones((1, m))))
        self.letters = -csr_array(kron(np.ones((1, n)), np.eye(m)))
        self.silent = np.outer(alphabet.p, self._common())
        # With no information at all W and the letter are independent, which is linear: no tangents are there.
        self.apart = alphabet.B - alphabet.pw[:, None] if max_risk == 0 else np.zeros((0, n))
        self.equal = csr_array(kron(self.apart, np.eye(m))) if max_risk == 0 else csr_array((0, n * m))
        self.tangents: list[Array] = []
        self.price = 0.0

    def _common(self) -> Array:
        """Return letter probabilities that reveal nothing: each at its least, the rest on the best letter."""
        m = self.alphabet.d.shape[1]
        out = np.full(m, self.least)
        out[int((self.alphabet.p @ self.alphabet.d).argmin())] += 1.0 - self.least * m
        return out

    def solve(self) -> tuple[Array, float]:
        """Return the best joint weights for the tangents so far, and their distortion: a lower bound."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        n, m = self.alphabet.d.shape
        cuts = [csr_array(np.array(self.tangents))] if self.tangents else []
        sides = np.concatenate([np.full(m, -self.least), np.full(len(self.tangents), self.limit)])
        result = linprog(
            self.alphabet.d.ravel(),
            A_ub=vstack([self.letters, *cuts]),
            b_ub=sides,
            A_eq=vstack([self.rows, self.equal]),
            b_eq=np.concatenate([self.alphabet.p, np.zeros(self.equal.shape[0])]),
            bounds=(0, None),
            method="highs",
        )
        if result.x is None:
            raise GuaranteeError(f"the linear programme was not solved: {result.message}")
        prices = -np.asarray(result.ineqlin.marginals)
        self.price = float(prices[m:].sum())
        apart = np.asarray(result.eqlin.marginals)[n:].reshape(-1, m)
        return np.maximum(result.x, 0.0).reshape(n, m), self._proven(prices, apart)

    def _proven(self, prices: Array, apart: Array) -> float:
        """Return the dual value from the prices alone: it is valid despite the solver's rounding."""
        n, m = self.alphabet.d.shape
        sure = np.maximum(prices, 0.0)
        worth = self.alphabet.d - sure[:m] - self.apart.T @ apart
        for price, tangent in zip(sure[m:], self.tangents, strict=True):
            worth = worth + price * tangent.reshape(n, m)
        return float(
            self.alphabet.p @ worth.min(axis=1) + self.least * sure[:m].sum() - self.limit * sure[m:].sum()
        )

    def cut(self, J: Array) -> None:
        """Add the tangent of the information at a rule near these weights."""
        inside = (1 - INWARD) * J + INWARD * np.outer(self.alphabet.p, J.sum(axis=0))
        self.tangents.append(self.alphabet.risk_slope(inside).ravel())
