"""The cost model of Euclidean records: the sum of squared distances to the mean.

All changes are exact, whatever the size of the step: m is the size of a cell and c its mean before the move.
A record that joins adds ``m/(m+1) |x - c|²``, one that leaves takes ``m/(m-1) |x - c|²`` away (R2 and R3 of
Mortazavi and Jalili), and one that takes another's place changes the squares as `change` says (R1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement, inner
from voronym._kernels.plain import between

CLOSE = 1.0 + 1e-9  # bounds give way by more than their own rounding


class Squares(NamedTuple):
    """Means and squares of the cells."""

    points: NDArray[np.float64]  # (n, d) the records
    centroids: NDArray[np.float64]  # (room, d) the means
    square: NDArray[np.float64]  # (n,) squared distance to the own mean, at the last `refresh`
    radius: NDArray[np.float64]  # (room,) the largest distance, likewise


def make(points: NDArray[np.float64], room: int) -> Squares:
    """Return a model with this number of cells; refresh them before use."""
    n, d = points.shape
    return Squares(points, np.zeros((room, d)), np.zeros(n), np.zeros(room))


@implement(operations.refresh, Squares)
def _refresh(model, cells, p):
    X, begin, size = model.points, cells.start[p], cells.sizes[p]
    for j in range(X.shape[1]):
        total = 0.0
        for t in range(begin, begin + size):
            total += X[cells.members[t], j]
        model.centroids[p, j] = total / size if size > 0 else 0.0
    largest = 0.0
    for t in range(begin, begin + size):
        i = cells.members[t]
        model.square[i] = between(X, i, model.centroids, p)
        largest = max(largest, model.square[i])
    model.radius[p] = math.sqrt(largest)


@implement(operations.update, Squares)
def _update(model, cells, p, out, new):
    X, size = model.points, cells.sizes[p]
    if size == 0:
        return
    for a in range(X.shape[1]):
        mean = model.centroids[p, a]
        if new < 0:
            model.centroids[p, a] = mean + (mean - X[out, a]) / size
        elif out < 0:
            model.centroids[p, a] = mean + (X[new, a] - mean) / size
        else:
            model.centroids[p, a] = mean + (X[new, a] - X[out, a]) / size


@implement(operations.cost, Squares)
def _cost(model, cells, p):
    total = 0.0
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        total += between(model.points, cells.members[t], model.centroids, p)
    return total


@inner
def replaced(X, centroids, p, out, new, share):
    """Return ``(x_new - x_out) · (2 (x_out - c) + (x_new - x_out) (m - 1) / m)``."""
    total = 0.0
    for a in range(X.shape[1]):
        step = X[new, a] - X[out, a]
        total += step * (2.0 * (X[out, a] - centroids[p, a]) + step * share)
    return total


@implement(operations.change, Squares)
def _change(model, cells, p, out, new, limit):
    size, total = cells.sizes[p], 0.0
    if out < 0:
        total = size / (size + 1.0) * between(model.points, new, model.centroids, p)
    elif new < 0:
        if size > 1:
            total = -size / (size - 1.0) * between(model.points, out, model.centroids, p)
    else:
        total = replaced(model.points, model.centroids, p, out, new, (size - 1.0) / size)
    return total


@implement(operations.approach, Squares)
def _approach(model, cells, i, q):
    """Return ``|x_i - c_q|²``, its root, ``|x_i - c_p|`` and ``1/m_p + 1/m_q``, once, not for each swap."""
    across = between(model.points, i, model.centroids, q)
    weight = 1.0 / cells.sizes[cells.labels[i]] + 1.0 / cells.sizes[q]
    return across, math.sqrt(across), math.sqrt(model.square[i]), weight


@implement(operations.shift, Squares)
def _shift(model, cells, i, q, shared, limit):
    m_p, m_q = cells.sizes[cells.labels[i]], cells.sizes[q]
    return m_q / (m_q + 1.0) * shared[0] + -m_p / (m_p - 1.0) * model.square[i]


@implement(operations.swap, Squares)
def _swap(model, cells, i, j, shared, limit):
    """Return ``|x_j - c_p|² - |x_j - c_q|² + |x_i - c_q|² - |x_i - c_p|² - |x_i - x_j|² (1/m_p + 1/m_q)``.

    The distances are computed only where the triangle inequality leaves hope.
    """
    across, root, inside, weight = shared
    result = math.inf  # one way out: with more, numba counts references to the arrays in the loop that calls
    change = across - model.square[i] - model.square[j]
    most = root + math.sqrt(model.square[j])
    if change - CLOSE * weight * most * most < limit:
        apart = between(model.points, i, model.points, j)
        change -= weight * apart
        least = max(0.0, math.sqrt(apart) - inside)
        if change + least * least / CLOSE < limit:
            result = change + between(model.points, j, model.centroids, cells.labels[i])
    return result


@implement(operations.least_swap, Squares)
def _least_swap(model, cells, i, j, shared):
    across, root, _, weight = shared
    most = root + math.sqrt(model.square[j])  # |x_i - x_j| at most
    return across - model.square[i] - model.square[j] - weight * most * most
