"""Exact lists of the nearest and farthest points, made in batches: the host side of near.cu."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym._cuda.device import blocks, cupy, filled

LIST, ROOM, BATCH, TILE = 64, 1024, 8192, 256  # as in near.cu; queries of a batch
CANDIDATES = 256  # candidates that a threshold lets pass, more or less


class Points:
    """Points on the device, those alive among them arranged by distance to a mean.

    Parameters
    ----------
    X : CuPy array, shape (n, d)
        Points, double, in C order.
    get : callable
        Returns a kernel by its name.
    columns : bool
        Whether `columns`, the points column by column in double, is kept, too.
    """

    def __init__(self, X: Any, get: Any, *, columns: bool = False) -> None:
        cp = cupy()
        self.X, (self.n, self.d) = X, X.shape
        self.alive = filled(self.n, cp.uint8, 1)
        self._radii, self._arrange, self._queries = map(get, ("radii", "arrange", "queries"))
        self._thresholds, self._filter, self._finish = map(get, ("thresholds", "filter", "finish"))
        self.index = cp.asarray(np.arange(self.n, dtype=np.int32))
        self._other = cp.empty(self.n, cp.int32)
        self.rho, self._radius = cp.empty(self.n), cp.empty(self.n)
        self.columns = cp.empty(self.n * self.d) if columns else np.int64(0)
        self._centred = cp.empty(self.n * self.d, cp.float32)
        self.mean = cp.empty(self.d)
        self.m = self.n  # in the order, alive or not
        self.near, self.far = cp.empty(BATCH * ROOM, cp.int32), None
        self._asked, self._distance = cp.empty(BATCH * self.d, cp.float32), cp.empty(BATCH)
        self._limits = cp.empty((2, BATCH))
        self._counts = cp.empty((2, BATCH), cp.int32)
        self.failed = filled(2, cp.int32, 0)

    @staticmethod
    def bytes(n: int, d: int, *, columns: bool) -> int:
        """Return the memory needed, including the points and sorting."""
        return n * (d * (12 + 8 * columns) + 45) + BATCH * (8 * ROOM + 4 * d + 40)

    def arrange(self, mean: NDArray[np.float64], left: int) -> None:
        """Order the ``left`` points that are alive by falling distance to a mean."""
        cp, m = cupy(), self.m
        self.mean.set(mean)
        self._radii(
            blocks(m, TILE),
            (TILE,),
            (self.X, self.index, np.int32(m), self.alive, self.mean, self._radius),
        )
        order = cp.argsort(self._radius[:m])
        self.index, self._other = self._other, self.index
        self.m = left
        self._arrange(
            blocks(left, TILE),
            (TILE,),
            (
                self.X, self._other, order, self._radius, np.int32(left), self.mean,
                self.index, self.rho, self.columns, self._centred,
            ),
        )  # fmt: skip

    def lists(
        self, queue: Any, slots: Any, count: int, least: int, near: Any, far: Any = None, wider: float = 1.0
    ) -> None:
        """Fill the lists of ``count`` points.

        Parameters
        ----------
        queue, slots : CuPy arrays of int32
            Points, and the rows of ``near`` and ``far`` that take their lists.
        least : int
            A list with fewer is counted in ``failed``.
        near, far : CuPy arrays of int32, shape (slots, LIST)
            The lists, ended by -1.
        wider : int
            Factor on the usual number of candidates.
        """
        cp, m = cupy(), np.int32(self.m)
        if far is not None and self.far is None:
            self.far = cp.empty(BATCH * ROOM, cp.int32)
        number, both = np.int32(count), np.int32(far is not None)
        step = max(1, min(self.m // 4096, 32))
        want = int(np.clip(round(CANDIDATES * wider / step), 1, 200))
        stride = np.int32(BATCH)
        self._queries(
            blocks(count, 128),
            (128,),
            (self.X, queue, number, stride, self.mean, self._asked, self._distance, *self._counts),
        )
        self._thresholds(
            blocks(count, 8),
            (TILE,),
            (
                self._centred, m, np.int32(step), self.index, self.alive, self._asked, stride, number,
                np.int32(want), both, *self._limits,
            ),
        )  # fmt: skip
        across, down = -(-self.m // TILE), -(-count // 64)
        tiles = max(1, min(8, across * down // 1056))
        result = self.near, self.near if self.far is None else self.far
        self._filter(
            (across, -(-down // tiles)),
            (TILE,),
            (
                self._centred, m, self.index, self.rho, self.alive, self._asked, stride, number,
                self._distance, *self._limits, both, *self._counts, *result, np.int32(tiles),
            ),
        )  # fmt: skip
        self._finish(
            (count,),
            (TILE,),
            (
                self.X, queue, slots, *self._counts, *result, *self._limits, both, np.int32(least), near,
                near if far is None else far, self.failed,
            ),
        )  # fmt: skip
