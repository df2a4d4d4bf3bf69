"""The cost model of places on a sphere: squared lines to the direction of the mean.

For unit vectors with mean c the best place is ``c / |c|``, and it costs ``2 m (1 - |c|)``. Computed so, small
groups would vanish in rounding; ``2 S / (1 + |c|)`` is the same, with S the squares about c, which `squares`
knows how to change.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement, inner
from voronym._kernels.plain import between
from voronym._kernels.squares import replaced


class Directions(NamedTuple):
    """Means of the cells, and the squares about them."""

    points: NDArray[np.float64]  # (n, d) the records, of length 1
    centroids: NDArray[np.float64]  # (room, d) the means
    squares: NDArray[np.float64]  # (room,) sums of squared distances to the means


def make(points: NDArray[np.float64], room: int) -> Directions:
    """Return a model with this number of cells; refresh them before use."""
    return Directions(points, np.zeros((room, points.shape[1])), np.zeros(room))


@implement(operations.refresh, Directions)
def _refresh(model, cells, p):
    X, begin, size = model.points, cells.start[p], cells.sizes[p]
    for j in range(X.shape[1]):
        total = 0.0
        for t in range(begin, begin + size):
            total += X[cells.members[t], j]
        model.centroids[p, j] = total / size if size > 0 else 0.0
    squares = 0.0
    for t in range(begin, begin + size):
        squares += between(X, cells.members[t], model.centroids, p)
    model.squares[p] = squares


@inner
def risen(model, p, out, new, size):
    """Return the change of the squares if ``out`` leaves a cell of ``size`` and ``new`` joins it."""
    total = 0.0
    if out < 0:
        total = size / (size + 1.0) * between(model.points, new, model.centroids, p)
    elif new < 0:
        if size > 1:
            total = -size / (size - 1.0) * between(model.points, out, model.centroids, p)
        else:
            total = -model.squares[p]
    else:
        total = replaced(model.points, model.centroids, p, out, new, (size - 1.0) / size)
    return total


@inner
def moved(model, p, out, new, after, a):
    """Return a coordinate of the mean once ``out`` has left and ``new`` has joined; ``after`` remain."""
    mean = model.centroids[p, a]
    if new < 0:
        step = mean - model.points[out, a]
    elif out < 0:
        step = model.points[new, a] - mean
    else:
        step = model.points[new, a] - model.points[out, a]
    return mean + step / after


@implement(operations.update, Directions)
def _update(model, cells, p, out, new):
    after = cells.sizes[p]
    before = after + (out >= 0) - (new >= 0)
    if after == 0:
        model.squares[p] = 0.0
        return
    model.squares[p] = max(0.0, model.squares[p] + risen(model, p, out, new, before))
    for a in range(model.points.shape[1]):
        model.centroids[p, a] = moved(model, p, out, new, after, a)


@inner
def length(model, p):
    """Return the length of a mean."""
    total = 0.0
    for a in range(model.centroids.shape[1]):
        total += model.centroids[p, a] * model.centroids[p, a]
    return math.sqrt(total)


@implement(operations.cost, Directions)
def _cost(model, cells, p):
    return 2.0 * model.squares[p] / (1.0 + length(model, p)) if cells.sizes[p] > 0 else 0.0


@implement(operations.change, Directions)
def _change(model, cells, p, out, new, limit):
    size = cells.sizes[p]
    after = size - (out >= 0) + (new >= 0)
    old = 2.0 * model.squares[p] / (1.0 + length(model, p)) if size > 0 else 0.0
    result = -old
    if after > 0:
        total = 0.0
        for a in range(model.points.shape[1]):
            mean = moved(model, p, out, new, after, a)
            total += mean * mean
        squares = max(0.0, model.squares[p] + risen(model, p, out, new, size))
        result = 2.0 * squares / (1.0 + math.sqrt(total)) - old
    return result
