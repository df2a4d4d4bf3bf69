"""Linear algebra of the interior-point methods, in which columns are coupled only by their row sums.

A Newton step has the matrix ``M_y = diag(1/E_y) + V_y' V_y`` for every published letter y, and one system for
the multipliers of the row sums, with the sum of the inverses. If V_y has few rows, Woodbury's identity leaves
factors of that size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.context import Context

linalg = later.module("scipy.linalg")

Array = NDArray[np.float64]

_RANK = 1e-14  # singular values below this share of the largest are rounding
_WORTH = 64  # letters below which a narrow factor gains nothing
_STACK = 1 << 22  # numbers that are multiplied at a time


def narrow(A: Array) -> tuple[Array, Array]:
    """Return U and C with ``A = U C`` if A has few dimensions, as smooth laws on fine grids have.

    U has orthonormal columns. Otherwise U is empty and C is A, which means no factor.

    Examples
    --------
    >>> U, C = narrow(np.ones((100, 100)))
    >>> U.shape, C.shape
    ((100, 1), (1, 100))
    """
    if min(A.shape) >= _WORTH:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        rank = int((s > _RANK * s[0]).sum())
        if 2 * rank <= min(A.shape):
            return np.ascontiguousarray(U[:, :rank]), s[:rank, None] * Vt[:rank]
    return np.empty((0, 0)), A


def scaled(factor: tuple[Array, Array], change: Callable[[Array], Array]) -> Array:
    """Return V with ``V'V = (change A)'(change A)``, for A in the factors of `narrow`.

    ``change`` is linear in the rows, such as a scaling of them.
    """
    U, C = factor
    return np.linalg.qr(change(U), mode="r") @ C if U.size else change(C)


class Blocks:
    """``diag(1/E_y) + V_y' V_y`` for every column y, factored, and the sum of their inverses.

    Parameters
    ----------
    E : array, shape (N, m)
        Inverse diagonals; 0 holds a variable fast.
    rows : callable
        Returns V_y, shape (r, N), for a column y.
    ctx : Context
        Checked between columns, because a step with many letters takes seconds.
    meet : int, optional
        Number of variables of the columns, from the first, that are coupled by the row sums; all by default.
    """

    def __init__(
        self, E: Array, rows: Callable[[int], Array], ctx: Context, *, meet: int | None = None
    ) -> None:
        N, m = E.shape
        self.meet = N if meet is None else meet
        self.root = np.sqrt(E)
        self.V: list[Array] = []
        self.factors: list[Array] = []
        n = self.meet
        schur = np.diag(E[:n].sum(axis=1))
        stack: list[Array] = []
        held = 0
        for y in range(m):
            ctx.check(whole=False)
            root = self.root[:, y]
            V = rows(y) * root
            self.few = len(V) < N
            gram = V @ V.T if self.few else V.T @ V
            gram[np.abs(gram) < 1e-40] = 0.0  # denormal products are slow
            gram.flat[:: len(gram) + 1] += 1.0
            L = np.asarray(np.linalg.cholesky(gram), np.float64)
            self.factors.append(L)
            if self.few:
                # Not solve_triangular: BLAS splits even ten rows among its threads, and where other
                # programs are busy that took 20 ms instead of 2 microseconds. The diagonal of L is 1 or more.
                self.V.append(V)
                stack.append((linalg.lapack.dtrtri(L, lower=1)[0] @ V[:, :n]) * root[:n])
                held += stack[-1].size
            else:
                inverse = linalg.lapack.dpotri(L, lower=True)[0][:n, :n]
                inverse.flat[:: n + 1] -= 1.0
                schur += np.outer(root[:n], root[:n]) * inverse
            if stack and (held > _STACK or y == m - 1):
                together = np.concatenate(stack)
                schur -= together.T @ together
                stack, held = [], 0
        self.schur = linalg.cho_factor(schur, lower=True, check_finite=False)  # only the lower half is filled

    def solve(self, r: Array) -> Array:
        """Return the inverse of every column's matrix times that column."""
        r = self.root * r
        out = np.empty_like(r)
        potrs = linalg.lapack.dpotrs  # what cho_solve calls; its checks took most of the time
        for y in range(r.shape[1]):
            if self.few:
                V = self.V[y]
                out[:, y] = r[:, y] - V.T @ potrs(self.factors[y], V @ r[:, y], lower=1)[0]
            else:
                out[:, y] = potrs(self.factors[y], r[:, y], lower=1)[0]
        return np.asarray(self.root * out)

    def rows(self, rhs: Array) -> Array:
        """Solve for the multipliers of the row sums."""
        return np.asarray(linalg.cho_solve(self.schur, rhs, check_finite=False))
