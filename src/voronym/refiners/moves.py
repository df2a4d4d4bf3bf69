"""What the refiners share: cells under change, a common scale, a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import moves as kernels
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._cells import split_large
from voronym.progress import Progress, Step

PIECE = 0.1
"""Seconds that a piece of kernel work should take."""


class Work:
    """Records on a common scale, and the cells they move between.

    The records are centred and divided by the largest magnitude, so that one threshold, ``tiny``, separates
    gains from rounding for any data. Cells of 2k records or more are divided by MDAV first, which never adds
    to the sum of squares.
    """

    def __init__(self, X: NDArray[np.float64], k: int, labels: NDArray[np.int64]) -> None:
        centred = X - X.mean(axis=0)
        largest = float(np.abs(centred).max())
        self.points = np.ascontiguousarray(centred / largest if largest > 0.0 else centred)
        self.k = k
        squares = np.square(self.points).sum(axis=1)
        self.total = float(squares.sum())
        self.tiny = 1e-12 * float(squares.max())
        n, d = X.shape
        room = max(n // k, 1)
        self.cells = kernels.Cells(
            split_large(self.points, k, labels).labels.copy(),
            np.empty(n, np.int64),
            np.zeros((room, 2 * k), np.int64),
            np.empty(room, np.int64),
            np.empty((room, d)),
            np.empty(n),
            np.empty(room),
        )
        kernels.fill(self.points, self.cells)

    @property
    def squares(self) -> float:
        """Sum of squares of the cells, on the common scale."""
        return float(self.cells.square.sum())

    @property
    def loss(self) -> float:
        """Information loss, in percent."""
        return 100.0 * self.squares / self.total if self.total > 0.0 else 0.0


class Clock:
    """Time and progress of a refiner: says when to stop, and tells how far the work is."""

    def __init__(self, progress: Progress, time_limit: float | None) -> None:
        if time_limit is not None and not time_limit >= 0.0:
            raise InputError(
                f"time_limit must be a number of seconds that is not negative, not {time_limit!r}"
            )
        self._progress, self._limit, self._start = progress, time_limit, perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the work began."""
        return perf_counter() - self._start

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self._limit is not None and perf_counter() - self._start >= self._limit

    def tell(self, done: float, loss: float | None = None) -> None:
        """Report progress; with a time limit, the share of the time where that is more."""
        if self._limit:
            done = max(done, (perf_counter() - self._start) / self._limit)
        self._progress(Step("partition", min(max(done, 0.0), 1.0), loss))


def whole(name: str, value: object, least: int) -> int:
    """Return an option as a whole number, or say why it cannot be."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return int(value)


def better(X: NDArray[np.float64], start: Partition, labels: NDArray[np.int64], k: int) -> Partition:
    """Return the partition with these labels, or the start where it is no worse."""
    found = Partition(labels, k=k)
    return found if found.sse(X) < start.sse(X) else start


def in_pieces(work: Callable[[int], bool], budget: int) -> Iterator[None]:
    """Call ``work(budget)`` until it says that all is done; adapt the budget to `PIECE` seconds.

    Where the work is cut makes no difference to what it does.
    """
    budget = min(budget, 8)
    over = False
    while not over:
        before = perf_counter()
        over = work(budget)
        seconds = perf_counter() - before
        budget = int(budget * min(2.0, max(0.25, PIECE / max(seconds, 1e-6)))) + 1
        yield
