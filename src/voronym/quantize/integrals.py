"""Probabilities and centroids of cells in the plane by integration: no sample, and a bound on the error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import check_seed, checked
from voronym.errors import GuaranteeError, InputError
from voronym.quantize.quantizer import Quantizer

Floats = NDArray[np.float64]
Density = Callable[[Floats], ArrayLike]
Frame = tuple[float, float, float, float]

_ROOT = np.sqrt(15.0)
_A, _B = (6.0 - _ROOT) / 21.0, (6.0 + _ROOT) / 21.0
_POINTS = np.array([
    [1 / 3, 1 / 3, 1 / 3],
    *np.array([[1 - 2 * _A, _A, _A], [_A, 1 - 2 * _A, _A], [_A, _A, 1 - 2 * _A]]),
    *np.array([[1 - 2 * _B, _B, _B], [_B, 1 - 2 * _B, _B], [_B, _B, 1 - 2 * _B]]),
])  # fmt: skip
_WEIGHTS = np.array([9 / 40, *[(155 - _ROOT) / 1200] * 3, *[(155 + _ROOT) / 1200] * 3])
"""Radon's rule on a triangle: seven points inside, weights above 0, exact up to degree 5."""
_EDGE, _EDGE_WEIGHTS = np.polynomial.legendre.leggauss(8)
MOST_TRIANGLES = 1 << 21
"""Largest number of triangles in all."""


@dataclass(frozen=True, eq=False, repr=False)
class Masses:
    """Integrals of a density over cells.

    Parameters
    ----------
    values : array, shape (m,)
        Integral over each cell, within the frame.
    errors : array, shape (m,)
        Largest errors of the integrals if ``proven``; otherwise the change by halving the triangles.
    centroids : array, shape (m, 2)
        Centres of gravity; the quantizer's own centroid for a cell without mass.
    proven : bool
        Whether the errors are bounds.
    """

    values: Floats
    errors: Floats
    centroids: Floats
    proven: bool

    def __repr__(self) -> str:
        kind = "at most" if self.proven else "about"
        span = f"{self.values.min():.6g}..{self.values.max():.6g}"
        return f"Masses({len(self.values)} cells of {span}, error {kind} {self.errors.max():.1e})"


@checked
def integrate_cells(
    quantizer: Quantizer,
    density: Density,
    bounds: Frame,
    *,
    derivative: tuple[int, float] | None = None,
    tolerance: float = 1e-6,
) -> Masses:
    """Integrate a density over the cells of a quantizer in the plane.

    Cells are convex polygons (a power diagram). Each is cut into triangles about its middle, these into four
    again and again, and a rule of degree 5 adds up the density.

    Parameters
    ----------
    quantizer : Quantizer
        A quantizer in the plane, with squared distances.
    density : callable
        ``density(points) -> values`` for points of shape (n, 2); it need not integrate to 1.
    bounds : (left, bottom, right, top)
        The frame. Everything outside is ignored.
    derivative : (int, float), optional
        An order r of 1 to 6, and a bound on the r-th derivative of the density along any line: then the
        errors are proven. For a standard normal density of the plane, (6, 15 / 2π).
    tolerance : float
        The target error of a cell.

    Returns
    -------
    Masses

    Notes
    -----
    About the middle of a triangle of area A whose corners are at most h away, the density is a polynomial of
    degree r - 1 <= 5, which the rule integrates exactly, and a rest of at most ``B h^r / r!``. The integral
    of the rest and what the rule makes of it differ by at most ``2 A B h^r / r!``: its weights are positive.

    Examples
    --------
    >>> quantizer = Quantizer([[0.25, 0.5], [0.75, 0.5]])
    >>> masses = integrate_cells(quantizer, lambda p: np.ones(len(p)), (0, 0, 1, 1), derivative=(1, 0.0))
    >>> masses.values.round(12).tolist(), masses.centroids.round(12).tolist()
    ([0.5, 0.5], [[0.25, 0.5], [0.75, 0.5]])
    """
    if derivative is not None and not (1 <= derivative[0] <= 6 and derivative[1] >= 0):
        raise InputError("derivative is an order from 1 to 6 and a bound, 0 or more")
    if not tolerance > 0:
        raise InputError(f"tolerance must be above 0, not {tolerance!r}")
    cells = quantizer.diagram(bounds)
    values, errors = np.zeros(len(cells)), np.zeros(len(cells))
    centroids = np.array(quantizer.centroids)
    for q, corners in enumerate(cells):
        if len(corners) < 3:
            continue
        values[q], moment, errors[q] = _cell(corners, density, derivative, tolerance)
        if values[q] > 0:
            centroids[q] = moment / values[q]
    return Masses(values, errors, centroids, derivative is not None)


def _cell(
    corners: Floats, density: Density, derivative: tuple[int, float] | None, tolerance: float
) -> tuple[float, Floats, float]:
    """Integrate the density and its first moments over a polygon, halving triangles until exact enough."""
    middle = corners.mean(axis=0)
    triangles = np.stack([np.broadcast_to(middle, corners.shape), corners, np.roll(corners, -1, axis=0)], 1)
    mass, moment = _rule(triangles, density)
    while True:
        error = np.inf if derivative is None else _bound(triangles, *derivative)
        if error <= tolerance:
            return mass, moment, error
        # each halving divides the bound by 2 to the order: refuse at once if that takes too many
        turns = 1.0 if derivative is None else np.ceil(np.log2(error / tolerance) / derivative[0])
        if len(triangles) * 4.0**turns > MOST_TRIANGLES:
            raise GuaranteeError(
                f"an error of {tolerance:g} takes more than {MOST_TRIANGLES:,} triangles in a cell"
            )
        triangles = _halved(triangles)
        before, (mass, moment) = mass, _rule(triangles, density)
        if derivative is None and abs(mass - before) <= tolerance:
            return mass, moment, abs(mass - before)


def _rule(triangles: Floats, density: Density) -> tuple[float, Floats]:
    """Return the integrals of the density, and of the density times the place."""
    points = (_POINTS @ triangles).reshape(-1, 2)
    values = np.asarray(density(points), float).reshape(-1)
    if values.shape != (len(points),) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError("a density gives a finite number, 0 or more, for each point")
    weights = values * (_area(triangles)[:, None] * _WEIGHTS).reshape(-1)
    return float(weights.sum()), np.asarray(weights @ points)


def _area(triangles: Floats) -> Floats:
    a, b = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return np.asarray(0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))


def _bound(triangles: Floats, order: int, most: float) -> float:
    """Return the error bound of the rule, over all triangles."""
    away = np.sqrt(np.square(triangles - triangles.mean(axis=1, keepdims=True)).sum(axis=2).max(axis=1))
    return float(2.0 * most / factorial(order) * (_area(triangles) * away**order).sum())


def _halved(triangles: Floats) -> Floats:
    """Cut each triangle into four by the middles of its sides."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([np.stack(part, axis=1) for part in parts])


@checked
def design_integral(
    density: Density,
    cells: int,
    bounds: Frame,
    *,
    probabilities: ArrayLike | None = None,
    init: ArrayLike | None = None,
    iterations: int = 100,
    tolerance: float = 1e-9,
    seed: int | np.random.Generator | None = 0,
    progress: ProgressCallback | None = None,
) -> Quantizer:
    """Design cells of given probabilities for a density of the plane, without a sample.

    Probability-constrained Lloyd with integrals in place of counts: costs by Newton's method, whose matrix
    are integrals of the density along the borders; centroids are centres of gravity.

    Parameters
    ----------
    density, bounds
        As in `integrate_cells`.
    cells : int
        Number of cells.
    probabilities : array, shape (cells,), optional
        Shares of the mass within the frame; equal by default.
    init : array, shape (cells, 2), optional
        First centroids; by default drawn in proportion to the density.
    iterations : int
        Rounds, at most.
    tolerance : float
        Largest error of the share of a cell.
    seed, progress
        As in `design_density`.

    Returns
    -------
    Quantizer

    Examples
    --------
    >>> made = design_integral(lambda p: 2 * p[:, 0], 2, (0, 0, 1, 1))
    >>> masses = integrate_cells(made, lambda p: 2 * p[:, 0], (0, 0, 1, 1), derivative=(2, 0.0))
    >>> masses.values.round(8).tolist()
    [0.5, 0.5]
    """
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        raise InputError(f"cells must be a whole number, 1 or more, not {cells!r:.40}")
    ctx = Context(progress=progress)
    target = np.full(cells, 1.0 / cells) if probabilities is None else np.asarray(probabilities, float)
    if target.shape != (cells,) or (target <= 0).any() or abs(target.sum() - 1) > 1e-9:
        raise InputError(f"probabilities are {cells} numbers above 0 that add up to 1")
    centroids = _first(density, cells, bounds, seed) if init is None else np.array(init, float)
    if centroids.shape != (cells, 2):
        raise InputError(f"init has the shape ({cells}, 2), not {centroids.shape}")
    costs = np.zeros(cells)
    for step in range(iterations):
        ctx.tell(step / iterations)
        costs, masses = _balanced(centroids, costs, density, bounds, target, tolerance)
        moved = float(np.abs(masses.centroids - centroids).max())
        if moved < 1e-7 * (bounds[2] - bounds[0]) or ctx.over or step == iterations - 1:
            break
        centroids = masses.centroids
    ctx.done()
    return Quantizer(centroids, costs)


def _first(density: Density, cells: int, bounds: Frame, seed: int | np.random.Generator | None) -> Floats:
    """Draw first centroids in proportion to the density, on a grid."""
    left, bottom, right, top = bounds
    side = np.linspace(0.0, 1.0, 129)[:-1] + 1 / 256
    x, y = np.meshgrid(left + side * (right - left), bottom + side * (top - bottom))
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    weights = np.asarray(density(grid), float)
    if not weights.sum() > 0 or np.count_nonzero(weights) < cells:
        raise InputError("the density is 0 in most of the frame: there are fewer places than cells")
    chosen = check_seed(seed).choice(len(grid), cells, replace=False, p=weights / weights.sum())
    return np.asarray(grid[chosen])


def _balanced(
    centroids: Floats, costs: Floats, density: Density, bounds: Frame, target: Floats, tolerance: float
) -> tuple[Floats, Masses]:
    """Find costs that give every cell its share, by Newton's method, damped so that no cell becomes empty."""

    def look(c: Floats) -> tuple[Masses, Floats]:
        masses = integrate_cells(Quantizer(centroids, c), density, bounds, tolerance=tolerance / 10)
        return masses, masses.values / masses.values.sum() - target

    masses, off = look(costs)
    if (masses.values <= 0).any():  # too far from where they were
        costs = np.zeros(len(costs))
        masses, off = look(costs)
    if (masses.values <= 0).any():
        raise GuaranteeError("a cell has no mass at first: give other first centroids")
    floor = 0.5 * min(float((off + target).min()), float(target.min()))
    for _ in range(60):
        if np.abs(off).max() <= tolerance:
            break
        J = _borders(Quantizer(centroids, costs), density, bounds) / masses.values.sum()
        step = np.linalg.lstsq(J, -off, rcond=None)[0]
        length = 1.0
        while length > 1e-6:
            trial, change = look(costs + length * step)
            if (change + target).min() >= floor and np.abs(change).sum() < (1 - length / 4) * np.abs(
                off
            ).sum():
                break
            length /= 2
        else:
            break
        costs, masses, off = costs + length * step, trial, change
    return costs - costs.min(), masses


def _borders(quantizer: Quantizer, density: Density, bounds: Frame) -> Floats:
    """Return the derivative of masses by costs: a border moves by 1 / 2|x_i - x_j| per unit of cost."""
    C, costs = quantizer.centroids, quantizer.costs
    J = np.zeros((len(C), len(C)))
    for i, corners in enumerate(quantizer.diagram(bounds)):
        if len(corners) < 3:
            continue
        start, end = corners, np.roll(corners, -1, axis=0)
        middle = (start + end) / 2
        value = np.square(middle[:, None] - C).sum(axis=2) + costs
        own = value[:, i].copy()
        value[:, i] = np.inf
        other = value.argmin(axis=1)
        inner = np.abs(value[np.arange(len(own)), other] - own) <= 1e-7 * (1.0 + np.abs(own))
        for a, b, j in zip(start[inner], end[inner], other[inner], strict=True):
            points = a + (_EDGE[:, None] + 1) / 2 * (b - a)
            along = float(_EDGE_WEIGHTS @ np.asarray(density(points), float)) / 2 * float(np.hypot(*(b - a)))
            J[i, j] += along / (2.0 * float(np.hypot(*(C[i] - C[j]))))
    np.fill_diagonal(J, -J.sum(axis=1))
    return J
