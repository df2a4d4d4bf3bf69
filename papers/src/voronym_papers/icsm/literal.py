"""ICSM to the letter: a round collects the first hundred moves that are met, and applies the best of them.

`voronym.refiners.icsm` takes the best move of every cell instead, and looks for chains from several cells.
Beside algorithms 2 to 4 of the paper nothing is added here. What the text leaves open: nodes are met by
number, records before cells, each pair from both of its ends; equal moves keep the order in which they were
met; a run counts the rounds that change something.
"""

from __future__ import annotations

import numpy as np

from voronym._kernels import kernel
from voronym.core.context import Context
from voronym.problem import Problem
from voronym.refiners.icsm import IcsmOptions, Run
from voronym.refiners.work import Work
from voronym_papers.items import Floats

POOL = 100
"""Moves that a round collects: p_n of section 5.1."""


@kernel
def first_moves(points, means, labels, sizes, k, tiny, change, left, right, target):
    """Fill the first moves that gain, as pairs of nodes are met; return how many there are.

    A move is a record and a cell, ``right`` -1; or two records that change places. The change of an exchange
    is R1 + R1 = 2 (x - y)·(c_p - c_q) - |x - y|² (1/m_p + 1/m_q), that of a migration R2 + R3.
    """
    n, d = points.shape
    room, count = len(sizes), 0
    for v in range(n + room):
        for w in range(n + room):
            if count == len(change):
                return count
            if v < n and w < n:
                p, q = labels[v], labels[w]
                if p == q:
                    continue
                square, inner = 0.0, 0.0
                for j in range(d):
                    step = points[v, j] - points[w, j]
                    square += step * step
                    inner += step * (means[p, j] - means[q, j])
                gain = 2.0 * inner - square * (1.0 / sizes[p] + 1.0 / sizes[q])
                if gain < -tiny:
                    change[count], left[count], right[count], target[count] = gain, v, w, q
                    count += 1
            elif v < n or w < n:
                record, q = (v, w - n) if v < n else (w, v - n)
                p = labels[record]
                if p == q or sizes[q] == 0 or sizes[p] <= k or sizes[q] >= 2 * k - 1:
                    continue
                here, there = 0.0, 0.0
                for j in range(d):
                    step = points[record, j] - means[p, j]
                    here += step * step
                    step = points[record, j] - means[q, j]
                    there += step * step
                gain = there * sizes[q] / (sizes[q] + 1.0) - here * sizes[p] / (sizes[p] - 1.0)
                if gain < -tiny:
                    change[count], left[count], right[count], target[count] = gain, record, -1, q
                    count += 1
    return count


class Literal(Run):
    """A run of ICSM as printed."""

    def __init__(self, work: Work, ctx: Context, rounds: int | None = None) -> None:
        super().__init__(work, ctx, IcsmOptions(sources=1, iterations=rounds))
        self._change = np.empty(POOL)
        self._moves = [np.empty(POOL, np.int64) for _ in range(3)]
        self.improved = 0

    def simple(self) -> bool:
        """Make one round; count it where it changes something."""
        changed = super().simple()
        self.improved += changed
        return changed

    def complex(self) -> bool:
        """Look for a chain from the cell of lowest score; a round that finds one counts, too."""
        changed = super().complex()
        self.improved += changed
        return changed

    def pairs(self) -> bool:
        """Collect the first moves that gain; apply them, best first, where they share no cell."""
        work = self.work
        cells, changed = work.cells, set()
        count = first_moves(
            work.model.points, work.model.centroids, cells.labels, cells.sizes, work.k, work.tiny,
            self._change, *self._moves,
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
