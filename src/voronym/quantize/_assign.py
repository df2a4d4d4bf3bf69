"""Points to cells, by blocks of rows."""

from __future__ import annotations

import numpy as np

from voronym._kernels import power
from voronym.quantize.costs.base import Floats, Integers
from voronym.space import Space

BLOCK = 1 << 20
"""Number of costs, rows times cells, that are held at a time."""

CANDIDATES = 4
"""Cells that the tree returns for each point; a scan decides if they may not suffice."""


def assign(X: Floats, centroids: Floats, costs: Floats, space: Space) -> Integers:
    """Return the cell of least distance plus cost for each point, the lowest index among ties."""
    points, places = space.coordinates(X), space.coordinates(centroids)
    if points is None or places is None:
        labels = np.empty(len(X), np.int64)
        for rows in blocks(len(X), len(costs)):
            labels[rows] = np.argmin(space.cost(X[rows], centroids) + costs, axis=1)
        return labels
    many = len(costs) >= 300 + 100 * places.shape[1] ** 2 and len(X) >= len(costs)  # measured break-even
    return by_tree(points, places, costs) if many else scan(points, places, costs)


def blocks(n: int, width: int) -> list[slice]:
    """Return slices of n rows of numbers, small enough for the memory."""
    step = max(1, BLOCK // width)
    return [slice(begin, begin + step) for begin in range(0, n, step)]


def scan(X: Floats, centroids: Floats, costs: Floats) -> Integers:
    """Return the cells of points with coordinates by scans over all cells."""
    labels = np.empty(len(X), np.int64)
    columns, values = np.ascontiguousarray(centroids.T), np.empty(len(costs))
    step = max(1, 100 * BLOCK // centroids.size)  # about a tenth of a second: Ctrl-C gets its turn
    for begin in range(0, len(X), step):
        power.assign_rows(X, columns, costs, values, labels, begin, min(len(X), begin + step))
    return labels


def by_tree(X: Floats, centroids: Floats, costs: Floats) -> Integers:
    """Return the same cells by a tree: ``|x - y|² + c = |(x, 0) - (y, √(c - min c))|² + min c``.

    The tree rounds differently from the scan, so it only proposes: the nearest few are compared by the
    scan's own sum, and if the next one might be as near, the scan decides.
    """
    from scipy.spatial import cKDTree  # takes a while to load

    least = costs.min()
    tree = cKDTree(np.column_stack([centroids, np.sqrt(costs - least)]))
    labels = np.empty(len(X), np.int64)
    scale = np.abs(costs).max()
    for begin in range(0, len(X), 8192):
        rows = X[begin : begin + 8192]
        lifted = np.column_stack([rows, np.zeros(len(rows))])
        distances, near = tree.query(lifted, min(CANDIDATES, len(costs)))
        farthest = np.square(distances[:, -1])
        bounds = farthest * (1 - 1e-12) + least - 1e-12 * scale
        if near.shape[1] == len(costs):
            bounds[:] = np.inf
        part = np.empty(len(rows), np.int64)
        power.assign_near(rows, centroids, costs, near, bounds, part, 0, len(rows))
        unsure = np.flatnonzero(part < 0)
        if len(unsure):
            part[unsure] = scan(np.ascontiguousarray(rows[unsure]), centroids, costs)
        labels[begin : begin + 8192] = part
    return labels
