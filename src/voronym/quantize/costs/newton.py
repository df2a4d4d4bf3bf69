"""Newton's method on smooth counts: soft assignment with a falling temperature."""

from __future__ import annotations

import numpy as np

from voronym._kernels import soft as kernels
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.quantize.costs.base import Assignment, Floats, Given, check_exact, cost_solver
from voronym.space import Space

BLOCK = 2_000_000
"""Number of distances in a block."""

KEPT = 20_000_000
"""Distances that are kept; more are computed again in every step."""

DIRECT = 500
"""Number of cells up to which Newton's equations are solved directly; beyond, by conjugate gradients."""

COOLING = 0.25
"""Ratio of each temperature to the previous one."""

LEAST = 0.1
"""A step keeps this share of the least mass, as in semi-discrete optimal transport."""


@cost_solver
def newton(given: Given, ctx: Context, *, tolerance: float = 1e-3, iterations: int = 200) -> Assignment:
    """Find costs that give the cells nearly their sizes, by derivatives of a smooth dual.

    The problem: maximise ``g(c) = sum_i softmin_q (d(x_i, centroid_q) + c_q) - sum_q sizes_q c_q``, with
    ``softmin(v) = -heat log sum_q exp(-v_q / heat)``. g is concave and smooth. Point i belongs to cell q
    with the share ``r_iq``, proportional to ``exp(-(d + c_q) / heat)``: each point is a cloud of noise,
    integrated in closed form. The gradient is ``p - sizes`` with ``p = sum_i r_i``, minus the Hessian is
    ``(diag(p) - R) / heat`` with ``R = sum_i r_i r_i'``, a graph Laplacian. Newton's step is halved until g
    rises enough and every cell keeps a share of the least mass. The temperature falls by steps until the
    shares are nearly whole.

    Parameters
    ----------
    X, centroids, sizes, space, start
        As in `transport`; sizes are exact, and 1 or more.
    tolerance : float
        Largest difference of a smooth count from its size, relative to the size.
    iterations : int
        Newton's steps at most.

    Returns
    -------
    Assignment
        Every point in its best cell. The sizes are approximate, the better the larger the cells; ``exact`` is
        false. A request to finish returns the costs so far.

    Notes
    -----
    Guarantee: each point is in a cell that minimises ``d + costs``; nothing about sizes. Cost: O(n m) for
    each step, and O(m^3) for its equations, or conjugate gradients for many cells.

    References
    ----------
    J. Kitagawa, Q. Mérigot and B. Thibert, "Convergence of a Newton algorithm for semi-discrete optimal
    transport", Journal of the European Mathematical Society 21 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> points = np.linspace(0.0, 1.0, 1000)
    >>> answer = newton(points, [[0.2], [0.9]], [300, 700])
    >>> np.abs(answer.sizes - [300, 700]).max() <= 3
    np.True_
    """
    target = check_exact(given.sizes, "newton")
    if (target == 0).any():
        raise InputError(
            f"newton needs sizes of 1 or more: {int((target == 0).sum())} of {len(target)} are 0"
        )
    problem = Smooth(given.X, given.C, target.astype(np.float64), given.space, ctx)
    c = given.start
    heats = problem.temperatures()
    steps = 0
    for number, heat in enumerate(heats):
        last = number == len(heats) - 1
        close = tolerance if last else max(0.1, tolerance)
        c, taken = climb(problem, c, heat, close, max(0, iterations - steps))
        steps += taken
        ctx.tell((number + 1) / len(heats))
    return problem.answer(c - c.min(), steps)


class Smooth:
    """The smooth dual of a transportation problem, in blocks of distances."""

    def __init__(self, X: Floats, C: Floats, sizes: Floats, space: Space, ctx: Context) -> None:
        self.X, self.C, self.sizes, self.space, self.ctx = X, C, sizes, space, ctx
        step = max(1, BLOCK // len(C))
        self.rows = [slice(start, start + step) for start in range(0, len(X), step)]
        self.kept = [self._matrix(rows) for rows in self.rows] if len(X) * len(C) <= KEPT else None

    def _matrix(self, rows: slice) -> Floats:
        self.ctx.check(whole=False)
        return np.ascontiguousarray(self.space.cost(self.X[rows], self.C), dtype=np.float64)

    def block(self, number: int) -> Floats:
        """Return the distances of a block of points to all centroids."""
        return self._matrix(self.rows[number]) if self.kept is None else self.kept[number]

    def temperatures(self) -> list[float]:
        """Return falling temperatures, from the scale of distances to the scale of points at the borders.

        The last is about the change in cost that moves one point between cells: with n/m points in a
        cell whose costs span its distances, this is one (n/m)-th of them.
        """
        nearest = float(np.mean([self.block(t).min(axis=1).mean() for t in range(len(self.rows))]))
        hot = max(nearest, 1e-300)
        cold = hot * max(1e-4, min(0.02, 2.0 * len(self.C) / len(self.X)))
        number = max(1, int(np.ceil(np.log(cold / hot) / np.log(COOLING))))
        return [float(heat) for heat in np.geomspace(hot, cold, number + 1)]

    def evaluate(self, c: Floats, heat: float) -> tuple[float, Floats, Floats]:
        """Return the dual value, the smooth counts, and the sums of products of shares."""
        m = len(c)
        p, R = np.zeros(m), np.zeros((m, m))
        row, members = np.empty(m), np.empty(m, np.int64)
        value = 0.0
        for number in range(len(self.rows)):
            value += kernels.shares(self.block(number), c, heat, p, R, row, members)
            self.ctx.tell(0.0)
        return value - float(self.sizes @ c), p, R

    def answer(self, c: Floats, steps: int) -> Assignment:
        """Return the best cell of each point."""
        labels = np.empty(len(self.X), np.int64)
        cost = dual = 0.0
        for number, rows in enumerate(self.rows):
            D = self.block(number)
            total = D + c
            labels[rows] = np.argmin(total, axis=1)
            here = np.arange(len(D))
            cost += float(D[here, labels[rows]].sum())
            dual += float(total[here, labels[rows]].sum())
        counts = np.bincount(labels, minlength=len(c)).astype(np.int64)
        gap = cost - (dual - float(self.sizes @ c))
        return Assignment(labels, c, counts, cost, gap, False, steps, "newton")


def climb(problem: Smooth, c: Floats, heat: float, close: float, most: int) -> tuple[Floats, int]:
    """Take damped Newton steps at one temperature until counts are close to sizes; return costs and steps."""
    value, p, R = problem.evaluate(c, heat)
    floor = LEAST * min(float(p.min()), float(problem.sizes.min()))
    for step in range(most):
        gradient = p - problem.sizes
        if problem.ctx.over or (np.abs(gradient) <= close * problem.sizes).all():
            return c, step
        direction = solve(p, R, heat, gradient)
        slope = float(gradient @ direction)
        length = 1.0
        while length > 1e-6:
            trial = problem.evaluate(c + length * direction, heat)
            if trial[1].min() > floor and trial[0] >= value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            return c, step
        c = c + length * direction
        value, p, R = trial
    return c, most


def solve(p: Floats, R: Floats, heat: float, gradient: Floats) -> Floats:
    """Return Newton's direction: the solution of ``(diag(p) - R) / heat * direction = gradient``.

    The matrix is a Laplacian, singular for constants; a little is added to its diagonal.
    """
    laplacian = (np.diag(p) - R) / heat
    diagonal = np.maximum(np.diag(laplacian), 1e-12 * p.max() / heat)
    ridge = 1e-10 * diagonal.max()
    if len(p) <= DIRECT:
        laplacian[np.diag_indices(len(p))] += ridge
        step = np.linalg.solve(laplacian, gradient)
    else:
        from scipy.sparse import csr_array, diags_array  # takes a while to load
        from scipy.sparse.linalg import cg

        sparse = csr_array(laplacian) + diags_array(np.full(len(p), ridge))
        step, _ = cg(sparse, gradient, rtol=1e-6, maxiter=10 * len(p), M=diags_array(1.0 / diagonal))
    return np.asarray(step - step.mean())
