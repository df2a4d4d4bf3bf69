"""The finite problem, restricted to the few published letters that a good rule uses.

A Newton step needs a factorization for every published letter, and a good rule for many letters uses few of
them. So accelerated mirror descent over all letters finds out which, the interior-point method solves the
problem of those, and the others are *priced*. A letter y that is left out would be useful if

    min over laws t of x: sum_x t(x) [weight_d d(x, y) - u(x)] + weight_r KL(B t || p_W)

were negative, with u the multipliers of the rows. Mirror descent on all such letters either raises all slopes
of a letter to u, which proves that it is not needed, or fails; then the letter is added. The final
certificate is that of the full problem, computed from the answer alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, feasible
from voronym.channel.blocks import narrow
from voronym.channel.interior import Limit, Solution, interior
from voronym.core.context import Context

_WORTH = 100  # letters on every side below which all of them are quick enough
_DESCENT = 400  # steps of the descent that chooses the letters
_SEARCH = 60  # steps at each multiplier while a limit's own is looked for
_USED = 1e-2  # share of an even part of the mass from which a letter counts as used
_PRICING = 2000  # most steps of pricing
_ROUNDS = 6  # choices after which all letters are taken
_FLOOR = -600.0  # logarithm of the least share: e^-600 is a positive number, and so is its tenth part
_ALIVE = -10.0  # the same at the start of a new multiplier, so that a letter can come back
_TRACE = 1e-13  # mass of a letter that is not used: its direction is its price's proof


def columns(
    alphabet: Alphabet,
    ctx: Context,
    *,
    weight_d: float = 1.0,
    weight_r: float = 1.0,
    limit: Limit | None = None,
    tolerance: float = 1e-6,
) -> Solution:
    """Minimise ``weight_d D + weight_r R``, or one of them under a limit on the other, as `interior` does.

    For few letters, or if the law of W and X has few dimensions, this *is* the interior-point method.
    """

    def whole() -> Solution:
        return interior(alphabet, ctx, weight_d=weight_d, weight_r=weight_r, limit=limit, tolerance=tolerance)

    if min(alphabet.B.shape + alphabet.d.shape) < _WORTH or alphabet.allowed is not None:
        return whole()
    if narrow(alphabet.B)[0].size:
        return whole()
    descent = _Descent(alphabet, ctx)
    if limit is None:
        descent.run(weight_d / weight_r, _DESCENT)
    else:
        descent.search(limit)
    J = descent.weights()
    mass = J.sum(axis=0)
    taken = mass > _USED / len(mass)
    shape = J / mass
    for _ in range(_ROUNDS):
        part = replace(alphabet, d=np.ascontiguousarray(alphabet.d[:, taken]))
        if 2 * int(taken.sum()) > len(taken) or _out_of_reach(part, limit):
            return whole()
        result = interior(
            part, ctx, weight_d=weight_d, weight_r=weight_r, limit=limit, tolerance=0.5 * tolerance
        )
        priced = _priced(alphabet, result, taken, shape, tolerance, ctx)
        if ctx.over or not priced.wanted.any():
            return Solution(priced.J, result.weight_d, result.weight_r, priced.bound, result.iterations)
        taken, shape = taken | priced.wanted, priced.shape
    return whole()


def _out_of_reach(part: Alphabet, limit: Limit | None) -> bool:
    """Return whether the chosen letters are too far from some others to keep the limit with ease."""
    return limit is not None and limit.on == "distortion" and 1.01 * part.least_distortion > limit.value


class _Descent:
    """Entropic mirror descent with momentum, restarted whenever the cost rises."""

    def __init__(self, alphabet: Alphabet, ctx: Context) -> None:
        self.a, self.ctx = alphabet, ctx
        self.logs = np.full(alphabet.d.shape, -np.log(alphabet.d.shape[1]))

    def weights(self) -> Array:
        """Return the joint weights, all positive."""
        return feasible(self.a, np.exp(self.logs) * self.a.p[:, None])

    def run(self, beta: float, steps: int) -> None:
        """Lower ``beta D + R``."""
        best, last, since = np.inf, self.logs, 0
        here = self.logs  # the point looked ahead to, where the slope is taken
        for _ in range(steps):
            if self.ctx.over:
                break
            self.ctx.check(whole=False)
            J = feasible(self.a, np.exp(here) * self.a.p[:, None])
            slope = self.a.risk_slope(J) + beta * self.a.d
            cost = float(np.vdot(J, slope))  # degree 1: the risk is its slope times J
            if cost > best:
                here, best, since = self.logs, np.inf, 0
                continue
            best, last = cost, self.logs
            self.logs = _shares(here - slope, axis=1)
            here = _shares(self.logs + since / (since + 3) * (self.logs - last), axis=1)
            since += 1

    def search(self, limit: Limit) -> None:
        """Lower the cost at the multiplier that meets a limit; finds the multiplier on the way."""
        measure = self.a.distortion if limit.on == "distortion" else self.a.risk
        scale = self.a.source_risk / self.a.distortion(self.weights())
        low, high = np.log(1e-6 * scale), np.log(1e6 * scale)
        for _ in range(12):
            middle = 0.5 * (low + high)
            self.logs = _shares(self.logs, axis=1, least=_ALIVE)
            self.run(float(np.exp(middle)), _SEARCH)
            near = (measure(self.weights()) > limit.value) == (limit.on == "distortion")
            low, high = (middle, high) if near else (low, middle)
        self.logs = _shares(self.logs, axis=1, least=_ALIVE)
        self.run(float(np.exp(0.5 * (low + high))), _DESCENT)


@dataclass(frozen=True)
class _Priced:
    """All joint weights, the bound they prove, the shapes of the columns, and the columns to add."""

    J: Array
    bound: float
    shape: Array
    wanted: np.ndarray


def _priced(
    alphabet: Alphabet, solution: Solution, taken: np.ndarray, shape: Array, tolerance: float, ctx: Context
) -> _Priced:
    """Price the omitted columns, and assemble the result."""
    wd, wr = solution.weight_d, solution.weight_r
    part = alphabet.d[:, taken]
    u = (wd * part + wr * alphabet.risk_slope(solution.J)).min(axis=1)
    cost = wd * float(np.vdot(solution.J, part)) + wr * alphabet.risk(solution.J)
    slack = 0.25 * tolerance * cost
    rest = np.flatnonzero(~taken)
    logs = _shares(np.log(np.maximum(shape[:, rest], np.exp(_FLOOR))), axis=0)
    price = (wd * alphabet.d[:, rest] - u[:, None]) / wr
    wanted = np.zeros(len(taken), bool)
    live, pw = np.arange(len(rest)), alphabet.pw[:, None]
    for step in range(_PRICING):
        t = np.exp(logs[:, live])
        slope = alphabet.B.T @ np.log((alphabet.B @ t) / pw) + price[:, live]
        low = wr * slope.min(axis=0) < -slack
        needed = wr * (t * slope).sum(axis=0) < -slack
        wanted[rest[live[needed]]] = True
        live, slope = live[low & ~needed], slope[:, low & ~needed]
        if not len(live) or ctx.over:
            break
        if step == _PRICING - 1:
            wanted[rest[live]] = True  # not decided: the interior-point method will
        logs[:, live] = _shares(logs[:, live] - slope, axis=0)
    shape = shape.copy()
    shape[:, rest] = np.exp(logs)
    trace = shape[:, rest] / (shape[:, rest] / alphabet.p[:, None]).max(axis=0)
    J = np.empty_like(shape)
    J[:, taken], J[:, rest] = solution.J, _TRACE * trace
    J = feasible(alphabet, J)
    return _Priced(J, alphabet.certificate(J, weight_d=wd, weight_r=wr), shape, wanted)


def _shares(logs: Array, *, axis: int, least: float = _FLOOR) -> Array:
    """Return logarithms of positive shares that add up to 1."""
    logs = np.maximum(logs - logs.max(axis=axis, keepdims=True), least)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=axis, keepdims=True)))
