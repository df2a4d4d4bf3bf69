"""What the refiners share: cells under change, on a common scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import moves as kernels
from voronym.context import Context
from voronym.groups import split_large
from voronym.problem import Problem


class Work:
    """Records on a common scale, and the cells they move between.

    The records are centred and divided by the largest magnitude, so that one threshold, ``tiny``, separates
    gains from rounding for any data. Cells of 2k records or more are divided by MDAV first, which never adds
    to the sum of squares.
    """

    def __init__(self, X: NDArray[np.float64], k: int, labels: NDArray[np.int64], ctx: Context) -> None:
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
            split_large(Problem.of(self.points, k), labels, ctx.quiet()).labels.copy(),
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
