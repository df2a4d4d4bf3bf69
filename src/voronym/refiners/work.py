"""Shared parts of the refiners: records, the groups they move between, and their costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as kernels
from voronym.core.context import Context
from voronym.method import split_large
from voronym.problem import Problem

Ints = NDArray[np.int64]

LOG = 4096
"""Number of moves that can be undone, and 4k more."""


class Work:
    """Records on a common scale, and their groups during a search.

    Groups of 2k records or more are first divided by MDAV, which never adds cost.

    Parameters
    ----------
    problem : Problem
        The problem.
    labels : array of int, shape (n,)
        The start: groups of at least k.
    ctx : Context
        Asked while large groups are divided.
    """

    def __init__(self, problem: Problem, labels: Ints, ctx: Context) -> None:
        self.records, self.k = problem.records.unit(), problem.k
        self.tiny, self.total = self.records.tiny, self.records.total
        self.reset(split_large(Problem(self.records, self.k), labels, ctx.quiet()).labels)

    def reset(self, labels: Ints) -> None:
        """Begin with groups of k to 2k-1 records."""
        room = max(len(self.records) // self.k, 1)
        self.cells = kernels.make(labels, room, 2 * self.k - 1, LOG + 4 * self.k)
        self.model = self.records.model(room)
        self.refresh()

    def refresh(self) -> float:
        """Compute the costs again; return their sum."""
        room = len(self.cells.sizes)
        total = 0.0
        for first in range(0, room, 64):  # short calls, so that Ctrl-C works
            total += kernels.refresh_all(self.model, self.cells, first, min(room, first + 64))
        return total

    @property
    def costs(self) -> NDArray[np.float64]:
        """Cost of each group."""
        out = np.empty(len(self.cells.sizes))
        kernels.costs(self.model, self.cells, out)
        return out

    @property
    def loss(self) -> float:
        """Cost in percent of the cost of a single group of all records."""
        return 100.0 * float(self.costs.sum()) / self.total if self.total > 0.0 else 0.0

    @property
    def labels(self) -> Ints:
        """The group of each record."""
        return self.cells.labels.copy()
