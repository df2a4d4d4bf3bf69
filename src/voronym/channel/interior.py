"""A primal-dual interior-point method for the finite problem.

The columns of the joint weights are coupled only by n row sums, so a Newton step is one small system per
column and one n x n system for the multipliers of the rows. The risk is compatible with the logarithmic
barrier (a column's third derivative is at most 5 max|h/J| times its second). So Newton's method stays fast up
to the boundary, where most weights of a good rule are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, feasible
from voronym.channel.blocks import Blocks, narrow, scaled
from voronym.core.context import Context

_PATIENCE = 25  # steps without a better proof after which rounding is all that is left
_LITTLE = 1e-6  # costs below this share of the problem's own scale are measured against it
_BACK = 0.995  # share of the way to the boundary
_CENTRE = 1e-3  # least reach that the predictor is trusted with
_AHEAD = 20.0  # where the proof lags behind the barrier by this factor, the barrier waits
_CORRECT = 100.0  # largest second-order correction, relative to the barrier


@dataclass(frozen=True)
class Solution:
    """Joint weights, the two weights of the cost, and a proven lower bound on it."""

    J: Array
    weight_d: float
    weight_r: float
    bound: float
    iterations: int


@dataclass(frozen=True)
class Limit:
    """A limit on the distortion or on the risk, under which the other is minimised."""

    on: str
    value: float


def interior(
    alphabet: Alphabet,
    ctx: Context,
    *,
    weight_d: float = 1.0,
    weight_r: float = 1.0,
    limit: Limit | None = None,
    tolerance: float = 1e-6,
    iterations: int = 200,
) -> Solution:
    """Minimise ``weight_d D + weight_r R``, or one of them under a limit on the other.

    Parameters
    ----------
    alphabet : Alphabet
        The problem.
    ctx : Context
        A request to finish ends the search with the point that proves most so far.
    weight_d, weight_r : float
        Weights of the cost; with a limit, the weight of the limited quantity is found.
    limit : Limit, optional
        ``Limit("distortion", 0.5)``, say.
    tolerance : float
        Stop when the proven gap is at most this share of the cost.
    iterations : int
        Most Newton steps.
    """
    state = _State(alphabet, weight_d, weight_r, limit, ctx)
    best, least, stalled = state.certify(0)[0], np.inf, 0
    for step in range(iterations + 1):
        result, gap = state.certify(step)
        stalled = 0 if gap < 0.9 * least else stalled + 1
        if gap < least:
            best, least = result, gap
        if least <= tolerance or stalled >= _PATIENCE or ctx.over or not state.newton():
            break
        ctx.tell(step / 60)
    return best


@dataclass(frozen=True)
class _Direction:
    """Changes of the joint weights, the multipliers, and the limit's multiplier and slack."""

    J: Array
    u: Array
    Z: Array
    nu: float
    slack: float


class _State:
    """The state of the method: joint weights and multipliers; `newton` takes one step."""

    def __init__(
        self, alphabet: Alphabet, weight_d: float, weight_r: float, limit: Limit | None, ctx: Context
    ) -> None:
        self.a, self.limit, self.ctx = alphabet, limit, ctx
        p, d = alphabet.p, alphabet.d
        self.mask = np.ones(d.shape, bool) if alphabet.allowed is None else alphabet.allowed
        spread = self.mask.sum(axis=1)
        self.J = np.where(self.mask, (p / spread)[:, None], 0.0)
        self.factor = narrow(alphabet.B)
        self.weights = [weight_d, weight_r]
        self.slack = 1.0
        if limit is not None:
            # the start of the multiplier and of its slack: of the size of the problem, and positive
            now = alphabet.distortion(self.J) if limit.on == "distortion" else alphabet.source_risk
            ratio = (alphabet.source_risk + 1e-12) / (alphabet.distortion(self.J) + 1e-300)
            self.weights[self.index] = ratio if limit.on == "distortion" else 1.0 / ratio
            self.slack = max(limit.value, 0.1 * now)
            near, flat = alphabet.nearest(), alphabet.constant()
            self.safe = (
                (alphabet.distortion(near), alphabet.risk(near))
                if limit.on == "distortion"
                else (alphabet.risk(flat), alphabet.distortion(flat))
            )
        self.scale = weight_d * float(p @ d.mean(axis=1)) + weight_r * alphabet.source_risk + 1e-300
        g = self.gradient()
        lift = self.weights[0] * float(p @ d.mean(axis=1)) + 1e-3 * self.weights[1] * (
            1.0 + alphabet.source_risk
        )
        self.u = np.where(self.mask, g, np.inf).min(axis=1) - max(lift, 1e-12)
        self.Z = np.where(self.mask, g - self.u[:, None], 1.0)

    @property
    def index(self) -> int:
        assert self.limit is not None  # noqa: S101
        return 0 if self.limit.on == "distortion" else 1

    def gradient(self) -> Array:
        self.slope = self.a.risk_slope(self.J)
        return np.asarray(self.weights[0] * self.a.d + self.weights[1] * self.slope)

    def certify(self, step: int) -> tuple[Solution, float]:
        """Return the bound that this point proves, and its gap relative to the cost."""
        J = feasible(self.a, np.where(self.mask, self.J, 0.0))
        wd, wr = self.weights
        bound = self.a.certificate(J, weight_d=wd, weight_r=wr)
        D, R = self.a.distortion(J), self.a.risk(J)
        cost = wd * D + wr * R
        gap = cost - bound
        if self.limit is not None:
            # a limit that is missed will be met by mixing in a safe rule, which costs as much
            value, other = (D, R) if self.index == 0 else (R, D)
            safe_value, safe_other = self.safe
            over = max(0.0, value - self.limit.value)
            share = min(1.0, over / (value - safe_value)) if value > safe_value else 0.0
            gap = (
                other
                + share * max(0.0, safe_other - other)
                - bound
                + self.weights[self.index] * self.limit.value
            )
        self.gap = gap
        return Solution(J, wd, wr, bound, step), gap / max(abs(cost), _LITTLE * self.scale)

    def newton(self) -> bool:
        """Take one predictor-corrector step; return False if no step is possible."""
        J, Z, u, p, mask = self.J, self.Z, self.u, self.a.p, self.mask
        limit, slack = self.limit, self.slack
        # The same for every letter: J Z = mu/n on the central path. In proportion to p(x), rare letters would
        # run into the boundary: 120 steps instead of 30 for a normal law on a grid of 400.
        omega = np.full((len(p), 1), 1.0 / len(p))
        g = self.gradient()
        nu = self.weights[self.index] if limit is not None else 1.0
        count = float((mask * omega).sum()) + (limit is not None)
        mu = (float(np.vdot(J, Z * mask)) + (nu * slack if limit is not None else 0.0)) / count
        try:
            q, s = self.a.B @ J, J.sum(axis=0)
            system = Blocks(
                np.where(mask, J / Z, 0.0),
                lambda y: risk_rows(self.factor, q[:, y], s[y], self.weights[1]),
                self.ctx,
            )
        except np.linalg.LinAlgError:
            return False
        rows = J.sum(axis=1) - p
        inside = np.where(mask, J, 1.0)
        if limit is not None:
            a = self.a.d if self.index == 0 else self.slope
            miss = float(np.vdot(J, a)) + slack - limit.value
            Ma = system.solve(np.where(mask, a, 0.0))
            second = system.rows(Ma.sum(axis=1))
            side = system.solve(np.where(mask, second[:, None], 0.0)) - Ma
            bottom = float(np.vdot(a, side)) - slack / nu

        def direction(target: Array, limit_target: float) -> _Direction:
            Mr = system.solve(np.where(mask, u[:, None] - g + target / inside, 0.0))
            du = system.rows(-rows - Mr.sum(axis=1))
            dJ = Mr + system.solve(np.where(mask, du[:, None], 0.0))
            dnu = ds = 0.0
            if limit is not None:
                dnu = (-miss - limit_target / nu + slack - float(np.vdot(a, dJ))) / bottom
                ds = limit_target / nu - slack - slack / nu * dnu
                du, dJ = du + second * dnu, dJ + side * dnu
            dZ = np.where(mask, (target - Z * dJ) / inside - Z, 0.0)
            return _Direction(dJ, du, dZ, dnu, ds)

        def reach(step: _Direction) -> tuple[float, float]:
            primal = max(float(np.max(np.where(mask, -step.J / inside, 0.0))), -step.slack / slack, 1e-300)
            dual = max(float(np.max(np.where(mask, -step.Z / Z, 0.0))), -step.nu / nu, 1e-300)
            return min(1.0, _BACK / primal), min(1.0, _BACK / dual)

        keep, keep_limit, centre = np.zeros_like(J), 0.0, 1.0
        if self.gap <= _AHEAD * mu * count:
            step = direction(keep, 0.0)
            primal, dual = reach(step)
            after = float(np.vdot(J + primal * step.J, (Z + dual * step.Z) * mask))
            if limit is not None:
                after += (nu + dual * step.nu) * (slack + primal * step.slack)
            centre = min(1.0, max(after / (mu * count), _CENTRE) ** 3)
            most = _CORRECT * mu * omega
            keep = np.where(mask, np.clip(step.J * step.Z, -most, most), 0.0)
            keep_limit = float(np.clip(step.nu * step.slack, -mu, mu))
        step = direction(centre * mu * omega - keep, centre * mu - keep_limit)
        primal, dual = reach(step)
        if not np.isfinite(step.J).all() or max(primal, dual) < 1e-10:
            return False
        self.J = np.where(mask, J + primal * step.J, 0.0)
        self.u = u + dual * step.u
        self.Z = np.where(mask, Z + dual * step.Z, 1.0)
        if limit is not None:
            self.weights[self.index] = nu + dual * step.nu
            self.slack = slack + primal * step.slack
        return True


def risk_rows(factor: tuple[Array, Array], q: Array, s: float, weight: float) -> Array:
    """Return V with V'V the second derivative of a column's risk; q is its ``p(w, y)``, B in factors."""
    inverse = np.where(q > 0.0, np.sqrt(weight / np.where(q > 0.0, q, 1.0)), 0.0)
    r = np.sqrt(q / s)

    def change(rows: Array) -> Array:
        V = rows * inverse[:, None]
        return np.asarray(V - r[:, None] * (r @ V))

    return scaled(factor, change)
