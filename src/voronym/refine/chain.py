"""One annealing run over a block of records, and many of them over a pool of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import anneal as kernels
from voronym.partition import Partition
from voronym.progress import Stop
from voronym.refine import schedule
from voronym.refine.blocks import neighbours

SLICE = 100_000
"""Proposals between two looks at the clock: some 10 to 30 ms."""
PILOT, FINISH = 0.1, 0.05
"""Shares of the work for the pilot run and for the last, greedy part."""


class Chain:
    """An annealing run: a pilot over all temperatures, the main run, and a greedy finish.

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
    hot : float
        First temperature, in units of the start's SSE per record.
    candidates, jumps
        As in `voronym.refine.anneal.anneal`.
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
        hot: float,
        candidates: int,
        jumps: float,
    ) -> None:
        start = Partition(labels)
        self.X, self.k = X, k
        self.best = start.labels.copy()
        self.first = self.least = start.sse(X)
        self.done = 0.0
        self._budget, self._timed, self._hot = budget, timed, hot
        self._candidates, self._jumps = candidates, jumps
        self._state = np.array([seed | 1], np.uint64)

    def run(self, stop: Event) -> None:
        """Work until the budget is spent or ``stop`` is set; ``best`` is the best partition seen."""
        if self.first <= 0.0 or stop.is_set():
            return
        n, d = self.X.shape
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
        heat = schedule.temperatures(self.first / n, hot=self._hot)
        losses = np.empty(len(heat))
        for step, (temperature, share) in enumerate(zip(heat, schedule.shares(None), strict=True)):
            self._stay(temperature, PILOT * share, stop)
            losses[step] = self._sse
        for temperature, share in zip(heat, schedule.shares(losses), strict=True):
            self._stay(temperature, (1.0 - PILOT - FINISH) * share, stop)
        self._stay(0.0, FINISH, stop)

    def _stay(self, temperature: float, share: float, stop: Event) -> None:
        """Make proposals at one temperature until its share of the budget is spent."""
        spent, allowed = 0.0, share * self._budget
        while spent < allowed and not stop.is_set():
            proposals = SLICE if self._timed else int(min(SLICE, np.ceil(allowed - spent)))
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
            spent += perf_counter() - clock if self._timed else proposals
            if self._sse < self.least:
                self.least = self._sse
                self.best = self._cells.label.copy()
        self.done += share


def run_all(chains: Sequence[Chain], *, threads: int, tell: Callable[[], None]) -> bool:
    """Run chains over a pool of threads; return whether they were asked to end early.

    Ctrl-C and `voronym.progress.Stop` from ``tell`` end them, each with its best so far. Any other exception
    passes, after they have ended.
    """
    stop = Event()
    with ThreadPoolExecutor(threads) as pool:
        try:
            pending = {pool.submit(chain.run, stop) for chain in chains}
            while pending:
                finished, pending = wait(pending, timeout=0.1)
                for future in finished:
                    future.result()
                tell()
        except (KeyboardInterrupt, Stop):
            return True
        finally:
            stop.set()
    return False
