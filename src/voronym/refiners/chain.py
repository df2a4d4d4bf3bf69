"""One annealing run over a block of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym._kernels import anneal as kernels
from voronym._kernels import exchange
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners import schedule
from voronym.refiners.work import Ints, Work

BRIEF = 0.03
"""Seconds between two looks at the clock."""
DESCENT, PILOT, FINISH = 0.02, 0.1, 0.05
"""Shares of the work for a first descent, for the pilot run, and for the greedy end."""


@dataclass(frozen=True)
class Boldness:
    """The settings of a chain's proposals.

    Parameters
    ----------
    candidates : int
        Number of nearest neighbours that a record may follow.
    jumps : float
        Share of the proposals that change the number of groups.
    heat : float
        Factor for the first temperature.
    cold : float
        The last temperature, in units of the loss per record.
    """

    candidates: int
    jumps: float
    heat: float = 1.0
    cold: float = schedule.COLD


class Chain:
    """An annealing run: a short descent, a pilot over all temperatures, the main run, and a greedy finish.

    Parameters
    ----------
    problem : Problem
        The block's records, and k.
    labels : array, shape (n,)
        The start: groups of k to 2k-1 records.
    boldness : Boldness
        The settings of proposals.
    seed : int
        Seed of the random choices.
    budget : float
        Number of proposals, or seconds if the context has a deadline.
    ctx : Context
        The wish to finish.
    near : array of int, shape (n, K), optional
        The nearest records of each, if already known.
    """

    def __init__(
        self,
        problem: Problem,
        labels: Ints,
        *,
        boldness: Boldness,
        seed: int,
        budget: float,
        ctx: Context,
        near: Ints | None = None,
    ) -> None:
        self.problem, self.boldness, self.ctx, self._near = problem, boldness, ctx, near
        self.pace = problem.records.pace
        self.best = Partition(labels).labels.copy()
        self.gained = self.done = 0.0  # share of the cost that was saved, share of the work that is done
        self._seed, self._budget, self._spent = seed, budget, 0.0
        self._most = problem.records.proposals(problem.k)
        self._slice = min(10_000, self._most)  # proposals; timed chains adapt it

    def run(self) -> None:
        """Work until the budget is spent or the context is over; ``best`` is the best partition so far."""
        begun, n, pace = now(), self.problem.n, self.pace
        self._work = work = Work(self.problem, self.best, self.ctx)
        self._first = self._cost = self._least = float(work.costs.sum())
        bold = self.boldness
        if bold.cold * (self._first / n) <= 0.0:  # nothing is lost, or so little that no heat is as small
            return
        near = self._near
        if near is None:
            near = work.records.neighbours(bold.candidates, self.ctx.quiet())
        if near is None:
            return
        self._search = exchange.make(near, len(work.cells.sizes), self._seed | 1)
        if self.ctx.timed:
            self._spent = now() - begun  # looking for neighbours is part of the work
        worst = float((work.costs / np.maximum(work.cells.sizes, 1)).max())
        heat = schedule.temperatures(self._first / n, worst, heat=bold.heat, cold=bold.cold)
        if self._budget * (pace.speed if self.ctx.timed else 1.0) < pace.least * n:
            self._stay(0.0, 1.0)  # too little work to cool down again: only downhill
            return
        self._stay(0.0, DESCENT)  # something to show before it gets hot
        losses = np.empty(len(heat))
        for step, (temperature, share) in enumerate(zip(heat, schedule.shares(heat), strict=True)):
            self._stay(temperature, PILOT * share)
            losses[step] = self._cost
        for temperature, share in zip(heat, schedule.shares(heat, losses), strict=True):
            self._stay(temperature, (1.0 - DESCENT - PILOT - FINISH) * share)
        self._stay(0.0, FINISH)

    def _stay(self, temperature: float, share: float) -> None:
        """Make proposals at one temperature until its share of the budget is spent."""
        self.done = min(1.0, self.done + share)
        allowed = self.done * self._budget  # of all so far: what one step overdraws, the next ones lack
        work, timed = self._work, self.ctx.timed
        heat = kernels.Heat(kernels.QUANTILES, float(temperature), self.boldness.jumps, self.pace.triples)
        while self._spent < allowed and not self.ctx.over:
            # Without a deadline slices are cut by numbers alone: the answer must not depend on the speed.
            proposals = self._slice if timed else int(min(self._most, np.ceil(allowed - self._spent)))
            before = now()
            kernels.anneal(work.model, work.cells, self._search, work.k, heat, proposals)
            seconds = max(now() - before, 1e-6)
            if timed:
                left = max(0.0, allowed - self._spent - seconds)
                self._slice = int(min(self._most, proposals * min(BRIEF, left) / seconds)) + 1
            self._spent += seconds if timed else proposals
            self._cost = work.refresh()  # computed again: sums of many changes lose digits
            if self._cost < self._least:
                self._least, self.best = self._cost, work.labels
                self.gained = 1.0 - self._least / self._first
