"""ICSM: iterative constraint satisfaction for microaggregation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as groups
from voronym._kernels import icsm as kernels
from voronym.core.context import Context
from voronym.core.options import Options, option, whole
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners import tour
from voronym.refiners.registry import refiner
from voronym.refiners.work import Work

PERTURBED = 20
"""Largest number of records whose cells a restart changes."""


class _TimeUpError(Exception):
    """The time limit is reached: the present state is returned."""


@dataclass(frozen=True)
class IcsmOptions(Options):
    """Options of ICSM."""

    pool: int = option(100, "moves collected in a round", check=whole(1))
    sources: int = option(
        5,
        "groups, by rising score, from which a chain is looked for; the authors look from one",
        check=whole(0),
    )
    restarts: int = option(
        0,
        "further runs, each from the start with up to 20 records at random in each other's groups; the best "
        "of all is returned",
        check=whole(0),
    )
    iterations: int | None = option(
        None, "rounds in a run, at most; by default a run ends where nothing improves", check=whole(0)
    )


@refiner(
    "icsm",
    guarantee="every group has k to 2k-1 records; at its end no shift or swap of two cells loses less",
    cost="O(n²) distances at worst in a round of moves, some 30 to 400 rounds; memory O(n (d + k))",
    reference="Mortazavi, Jalili: A novel local search method for microaggregation, ISeCure 7 (2015)",
    max_size=lambda k: 2 * k - 1,
    practical=5_000,
    options=IcsmOptions,
    squares=True,
)
def icsm(problem: Problem, part: Partition, ctx: Context, options: IcsmOptions) -> Partition:
    """Satisfy conditions of the optimum: no shift, swap or chain of moves between cells lowers the loss.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` over partitions with cells of k to 2k-1
    records. A round strings the cells on a path (nearest point next), closes it to a tour and takes the
    best cuts of the tour. Then the best shifts and swaps between two cells are collected and applied,
    best first, if they share no cell. If a round changes nothing, a chain of replacements through more
    than two cells is sought; if there is one, the rounds continue.

    Notes
    -----
    The change of the sum of squares by a move is derived, not copied; where the printed formulas differ, the
    derived ones agree with the sums recomputed. Readings chosen where the text leaves room: the pool has the
    best move of each cell, best cells first, rather than the first moves met; of the cycles through the cell
    of lowest score, the best one is applied, as the others share that cell; equal ranks go by number; a
    tour's cuts are taken where they lose less. A move between cells too far apart to gain is not computed,
    and the best move of a cell is kept until one of its two cells changes.

    References
    ----------
    R. Mortazavi and S. Jalili, "A novel local search method for microaggregation", The ISC International
    Journal of Information Security 7 (2015).

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.9], [1.0], [1.1], [2.0], [2.1]]
    >>> start = vr.Partition([0, 1, 0, 1, 0, 1])
    >>> vr.refine(X, start, k=3, method="icsm").labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    n = problem.n
    best, least = part.labels, np.inf
    for number in range(options.restarts + 1):
        labels = part.labels.copy()
        if number > 0:
            drawn = ctx.rng.choice(n, min(int(ctx.rng.integers(2, PERTURBED + 1)), n), replace=False)
            labels[drawn] = labels[ctx.rng.permutation(drawn)]
        work = Work(problem, labels, ctx)
        run = Run(work, ctx, options, turn=(number, options.restarts + 1))
        done = run.finish()
        squares = float(work.model.square.sum())
        if squares < least:
            best, least = work.labels, squares
        if not done:
            break
    return problem.better(part, best)


class Run:
    """One run of ICSM: the cells, and the known moves between them."""

    def __init__(
        self,
        work: Work,
        ctx: Context,
        options: IcsmOptions,
        turn: tuple[int, int] = (0, 1),
    ) -> None:
        self.work, self.ctx, self.turn = work, ctx, turn
        self.pool, self.sources, self.limit = options.pool, options.sources, options.iterations
        room = len(work.cells.sizes)
        self.rounds = 0
        self.changed = np.ones(room, np.int64)
        self.best = kernels.Pairs(
            np.zeros(room),
            np.zeros(room, np.int64),
            np.full(room, -1),
            np.full(room, -1),
            np.empty((2, 2 * work.k)),
        )
        self._kept = np.empty(room, np.int64)

    def finish(self) -> bool:
        """Run to the end; return False if time ran out before."""
        try:
            while True:
                while self.simple():
                    pass
                if self._enough() or not self.complex():
                    return True
        except _TimeUpError:
            return False

    def _enough(self) -> bool:
        return self.limit is not None and self.rounds >= self.limit

    def _pause(self) -> None:
        """Report progress, and stop if time is up. The cells are complete at every pause."""
        number, count = self.turn
        share = (number + self.rounds / (self.rounds + 50.0)) / count
        self.ctx.tell(share, self.work.loss)
        if self.ctx.over:
            raise _TimeUpError

    def simple(self) -> bool:
        """Make one round of cuts, shifts and swaps; return whether anything changed."""
        if self._enough():
            return False
        self.rounds += 1
        return any([self.retour(), self.pairs()])

    def retour(self) -> bool:
        """Cut the tour of the cells again if that loses less."""
        work = self.work
        order = tour.string(work, self._pause)
        squares, first, last = tour.cut(work.model.points, work.k, order, self._pause)
        if not squares < float(work.model.square.sum()) - work.tiny:
            return False
        kernels.adopt(work.model, work.cells, order, first, last, self._kept, self.changed)
        return True

    def pairs(self) -> bool:
        """Apply the best shifts and swaps that share no cell."""
        self.scan()
        best = self.best
        ranked = np.argsort(best.change, kind="stable")[: 2 * self.pool]  # a move stands in two rows
        for p in ranked[best.change[ranked] < -self.work.tiny]:
            q = best.partner[p]
            if not (self.changed[p] or self.changed[q]):
                self.apply([(best.left[p], max(p, q)), (best.right[p], min(p, q))])
        return bool(self.changed.any())

    def scan(self) -> None:
        """Update the best move of every cell, and change no cell."""
        work = self.work
        stale = self.changed | self.changed[self.best.partner]
        self.best.change[stale == 1] = 0.0
        rows = np.flatnonzero(stale & (work.cells.sizes > 0))
        budget, position = tour.PIECE // (work.model.points.shape[1] * work.k) + 1, 0
        while position < len(rows):
            position = kernels.scan(work.model, work.cells, self.best, stale, rows, position, work.k, budget)
            self._pause()
        self.changed[:] = 0

    def apply(self, changes: list[tuple[int, int]]) -> None:
        """Move records to cells; record -1 means no record."""
        cells = self.work.cells
        touched = set()
        for record, cell in changes:
            if record >= 0:
                touched |= {int(cells.labels[record]), int(cell)}
                groups.move(cells, record, cell)
        for cell in touched:
            groups.refresh_all(self.work.model, cells, cell, cell + 1)
            self.changed[cell] = 1

    def complex(self) -> bool:
        """Apply a chain of replacements through one of the cells of lowest score, if one gains."""
        alive = np.flatnonzero(self.work.cells.sizes)
        lowest = alive[np.argsort(scores(self.work)[alive], kind="stable")]
        return any(self.chain(int(source)) for source in lowest[: self.sources])

    def chain(self, source: int) -> bool:
        """Apply the best chain of replacements that begins and ends in a cell, if it gains."""
        work, cells = self.work, self.work.cells
        means, n, alive = work.model.centroids, len(work.records), np.flatnonzero(cells.sizes)
        away = np.square(means[alive] - means[source]).sum(axis=1)
        away[alive == source] = -1.0
        ranked = alive[np.argsort(away, kind="stable")]
        begin = cells.start[source]
        starts = [*cells.members[begin : begin + cells.sizes[source]], n + source]
        nodes = n + len(cells.sizes)
        cost, before = np.full((nodes, len(starts)), np.inf), np.full((nodes, len(starts)), -1)
        cost[starts, np.arange(len(starts))] = 0.0
        chains = kernels.Chains(
            cost,
            before,
            np.zeros((nodes - n, len(starts))),
            np.full(len(starts), n + source),
            np.empty(nodes),
            np.full(nodes - n, -1),
        )
        chains.low[source, -1] = np.inf
        step = tour.PIECE // (n * work.k * (means.shape[1] + work.k)) + 1
        for begin in range(1, len(ranked), step):
            end = min(len(ranked), begin + step)
            kernels.chains(work.model, cells, work.k, ranked, source, begin, end, chains)
            self._pause()
        gain, last, column = kernels.close(work.model, cells, work.k, ranked, source, cost)
        if not gain < -work.tiny:
            return False
        chain = [int(last)]
        while chain[-1] != starts[column]:
            chain.append(int(before[chain[-1], column]))
        cell_of = {node: int(cells.labels[node]) if node < n else node - n for node in chain}
        self.apply([
            (node, cell_of[chain[place - 1]]) for place, node in enumerate(chain) if node < n
        ])  # fmt: skip
        return True


def scores(work: Work) -> NDArray[np.float64]:
    """Return the score of each cell: the sum of R1 over pairs from its records, less that over pairs to them.

    With D the distance of two centroids, the R1 from all of p to all of q add up to ``-2 m_p SSE_q +
    (1 - 1/m_q) T``, where ``T = m_q SSE_p + m_p SSE_q + m_p m_q D²``; so a score takes O(c d), not O(n² d).
    """
    cells = work.cells
    n, alive = len(work.records), np.flatnonzero(cells.sizes)
    m, c = cells.sizes[alive].astype(float), work.model.centroids[alive]
    sse = np.bincount(cells.labels, work.model.square, len(cells.sizes))[alive]
    norm = np.square(c).sum(axis=1)
    # Sums over all q of m_q D², and of D²; the term q = p is zero in each line below.
    heavy = n * norm + (m * norm).sum() - 2.0 * c @ (m[:, None] * c).sum(axis=0)
    light = len(m) * norm + norm.sum() - 2.0 * c @ c.sum(axis=0)
    out = np.full(len(cells.sizes), np.inf)
    out[alive] = (
        2.0 * (n * sse - m * sse.sum())
        + (n / m - len(m)) * sse
        + sse.sum()
        - m * (sse / m).sum()
        + heavy
        - m * light
    )
    return out
