"""Cut large clusters into the smallest allowed ones: shuffling within fewer records moves values less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space.mixed import Mixed

Ints = NDArray[np.int64]

_LARGEST = 2000
"""Largest number of records that MDAV compares with each other; larger clusters are halved first."""


def split(space: Mixed, codes: Ints, part: Partition, m: int, ctx: Context) -> Partition:
    """Cut every cluster of 2 (m + 1) records or more into groups of m + 1 to 2 m + 1 similar ones, by MDAV.

    A part of a cluster keeps the limits on its pairs, so epsilon still holds.
    """
    labels, free = part.labels.copy(), part.n_cells
    for number, rows in enumerate(part.cells()):
        for piece in _halved(space, codes, rows, m):
            if len(piece) < 2 * (m + 1):
                groups = np.zeros(len(piece), np.int64)
            else:
                problem = Problem(space.records(codes[piece]), m + 1)
                groups = METHODS["mdav"].partition(problem, ctx.quiet()).labels
            labels[piece] = free + groups
            free += int(groups.max()) + 1
        ctx.tell(number / part.n_cells, whole=True)
    return Partition(np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64))


def _halved(space: Mixed, codes: Ints, rows: Ints, m: int) -> list[Ints]:
    """Return a cluster in parts small enough to compare, halved by the distance from a far record."""
    if len(rows) <= max(_LARGEST, 4 * (m + 1)):
        return [rows]
    first = space.cost(codes[rows], codes[rows[:1]])[:, 0]
    end = rows[int(np.argmax(first))]  # a record at the far end
    order = np.argsort(space.cost(codes[rows], codes[end : end + 1])[:, 0], kind="stable")
    near, far = rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
    return [*_halved(space, codes, near, m), *_halved(space, codes, far, m)]
