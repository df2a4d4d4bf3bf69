"""Cells that records move between, and what a move does to the sum of squares.

All changes are exact, whatever the size of the step: m is the size of a cell and c
its centroid before the move. A record that joins adds ``m/(m+1) |x - c|²``, one that leaves takes ``m/(m-1)
|x - c|²`` away.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance

CLOSE = 1.0 + 1e-9  # bounds give way by more than their own rounding


class Cells(NamedTuple):
    """A partition under change. A cell of size 0 is a free number."""

    labels: NDArray[np.int64]  # (n,)
    slot: NDArray[np.int64]  # (n,) where the record stands among its cell's members
    members: NDArray[np.int64]  # (room, 2k): one more than a cell may keep, for the middle of a swap
    sizes: NDArray[np.int64]  # (room,)
    centroids: NDArray[np.float64]  # (room, d)
    square: NDArray[np.float64]  # (n,) squared distance to the own centroid
    radius: NDArray[np.float64]  # (room,) the largest distance


@kernel
def refresh(X, cells, p):
    """Compute centroid, squares and radius of a cell anew: nothing drifts, however many moves are made."""
    size = cells.sizes[p]
    for j in range(X.shape[1]):
        total = 0.0
        for t in range(size):
            total += X[cells.members[p, t], j]
        cells.centroids[p, j] = total / size if size > 0 else 0.0
    largest = 0.0
    for t in range(size):
        i = cells.members[p, t]
        cells.square[i] = squared_distance(X, i, cells.centroids[p])
        largest = max(largest, cells.square[i])
    cells.radius[p] = math.sqrt(largest)


@kernel
def put(cells, i, p):
    """Add a record, which is in no cell, to a cell. `refresh` it afterwards."""
    cells.members[p, cells.sizes[p]] = i
    cells.slot[i] = cells.sizes[p]
    cells.labels[i] = p
    cells.sizes[p] += 1


@kernel
def move(cells, i, q):
    """Move a record to cell q. `refresh` both cells afterwards."""
    p = cells.labels[i]
    cells.sizes[p] -= 1
    last = cells.members[p, cells.sizes[p]]
    cells.members[p, cells.slot[i]] = last
    cells.slot[last] = cells.slot[i]
    put(cells, i, q)


@kernel
def fill(X, cells):
    """Set members, sizes and centroids from the labels."""
    cells.sizes[:] = 0
    for i in range(X.shape[0]):
        put(cells, i, cells.labels[i])
    for p in range(len(cells.sizes)):
        refresh(X, cells, p)


@kernel
def joining(X, cells, i, q):
    """Return what cell q gains in squares if record i joins (R2)."""
    size = cells.sizes[q]
    return size / (size + 1.0) * squared_distance(X, i, cells.centroids[q])


@kernel
def leaving(cells, i):
    """Return the change of the squares of record i's cell if i leaves (R3): never positive."""
    size = cells.sizes[cells.labels[i]]
    return -size / (size - 1.0) * cells.square[i]


@kernel
def replacing(X, cells, i, j):
    """Return the change of the squares of record j's cell if record i, from elsewhere, takes j's place (R1).

    ``(x_i - x_j) · (2 (x_j - c) + (x_i - x_j) (m - 1) / m)``.
    """
    q = cells.labels[j]
    share = (cells.sizes[q] - 1.0) / cells.sizes[q]
    total = 0.0
    for a in range(X.shape[1]):
        step = X[i, a] - X[j, a]
        total += step * (2.0 * (X[j, a] - cells.centroids[q, a]) + step * share)
    return total


@kernel
def best_of_pair(X, cells, p, q, k, across):
    """Return the best shift or swap between two cells: (change, i of p or -1, j of q or -1); change <= 0.

    A swap changes the squares by ``|x_j - c_p|² - |x_j - c_q|² + |x_i - c_q|² - |x_i - c_p|²
    - |x_i - x_j|² (1/m_p + 1/m_q)``, so pairs need one distance each, and only where the triangle inequality
    leaves hope. Cells far apart for their radii have nothing to offer each other: with
    r = (1-1/m_p)(1-1/m_q), nothing gains where ``|c_p - c_q| > (radii) (1 + 1/√r)``.
    """
    best, left, right = 0.0, -1, -1
    m_p, m_q = cells.sizes[p], cells.sizes[q]
    apart = math.sqrt(squared_distance(cells.centroids, p, cells.centroids[q]))
    reach = 1.0 + 1.0 / math.sqrt((1.0 - 1.0 / m_p) * (1.0 - 1.0 / m_q))
    if apart > CLOSE * reach * (cells.radius[p] + cells.radius[q]):
        return best, left, right
    for t in range(m_p):
        i = cells.members[p, t]
        across[0, t] = squared_distance(X, i, cells.centroids[q])
        if m_p > k and m_q < 2 * k - 1:
            change = m_q / (m_q + 1.0) * across[0, t] + leaving(cells, i)
            if change < best:
                best, left, right = change, i, -1
    for u in range(m_q):
        j = cells.members[q, u]
        across[1, u] = squared_distance(X, j, cells.centroids[p])
        if m_q > k and m_p < 2 * k - 1:
            change = m_p / (m_p + 1.0) * across[1, u] + leaving(cells, j)
            if change < best:
                best, left, right = change, -1, j
    weight = 1.0 / m_p + 1.0 / m_q
    for u in range(m_q):
        j = cells.members[q, u]
        here = across[1, u] - cells.square[j]
        root = math.sqrt(across[1, u])
        for t in range(m_p):
            i = cells.members[p, t]
            change = here + across[0, t] - cells.square[i]
            most = math.sqrt(cells.square[i]) + root
            if change - CLOSE * weight * most * most >= best:
                continue
            change -= weight * squared_distance(X, i, X[j])
            if change < best:
                best, left, right = change, i, j
    return best, left, right
