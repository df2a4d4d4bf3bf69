"""The privacy-distortion function of finite alphabets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from voronym.channel.alphabet import Alphabet, Array
from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.columns import columns
from voronym.channel.interior import Limit, Solution, interior
from voronym.channel.mirror import mirror
from voronym.channel.perfect import perfect
from voronym.channel.seeing import check_letters
from voronym.core.context import Context, ProgressCallback
from voronym.core.registry import Registry
from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError

SOLVERS: Registry[Callable[..., Solution]] = Registry("method of privacy_distortion")
"""Solvers by name. A foreign solver minimises ``weight_d D + weight_r R``, and so takes a multiplier."""
SOLVERS.add("interior", columns)
SOLVERS.add("mirror", mirror)
_MEMORY = 1 << 30  # bytes of factors that the interior-point method may keep
_SILENT = 1e-13  # nats: no more than rounding

Answer = tuple[Array, float, float, int]
"""Joint weights, multiplier, proven bound on the objective, iterations."""


@checked
def privacy_distortion(
    p_wx: ArrayLike,
    d: ArrayLike,
    *,
    multiplier: float | None = None,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    method: str = "auto",
    sees_w: bool = False,
    tolerance: float = 1e-6,
    progress: ProgressCallback | None = None,
) -> FiniteChannel:
    """Find the randomised rule with the best trade-off of distortion and privacy risk.

    The problem: over all transition probabilities p(x̂|x) minimise ``D + λ R``, where ``D = E d(X, X̂)``,
    and ``R = I(W; X̂)``, in nats, is the information of the published X̂ about the confidential W. Or
    minimise R with ``D <= max_distortion``, or D with ``R <= max_risk``. The problem is convex. The
    answer comes with a proven lower bound for all rules: the Frank-Wolfe bound, computed from the answer
    alone.

    Parameters
    ----------
    p_wx : array, shape (k, n)
        Joint probabilities of the confidential letters w (rows) and the key letters x (columns).
    d : array, shape (n, m) or (k, n, m)
        Distortion of publishing letter x̂ (last axis) for letter x, or for w and x; 0 or more.
    multiplier, max_distortion, max_risk : float
        Exactly one of them: λ, or the limit on D, or the limit on R.
    method : {"auto", "interior", "mirror"}
        "interior" is a primal-dual interior-point method, 20 to 40 Newton steps; from 100 letters on each
        side it solves for the published letters that are used, and prices the others. "mirror"
        is entropic mirror descent, cheap steps and many of them; for W = X it is Blahut-Arimoto. "auto" takes
        the first while its matrices fit into a gibibyte, and the second beyond. With the distribution
        voronym-papers there is "steepest", too, the paper's own; it takes a multiplier only.
    sees_w : bool
        Whether the rule may look at w, too: p(x̂|w, x). It then has a row for every pair, and `apply` takes W.
    tolerance : float
        Stop when the proven gap is at most this share of the cost ``D + λ R``.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to get the best
        rule so far.

    Returns
    -------
    FiniteChannel
        With ``matrix``, ``distortion``, ``risk``, ``bound`` and ``gap``. A limit is met exactly, not
        approximately. The gap may exceed the tolerance if steps or digits run out; it is still valid.

    Raises
    ------
    GuaranteeError
        No rule has a distortion as low as asked.

    Notes
    -----
    Cost of a Newton step: ``m n^2 min(n, k)`` operations, m being the published letters in use. Letters that
    never occur are left out of the problem; their rows of the matrix are the overall law of X̂, which reveals
    nothing.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer: From t-closeness-like privacy to postrandomization via
    information theory, IEEE Transactions on Knowledge and Data Engineering (2010).

    Examples
    --------
    >>> import numpy as np
    >>> p_wx = np.array([[0.4, 0.1], [0.1, 0.4]])  # two diagnoses, two regions
    >>> d = 1.0 - np.eye(2)  # a wrong region costs 1
    >>> channel = privacy_distortion(p_wx, d, max_distortion=0.1)
    >>> channel.matrix.round(3).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    >>> round(channel.risk, 4), channel.gap < 1e-6
    (0.1201, True)
    """
    ctx = Context(progress=progress)
    limits = {"multiplier": multiplier, "max_distortion": max_distortion, "max_risk": max_risk}
    finite_channel = best_rule(p_wx, d, ctx, limits, method=method, sees_w=sees_w, tolerance=tolerance)
    ctx.done()
    return finite_channel


def best_rule(
    p_wx: ArrayLike,
    d: ArrayLike,
    ctx: Context,
    limits: Mapping[str, float | None],
    *,
    method: str = "auto",
    sees_w: bool = False,
    tolerance: float = 1e-6,
) -> FiniteChannel:
    """Find the rule of `privacy_distortion`; a request to finish returns the best rule so far."""
    name, value = one_limit(**limits)
    if method != "auto":
        SOLVERS[method]  # says which there are, where this is none
    if not 0.0 < tolerance < 1.0:
        raise InputError("tolerance is a share of the cost, between 0 and 1, such as 1e-6")
    alphabet, joint, distortion = check_letters(p_wx, d, sees_w=sees_w)
    chosen = _choose(alphabet) if method == "auto" else method
    if chosen not in ("interior", "mirror") and name != "multiplier":
        raise InputError(f"method {chosen!r} takes a multiplier, not {name}; take 'interior' or 'mirror'")
    answer: Answer = getattr(_Solve(alphabet, chosen, tolerance, ctx), name)(value)
    objective = {"multiplier": "cost", "max_distortion": "risk", "max_risk": "distortion"}[name]
    return replace(channel_of(alphabet, joint, distortion, answer, objective, chosen), sees_w=sees_w)


def channel_of(
    alphabet: Alphabet, joint: Array, distortion: Array, answer: Answer, objective: str, method: str
) -> FiniteChannel:
    """Return the answer of a solver as a channel."""
    J, multiplier, bound, steps = answer
    return FiniteChannel(
        matrix=alphabet.rule(J, joint.shape[1]),
        distortion=alphabet.distortion(J),
        risk=alphabet.risk(J),
        multiplier=multiplier,
        objective=objective,
        bound=bound,
        joint=joint,
        d=distortion,
        method=method,
        iterations=steps,
    )


def _choose(alphabet: Alphabet) -> str:
    n, m = alphabet.d.shape
    return "interior" if 8 * m * min(n, len(alphabet.B)) ** 2 <= _MEMORY else "mirror"


class _Solve:
    """The three kinds of limit, and the ends of the curve, which need no solver."""

    def __init__(self, alphabet: Alphabet, method: str, tolerance: float, ctx: Context) -> None:
        self.a, self.method, self.tolerance, self.ctx = alphabet, method, tolerance, ctx

    def multiplier(self, value: float) -> Answer:
        """Minimise ``D + value R``."""
        if value == 0.0 or self.a.source_risk <= _SILENT:
            return self.a.nearest(), value, self.a.least_distortion, 0
        result = self._at(value)
        return result.J, value, result.bound, result.iterations

    def max_distortion(self, value: float) -> Answer:
        """Minimise R under a limit on D."""
        least = self.a.least_distortion
        slack = 1e-12 * max(1.0, least)
        if value < least - slack:
            raise GuaranteeError(
                f"no rule has a distortion of {value:.6g} or less: publishing the nearest letter has "
                f"{least:.6g}; raise max_distortion"
            )
        constant = self.a.constant()
        if self.a.distortion(constant) <= value:
            return constant, inf, 0.0, 0
        if self.a.source_risk <= _SILENT:
            return self.a.nearest(), inf, 0.0, 0
        if value <= least + slack:
            return self._nearest()
        if self.method == "mirror":
            J, slope, bound, steps = self._bisect(
                lambda J: self.a.distortion(J) > value, lambda slope, cost: (cost - value) / slope
            )
        else:
            result = self._limited(Limit("distortion", value))
            bound = result.bound - result.weight_d * value
            J, slope, steps = result.J, 1.0 / max(result.weight_d, 1e-300), result.iterations
        J = toward(J, self.a.nearest(), self.a.distortion, value)
        if self.a.risk(J) <= 1e-6 * self.a.source_risk:
            silent_rule, _ = perfect(self.a, self.ctx)
            if self.a.distortion(silent_rule) <= value:
                return silent_rule, inf, 0.0, steps
        return J, slope, max(bound, 0.0), steps

    def max_risk(self, value: float) -> Answer:
        """Minimise D under a limit on R."""
        near = self._nearest()
        if self.a.risk(near[0]) <= value or self.a.source_risk <= _SILENT:
            return near[0], 0.0, self.a.least_distortion, near[3]
        if value == 0.0:
            J, bound = perfect(self.a, self.ctx)
            return J, inf, bound, 0
        if self.method == "mirror":
            J, slope, bound, steps = self._bisect(
                lambda J: self.a.risk(J) <= value, lambda slope, cost: cost - slope * value
            )
        else:
            result = self._limited(Limit("risk", value))
            bound = result.bound - result.weight_r * value
            J, slope, steps = result.J, result.weight_r, result.iterations
        J = toward(J, self.a.constant(), self.a.risk, value)
        return J, slope, max(bound, self.a.least_distortion), steps

    def _nearest(self) -> Answer:
        """Minimise R among the rules of least distortion: a choice only if letters are equally near."""
        least = self.a.d.min(axis=1, keepdims=True)
        allowed = self.a.d <= least + 1e-12 * np.maximum(1.0, least)
        J = self.a.nearest()
        if int(allowed.sum()) == len(allowed):
            return J, 0.0, self.a.risk(J), 0
        used = allowed.any(axis=0)
        part = replace(self.a, d=np.zeros_like(self.a.d[:, used]), allowed=allowed[:, used])
        result = interior(part, self.ctx, weight_d=0.0, tolerance=self.tolerance)
        J = np.zeros_like(self.a.d)
        J[:, used] = result.J
        return J, 0.0, result.bound, result.iterations

    def _at(self, value: float) -> Solution:
        solver = SOLVERS[self.method]
        return solver(self.a, self.ctx, weight_d=1.0, weight_r=value, tolerance=self.tolerance)

    def _limited(self, limit: Limit) -> Solution:
        return columns(self.a, self.ctx, limit=limit, tolerance=self.tolerance)

    def _bisect(self, too_high: Callable[[Array], bool], proven: Callable[[float, float], float]) -> Answer:
        """Bisect on the multiplier; return the best mixture of the last two rules.

        Every multiplier λ with ``D + λ R >= c`` for all rules proves ``R >= (c - D0)/λ`` for ``D <=
        D0``, and ``D >= c - λ R0`` for ``R <= R0``. The best of these, ``proven(λ, c)``, is the
        bound.
        """
        scale = self.a.distortion(self.a.constant()) / self.a.source_risk
        low, high = 1e-6 * scale, 1e6 * scale
        below, above = self.a.nearest(), self.a.constant()
        bound, steps = -inf, 0
        for _ in range(40):
            middle = float(np.sqrt(low * high))
            result = self._at(middle)
            steps += result.iterations
            bound = max(bound, proven(middle, result.bound))
            if too_high(result.J):
                high, above = middle, result.J
            else:
                low, below = middle, result.J
            if high / low < 1.0 + self.tolerance or self.ctx.over:
                break
        return _last(below, above, too_high), float(np.sqrt(low * high)), bound, steps


def toward(J: Array, safe: Array, measure: Callable[[Array], float], limit: float) -> Array:
    """Mix in just enough of a safe rule that a convex measure meets its limit."""
    for _ in range(60):
        now = measure(J)
        if now <= limit:
            break
        least = measure(safe)
        share = 1.0 if now <= least else min(1.0, (now - limit) / (now - least) * (1.0 + 1e-9) + 1e-15)
        J = (1.0 - share) * J + share * safe
    return J


def _last(below: Array, above: Array, too_high: Callable[[Array], bool]) -> Array:
    """Return the mixture of two rules at which a condition changes, on the side of the first rule."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        if too_high((1.0 - middle) * below + middle * above):
            high = middle
        else:
            low = middle
    return (1.0 - low) * below + low * above
