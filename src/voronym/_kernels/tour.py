"""Orders of records, and the best cut of an order into runs."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance
from voronym._kernels.tree import remove
from voronym._kernels.vmdav import next_to


@kernel
def visit_nearest(X, tree, order, start, stop, distances, pair):
    """Fill ``order[start:stop]``: from the record before, always to the nearest one not yet visited."""
    result = min(1, len(order))  # a literal would be a type of its own, and numba compile everything twice
    for t in range(start, stop):
        if t == 0:
            pair[0] = order[0]
        else:
            next_to(X, tree, order[t - 1], result, distances, pair)
            order[t] = pair[0]
        remove(tree, pair, result)


@kernel
def chain(X, order, start, first):
    """Order the records inside each cell, ``order[start[c]:start[c + 1]]``, by nearest next.

    The chain begins at record ``first``, which is in cell 0, and enters each further cell at the record
    nearest to the one it left the cell before by. Ties go to the lowest index.
    """
    last = first
    for c in range(len(start) - 1):
        for t in range(start[c], start[c + 1]):
            best = math.inf
            place = t
            for u in range(t, start[c + 1]):
                distance = squared_distance(X, order[u], X[last])
                if distance < best or (distance == best and order[u] < order[place]):
                    best = distance
                    place = u
            last = order[place]
            for u in range(place, t, -1):
                order[u] = order[u - 1]
            order[t] = last


@kernel
def cut_runs(Y, ks, cost, last, mean, start, stop):
    """Fill, for ``start <= e < stop`` and each k, the least ``cost[:, e]`` of cutting ``Y[:e]`` into runs.

    Runs have k to 2k-1 records; ``last`` has the size of the last one. A run's sum of squares grows to the
    left, one record at a time, by the update of mean and squares, and serves every k: no differences of large
    prefix sums, no digits lost.
    """
    d = Y.shape[1]
    most = 0
    for q in range(len(ks)):
        most = max(most, 2 * ks[q] - 1)
    for e in range(start, stop):
        for q in range(len(ks)):
            cost[q, e] = math.inf
            last[q, e] = 0
        squares = 0.0
        for j in range(d):
            mean[j] = 0.0
        for size in range(1, min(most, e) + 1):
            for j in range(d):
                difference = Y[e - size, j] - mean[j]
                step = difference / size
                squares += step * difference * (size - 1)
                mean[j] += step
            for q in range(len(ks)):
                if ks[q] <= size < 2 * ks[q] and cost[q, e - size] + squares < cost[q, e]:
                    cost[q, e] = cost[q, e - size] + squares
                    last[q, e] = size
