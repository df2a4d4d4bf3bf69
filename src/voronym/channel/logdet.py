"""Maximise a log-determinant over matrices between 0 and I of limited trace, with a proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.context import Context
from voronym.errors import InputError

linalg = later.module("scipy.linalg")
optimize = later.module("scipy.optimize")

Array = NDArray[np.float64]

_LARGEST = 60  # rows; the Newton matrix has as many unknowns squared, halved


@dataclass(frozen=True)
class Optimum:
    """The best matrix, its value, and the largest possible gain over it."""

    T: Array
    value: float
    gap: float
    iterations: int


def maximise(S: Array, K: Array, P: Array, total: float, ctx: Context, *, tolerance: float = 1e-9) -> Optimum:
    """Maximise ``1/2 log det(S + K T K')`` over symmetric T, ``0 <= T <= I``, ``tr(P T) <= total``.

    A barrier method: Newton's on ``f(T) t + log det T + log det(I - T) + log(total - tr P T)`` for
    growing t, in the n(n+1)/2 entries of T; each t costs a few Cholesky factorisations of that size. The
    result is checked against the linear problem at T (see `certify`), independently of the barrier.

    Parameters
    ----------
    S : array, shape (m, m)
        Nonnegative definite; ``S + K K'`` positive definite.
    K : array, shape (m, n)
    P : array, shape (n, n)
        Positive definite.
    total : float
        Above 0 and below tr P.
    ctx : Context
        A request to finish ends the search with the best matrix so far.
    tolerance : float
        Stop when the proven gap is at most this.
    """
    n = len(P)
    if n > _LARGEST:
        raise InputError(f"{n} dimensions are more than the {_LARGEST} that the bound is computed for")
    half = _half(n)
    T = np.eye(n) * min(0.5, 0.5 * total / float(np.trace(P)))
    weight, steps, exhausted = 1.0, 0, False
    best = Optimum(T, *_at(S, K, P, total, T), 0)
    for _ in range(60):
        for _ in range(50):
            ctx.check(whole=False)
            steps += 1
            slope, curve = _barrier(S, K, P, total, T, weight, half)
            scale = 1.0 / np.sqrt(np.diag(curve))  # entries near a bound are stiffer by many orders
            try:
                factor = linalg.cho_factor(scale[:, None] * curve * scale, check_finite=False)
            except linalg.LinAlgError:
                exhausted = True
                break
            move = scale * linalg.cho_solve(factor, scale * slope, check_finite=False)
            decrement = float(slope @ move)
            M = (half @ move).reshape(n, n)
            size, now = 1.0, _potential(S, K, P, total, T, weight)
            while (
                size > 1e-12
                and _potential(S, K, P, total, T + size * M, weight) < now + 0.1 * size * decrement
            ):
                size *= 0.5
            if size <= 1e-12:
                break
            T = T + size * M
            T = 0.5 * (T + T.T)
            if decrement < 1e-8 or ctx.over:
                break
        value, gap = _at(S, K, P, total, T)
        if gap < best.gap:
            best = Optimum(T, value, gap, steps)
        if best.gap <= tolerance or exhausted or weight > 1e15 or ctx.over:
            break
        weight *= 20.0
    return best


def certify(G: Array, P: Array, total: float) -> float:
    """Return an upper bound on ``tr(G T)`` over ``0 <= T <= I``, ``tr(P T) <= total``, by the dual.

    For any price ν >= 0, ``tr(G T) <= ν total + sum of the positive eigenvalues of G - ν P``. The best ν
    is a convex problem; every ν gives a valid bound.
    """

    def dual(price: float) -> float:
        return price * total + float(np.maximum(np.linalg.eigvalsh(G - price * P), 0.0).sum())

    high = max(float(linalg.eigh(G, P, eigvals_only=True)[-1]), 0.0)  # above it nothing is positive
    if high <= 0.0:
        return dual(0.0)
    result = optimize.minimize_scalar(
        dual, bounds=(0.0, high), method="bounded", options={"xatol": 1e-13 * high}
    )
    return min(dual(0.0), dual(high), float(result.fun))


def _at(S: Array, K: Array, P: Array, total: float, T: Array) -> tuple[float, float]:
    """Return the value of a feasible T and its gap: the tangent of a concave function lies above it."""
    inside = S + K @ T @ K.T
    value = 0.5 * float(np.linalg.slogdet(inside)[1])
    G = 0.5 * K.T @ np.linalg.solve(inside, K)
    return value, max(0.0, certify(0.5 * (G + G.T), P, total) - float(np.vdot(G, T)))


def _potential(S: Array, K: Array, P: Array, total: float, T: Array, weight: float) -> float:
    left = total - float(np.vdot(P, T))
    if left <= 0.0:
        return -np.inf
    out = np.log(left)
    for matrix, factor in ((T, 1.0), (np.eye(len(T)) - T, 1.0), (S + K @ T @ K.T, 0.5 * weight)):
        try:
            out += factor * 2.0 * float(np.log(np.diag(np.linalg.cholesky(matrix))).sum())
        except np.linalg.LinAlgError:
            return -np.inf
    return float(out)


def _barrier(
    S: Array, K: Array, P: Array, total: float, T: Array, weight: float, half: Array
) -> tuple[Array, Array]:
    """Return gradient and negative Hessian of the potential in the entries on and below the diagonal."""
    n = len(T)
    inner = K.T @ np.linalg.solve(S + K @ T @ K.T, K)
    low, high = np.linalg.inv(T), np.linalg.inv(np.eye(n) - T)
    left = total - float(np.vdot(P, T))
    G = 0.5 * weight * inner + low - high - P / left
    curve = 0.5 * weight * np.kron(inner, inner) + np.kron(low, low) + np.kron(high, high)
    flat = P.ravel()
    curve += np.outer(flat, flat) / left**2
    return half.T @ G.ravel(), half.T @ curve @ half


def _half(n: int) -> Array:
    """Return the matrix that spreads the entries on and below the diagonal over a symmetric matrix."""
    rows, columns = np.tril_indices(n)
    spread = np.zeros((n * n, len(rows)))
    spread[rows * n + columns, np.arange(len(rows))] = 1.0
    spread[columns * n + rows, np.arange(len(rows))] = 1.0
    return spread
