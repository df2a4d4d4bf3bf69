"""A finite problem: the joint law of W and X, a distortion for every pair of letters, and its derivatives.

Everything is written in the *joint* weights ``J[x, y] = p(x) p(y|x)`` of a letter x and a published letter y.
The risk is then a sum over columns, each convex and homogeneous of degree 1, and the columns are coupled only
by the row sums ``sum_y J[x, y] = p(x)``. All solvers use this structure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError

Array = NDArray[np.float64]

_NOTHING = 1e-40
"""Probabilities p(w|x) below this are set to 0: they change the risk by less than 1e-37, and the denormal
numbers of their products would be a hundred times slower.
"""

_ROUNDING = 1e-15  # letters x with probabilities below the rounding of a sum do not occur
_SLACK = 1e-9  # a mass function may miss 1 by as much


@dataclass(frozen=True)
class Alphabet:
    """The letters that occur, their probabilities and distortions.

    Parameters
    ----------
    p : array, shape (n,)
        Probabilities of the letters x that occur, all positive.
    B : array, shape (w, n)
        ``p(w|x)``, for the letters w that occur; columns add up to 1.
    d : array, shape (n, m)
        Distortion of publishing y for x.
    used : array of bool, shape (N,)
        Which of the original letters x occur.
    allowed : array of bool, shape (n, m), optional
        Pairs that a rule may use; None is all of them.
    """

    p: Array
    B: Array
    d: Array
    used: NDArray[np.bool_]
    allowed: NDArray[np.bool_] | None = None

    @property
    def pw(self) -> Array:
        """Probabilities of the letters w."""
        return np.asarray(self.B @ self.p)

    @property
    def source_risk(self) -> float:
        """``I(W; X)`` in nats: the risk of publishing X unchanged."""
        return self.risk(np.diag(self.p))

    @property
    def least_distortion(self) -> float:
        """Least distortion of any rule."""
        return float(self.p @ self.d.min(axis=1))

    def distortion(self, J: Array) -> float:
        """Return the expected distortion of joint weights."""
        return float(np.vdot(J, self.d))

    def risk(self, J: Array) -> float:
        """Return ``I(W; Y)`` in nats."""
        q = self.B @ J
        return max(0.0, float(np.vdot(q, self._logratio(q, J))))

    def risk_slope(self, J: Array) -> Array:
        """Return the derivative of the risk by every joint weight, shape (n, m)."""
        return np.asarray(self.B.T @ self._logratio(self.B @ J, J))

    def _logratio(self, q: Array, J: Array) -> Array:
        """Return ``log p(w|y)/p(w)``, and 0 if w and y never meet."""
        base = np.outer(self.pw, J.sum(axis=0))
        out = np.zeros_like(q)
        there = (q > 0.0) & (base > 0.0)
        np.divide(q, base, out=out, where=there)
        return np.asarray(np.log(out, out=out, where=there))

    def nearest(self) -> Array:
        """Return the joint weights that publish the letter of least distortion, the first among ties."""
        J = np.zeros_like(self.d)
        J[np.arange(len(self.p)), self.d.argmin(axis=1)] = self.p
        return J

    def constant(self) -> Array:
        """Return the joint weights that always publish the single letter of least mean distortion: risk 0."""
        J = np.zeros_like(self.d)
        J[:, int((self.p @ self.d).argmin())] = self.p
        return J

    def certificate(self, J: Array, *, weight_d: float, weight_r: float) -> float:
        """Return a proven lower bound on ``weight_d D + weight_r R`` over all rules.

        The cost is convex, so it lies above its tangent at J; a linear function of a rule is least if
        every letter goes to its cheapest column. This is the Frank-Wolfe bound, valid for any J with
        the right row sums. A column without weight has the slope 0, which is a subgradient. If a
        letter w would appear for the first time in a used column, the slope and the bound are -inf.
        """
        slope = weight_d * self.d + weight_r * self.risk_slope(J)
        new = (self.B @ J == 0.0) & (J.sum(axis=0) > 0.0)
        if weight_r > 0.0 and new.any():
            slope[(self.B > 0.0).T.astype(float) @ new > 0.0] = -np.inf
        if self.allowed is not None:
            slope = np.where(self.allowed, slope, np.inf)
        return float(self.p @ slope.min(axis=1))  # degree 1: the tangent passes through the origin

    def rule(self, J: Array, N: int) -> Array:
        """Return ``p(y|x)`` for all N letters; letters that never occur follow their neighbours."""
        matrix = np.zeros((N, self.d.shape[1]))
        matrix[self.used] = J / J.sum(axis=1, keepdims=True)
        matrix[~self.used] = J.sum(axis=0) / J.sum()
        return matrix


def feasible(alphabet: Alphabet, J: Array) -> Array:
    """Return J with its rows scaled to add up to p(x) exactly, and no negative weight."""
    J = np.maximum(J, 0.0)
    return np.asarray(J * (alphabet.p / J.sum(axis=1))[:, None])


def check_alphabet(p_wx: ArrayLike, d: ArrayLike) -> tuple[Alphabet, Array, Array]:
    """Return the problem with the letters that occur, and both inputs as arrays; raise if invalid."""
    joint, distortion = _matrix(p_wx, "p_wx"), _matrix(d, "d")
    if (joint < 0.0).any():
        raise InputError(f"p_wx has {int((joint < 0.0).sum())} negative entries; a probability is 0 or more")
    total = float(joint.sum())
    if abs(total - 1.0) > _SLACK * max(1.0, joint.size**0.5):
        raise InputError(f"p_wx adds up to {total:.9g}, not 1; divide it by its sum if it holds counts")
    if distortion.shape[0] != joint.shape[1]:
        raise InputError(
            f"p_wx has {joint.shape[1]} letters x (columns), d has {distortion.shape[0]} rows; "
            "they must agree"
        )
    if (distortion < 0.0).any():
        raise InputError(f"d has {int((distortion < 0.0).sum())} negative entries; a distortion is 0 or more")
    joint = joint / total
    return _reduced(joint, distortion), joint, distortion


def _reduced(joint: Array, d: Array) -> Alphabet:
    """Drop letters that never occur."""
    p = joint.sum(axis=0)
    used = p > _ROUNDING
    B = joint[joint.sum(axis=1) > 0.0][:, used] / p[used]
    B[B < _NOTHING] = 0.0
    B = B[B.sum(axis=1) > 0.0]
    p = p / p[used].sum()
    return Alphabet(
        np.ascontiguousarray(p[used]), np.ascontiguousarray(B), np.ascontiguousarray(d[used]), used
    )


def _matrix(values: ArrayLike, name: str) -> Array:
    try:
        matrix = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a matrix of numbers, with as many in every row") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"{name} must be a matrix with rows and columns; its shape is {matrix.shape}")
    bad = int((~np.isfinite(matrix)).sum())
    if bad:
        raise InputError(f"{name} has {bad} entries that are missing or infinite; fill them in")
    return matrix
