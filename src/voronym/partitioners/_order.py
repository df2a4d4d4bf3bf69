"""Orders of records, and their best cuts: shared by the methods that follow a path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import tour as kernels
from voronym._kernels import tree as trees
from voronym.core.context import Context
from voronym.partition import Partition


def nearest_next(X: NDArray[np.float64], first: int, ctx: Context) -> NDArray[np.int64]:
    """Return the path from a record that always continues to the nearest unvisited record.

    Ties go to the lowest index. O(n) searches in a k-d tree that records leave.
    """
    n = len(X)
    order, tree = np.full(n, first), trees.grow(X, X.mean(axis=0))
    distances, pair = np.empty(1), np.empty(1, np.int64)

    def visit(start: int, stop: int) -> None:
        kernels.visit_nearest(X, tree, order, start, stop, distances, pair)

    ctx.ranges(visit, n, budget=5_000)
    return order


def chain_cells(X: NDArray[np.float64], part: Partition, ctx: Context) -> NDArray[np.int64]:
    """Return a path through all records in which every cell is a run.

    It begins at the record farthest from the overall mean. It goes from a cell to the unvisited cell with
    the nearest centroid, and inside a cell from record to nearest record.
    """
    first = outermost(X)
    cells = part.cells()
    path = nearest_next(part.centroids(X), int(part.labels[first]), ctx)
    order = np.concatenate([cells[c] for c in path])
    start = np.concatenate([[0], np.cumsum(part.sizes[path])])
    kernels.chain(X, order, start, first)
    return order


def outermost(X: NDArray[np.float64]) -> int:
    """Return the record farthest from the mean of all, the first among ties."""
    return int(np.argmax(np.square(X - X.mean(axis=0)).sum(axis=1)))


def cut(
    X: NDArray[np.float64], order: NDArray[np.int64], ks: Sequence[int], ctx: Context
) -> dict[int, Partition]:
    """Return, for each k, the best partition whose cells are runs of k to 2k-1 records of the order.

    A shortest path over the possible runs, for all k at once; O(n k d) for the largest k, memory O(n) for
    each k.
    """
    n = len(X)
    Y = np.ascontiguousarray(X[order] - X.mean(axis=0))
    sizes, mean = np.array(sorted(set(ks))), np.empty(X.shape[1])
    cost, last = np.zeros((len(sizes), n + 1)), np.zeros((len(sizes), n + 1), np.int64)

    def fill(start: int, stop: int) -> None:
        kernels.cut_runs(Y, sizes, cost, last, mean, start, stop)

    ctx.ranges(fill, n + 1, start=1, budget=max(1, 2_000_000 // (int(sizes[-1]) * X.shape[1])))
    return {int(k): Partition(run_labels(order, last[q]), k=int(k)) for q, k in enumerate(sizes)}


def run_labels(order: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels of the runs of an order, from the size of the last run before each place."""
    labels = np.empty(len(order), np.int64)
    end, cell = len(order), 0
    while end > 0:
        size = int(last[end])
        labels[order[end - size : end]] = cell
        end, cell = end - size, cell + 1
    return labels
