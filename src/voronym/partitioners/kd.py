"""Cells by halving along the widest column: coarse, but ten million records take seconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._cuda.device import attempt
from voronym._cuda.pairs import halves
from voronym._kernels import kd as kernels
from voronym._kernels.tree import sortable
from voronym.core.context import Context
from voronym.method import algorithm
from voronym.partition import Partition
from voronym.problem import Problem

Ints = NDArray[np.int64]

DEEPEST = 64
"""Upper bound on the levels of any tree."""


@algorithm(
    "kd",
    guarantee="every group has k to 2k-1 records",
    cost="O(n d log n), on all cores; memory O(n d)",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    model_free=True,
    weighted=True,
)
def kd(problem: Problem, ctx: Context) -> Partition:
    """Halve the records at the median of the column of largest variance, down to cells of k or k+1.

    It starts searches on tables for which `mdav` is too slow: it takes seconds, but loses far more. In a
    space without coordinates it cuts along distances to a few distant records. Weights do not change the
    cuts.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.microaggregate([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], 2, method="kd").labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    points = problem.records.coordinates
    labels = attempt(lambda: halves(points, problem.k), ctx)
    return Partition(partition(points, problem.k, ctx) if labels is None else labels, k=problem.k)


def partition(points: NDArray[np.float64], k: int, ctx: Context, *, room: float = 0.0) -> Ints:
    """Return labels of cells of about equal size; ``room`` is the share by which they exceed k."""
    n = len(points)
    cells = max(1, int(n / (k * (1.0 + room))))
    (rows, marks), order = sortable(points), np.arange(n)
    bounds = (np.arange(cells + 1) * n) // cells
    parts = [(0, cells)]

    def halve(part: tuple[int, int]) -> int:
        return int(kernels.halve(rows, marks, order, bounds, *part)) if part[1] - part[0] > 1 else part[1]

    while len(parts) < min(8 * ctx.threads, cells):  # level by level, until all threads have enough to do
        middles = ctx.quiet().map(halve, parts)
        halves = [
            half
            for (low, high), middle in zip(parts, middles, strict=True)
            for half in ((low, middle), (middle, high))
        ]
        parts = [(low, high) for low, high in halves if high > low]
    ctx.map(
        lambda part: kernels.split(rows, marks, order, bounds, *part, np.empty((DEEPEST, 2), np.int64)),
        parts,
    )
    labels = np.empty(n, np.int64)
    labels[order] = np.repeat(np.arange(cells), np.diff(bounds))
    return labels
