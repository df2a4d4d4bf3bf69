"""Operations on finished groups: attach leftovers, dissolve, split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells, squares
from voronym._kernels import dissolve as kernels
from voronym._kernels import scan as scans
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners.vmdav import attach_leftovers
from voronym.problem import Problem

__all__ = ["attach_leftovers", "by_falling_loss", "dissolve_cells"]


def by_falling_loss(problem: Problem, part: Partition) -> NDArray[np.int64]:
    """Return the groups by falling sum of squares; ties keep their order."""
    X = problem.points
    squares_of = np.square(X - part.centroids(X)[part.labels]).sum(axis=1)
    return np.argsort(-np.bincount(part.labels, squares_of), kind="stable")


def dissolve_cells(problem: Problem, part: Partition, order: NDArray[np.int64], ctx: Context) -> Partition:
    """Visit the groups in an order, and dissolve each one if that lowers the loss.

    The records of a group, lowest index first, move to the groups with the nearest centroids, which move
    with them. If the sum of squares falls, the group is removed, and groups with 2k records are split by
    MDAV; otherwise nothing changes. Guarantee: every group keeps k to 2k-1 records, and the loss does not
    grow. O(n²/k) distances; memory O(n d).
    """
    X, k = problem.points, problem.k
    n, d = X.shape
    room = n // k
    state = cells.make(part.labels, room, 4 * k, log=2 * k)
    model = squares.make(X - X.mean(axis=0), room)
    model.centroids[: part.n_cells] = part.centroids(model.points)
    scan, work = scans.make_point_scan(model.points), scans.make_remaining(n, 4 * k)
    before = np.empty((2 * k, d))

    def piece(budget: int) -> float:
        kernels.dissolve(model, state, scan, work, order, before, k, budget)
        return float(work.state[2]) / len(order)

    ctx.pieces(piece, budget=2_000_000)
    partition = Partition(state.labels, k=k)
    return partition if partition.sse(X) <= part.sse(X) else part  # rounding may favour what was given
