"""The cost adjustment of the papers: Levenberg and Marquardt on finite differences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.quantize import _assign
from voronym.quantize.costs import SOLVERS
from voronym.quantize.costs.base import Assignment, Floats, Given, Integers, check_exact, cost_solver
from voronym.space import Euclidean, Space
from voronym_papers.solvers import kernels

SHARES = (0.05, 0.2, 0.025, 0.5, 0.0125)
"""Shares of its points that a cell should lose when its cost is raised for a finite difference. The first is
the papers'; the others are tried in turn if it fails.
"""

PROJECTED = 50
"""Number of cells up to which the Jacobian is projected; beyond, its rows are made to sum to 0, which is much
faster.
"""

DENSE = 600
"""Number of cells above which the Jacobian is sparse, and conjugate gradients solve for the step."""

NEAR = 24
"""Number of best cells that are kept for each point within one call; at most half of all cells."""


@SOLVERS.register("levenberg-marquardt")
@cost_solver
def levenberg_marquardt(
    given: Given,
    ctx: Context,
    *,
    tolerance: float = 0.005,
    iterations: int = 100,
    damping: str = "tikhonov",
) -> Assignment:
    """Find costs c with ``p(c) = shares of points in the cells - shares asked for = 0``, to a tolerance.

    The problem: minimise ``|p(c)|²``, as the papers do. In each step the Jacobian J of p is estimated by
    raising one cost at a time, so far that the cell loses about 5 % of its points (Brent's method finds how
    far); only that cell's own points are assigned again, because no other point can move. For a density J is
    symmetric and negative semidefinite, so its estimate is replaced by the nearest such matrix. The step
    solves ``(JᵀJ + μ S) δ = -Jᵀp``, with S = I ("tikhonov") or the diagonal of JᵀJ ("marquardt"), and is
    halved until Armijo's rule holds. If that fails, μ rises.

    For finite data p is a step function, and J an approximation. With some hundred points per cell it works;
    with a few it does not, nor with `Manhattan`, where the costs to two centroids differ by the same amount
    in whole regions, which then change hands at once. `transport` has no such limits, is exact and faster;
    this solver is for comparison.

    Parameters
    ----------
    X, centroids, sizes, space, start
        As in `transport`; sizes are exact. A cell without points first gets a lower cost.
    tolerance : float
        Largest error of a cell's size, as a share of the requested size; an error of one point is always
        allowed.
    iterations : int
        Steps, at most.
    damping : {"tikhonov", "marquardt"}
        S, above.

    Returns
    -------
    Assignment
        Each point in its cell of least ``d + cost``, ties to the lowest index. ``exact`` is False even if the
        sizes are met; if the tolerance was not reached, the nearest result is returned. ``iterations`` are
        the steps. A request to finish returns the best so far.

    Notes
    -----
    The papers call the projection optional. With more than 50 cells J gets a diagonal instead that makes its
    rows sum to 0, as they do for a density, which is negative semidefinite, too; with more than 600 it is
    sparse, and conjugate gradients solve for δ. When no step gains at 5 %, other shares are tried.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((1000, 1))
    >>> found = levenberg_marquardt(X, [[0.2], [0.8]], [700, 300])
    >>> bool(abs(found.sizes - [700, 300]).max() <= 2)
    True
    """
    target = check_exact(given.sizes, "levenberg-marquardt")
    if damping not in ("tikhonov", "marquardt"):
        raise InputError(f'damping is "tikhonov" or "marquardt", not {damping!r}')
    if not tolerance >= 0 or iterations < 0:
        raise InputError("tolerance and iterations must be 0 or more")
    work, unit = _scaled(given, ctx)
    allowed = np.maximum(1.0, float(tolerance) * target)
    view = work.look(np.ldexp(given.start, -unit))
    best, done = view, 0
    mu, tried = 1e-3, 0
    while done < iterations and not ctx.over and not (np.abs(view.counts - target) <= allowed).all():
        ctx.tell(done / iterations)
        done += 1
        view = work.fill(view)
        moved, mu = work.step(view, mu, SHARES[tried], damping)
        if moved is None:
            tried, mu = tried + 1, 1e-3
            if tried == len(SHARES):
                break
            continue
        view, tried = moved, 0
        if view.error < best.error:
            best = view
    if view.error < best.error:
        best = view
    costs = np.ldexp(best.costs - best.costs.min(), unit)
    cost = float(np.ldexp(work.space.paired(work.X, work.C, best.labels).sum(), unit))
    gap = float(costs @ (target - best.counts))
    return Assignment(best.labels, costs, best.counts, cost, gap, False, done, "levenberg-marquardt")


class _Scaled(Space):
    """A space whose costs are divided by a power of two."""

    name = "scaled"

    def __init__(self, space: Space, unit: int) -> None:
        self.space, self.unit = space, unit

    def cost(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(np.ldexp(self.space.cost(X, Y), -self.unit))

    def centroid(self, X: Floats) -> Floats:
        return self.space.centroid(X)


def _scaled(given: Given, ctx: Context) -> tuple[_Work, int]:
    """Return the problem with costs near 1, and their binary exponent: JᵀJ has their inverse fourth power.

    Scaling by powers of two changes no bit. Squared distances scale with the coordinates; in spaces
    without coordinates the costs are divided.
    """
    X, C, sizes, space, _ = given
    target, flat, places = sizes.low, space.coordinates(X), space.coordinates(C)
    if flat is None or places is None:
        unit = int(np.frexp(space.cost(X, C[:1]).max())[1])
        return _Work(X, C, target, _Scaled(space, unit), ctx), unit
    spread = max(float(np.ptp(flat, axis=0).max()), float(np.abs(places - flat[0]).max()))
    half = int(np.frexp(spread)[1])
    return _Work(np.ldexp(flat, -half), np.ldexp(places, -half), target, Euclidean(), ctx), 2 * half


class _View(NamedTuple):
    """The effect of costs: the best and the next best cell of each point, and their difference."""

    costs: Floats
    labels: Integers
    second: Integers
    gaps: Floats
    counts: Integers
    error: float


class _Seen:
    """The two best cells of all points, for changing costs and fixed centroids.

    The cells of least value of each point are kept, with the least value of all others. If no cost has
    fallen by more than some amount since, no other cell is below that value less this amount. So in most
    cases only a few cells are examined. The result is the same to the last bit.
    """

    def __init__(self, X: Floats, C: Floats, ctx: Context) -> None:
        self.X, self.columns, self.ctx = X, np.ascontiguousarray(C.T), ctx
        self.values = np.empty(len(C))
        self.step = max(1, 100 * _assign.BLOCK // C.size)
        self.keeps = len(C) >= 2 * NEAR
        self.costs: Floats | None = None

    def fill(self, costs: Floats, labels: Integers, second: Integers, gaps: Floats) -> None:
        """Fill the best cell of each point, the next best, and the gap between them."""
        if not self.keeps:
            self._blocks(kernels.two_best, (self.X, self.columns, costs, self.values), labels, second, gaps)
            return
        if self.costs is None:
            n = len(self.X)
            self.near, self.floors, self.costs = np.empty((n, NEAR), np.int64), np.empty(n), costs
            least = np.empty(NEAR + 1)
            given = (self.X, self.columns, costs, self.values, least, self.near, self.floors)
            self._blocks(kernels.gather, given, labels, second, gaps)
            return
        floors = self.floors + (costs - self.costs).min()
        top = float(np.abs(self.floors).max() + np.abs(costs).max() + np.abs(self.costs).max())
        kept = (self.X, self.columns, costs, self.values, self.near, floors, top)
        if self._blocks(kernels.two_best_near, kept, labels, second, gaps) > len(self.X) // 4:
            self.costs = None  # too far from where they were seen

    def _blocks(self, kernel: Any, given: tuple[Any, ...], *outputs: Any) -> int:
        scanned = 0
        for begin in range(0, len(self.X), self.step):
            self.ctx.check(whole=False)
            scanned += kernel(*given, *outputs, begin, min(len(self.X), begin + self.step)) or 0
        return scanned


class _Work:
    def __init__(self, X: Floats, C: Floats, target: Integers, space: Space, ctx: Context) -> None:
        self.X, self.C, self.target, self.space, self.ctx = X, C, target, space, ctx
        self.flat = space.coordinates(C) is not None
        self.seen = _Seen(X, C, ctx)

    def look(self, costs: Floats) -> _View:
        """Assign all points."""
        n, m = len(self.X), len(self.C)
        labels, second, gaps = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
        if self.flat and m > 1:
            self.seen.fill(costs, labels, second, gaps)
        elif m > 1:
            step = max(1, _assign.BLOCK // self.C.size)
            for begin in range(0, n, step):
                self.ctx.check(whole=False)
                end = min(n, begin + step)
                table = self.space.cost(self.X[begin:end], self.C) + costs
                rows = np.arange(end - begin)
                first = np.argmin(table, axis=1)
                least = table[rows, first]
                table[rows, first] = np.inf
                labels[begin:end], second[begin:end] = first, np.argmin(table, axis=1)
                gaps[begin:end] = table[rows, second[begin:end]] - least
        counts = np.bincount(labels, minlength=m).astype(np.int64)
        return _View(costs, labels, second, gaps, counts, float(np.square(counts - self.target).sum()))

    def fill(self, view: _View) -> _View:
        """Lower the costs of empty cells until they win their share of points."""
        empty = np.flatnonzero((view.counts == 0) & (self.target > 0))
        if not len(empty):
            return view
        costs, last = view.costs.copy(), len(self.X) - 1
        best = self.space.paired(self.X, self.C, view.labels) + costs[view.labels]
        for q in empty:  # one after the other: what the last one won is dearer to win
            own = self.space.cost(self.X, self.C[q : q + 1])[:, 0]
            rank = last - min(int(self.target[q]), last)
            costs[q] = np.partition(best - own, rank)[rank]
            best = np.minimum(best, own + costs[q])
        return self.look(costs)

    def jacobian(self, view: _View, share: float) -> Any:
        """Estimate the Jacobian of the shares: column q from a rise of cost q that loses it ``share``."""
        n, m = len(self.X), len(self.C)
        order = np.lexsort((view.gaps, view.labels))
        starts = np.concatenate([[0], np.cumsum(view.counts)])
        rise = np.empty(m)
        kernels.rises(view.gaps[order], starts, share, rise)
        first = np.zeros(m)
        first[view.counts > 0] = view.gaps[order[starts[:-1][view.counts > 0]]]
        least = 1e-9 * float(view.gaps.max())  # where points tie, a derivative is a matter of taste
        rise = np.maximum(np.maximum(rise, least), np.nextafter(first, np.inf))  # at least one point leaves
        leaves = np.flatnonzero(view.gaps < rise[view.labels])
        here, there = view.labels[leaves], view.second[leaves]
        rate = 1.0 / (n * rise[here])
        if m > DENSE:
            from scipy.sparse import coo_array, diags_array  # takes a while to load

            entries = np.concatenate([rate, -rate])
            J = coo_array((entries, (np.r_[there, here], np.r_[here, here])), shape=(m, m)).tocsr()
            even = (J + J.T) / 2
            return even - diags_array(np.asarray(even.sum(axis=1)).reshape(-1))
        flat = np.bincount(there * m + here, rate, m * m) - np.bincount(here * m + here, rate, m * m)
        J = np.asarray(flat, np.float64).reshape(m, m)
        return nearest_negative(J) if m <= PROJECTED else laplacian(J)

    def step(self, view: _View, mu: float, share: float, damping: str) -> tuple[_View | None, float]:
        """Return the result of a damped step and the next μ; None if no step gains."""
        n = len(self.X)
        if not view.gaps.any():
            return None, mu
        J = self.jacobian(view, share)
        p = (view.counts - self.target) / n
        gradient = J.T @ p
        if not np.any(gradient):
            return None, mu
        normal = J.T @ J if isinstance(J, np.ndarray) else None
        for _ in range(4):
            delta = _solve(J, normal, gradient, mu, damping)
            slope = float(gradient @ delta)
            length = 1.0
            for _ in range(4):
                trial = self.look(view.costs + length * delta)
                if trial.error <= view.error + 2e-4 * length * slope * n * n and trial.error < view.error:
                    return trial, max(mu / 4, 1e-6)
                length /= 2
            mu *= 16
        return None, mu


def nearest_negative(J: Floats) -> Floats:
    """Return the negative semidefinite matrix nearest to J in the Frobenius norm.

    Its symmetric part, with the positive eigenvalues set to 0 (Higham 1988 has the proof).

    Examples
    --------
    >>> import numpy as np
    >>> (nearest_negative(np.array([[-1.0, 2.0], [-2.0, 3.0]])) + 0.0).tolist()
    [[-1.0, 0.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh((J + J.T) / 2)
    return np.asarray((vectors * np.minimum(values, 0.0)) @ vectors.T)


def laplacian(J: Floats) -> Floats:
    """Return J made symmetric, with a diagonal that makes all rows sum to 0.

    This holds for a density, for which others gain what one cell loses. If no number off the diagonal is
    negative, such a matrix is negative semidefinite (its rows are dominated by their diagonals).

    Examples
    --------
    >>> import numpy as np
    >>> laplacian(np.array([[-1.0, 2.0], [1.0, -2.0]])).tolist()
    [[-1.5, 1.5], [1.5, -1.5]]
    """
    even = (J + J.T) / 2
    np.fill_diagonal(even, 0.0)
    np.fill_diagonal(even, -even.sum(axis=1))
    return np.asarray(even)


def _solve(J: Any, normal: Floats | None, gradient: Floats, mu: float, damping: str) -> Floats:
    """Return δ with ``(JᵀJ + μ S) δ = -gradient``; μ is relative to the mean of the diagonal for S = I.

    ``normal`` is JᵀJ where J is dense.
    """
    if normal is not None:
        diagonal = np.diag(normal)
        weights = _weights(diagonal, mu, damping)
        return np.asarray(np.linalg.solve(normal + np.diag(weights), -gradient))
    from scipy.sparse.linalg import LinearOperator, cg

    diagonal = np.asarray(J.multiply(J).sum(axis=0)).reshape(-1)
    weights = _weights(diagonal, mu, damping)
    inverse = 1.0 / (diagonal + weights)
    operator = LinearOperator(J.shape, matvec=lambda v: J.T @ (J @ v) + weights * v)
    jacobi = LinearOperator(J.shape, matvec=lambda v: inverse * v)
    return np.asarray(cg(operator, -gradient, rtol=1e-6, maxiter=10 * len(gradient), M=jacobi)[0])


def _weights(diagonal: Floats, mu: float, damping: str) -> Floats:
    mean = float(diagonal.mean())
    if damping == "marquardt":
        return np.asarray(mu * np.maximum(diagonal, 1e-9 * mean))
    return np.full(len(diagonal), mu * mean)
