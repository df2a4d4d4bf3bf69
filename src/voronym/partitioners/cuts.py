"""Cuts: like Mondrian, but each cut is placed to narrow the ranges of both sides most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cuts as kernels
from voronym._kernels.ranges import LINE
from voronym.core.context import Context
from voronym.method import algorithm
from voronym.partition import Partition
from voronym.partitioners.mondrian import mondrian
from voronym.problem import Problem
from voronym.space.ranges import Axis, Ranges, Spans
from voronym.space.records import Records

Ints = NDArray[np.int64]
FINE = 512
"""Largest number of steps of a numeric column in a space other than that of ranges."""


@algorithm(
    "cuts",
    guarantee="every group has k records or more; in the space of ranges, no more penalty than Mondrian’s",
    cost="O(n d² log n); memory O(n d)",
    reference="this project",
    anywhere=True,
    model_free=True,
)
def cuts(problem: Problem, ctx: Context) -> Partition:
    """Cut the records in two, repeatedly, at the place that narrows the ranges of both groups most.

    Searches in the space of ranges start with it. It tries all cuts between two values of a column; in a
    hierarchy, all cuts between children of the common ancestor, and of one child from the others. The
    ranges of all columns on both sides count. If Mondrian's groups have narrower ranges, they are used.
    In other spaces, ranges are those of coordinates.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.microaggregate([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], 2, method="cuts").labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    spans = problem.records if isinstance(problem.records, Spans) else _of_coordinates(problem.records)
    columns, codes, k, n = spans.ranges.columns, spans.X, problem.k, problem.n
    widest = int(columns.width.max())
    key, count = np.empty(n, np.int64), np.empty(widest, np.int64)
    states = np.empty((6, widest + 1, codes.shape[1]), np.int64)
    labels, side, made, done = np.zeros(n, np.int64), np.empty(n, np.int64), 0, 0
    waiting = [np.arange(n)]
    while waiting:
        rows = waiting.pop()
        cost = np.inf
        if len(rows) >= 2 * k:
            cost = kernels.best_cut(columns, codes, rows, k, key, count, states, side)
        if cost == np.inf:
            labels[rows], made, done = made, made + 1, done + len(rows)
            ctx.tell(done / n, whole=True)
            continue
        right = side[: len(rows)] == 1
        waiting += [rows[right], rows[~right]]
    partition = Partition(labels, k=k)
    return (
        problem.better(mondrian(problem, ctx.quiet()), partition.labels)
        if spans is problem.records
        else partition
    )


def _of_coordinates(records: Records) -> Spans:
    """Return records of another space as ranges of their coordinates."""
    points, axes, codes = records.coordinates, [], []
    for column in points.T:
        values, back = np.unique(column, return_inverse=True)
        if len(values) > FINE:
            edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, FINE + 1)[1:-1]))
            back = np.searchsorted(edges, column, side="right")
            values, back = np.unique(back, return_inverse=True)
            values = np.array([column[back.reshape(-1) == item].mean() for item in range(len(values))])
        span = float(np.ptp(values)) or 1.0
        place = np.append((values - values.min()) / span, 0.0)
        axes.append(Axis(LINE, np.array([place, place]), np.zeros((0, 0), np.int64), place, 0))
        codes.append(back.reshape(-1))
    return Ranges(tuple(axes)).records(np.stack(codes, axis=1))
