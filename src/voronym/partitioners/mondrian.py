"""Mondrian: cuts at the median of the widest column, while both sides keep k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.ranges import TREE
from voronym.core.context import Context
from voronym.method import algorithm
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space.ranges import Axis, Spans

Ints = NDArray[np.int64]


@algorithm(
    "mondrian",
    guarantee="every group has k records or more; no column can be cut any further",
    cost="O(n d log n); memory O(n d)",
    reference="10.1109/ICDE.2006.101",
    anywhere=True,
    model_free=True,
)
def mondrian(problem: Problem, ctx: Context) -> Partition:
    """Cut the records at the median of the column with the widest range, while both sides keep k.

    Strict: records with equal values stay together. In the space of ranges, a column with a hierarchy is
    cut into the children of the lowest common ancestor, if all of them have at least k records.

    References
    ----------
    K. LeFevre, D. DeWitt and R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.microaggregate([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], 2, method="mondrian").labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    records, k = problem.records, problem.k
    trees: dict[int, Axis] = {}
    points = records.coordinates
    if isinstance(records, Spans):
        trees = {c: axis for c, axis in enumerate(records.ranges.axes) if axis.shape == TREE}
    spread = np.ptp(points, axis=0)
    points = points / np.where(spread > 0.0, spread, 1.0)
    labels, made, waiting, done = np.zeros(problem.n, np.int64), 0, [np.arange(problem.n)], 0
    while waiting:
        rows = waiting.pop()
        parts = _cut(records.X, points, rows, k, trees)
        if parts is None:
            labels[rows] = made
            made, done = made + 1, done + len(rows)
            ctx.tell(done / problem.n, whole=True)
        else:
            waiting += parts[::-1]
    return Partition(labels, k=k)


def _cut(
    codes: NDArray[np.generic], points: NDArray[np.float64], rows: Ints, k: int, trees: dict[int, Axis]
) -> list[Ints] | None:
    """Return the parts of the widest column that can be cut; None if no column can."""
    if len(rows) < 2 * k:
        return None
    widths = np.ptp(points[rows], axis=0)
    above = {c: axis.nodes[:, codes[rows, c].astype(np.int64)] for c, axis in trees.items()}
    for c, axis in trees.items():
        widths[c] = axis.table[_common(above[c]), int(codes[rows[0], c])]
    for column in np.argsort(-widths, kind="stable"):
        if widths[column] <= 0.0:
            return None
        if int(column) in trees:
            parts = _children(above[int(column)], rows)
        else:
            parts = _halves(points[rows, column], rows, k)
        if len(parts) > 1 and min(map(len, parts)) >= k:
            return parts
    return None


def _halves(values: NDArray[np.float64], rows: Ints, k: int) -> list[Ints]:
    """Cut at the border between different values that is nearest to the middle and leaves k on both sides."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    borders = np.flatnonzero(ranked[1:] > ranked[:-1]) + 1
    borders = borders[(borders >= k) & (len(rows) - borders >= k)]
    if not len(borders):
        return []
    at = int(borders[np.argmin(np.abs(borders - len(rows) / 2))])
    return [np.sort(rows[order[:at]]), np.sort(rows[order[at:]])]


def _children(above: Ints, rows: Ints) -> list[Ints]:
    """Divide records by the children of their lowest common ancestor."""
    level = _common(above)
    if level == 0:
        return []
    result, back = np.unique(above[level - 1], return_inverse=True)
    return [rows[back.reshape(-1) == item] for item in range(len(result))]


def _common(above: Ints) -> int:
    """Return the level of the lowest common ancestor of all columns."""
    return next(level for level in range(len(above)) if (above[level] == above[level, 0]).all())
