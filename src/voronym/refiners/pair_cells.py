"""The cells of a large partition, worked on in blocks that fit a core's cache."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import pair_jumps as jumps
from voronym._kernels import pairs as kernels
from voronym.core.context import Context
from voronym.refiners.blocks import cut

Ints = NDArray[np.int64]

BLOCK = 3000
"""Largest number of cells worked on together."""
LEAST = 300
"""A block with fewer cells is not cut further, for any number of threads."""
NUMBERS = 1_000_000
"""Largest number of coordinates worked on together: more do not fit the cache of a core."""
PIECE = 20_000
"""Visits between two looks at the clock."""


JUMPS = 0.03
"""Share of the turns in which a cell may be dissolved or opened."""


class Heat(NamedTuple):
    """The work in a block: visits per cell, and the range of temperatures."""

    visits: float
    first: float
    last: float


class Cells:
    """The cells of a large partition under change.

    Parameters
    ----------
    X : array, shape (n, d)
        The records.
    labels : array, shape (n,)
        Cells of k to 2k-1 records.
    k : int
        Least size of a cell.
    ctx : Context
        Its threads.
    """

    def __init__(self, X: NDArray[np.float64], labels: Ints, k: int, ctx: Context) -> None:
        self.X, self.k = X, k
        sizes = np.bincount(labels)
        first = np.cumsum(sizes) - sizes
        order = np.argsort(labels, kind="stable")
        self.sizes = sizes.astype(np.int32)
        self.members = np.zeros((len(sizes), 2 * k - 1), np.int32)
        self.members[labels[order], np.arange(len(X)) - np.repeat(first, sizes)] = order
        self.centroids, self.costs = np.empty((len(sizes), X.shape[1])), np.empty(len(sizes))
        steps = [*range(0, len(sizes), 10_000), len(sizes)]
        ctx.quiet().map(lambda ends: self._measure(*ends), pairwise(steps))

    def _measure(self, first: int, last: int) -> None:
        kernels.measure_all(self.X, self.members, self.sizes, first, last, self.centroids, self.costs)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def cost(self) -> float:
        """Cost of all cells."""
        return float(self.costs.sum())

    @property
    def labels(self) -> Ints:
        """The cell of each record."""
        out = np.empty(len(self.X), np.int64)
        held = np.arange(self.members.shape[1]) < self.sizes[:, None]
        out[self.members[held]] = np.repeat(np.arange(len(self)), self.sizes)
        return out

    def visit(self, width: int, heat: Heat, ctx: Context) -> float:
        """Visit pairs of neighbours in all blocks; return the visits per cell."""

        def search(block: kernels.Block) -> int:
            todo, done = int(np.ceil(heat.visits * (len(block.size) - block.spare[0]))), 0
            while done < todo and not ctx.over:
                piece = min(PIECE, todo - done)
                now = heat.first * (heat.last / heat.first) ** (done / todo) if heat.last > 0.0 else 0.0
                kernels.sweep(block, self.k, now, piece, JUMPS)
                done += piece
            return done

        return sum(self._in_blocks(search, width, ctx)) / len(self)

    def dissolve(self, share: float, width: int, ctx: Context) -> None:
        """Dissolve a share of the cells, drawn at random; their records go to near cells with room."""

        def thin(block: kernels.Block) -> int:
            jumps.thin(block, self.k, share * (len(block.size) - block.spare[0]))
            return 0

        self._in_blocks(thin, width, ctx)

    def _in_blocks(self, work: Callable[[kernels.Block], int], width: int, ctx: Context) -> list[int]:
        """Work on all cells in blocks, each with its own random numbers; return the results.

        The order of the blocks does not change the result.
        """
        blocks = self._cut(ctx.rng)
        seeds = ctx.rng.integers(1, 2**63, len(blocks)).tolist()
        new: list[NDArray[np.int32]] = [np.zeros((0, 0), np.int32)] * len(blocks)

        def improve(number: int) -> int:
            cells = blocks[number]
            if len(cells) < 2 or ctx.over:
                return 0
            block = self._load(cells, width, seeds[number])
            answer = work(block)
            kernels.store(block, self.X, cells, self.members, self.sizes, self.centroids, self.costs)
            top = len(block.size) - int(block.spare[0])
            new[number] = np.column_stack([block.size, block.record])[len(cells) : top].astype(np.int32)
            return answer

        answers = ctx.map(improve, range(len(blocks)), whole=False)
        self._settle([item for item in new if len(item)])
        return answers

    def _cut(self, rng: np.random.Generator) -> list[Ints]:
        """Cut the cells into blocks of neighbours; another cut has other borders."""
        wide = self.X.shape[1] * kernels.room(self.k)
        most = min(BLOCK, max(LEAST, len(self) // 8), max(32, NUMBERS // wide))
        return cut(
            self.centroids, self.sizes.astype(np.int64), records=int(most * self.sizes.mean()), rng=rng
        )

    def _load(self, cells: Ints, width: int, seed: int) -> kernels.Block:
        """Return a block with these cells, in single precision about their middle."""
        here = self.centroids[cells]
        middle = here.mean(axis=0)
        scale = 1.0 / max(float(np.abs(here - middle).max()), 1e-300)
        block = kernels.make(len(cells), self.X.shape[1], self.k, width, seed)
        kernels.load(block, self.X, cells, self.members, self.sizes, middle, scale)
        return block

    def _settle(self, new: list[NDArray[np.int32]]) -> None:
        """Remove dissolved cells and add new ones."""
        kept = np.flatnonzero(self.sizes)
        if len(kept) == len(self) and not new:
            return
        result = np.concatenate([*new, np.zeros((0, 1 + kernels.room(self.k)), np.int32)])
        result = result[result[:, 0] > 0]  # one may have been dissolved again at once
        self.sizes = np.concatenate([self.sizes[kept], result[:, 0]])
        self.members = np.concatenate([self.members[kept], result[:, 1 : 2 * self.k]])
        self.costs = np.concatenate([self.costs[kept], np.empty(len(result))])
        rows = np.empty((len(result), self.X.shape[1]))
        self.centroids = np.concatenate([self.centroids[kept], rows])
        self._measure(len(kept), len(self))
