"""ICSM to the letter: a round collects the first hundred moves, and applies the best of them.

`voronym.refiners.icsm` takes the best move of every cell instead, and looks for chains from several cells.
This module adds nothing to algorithms 2 to 4 of the paper. Details that the text leaves open: nodes are
visited by number, records before cells, each pair from both ends; equal moves keep the order in which they
were found; a run counts the rounds that change something.
"""

from __future__ import annotations

import numpy as np

from voronym.core.context import Context
from voronym.problem import Problem
from voronym.refiners.icsm import IcsmOptions, Run
from voronym.refiners.work import Work
from voronym_papers.items import Floats
from voronym_papers.solvers.kernels import first_moves, squares_to

POOL = 100
"""Moves that a round collects: p_n of section 5.1."""


class Literal(Run):
    """A run of ICSM as printed."""

    def __init__(self, work: Work, ctx: Context, rounds: int | None = None) -> None:
        super().__init__(work, ctx, IcsmOptions(sources=1, iterations=rounds))
        self._change = np.empty(POOL)
        self._moves = [np.empty(POOL, np.int64) for _ in range(3)]
        self._means = np.full_like(work.model.centroids, np.nan)
        self._away = np.zeros((len(self._means), len(work.model.points)))
        self._near = np.empty(len(self._means))
        self.improved = 0

    def simple(self) -> bool:
        """Make one round; count it if it changes something."""
        changed = super().simple()
        self.improved += changed
        return changed

    def complex(self) -> bool:
        """Apply a chain from the cell of lowest score; count the round if there is one."""
        changed = super().complex()
        self.improved += changed
        return changed

    def pairs(self) -> bool:
        """Collect the first moves that gain; apply them, best first, if they share no cell."""
        work = self.work
        cells = work.cells
        changed: set[int] = set()
        points, means = work.model.points, work.model.centroids
        squares_to(points, means, (means != self._means).any(axis=1), self._away)
        self._means = means.copy()
        count = first_moves(
            points, self._away, cells.labels, cells.sizes, work.k, work.tiny, self._near, self._change,
            *self._moves,
        )  # fmt: skip
        self._pause()
        for at in np.argsort(self._change[:count], kind="stable"):
            record, other, cell = (int(column[at]) for column in self._moves)
            touched = {int(cells.labels[record]), cell}
            if other >= 0:
                touched.add(int(cells.labels[other]))
            if touched & changed:
                continue
            changed |= touched
            home = int(cells.labels[record])
            self.apply([(record, cell), *([(other, home)] if other >= 0 else [])])
        self.changed[:] = 0
        return bool(changed)


def literally(X: Floats, k: int, labels: np.ndarray, rounds: int | None = None) -> tuple[float, float, int]:
    """Run ICSM as printed; return the losses before and after in percent, and the rounds that improved."""
    ctx = Context()
    work = Work(Problem.of(X, k), labels, ctx)
    run = Literal(work, ctx, rounds)
    before = work.loss
    run.finish()
    return before, work.loss, run.improved
