"""Points to cells, by blocks of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import power
from voronym.space import Space

BLOCK = 1 << 20
"""Costs, rows by cells, that are held at a time."""

CANDIDATES = 4
"""Cells that the tree returns for each point; the scan decides where they are not sure to be enough."""


def euclidean(
    X: NDArray[np.float64], centroids: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the cells of least squared distance plus cost; of equals the lowest index."""
    if len(costs) >= 300 + 100 * centroids.shape[1] ** 2 and len(X) >= len(costs):  # measured break-even
        return by_tree(X, centroids, costs)
    labels = np.empty(len(X), np.int64)
    scan(X, centroids, costs, labels)
    return labels


def scan(
    X: NDArray[np.float64],
    centroids: NDArray[np.float64],
    costs: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> None:
    """Fill the labels by scans over all cells."""
    columns, values = np.ascontiguousarray(centroids.T), np.empty(len(costs))
    step = max(1, 100 * BLOCK // centroids.size)  # about a tenth of a second: Ctrl-C gets its turn
    for begin in range(0, len(X), step):
        power.assign_rows(X, columns, costs, values, labels, begin, min(len(X), begin + step))


def by_tree(
    X: NDArray[np.float64], centroids: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Do the same by a tree: ``|x - y|² + c = |(x, 0) - (y, √(c - min c))|² + min c``.

    The tree's distances are rounded otherwise than the scan's, so it only proposes: the nearest few are
    compared by the scan's own sum, and where the next one might be as near, the scan decides.
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
            decided = np.empty(len(unsure), np.int64)
            scan(np.ascontiguousarray(rows[unsure]), centroids, costs, decided)
            part[unsure] = decided
        labels[begin : begin + 8192] = part
    return labels


def by_space(
    X: NDArray[np.float64], centroids: NDArray[np.float64], costs: NDArray[np.float64], space: Space
) -> NDArray[np.int64]:
    """Return the cells of least cost in any space; of equals the lowest index."""
    labels = np.empty(len(X), np.int64)
    step = max(1, BLOCK // len(costs))
    for begin in range(0, len(X), step):
        rows = slice(begin, begin + step)
        labels[rows] = np.argmin(space.cost(X[rows], centroids) + costs, axis=1)
    return labels


def total(
    X: NDArray[np.float64], centroids: NDArray[np.float64], labels: NDArray[np.int64], space: Space
) -> float:
    """Return the sum of the points' costs to the centroids of their cells."""
    if space.name == "euclidean":
        step = max(1, BLOCK // X.shape[1])
        blocks = (slice(begin, begin + step) for begin in range(0, len(X), step))
        return float(sum(np.square(X[rows] - centroids[labels[rows]]).sum() for rows in blocks))
    order = np.argsort(labels, kind="stable")
    start = np.searchsorted(labels[order], np.arange(len(centroids) + 1))
    return float(
        sum(
            space.cost(X[order[start[q] : start[q + 1]]], centroids[q : q + 1]).sum()
            for q in np.flatnonzero(np.diff(start))
        )
    )


def value(
    X: NDArray[np.float64],
    centroids: NDArray[np.float64],
    costs: NDArray[np.float64],
    labels: NDArray[np.int64],
    space: Space,
) -> NDArray[np.float64]:
    """Return each point's cost to the centroid of its cell plus the cell's own, shape (n,)."""
    out = costs[labels]
    for q in range(len(centroids)):
        members = np.flatnonzero(labels == q)
        if len(members):
            out[members] += space.cost(X[members], centroids[q : q + 1])[:, 0]
    return out
