"""Search by pairs of cells on a GPU: the search of `voronym.refiners.pairs` with other random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym._cuda.device import Unsuitable, blocks, check_memory, cupy, filled, module
from voronym._cuda.near import BATCH, LIST, TILE, Points

Ints = NDArray[np.int64]

LARGEST = 512
"""Largest k: a pair's distances are summed by one warp."""
_WARPS = 4  # of a block, as in pairs.cu
_LAUNCH = 0.25  # seconds of one launch, so that wishes are heard
_ANNEALED = 0.96  # share of the time with heat
_MOST_ROUNDS = 60_000  # rounds of one launch: their number has 16 bits


@dataclass(frozen=True)
class Plan:
    """How a search runs.

    Parameters
    ----------
    rounds : int
        Number of rounds without a time limit; in each, about a third of the cells take part.
    hot, cold : float
        First and last heat, in units of a record's cost over the number of columns.
    even : float
        0: the heat follows the cost of a record in the two cells. 1: its cost in the whole table.
    near : int
        Neighbours of a cell that it may draw.
    stages : int
        Number of times the neighbours are searched again.
    steps : int
        Moves of a visit at most.
    room : float
        Share by which the cells of the start are larger than k: shifts need room.
    """

    rounds: int = 20_000
    hot: float = 2.5
    cold: float = 0.5
    even: float = 0.5
    near: int = 40
    stages: int = 12
    steps: int = 1
    room: float = 0.025


def improve(
    X: NDArray[np.float64],
    k: int,
    ctx: Any,
    *,
    labels: Ints | None = None,
    seed: int = 0,
    plan: Plan | None = None,
) -> Ints:
    """Return groups of k to 2k-1 records with a small sum of squares.

    Parameters
    ----------
    X : array, shape (n, d)
        Records, finite.
    k : int
        Least size of a group.
    ctx : Context
        With a deadline the heat falls until then; otherwise for the rounds of the plan.
    labels : array of int, shape (n,), optional
        Groups to begin with, of k to 2k-1 records; by default halves along the columns, in a second or two.
    seed : int
        Seed of the random numbers; without a deadline the result depends only on it.
    plan : Plan, optional
        Settings of the search.

    Returns
    -------
    array of int, shape (n,)
        Groups; if ``labels`` are given, they cost no more than these.
    """
    n, d = X.shape
    if k > LARGEST or n >= 2**31 - 1024:
        raise Unsuitable(f"the search on the GPU is made for k up to {LARGEST}, not for k={k}")
    if plan is None:  # in many columns more cells are near, and less heat is left at the end
        plan = Plan() if d <= 16 else Plan(near=60, cold=0.8)
    cells = n // k
    of_records = n * (12 * d + 56)
    of_cells = cells * (16 * k + 8 * d + 8 * LIST + 60) + Points.bytes(cells, d, columns=False)
    check_memory(of_records + of_cells, f"the search for {n:,} records in {d} columns")
    search = _Search(X, k, labels, seed, plan)
    before = search.cost()
    search.anneal(ctx)
    if labels is not None and search.cost() >= before:
        return labels
    return search.labels()


def halves(X: NDArray[np.float64], k: int) -> Ints:
    """Return the start of a search: cells of k records or a few more, by halving."""
    return _Search(X, k, None, 0, Plan()).labels()


class _Search:
    """Cells on the device, and the kernels that work on them."""

    def __init__(self, X: NDArray[np.float64], k: int, labels: Ints | None, seed: int, plan: Plan) -> None:
        cp = cupy()
        self.n, self.d = X.shape
        self.k, self.plan, self.seed = k, plan, seed
        pieces = ceil(self.d / 24)
        piece = 4 * ceil(self.d / pieces / 4)
        self.wide = piece * pieces
        defines = (("DIM", self.d), ("WIDE", self.wide), ("PIECE", piece), ("SEATS", 2 * k))
        get = module(("pairs",), defines).get_function
        self._settle, self._strip, self._name = map(get, ("settle", "strip", "name"))
        self._sweep = module(("pairs",), defines, together=True).get_function("sweep")
        self._near = module(("near",), (("DIM", self.d),)).get_function
        self.X = cp.asarray(X)
        self.rows = cp.empty((self.n, self.wide), cp.float32)
        self.mean = X.mean(axis=0)
        size = self.n * self.wide
        get("pad")(blocks(size, TILE), (TILE,), (self.X, np.int32(self.n), cp.asarray(self.mean), self.rows))
        if labels is None:
            order, start = self._halves(get)
        else:
            order = cp.argsort(cp.asarray(labels)).astype(cp.int32)
            start = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        self.cells = len(start) - 1
        self.seats, self.sizes = cp.empty((self.cells, 2 * k), cp.int32), cp.empty(self.cells, cp.int32)
        get("seat_all")(
            blocks(self.cells, 128),
            (128,),
            (order, cp.asarray(start.astype(np.int32)), np.int32(self.cells), self.seats, self.sizes),
        )
        self.centroids, self._costs = cp.empty((self.cells, self.d)), cp.empty(self.cells)
        self.near = cp.empty((self.cells, LIST - 1), cp.int32)
        self._keys, self._queue = filled(self.cells, cp.uint64, 0), cp.empty((2, self.cells, 2), cp.int32)
        self._queued, self._arrived = filled(4, cp.int32, 0), filled(1, cp.uint64, 0)
        self.moves = filled(1, cp.uint64, 0)
        per = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(self._sweep.kernel.ptr, 32 * _WARPS, 0)
        self._blocks = max(1, per) * cp.cuda.Device().attributes["MultiProcessorCount"]
        self._launches = 0

    def _halves(self, get: Any) -> tuple[Any, NDArray[np.int64]]:
        """Return a start: an order of the records, and where each cell begins in it."""
        cp, n = cupy(), self.n
        cells = max(int(n / (self.k * (1.0 + self.plan.room))), ceil(n / (2 * self.k - 1)))
        begin = np.arange(cells + 1, dtype=np.int64) * n // cells
        widest, sort_keys, permute = map(get, ("widest", "sort_keys", "permute"))
        order, other = cp.asarray(np.arange(n, dtype=np.int32)), cp.empty(n, cp.int32)
        keys, nodes = cp.empty(n, cp.uint64), np.array([0, cells])  # the first cell of each node, and the end
        while np.diff(nodes).max() > 1:
            start = cp.asarray(begin[nodes].astype(np.int32))
            count = np.int32(len(nodes) - 1)
            axis = cp.empty(len(nodes) - 1, cp.int32)
            widest(blocks(32 * int(count), TILE), (TILE,), (self.rows, order, start, count, axis))
            sort_keys(blocks(n, TILE), (TILE,), (self.rows, order, np.int32(n), start, count, axis, keys))
            permute(blocks(n, TILE), (TILE,), (order, cp.argsort(keys), np.int32(n), other))
            order, other = other, order
            nodes = np.unique(np.concatenate([nodes, (nodes[:-1] + nodes[1:]) // 2]))
        return order, begin

    def cost(self) -> float:
        """Return the sum of squares."""
        self._settle(
            blocks(self.cells, 128),
            (128,),
            (self.X, self.seats, self.sizes, np.int32(self.cells), self.centroids, self._costs),
        )
        return float(self._costs.get().sum())

    def neighbours(self) -> None:
        """Find the nearest cells of each cell, by their centroids."""
        cp, cells = cupy(), self.cells
        points = Points(self.centroids, self._near)
        points.arrange(self.mean, cells)
        everyone = cp.asarray(np.arange(cells, dtype=np.int32))
        lists = cp.empty((cells, LIST), cp.int32)
        for first in range(0, cells, BATCH):
            some = everyone[first : first + BATCH]
            points.lists(some, some, len(some), 1, lists)
        length, stride = np.int32(LIST), np.int32(LIST - 1)
        self._strip(blocks(cells, 128), (128,), (lists, length, np.int32(cells), self.near, stride))
        cp.cuda.Device().synchronize()

    def sweep(self, rounds: int, heat: float, last: float, scale: float, steps: int) -> float:
        """Run some rounds with falling heat; return the seconds they took."""
        began = perf_counter()
        self._launches += 1
        self._keys.data.memset(0, self._keys.nbytes)
        self._queued.data.memset(0, 16)
        fall = np.log2(heat / last) / rounds if heat > 0.0 else 0.0
        plan = self.plan
        near = min(plan.near, LIST - 1, max(1, self.cells - 1))
        self._sweep(
            (self._blocks,),
            (32 * _WARPS,),
            (
                self.rows, self.seats, self.sizes, self.near, np.int32(LIST - 1), np.int32(near), self._keys,
                self._queue, self._queued, self._arrived, np.int32(self.cells), np.int32(self.k),
                np.float32(heat), np.float32(fall), np.float32(plan.even), np.float32(scale),
                np.int32(rounds), np.int32(steps),
                np.uint32((self.seed * 2_654_435_761 + self._launches * 40_503) % 2**32), self.moves,
            ),
        )  # fmt: skip
        cupy().cuda.Device().synchronize()
        return perf_counter() - began

    def anneal(self, ctx: Any) -> None:
        """Lower the heat step by step, then accept only moves that gain."""
        if self.cells < 2:
            return
        plan, unit = self.plan, 1.0 / self.d
        done, step, length, timed, began = 0.0, 0.0, 16, ctx.timed, perf_counter()
        budget = 0.97 * ctx.left if timed else 0.0
        while done < _ANNEALED and not ctx.over:
            before = perf_counter()
            scale = self.cost() / self.n
            self.neighbours()
            step = 1.0 / plan.stages
            if timed:  # neighbours are found again as often as a part of the time allows
                step = max(1.0 / 40, 2.5 * (perf_counter() - before) / budget)
                done = min(1.0, (perf_counter() - began) / budget)
            end = min(_ANNEALED, done + step)
            while done < end and not ctx.over:
                rounds = max(1, min(length, _MOST_ROUNDS))
                ahead = end if timed else min(end, done + rounds / plan.rounds)
                heats = [plan.hot * unit * (plan.cold / plan.hot) ** share for share in (done, ahead)]
                seconds = self.sweep(rounds, heats[0], heats[0] if timed else heats[1], scale, plan.steps)
                done = min(1.0, (perf_counter() - began) / budget) if timed else ahead
                if timed:  # the number of rounds fits the time of a launch; without a limit it is fixed
                    rate = rounds / max(seconds, 1e-4)
                    length = max(1, int(rate * min(_LAUNCH, (end - done) * budget)))
                else:
                    length = min(256, max(1, ceil((end - done) * plan.rounds)))
                ctx.tell(done)
        ctx.check()
        if not timed or step <= 1.0 / 40:  # if it takes long, the last neighbours are good enough
            self.cost()
            self.neighbours()
        self.sweep(min(_MOST_ROUNDS, 200), 0.0, 0.0, 1.0, 8)

    def labels(self) -> Ints:
        """Return the cell of each record."""
        out = filled(self.n, cupy().int32, 255)
        self._name(blocks(self.cells, 128), (128,), (self.seats, self.sizes, np.int32(self.cells), out))
        return np.asarray(out.get(), np.int64)
