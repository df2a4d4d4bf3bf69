"""MDAV on a GPU: the labels of `voronym.partitioners.mdav`, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym._cuda.device import Unsuitable, blocks, check_memory, cupy, filled, module
from voronym._cuda.near import BATCH, LIST, TILE, Points

LARGEST = 32
"""Largest k, because one warp handles a group."""
WIDEST = 256
"""Most columns: each has a thread that keeps its sum."""
_PARTNERS = 3  # of the farthest from a record, those for which lists are made before they are asked for
_REACH = 512  # records of the order that are looked through for the one farthest from the mean
_SHRINK = 0.8  # the order is made again when this share of it is left
_ROUNDS = 20_000  # of one walk, so that wishes are heard
_TRIES = 1.0, 1 / 3, 4.0, 1 / 9, 16.0  # how many candidates, by plans in a row without a group
_SHORT_WALK = 8  # after fewer rounds of a walk, the order is too old to predict the next records


def partition(X: NDArray[np.float64], k: int, ctx: Any) -> NDArray[np.int64]:
    """Return the labels of MDAV.

    Parameters
    ----------
    X : array, shape (n, d)
        Records, finite.
    k : int
        Least size of a group.
    ctx : Context
        Heard between walks.

    Raises
    ------
    Unsuitable
        k or the number of columns is too large, or too many records are equal for the lists.
    DeviceMemoryError
        It does not fit.
    """
    n, d = X.shape
    if k > LARGEST or d > WIDEST or n >= 2**31 - 1024:
        raise Unsuitable(
            f"MDAV on the GPU is made for k up to {LARGEST} and {WIDEST} columns, not for k={k} and {d}"
        )
    slots = max(2 * n // k, 65_536)
    needed = 8 * n * d + Points.bytes(n, d, columns=True) + 8 * LIST * slots + BATCH * 4 * 1024 + 13 * n
    check_memory(needed, f"MDAV of {n:,} records in {d} columns")
    walk = _Walk(X, k, slots)
    while walk.left >= 2 * k:
        ctx.check()
        walk.plan()
        walk.go()
        ctx.tell(1.0 - walk.left / n)
    return walk.labels()


class _Walk:
    """The state of MDAV on the device."""

    def __init__(self, X: NDArray[np.float64], k: int, slots: int) -> None:
        cp = cupy()
        get = module(("near", "mdav"), (("DIM", X.shape[1]),)).get_function
        self._upcoming, self._enqueue, self._walk = map(get, ("upcoming", "enqueue", "walk"))
        self.points = Points(cp.asarray(X), get, columns=True)
        n, d = X.shape
        self.k, self.slots, self.left = k, slots, n
        self.sums = cp.empty(2 * d)
        get("sums_of")((d,), (TILE,), (self.points.X, np.int32(n), self.sums))
        self.near, self.far = (filled((slots + 1, LIST), cp.int32, 255) for _ in range(2))
        self.slot, self.claim = filled(n, cp.int32, 255), filled(n, cp.int32, 0)
        self.group = filled(n, cp.int32, 255)
        self.state = cp.asarray(np.array([n, 0, 0, 0, 0, -1, -1], np.int32))
        self.counts = cp.asarray(np.zeros(3, np.int32))
        self.queue, self.at, self.up = (cp.empty(BATCH, cp.int32) for _ in range(3))
        self.stamp = self.idle = 0
        self.order()

    def order(self) -> None:
        """Sort the remaining records by their distance to the mean, and clear all lists."""
        d = self.points.d
        self.points.arrange(self.sums.get()[:d] / self.left, self.left)
        self.state[2:3].set(np.zeros(1, np.int32))
        self.slot.data.memset(255, self.slot.nbytes)
        self.counts.set(np.zeros(3, np.int32))

    def plan(self) -> None:
        """Make lists for the records that will be queried soon, then for those far from them."""
        points = self.points
        soon = int(min(2048, max(256, self.left // 256)))
        self._upcoming(
            (1,),
            (1024,),
            (
                points.index, np.int32(points.m), points.alive, self.state, np.int32(soon), self.up,
                self.counts,
            ),
        )  # fmt: skip
        for partners in (0, _PARTNERS):
            self.stamp += 1
            self.counts[1:2].set(np.zeros(1, np.int32))
            self._enqueue(
                blocks(32 * soon, TILE),
                (TILE,),
                (
                    self.up, self.counts, points.alive, self.slot, np.int32(self.slots), self.near,
                    self.far, np.int32(self.k), np.int32(self.left), np.int32(partners), self.queue,
                    self.at, np.int32(BATCH), self.claim, np.int32(self.stamp),
                ),
            )  # fmt: skip
            asked = min(int(self.counts.get()[1]), BATCH)
            if asked:
                points.lists(self.queue, self.at, asked, self.k, self.near, self.far, wider=_TRIES[self.idle])

    def go(self) -> None:
        """Walk as far as the lists reach; sort again if needed."""
        points = self.points
        self._walk(
            (1,),
            (TILE,),
            (
                points.columns, np.int32(points.m), points.index, points.rho, points.mean, points.X,
                points.alive, self.slot, self.near, self.far, np.int32(self.slots), np.int32(self.k),
                self.sums, self.state, self.group, np.int32(_REACH), np.int32(_ROUNDS),
            ),
        )  # fmt: skip
        left, _, _, why, made = self.state.get().tolist()[:5]
        used = int(self.counts.get()[2])
        self.idle = 0 if made else self.idle + 1
        if self.idle == len(_TRIES):
            raise Unsuitable("too many records are equal, or equally far, for the lists on the GPU")
        self.left = left
        stale = why == 2 or made < _SHORT_WALK or left < _SHRINK * points.m or used >= self.slots
        if left >= 2 * self.k and stale:
            self.order()

    def labels(self) -> NDArray[np.int64]:
        """Return the groups; the remaining records form the last one."""
        out = np.asarray(self.group.get(), np.int64)
        out[out < 0] = int(self.state.get()[1])
        return out
