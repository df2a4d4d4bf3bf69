"""Split cells in two if both halves are accepted: the loss can only fall."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.partition import Partition
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem


def split(problem: Problem, part: Partition, asked: Requirements) -> Partition:
    """Split cells of 2k records or more if all judges accept both halves.

    The members, sorted by confidential value, are taken in pairs of neighbours; the lower of each pair on
    the cell's longest axis goes left. So each half has about the distribution of the cell. A split never
    adds cost, because each half gets its own centroid. Halves are tried again.

    Cost: O(n log n) for each round of halves. With a judge of a sum over cells (mutual information)
    nothing is split, because a split can only increase the sum.
    """
    if any(judge.additive for judge in asked.judges):
        return part
    X, k = problem.records.coordinates, problem.k
    rank = np.empty(part.n, np.int64)
    rank[asked.order] = np.arange(part.n)
    labels = part.labels.copy()
    waiting = [cell for cell in part.cells() if len(cell) >= 2 * k]
    cells = part.n_cells
    while waiting:
        members = waiting.pop()
        for left, right in _halves(X, members[np.argsort(rank[members])]):
            if min(len(left), len(right)) >= k and _accepted(asked, left) and _accepted(asked, right):
                labels[right] = cells
                cells += 1
                waiting += [half for half in (left, right) if len(half) >= 2 * k]
                break
    return Partition(labels, k=k)


def _halves(
    X: NDArray[np.float64], members: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return two halves of a cell whose members are sorted by confidential value."""
    points = X[members] - X[members].mean(axis=0)
    axis = np.linalg.svd(points, full_matrices=False)[2][0]
    along = points @ axis
    even = len(members) // 2 * 2
    first, second = along[0:even:2], along[1:even:2]
    lower = np.where(first <= second, members[0:even:2], members[1:even:2])
    upper = np.where(first <= second, members[1:even:2], members[0:even:2])
    rest = members[even:]
    if len(rest) and along[-1] > 0:
        return [(lower, np.append(upper, rest))]
    return [(np.append(lower, rest), upper)]


def _accepted(asked: Requirements, members: NDArray[np.int64]) -> bool:
    return all(judge.holds(judge.value(judge.levels.codes[members])) for judge in asked.judges)
