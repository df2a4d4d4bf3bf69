"""The closed-form bound: lemma 4, propositions 5 and 6 of the paper's appendix C."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError

Array = NDArray[np.float64]


def waterfill(gains: ArrayLike, limits: ArrayLike, total: float) -> Array:
    """Maximise ``prod (1 + gains_i x_i)`` subject to ``0 <= x_i <= limits_i`` and ``sum x <= total``.

    Lemma 4: ``x_i = max(0, min(1/μ - 1/gains_i, limits_i))`` with the μ that spends the total, or ``x =
    limits`` if these do not exceed it. The solution is exact: the points at which a term starts or stops
    are sorted.

    Parameters
    ----------
    gains : array, shape (r,)
        0 or more; a gain of 0 gets nothing unless something is left over.
    limits : array, shape (r,)
        0 or more.
    total : float
        0 or more.

    Returns
    -------
    array, shape (r,)

    Examples
    --------
    >>> waterfill([2.0, 1.0], [10.0, 10.0], 1.0).tolist()
    [0.75, 0.25]
    """
    g, y = np.asarray(gains, dtype=np.float64), np.asarray(limits, dtype=np.float64)
    if g.shape != y.shape or g.ndim != 1 or not (np.isfinite(g).all() and np.isfinite(y).all()):
        raise InputError("gains and limits are two rows of finite numbers, equally long")
    if (g < 0.0).any() or (y < 0.0).any() or not total >= 0.0:
        raise InputError("gains, limits and the total are 0 or more")
    useful = g > 0.0
    x = np.zeros_like(g)
    if y[useful].sum() <= total:
        x[useful] = y[useful]
        rest = total - x.sum()
        for i in np.flatnonzero(~useful):  # worth nothing, costs nothing
            x[i] = min(y[i], max(rest, 0.0))
            rest -= x[i]
        return x
    base = 1.0 / g[useful]  # the level at which a term starts; it stops at base + limit
    levels = np.sort(np.concatenate([base, base + y[useful]]))
    spent = np.clip(levels[:, None] - base, 0.0, y[useful]).sum(axis=1)
    at = int(np.searchsorted(spent, total, side="right")) - 1
    low = levels[at]
    rising = int(((low >= base) & (low < base + y[useful])).sum())
    level = low + (total - spent[at]) / rising if rising else low
    x[useful] = np.clip(level - base, 0.0, y[useful])
    return x


def closed_form(S: Array, G: Array, Y: Array, total: float) -> tuple[float, Array, bool]:
    """Bound ``max 1/2 log det(S + G X G')`` over ``0 <= X <= Y``, ``tr X <= total``, without optimisation.

    Proposition 5, with S positive definite. Let ``G' S^-1 G = U diag(g) U'``. For a feasible X the diagonal x
    of ``U' X U`` has ``0 <= x_i <= (U' Y U)_ii`` and the same trace. By Hadamard's inequality
    ``det(I + diag(g)^1/2 U' X U diag(g)^1/2) <= prod (1 + g_i x_i)``, which lemma 4 maximises.

    Proposition 6: where the diagonal matrix that reaches it is feasible, ``U diag(x) U' <= Y``, the bound is
    the maximum. Small totals always are: ``total`` up to the least eigenvalue of Y.

    Returns
    -------
    bound : float
        Upper bound on the maximum.
    X : array, shape (n, n)
        ``U diag(x) U'``.
    tight : bool
        Whether X is feasible, so that the bound is the maximum.
    """
    gains, U = np.linalg.eigh(G.T @ np.linalg.solve(S, G))
    gains = np.maximum(gains, 0.0)
    gains[gains < 1e-12 * max(gains.max(), 1e-300)] = 0.0
    limits = np.maximum(np.einsum("ij,ik,kj->j", U, Y, U), 0.0)
    x = waterfill(gains, limits, total)
    bound = 0.5 * (float(np.linalg.slogdet(S)[1]) + float(np.log1p(gains * x).sum()))
    X = (U * x) @ U.T
    spare = float(np.linalg.eigvalsh(Y - X)[0])
    return bound, X, spare >= -1e-10 * max(1.0, float(np.abs(Y).max()))
