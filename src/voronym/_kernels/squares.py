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
from voronym._kernels import implement
from voronym._kernels.plain import squared_distance

CLOSE = 1.0 + 1e-9  # bounds give way by more than their own rounding


class Squares(NamedTuple):
    """Means and squares of the cells."""

    points: NDArray[np.float64]  # (n, d) the records
    means: NDArray[np.float64]  # (room, d)
    square: NDArray[np.float64]  # (n,) squared distance to the own mean, at the last `refresh`
    radius: NDArray[np.float64]  # (room,) the largest distance, likewise


def make(points: NDArray[np.float64], room: int) -> Squares:
    """Return the model of so many cells; refresh them before use."""
    n, d = points.shape
    return Squares(points, np.zeros((room, d)), np.zeros(n), np.zeros(room))


@implement(operations.refresh, Squares)
def _refresh(model, cells, p):
    X, begin, size = model.points, cells.start[p], cells.sizes[p]
    for j in range(X.shape[1]):
        total = 0.0
        for t in range(begin, begin + size):
            total += X[cells.members[t], j]
        model.means[p, j] = total / size if size > 0 else 0.0
    largest = 0.0
    for t in range(begin, begin + size):
        i = cells.members[t]
        model.square[i] = squared_distance(X, i, model.means[p])
        largest = max(largest, model.square[i])
    model.radius[p] = math.sqrt(largest)


@implement(operations.update, Squares)
def _update(model, cells, p, out, new):
    X, size = model.points, cells.sizes[p]
    if size == 0:
        return
    for a in range(X.shape[1]):
        mean = model.means[p, a]
        if new < 0:
            model.means[p, a] = mean + (mean - X[out, a]) / size
        elif out < 0:
            model.means[p, a] = mean + (X[new, a] - mean) / size
        else:
            model.means[p, a] = mean + (X[new, a] - X[out, a]) / size


@implement(operations.cost, Squares)
def _cost(model, cells, p):
    total = 0.0
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        total += squared_distance(model.points, cells.members[t], model.means[p])
    return total


@implement(operations.change, Squares)
def _change(model, cells, p, out, new, limit):
    X, size = model.points, cells.sizes[p]
    total = 0.0
    if out < 0:
        return size / (size + 1.0) * squared_distance(X, new, model.means[p])
    if new < 0:
        return -size / (size - 1.0) * squared_distance(X, out, model.means[p]) if size > 1 else 0.0
    share = (size - 1.0) / size
    for a in range(X.shape[1]):
        step = X[new, a] - X[out, a]
        total += step * (2.0 * (X[out, a] - model.means[p, a]) + step * share)
    return total


@implement(operations.approach, Squares)
def _approach(model, cells, i, q):
    return squared_distance(model.points, i, model.means[q])


@implement(operations.shift, Squares)
def _shift(model, cells, i, q, across, limit):
    m_p, m_q = cells.sizes[cells.labels[i]], cells.sizes[q]
    return m_q / (m_q + 1.0) * across + -m_p / (m_p - 1.0) * model.square[i]


@implement(operations.swap, Squares)
def _swap(model, cells, i, j, across, limit):
    """Return ``|x_j - c_p|² - |x_j - c_q|² + |x_i - c_q|² - |x_i - c_p|² - |x_i - x_j|² (1/m_p + 1/m_q)``.

    The distances are computed only where the triangle inequality leaves hope.
    """
    p, square = cells.labels[i], model.square
    weight = 1.0 / cells.sizes[p] + 1.0 / cells.sizes[cells.labels[j]]
    change = across - square[i] - square[j]
    most = math.sqrt(across) + math.sqrt(square[j])
    if change - CLOSE * weight * most * most >= limit:
        return math.inf
    between = squared_distance(model.points, i, model.points[j])
    change -= weight * between
    least = max(0.0, math.sqrt(between) - math.sqrt(square[i]))
    if change + least * least / CLOSE >= limit:
        return math.inf
    return change + squared_distance(model.points, j, model.means[p])


@implement(operations.least_swap, Squares)
def _least_swap(model, cells, i, j, across):
    weight = 1.0 / cells.sizes[cells.labels[i]] + 1.0 / cells.sizes[cells.labels[j]]
    most = math.sqrt(across) + math.sqrt(model.square[j])  # |x_i - x_j| at most
    return across - model.square[i] - model.square[j] - weight * most * most
