"""A partition as a tour of the records, and the best cuts of a tour."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import icsm as kernels
from voronym.refiners.work import Work

PIECE = 5_000_000
"""Distances in a piece of kernel work: at most some tenths of a second."""

Pause = Callable[[], None]


def string(work: Work, pause: Pause) -> NDArray[np.int64]:
    """Return the records as a path: cell after cell, always on to the nearest point.

    It begins with the record farthest from the mean. O(n² / k) distances.
    """
    points = work.model.points
    n, d = points.shape
    order, alive = np.empty(n, np.int64), np.arange(n)
    order[0] = np.square(points).sum(axis=1).argmax()
    remaining = n
    while remaining > 0:
        remaining = kernels.path(points, work.cells, alive, remaining, order, PIECE // d + 1)
        pause()
    return order


def cut(
    points: NDArray[np.float64], k: int, order: NDArray[np.int64], pause: Pause
) -> tuple[float, int, NDArray[np.int64]]:
    """Cut a tour into runs of k to 2k-1 records with the least sum of squares.

    A run has at most 2k-1 records, so in any cut a run begins at one of the first 2k-1 records. The
    optimum is the best of the shortest paths through the tour opened at each of these. O(n k (d + k)).

    Returns
    -------
    squares : float
        The least sum of squares.
    first : int
        Position at which the tour is opened.
    last : array, shape (n + 1,)
        ``last[e]`` is the size of the run that ends after e records.
    """
    n, d = points.shape
    weight, mean = np.empty((n, k)), np.empty(d)
    step = PIECE // (2 * k * d) + 1
    for start in range(0, n, step):
        kernels.weigh(points, order, k, mean, weight, start, min(n, start + step))
        pause()
    cost, last = np.empty(n + 1), np.empty(n + 1, np.int64)
    best, opened, kept = np.inf, 0, last.copy()
    for first in range(min(2 * k - 1, n)):
        squares = kernels.cut(weight, k, first, cost, last)
        if squares < best:
            best, opened, kept = squares, first, last.copy()
        if n * k > PIECE // (2 * k):
            pause()
    return best, opened, kept
