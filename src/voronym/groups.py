"""What is done to groups once they are made, in any space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.context import Context
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.registry import METHODS


def split_large(
    problem: Problem, labels: NDArray[np.int64], ctx: Context, *, method: str = "mdav"
) -> Partition:
    """Split every group of 2k records or more by a method that keeps k to 2k-1; that never adds loss."""
    part = Partition(labels, k=problem.k)
    large = np.flatnonzero(part.sizes >= 2 * problem.k)
    if not len(large):
        return part
    new, top, members = part.labels.copy(), part.n_cells, part.cells()
    here = ctx if len(large) == 1 else ctx.quiet()
    for group in large:
        inside = members[group]
        parts = METHODS[method].partition(problem.subset(inside), here)
        new[inside] = top + parts.labels
        top += parts.n_cells
    return Partition(new, k=problem.k)
