"""The cost model of Euclidean records with weights: the weighted squares about the weighted mean.

All changes are exact. With W the weight of a cell and c its mean before the move, a record of weight w that
joins adds ``w W / (W + w) |x - c|²``, one that leaves takes ``w W / (W - w) |x - c|²`` away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement
from voronym._kernels.plain import between


class Weighted(NamedTuple):
    """Means and weights of the cells."""

    points: NDArray[np.float64]  # (n, d) the records
    weights: NDArray[np.float64]  # (n,) above 0
    centroids: NDArray[np.float64]  # (room, d) the means
    mass: NDArray[np.float64]  # (room,) the summed weights


def make(points: NDArray[np.float64], weights: NDArray[np.float64], room: int) -> Weighted:
    """Return a model with this number of cells; refresh them before use."""
    return Weighted(points, weights, np.zeros((room, points.shape[1])), np.zeros(room))


@implement(operations.refresh, Weighted)
def _refresh(model, cells, p):
    begin, end = cells.start[p], cells.start[p] + cells.sizes[p]
    mass = 0.0
    for t in range(begin, end):
        mass += model.weights[cells.members[t]]
    model.mass[p] = mass
    for a in range(model.points.shape[1]):
        total = 0.0
        for t in range(begin, end):
            i = cells.members[t]
            total += model.weights[i] * model.points[i, a]
        model.centroids[p, a] = total / mass if end > begin else 0.0


@implement(operations.cost, Weighted)
def _cost(model, cells, p):
    total = 0.0
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        i = cells.members[t]
        total += model.weights[i] * between(model.points, i, model.centroids, p)
    return total


@implement(operations.change, Weighted)
def _change(model, cells, p, out, new, limit):
    X, rest, total = model.points, model.mass[p], 0.0
    step = 0.0  # by how much of its distance to the leaver the mean moves away from it
    if out >= 0:
        if cells.sizes[p] > 1:
            away = model.weights[out]
            total -= away * rest / (rest - away) * between(X, out, model.centroids, p)
            step = away / (rest - away)
            rest -= away
        else:
            rest = 0.0
    if new >= 0:
        square = 0.0
        for a in range(X.shape[1]):
            mean = model.centroids[p, a]
            if out >= 0:
                mean += step * (mean - X[out, a])
            apart = X[new, a] - mean
            square += apart * apart
        total += model.weights[new] * rest / (rest + model.weights[new]) * square
    return total
