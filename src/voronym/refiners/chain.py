"""One annealing run over a block of records."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import anneal as kernels
from voronym.context import Context
from voronym.partition import Partition
from voronym.refiners import schedule
from voronym.refiners.blocks import neighbours

SLICE = 100_000
"""Proposals between two looks at the clock: some 10 to 30 ms."""
LEAST = 300
"""Proposals a record below which annealing ends worse than it began."""
SPEED = 5e6
"""Proposals a second, roughly: to foresee what a budget of seconds is worth."""
DESCENT, PILOT, FINISH = 0.02, 0.1, 0.05
"""Shares of the work for a first descent, for the pilot run, and for the last, greedy part."""


class Chain:
    """An annealing run: a short descent, a pilot over all temperatures, the main run, and a greedy finish.

    Parameters
    ----------
    X : array, shape (n, d)
        The block's records.
    k : int
        Least number of records in a cell.
    labels : array, shape (n,)
        Where to start: cells of k to 2k-1 records.
    seed : int
        Of the random choices.
    budget : float
        Proposals, or seconds where ``timed``.
    heat : float
        Factor for the first temperature.
    candidates, jumps
        As in `voronym.refiners.anneal.anneal`.
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        k: int,
        labels: NDArray[np.int64],
        *,
        seed: int,
        budget: float,
        timed: bool,
        heat: float,
        candidates: int,
        jumps: float,
    ) -> None:
        start = Partition(labels)
        self.X, self.k = X, k
        self.best = start.labels.copy()
        self.first = self.least = start.sse(X)
        self.done = 0.0
        self._budget, self._timed, self._heat = budget, timed, heat
        self._candidates, self._jumps = candidates, jumps
        self._state = np.array([seed | 1], np.uint64)
        self._spent = 0.0
        self._speed = 1e4  # proposals a second, low until the first slice is timed

    def run(self, ctx: Context) -> None:
        """Work until the budget is spent or the context is over; ``best`` is the best partition seen."""
        n, d = self.X.shape
        clock = perf_counter()
        if schedule.COLD * self.first / n <= 0.0 or ctx.over:
            return
        most = n // self.k
        self._points = np.ascontiguousarray(self.X - self.X.mean(axis=0))
        self._near = neighbours(self._points, self._candidates)
        self._cells = kernels.Cells(
            self.best.copy(),
            np.empty(n, np.int64),
            np.empty((most, 2 * self.k), np.int64),
            np.empty(most, np.int64),
            np.empty((most, d)),
            np.empty(most),
            np.empty(most + 1, np.int64),
        )
        self._moved = np.empty((2, 2 * self.k), np.int64)
        self._sse = self.first
        if self._timed:
            self._spent = perf_counter() - clock  # looking for neighbours is part of the work
        heat = schedule.temperatures(self.first / n, self._worst(), heat=self._heat)
        if self._budget * (SPEED if self._timed else 1.0) < LEAST * n:
            self._stay(0.0, 1.0, ctx)  # too little work to cool down again: only downhill
            return
        self._stay(0.0, DESCENT, ctx)  # something to show before it gets hot
        losses = np.empty(len(heat))
        for step, (temperature, share) in enumerate(zip(heat, schedule.shares(heat), strict=True)):
            self._stay(temperature, PILOT * share, ctx)
            losses[step] = self._sse
        for temperature, share in zip(heat, schedule.shares(heat, losses), strict=True):
            self._stay(temperature, (1.0 - DESCENT - PILOT - FINISH) * share, ctx)
        self._stay(0.0, FINISH, ctx)

    def _worst(self) -> float:
        """Return the largest SSE per record of a cell."""
        start = Partition(self.best)
        off = np.square(self._points - start.centroids(self._points)[start.labels]).sum(axis=1)
        return float((np.bincount(start.labels, off) / start.sizes).max())

    def _stay(self, temperature: float, share: float, ctx: Context) -> None:
        """Make proposals at one temperature until its share of the budget is spent."""
        self.done = min(1.0, self.done + share)
        allowed = self.done * self._budget  # of all so far: what one step overdraws, the next ones lack
        while self._spent < allowed and not ctx.over:
            left = allowed - self._spent
            proposals = (
                int(min(SLICE, left * self._speed + 1000)) if self._timed else int(min(SLICE, np.ceil(left)))
            )
            clock = perf_counter()
            kernels.fill(self._points, self._cells)
            self._sse += kernels.anneal(
                self._points,
                self.k,
                self._near,
                proposals,
                temperature,
                self._jumps,
                self._state,
                self._moved[0],
                self._moved[1],
                self._cells,
            )
            seconds = perf_counter() - clock
            self._speed = proposals / max(seconds, 1e-6)
            self._spent += seconds if self._timed else proposals
            if self._sse < self.least:
                found = Partition(self._cells.label.copy())
                self._sse = found.sse(self._points)  # anew: differences of large sums lose digits
                if self._sse < self.least:
                    self.least, self.best = self._sse, found.labels
