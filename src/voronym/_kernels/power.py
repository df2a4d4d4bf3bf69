"""Points to cells: the least of squared distance plus cost, by scans over all cells."""

from __future__ import annotations

import numpy as np

from voronym._kernels import inlined, kernel


@kernel
def evaluate(X, i, columns, costs, values):
    """Fill the squared distances of a row to all centroids, plus their costs.

    ``columns`` are the centroids' coordinates, shape (d, m): the inner loop then runs along memory. The sum
    is that of `Euclidean.cost`, coordinate by coordinate from 0, then the cost: equal bits.
    """
    d, m = columns.shape
    for q in range(m):
        values[q] = 0.0
    for j in range(d):
        x = X[i, j]
        for q in range(m):
            difference = x - columns[j, q]
            values[q] += difference * difference
    for q in range(m):
        values[q] += costs[q]


@kernel
def assign_rows(X, columns, costs, values, labels, begin, end):
    """Label the rows ``begin..end`` with their cell of least value, the first among ties."""
    for i in range(begin, end):
        evaluate(X, i, columns, costs, values)
        chosen = 0
        for q in range(1, len(costs)):
            if values[q] < values[chosen]:
                chosen = q
        labels[i] = chosen


@inlined
def two_least(values, begin, end):
    """Return the places of the two least values (ties: the first), and the gap between them."""
    p = r = begin
    best = next_best = np.inf
    for t in range(begin, end):
        value = values[t]
        if value < best:
            next_best, r = best, p
            best, p = value, t
        elif value < next_best:
            next_best, r = value, t
    return p, r, next_best - best


@kernel
def assign_near(X, centroids, costs, near, bounds, labels, begin, end):
    """Label the rows whose cell is sure to be among the candidates ``near``; label the others -1.

    ``bounds[i]`` is what no cell beyond the candidates can be below, rounding included.
    """
    d = X.shape[1]
    for i in range(begin, end):
        best = 0.0
        chosen = -1
        for t in range(near.shape[1]):
            q = near[i, t]
            total = 0.0
            for j in range(d):
                difference = X[i, j] - centroids[q, j]
                total += difference * difference
            value = total + costs[q]
            if chosen < 0 or value < best or (value == best and q < chosen):
                best = value
                chosen = q
        labels[i] = chosen if best < bounds[i] else -1
