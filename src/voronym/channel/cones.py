"""A primal-dual interior-point method for limits that hold for every published letter.

Every column ``J_y`` of the joint weights must lie in the same convex cone, of laws near the overall one; the
columns are coupled only by their row sums. The constraints are homogeneous of degree 1: ``A (J_y, r_y) <=
0``, with helpers ``r_y >= 0``, or one smooth ``f(J_y) <= 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from voronym.channel.alphabet import Alphabet, Array
from voronym.channel.blocks import Blocks, narrow, scaled
from voronym.channel.interior import risk_rows
from voronym.core.context import Context

_BACK = 0.995  # share of the way to the boundary
_PATIENCE = 25  # steps without a better proof after which rounding is all that is left
_AHEAD = 20.0  # where the proof lags behind the barrier by this factor, the barrier waits
_NEAR = 2.0  # the same for a smooth limit, whose slope changes
_GENTLE = 0.3  # least part of the barrier that stays after a step with a smooth limit
_TINY = 1e-300


@dataclass(frozen=True)
class Cone:
    """The constraints on every column, and the weights of their parts on the central path.

    Parameters
    ----------
    A : array, shape (r, n + e)
        Rows of linear constraints ``A v <= 0`` on the n weights of a column and e helpers; none where
        ``kl`` is given.
    rows, helpers : arrays, shapes (r,) and (e,)
        The scale of the slacks, and of the helpers.
    start : array, shape (e,)
        Helpers with which a column that is a multiple of the overall law is strictly inside.
    kl : float, optional
        The smooth constraint instead: the relative entropy of p(w|y) and p(w) is at most this.
    """

    A: Array
    rows: Array
    helpers: Array
    start: Array
    kl: float | None = None
    factor: tuple[Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        """Find out whether the cone has few dimensions; helper matrices have the same number."""
        object.__setattr__(self, "factor", (np.empty((0, 0)), self.A) if len(self.start) else narrow(self.A))


@dataclass(frozen=True)
class ConeSolution:
    """The result: joint weights inside the cones, a proven bound on the distortion, and the steps."""

    J: Array
    bound: float
    iterations: int


def cones(
    alphabet: Alphabet, cone: Cone, ctx: Context, *, tolerance: float, iterations: int = 150
) -> ConeSolution:
    """Minimise the distortion with every column in a cone."""
    state = _State(alphabet, cone, ctx)
    best, bound, least, stalled = state.J, -np.inf, np.inf, 0
    scale = alphabet.distortion(alphabet.constant()) + _TINY
    step = 0
    for step in range(iterations + 1):
        now = state.bound()
        bound = max(bound, now)
        cost = alphabet.distortion(state.J) + 10.0 * scale * state.misses()
        state.gap, gap = cost - now, (cost - bound) / scale
        stalled = 0 if gap < 0.9 * least else stalled + 1
        if gap < least:
            best, least = state.J.copy(), gap
        if least <= 0.3 * tolerance or stalled >= _PATIENCE or ctx.over or not state.newton():
            break
        ctx.tell(step / 60)
    return ConeSolution(best, bound, step)


@dataclass(frozen=True)
class _Direction:
    x: Array
    u: Array
    z: Array
    t: Array
    prices: Array


class _State:
    """Weights and helpers x, their multipliers z, slacks t with their prices, multipliers u of row sums."""

    def __init__(self, alphabet: Alphabet, cone: Cone, ctx: Context) -> None:
        self.a, self.cone, self.ctx, self.gap = alphabet, cone, ctx, 0.0
        p, d = alphabet.p, alphabet.d
        self.n, m = d.shape
        self.x = np.concatenate([p[:, None] + np.zeros((1, m)), cone.start[:, None] + np.zeros((1, m))]) / m
        self.risk = narrow(alphabet.B) if cone.kl is not None else None
        self.omega = np.concatenate([p, cone.helpers])[:, None] + np.zeros((1, m))
        self.omega_t = cone.rows[:, None] + np.zeros((1, m))
        self.t = -self.values()
        mean = float(p @ d.mean(axis=1)) + _TINY
        self.prices = 0.1 * mean / m * self.omega_t / self.t
        slope = self.slope()
        self.u = slope[: self.n].min(axis=1) - 0.1 * mean
        self.z = slope.copy()
        self.z[: self.n] -= self.u[:, None]
        self.z[self.n :] = np.maximum(self.z[self.n :], 0.1 * mean)
        self.d = np.concatenate([d, np.zeros((len(cone.start), m))])

    @property
    def J(self) -> Array:  # noqa: N802 - the joint weights of all formulas
        return np.asarray(self.x[: self.n])

    def values(self) -> Array:
        """Return the constraints, one row each; 0 or less if they hold."""
        if self.cone.kl is None:
            return np.asarray(self.cone.A @ self.x)
        return np.asarray(np.sum(self.x * self.smooth(), axis=0, keepdims=True))  # degree 1

    def smooth(self) -> Array:
        """Return the derivative of the relative entropy's constraint."""
        return np.asarray(self.a.risk_slope(self.x[: self.n]) - (self.cone.kl or 0.0))

    def back(self, prices: Array) -> Array:
        """Return ``A' prices``, column by column."""
        if self.cone.kl is None:
            return np.asarray(self.cone.A.T @ prices)
        return np.asarray(self.smooth() * prices)

    def slope(self) -> Array:
        """Return the derivative of the distortion plus the priced constraints."""
        slope = self.back(self.prices)
        slope[: self.n] += self.a.d
        return slope

    def misses(self) -> float:
        """Return how far the row sums and the constraints are from holding."""
        rows = float(np.abs(self.J.sum(axis=1) - self.a.p).sum())
        return rows + float(np.maximum(self.values(), 0.0).sum())

    def bound(self) -> float:
        """Return a lower bound on the distortion of every rule in the cones, which the prices prove.

        Any non-negative prices are valid: a rule that keeps the constraints costs at least its cost
        with the priced constraints added. These lie above their tangents through the origin, and a
        linear function of a rule is least if every letter goes to its cheapest column. Helpers must
        have a value of at least 0; otherwise the prices of the rows that use them are lowered.
        """
        prices = self.prices
        if len(self.cone.start):
            A = self.cone.A[:, self.n :]
            gain, pay = np.maximum(-A, 0.0).T @ prices, np.maximum(A, 0.0).T @ prices
            share = np.minimum(1.0, pay / np.maximum(gain, _TINY))  # by helper and column
            uses = np.asarray(A < 0.0)
            prices = prices * np.where(uses.any(axis=1, keepdims=True), uses @ share, 1.0)
        slope = self.back(prices)[: self.n] + self.a.d
        return float(self.a.p @ slope.min(axis=1))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where digits run out no step is taken
    def newton(self) -> bool:
        """Take one predictor-corrector step; return False if no step is possible."""
        x, z, t, prices, n = self.x, self.z, self.t, self.prices, self.n
        share = prices / t
        count = float(self.omega.sum() + self.omega_t.sum())
        mu = (float(np.vdot(x, z)) + float(np.vdot(t, prices))) / count
        gradient = self.smooth() if self.cone.kl is not None else None
        try:
            system = Blocks(x / z, self._rows(share, gradient), self.ctx, meet=n)
        except np.linalg.LinAlgError:
            return False
        miss_t, miss = self.values() + t, self.J.sum(axis=1) - self.a.p
        u = np.zeros_like(x)
        u[:n] = self.u[:, None]

        def forward(change: Array) -> Array:
            if gradient is None:
                return np.asarray(self.cone.A @ change)
            return np.asarray(np.sum(gradient * change, axis=0, keepdims=True))

        def direction(target: Array, target_t: Array) -> _Direction:
            right = u - self.d + target / x - self.back(target_t / t + share * miss_t)
            first = system.solve(right)
            du = system.rows(-miss - first[:n].sum(axis=1))
            wide = np.zeros_like(x)
            wide[:n] = du[:, None]
            dx = first + system.solve(wide)
            dt = -miss_t - forward(dx)
            return _Direction(dx, du, (target - z * dx) / x - z, dt, (target_t - prices * dt) / t - prices)

        keep, keep_t, centre = np.zeros_like(x), np.zeros_like(t), 1.0
        ahead = _AHEAD if gradient is None else _NEAR
        if self.gap <= ahead * mu * count:
            step = direction(keep, keep_t)
            primal, dual = self._reach(step)
            after = float(np.vdot(x + primal * step.x, z + dual * step.z))
            after += float(np.vdot(t + primal * step.t, prices + dual * step.prices))
            centre = min(1.0, max(after / (mu * count), 1e-3) ** 3)
            if gradient is not None:  # a column that shrinks faster than that changes its law, and its slope
                centre = max(centre, _GENTLE)
            most, most_t = 100.0 * mu * self.omega, 100.0 * mu * self.omega_t
            keep, keep_t = (
                np.clip(step.x * step.z, -most, most),
                np.clip(step.t * step.prices, -most_t, most_t),
            )
        step = direction(centre * mu * self.omega - keep, centre * mu * self.omega_t - keep_t)
        primal, dual = self._reach(step)
        if not (np.isfinite(step.x).all() and np.isfinite(step.prices).all()) or max(primal, dual) < 1e-9:
            return False
        self.x, self.t = x + primal * step.x, t + primal * step.t
        self.u, self.z, self.prices = (
            self.u + dual * step.u,
            z + dual * step.z,
            prices + dual * step.prices,
        )
        return True

    def _rows(self, share: Array, gradient: Array | None) -> Callable[[int], Array]:
        if gradient is None or self.risk is None:
            root = np.sqrt(share)
            return lambda y: scaled(self.cone.factor, lambda rows: rows * root[:, y, None])
        q, s = self.a.B @ self.J, self.J.sum(axis=0)
        risk = self.risk
        return lambda y: np.vstack(
            [
                risk_rows(risk, q[:, y], s[y], float(self.prices[0, y])),
                np.sqrt(share[0, y]) * gradient[None, :, y],
            ]
        )

    def _reach(self, step: _Direction) -> tuple[float, float]:
        primal = max(float(np.max(-step.x / self.x)), float(np.max(-step.t / self.t)), _TINY)
        dual = max(float(np.max(-step.z / self.z)), float(np.max(-step.prices / self.prices)), _TINY)
        return min(1.0, _BACK / primal), min(1.0, _BACK / dual)
