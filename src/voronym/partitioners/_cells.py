"""What methods do to cells they have made: attach leftovers, dissolve, split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import dissolve as kernels
from voronym.context import Context
from voronym.partition import Partition
from voronym.partitioners.vmdav import attach_leftovers

__all__ = ["attach_leftovers", "by_falling_loss", "dissolve_cells"]


def by_falling_loss(X: NDArray[np.float64], part: Partition) -> NDArray[np.int64]:
    """Return the cells by falling sum of squares, the first of equals first."""
    squares = np.square(X - part.centroids(X)[part.labels]).sum(axis=1)
    return np.argsort(-np.bincount(part.labels, squares), kind="stable")


def dissolve_cells(
    X: NDArray[np.float64], k: int, part: Partition, order: NDArray[np.int64], ctx: Context
) -> Partition:
    """Visit the cells in an order, and dissolve each where that lowers the loss.

    The records of a cell, lowest index first, move to the cells with the nearest centroids, which move with
    them. If the sum of squares falls the cell is gone, and cells that reached 2k records are split by MDAV;
    if not, all stays as it was. Guarantee: k to 2k-1 records in every cell, provided that ``part`` has, and
    no more loss. O(n²/k) distances; memory O(n d).
    """
    n, d = len(X), X.shape[1]
    places = n // k
    points = X - X.mean(axis=0)
    table, sizes = np.zeros((places, 4 * k), np.int64), np.zeros(places, np.int64)
    means = np.full((places, d), np.inf)
    sizes[: part.n_cells] = part.sizes
    means[: part.n_cells] = part.centroids(points)
    for cell, members in enumerate(part.cells()):
        table[cell, : len(members)] = members
    free = np.arange(part.n_cells, part.n_cells + places)  # the first state[1] of them
    state = np.array([0, places - part.n_cells])
    target, before = np.empty(2 * k, np.int64), np.empty((2 * k, d))
    labels, alive, counts = np.empty(n, np.int64), np.empty(4 * k, np.int64), np.empty(2, np.int64)
    high, low, point = np.empty(d), np.empty(d), np.empty(d)
    near, chosen = np.empty(k), np.empty(k, np.int64)

    def work(budget: int) -> float:
        kernels.dissolve(
            points, k, order, table, sizes, means, free, state, target, before, labels, alive, counts, high,
            low, point, near, chosen, budget,
        )  # fmt: skip
        return float(state[0]) / len(order)

    ctx.pieces(work, budget=2_000_000)
    for place in np.flatnonzero(sizes):
        labels[table[place, : sizes[place]]] = place
    found = Partition(labels, k=k)
    return found if found.sse(X) <= part.sse(X) else part  # rounding may favour what was given
