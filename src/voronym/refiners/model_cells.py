"""The cells of a large partition, worked on in blocks by the cost model of their records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as states
from voronym._kernels import model_pairs as kernels
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.blocks import cut
from voronym.refiners.exchange import ExchangeOptions, exchange
from voronym.refiners.pair_cells import Heat
from voronym.space.records import Records

Ints = NDArray[np.int64]

LEAST, BLOCK = 300, 1500
"""A block with fewer cells is not cut further; and the largest number of cells in a block, which are all
compared.
"""
JUMPS = 0.3
"""Share of the turns in which a cell may be dissolved or opened; sizes matter more if values repeat."""
WIDER = 2
"""Factor on the number of near cells in spaces without coordinates, in which centroids are less reliable."""
KICKS = 1.0 / 600
"""Perturbations of the local search at the end, per record and per earlier visit of a cell."""


class Block:
    """Some cells with their records, and the state of a search among them.

    Parameters
    ----------
    records : Records
        The records of the cells.
    labels : array of int, shape (n,)
        The cell of each, 0 to m - 1.
    k : int
        Least size of a cell.
    """

    def __init__(self, records: Records, labels: Ints, k: int) -> None:
        self.records, self.k = records, k
        self.taken = int(labels.max()) + 1
        room = self.taken + self.taken // 8 + 1
        self.cells = states.make(labels, room, 2 * k - 1, 2 * k)
        self.model = records.model(room)
        for first in range(0, room, 64):  # short calls, so that Ctrl-C works
            states.refresh_all(self.model, self.cells, first, min(room, first + 64))

    def look(self, width: int, seed: int, ctx: Context) -> bool:
        """Find the near cells of each cell; return whether the time sufficed."""
        # Among distinct centroids: in a table of categories the nearest ones would all be the same.
        near = self.records.like(self.records.stand_ins(self.model, self.cells)[: self.taken]).neighbours(
            WIDER * width, ctx
        )
        if near is None:
            return False
        own = self.costs[: self.taken] / self.cells.sizes[: self.taken]
        heat = (own + own[near].sum(axis=1)) / (1 + near.shape[1])
        self.pairs = kernels.make(near, heat, self.cells, seed)
        return True

    def visit(self, heat: Heat, ctx: Context) -> int:
        """Visit pairs of neighbours, a number of times a cell; return the visits made."""
        todo, done = int(np.ceil(heat.visits * self.taken)), 0
        least = max(1, self.records.proposals(self.k) // (2 * self.k))  # takes hundredths of a second
        while done < todo and not ctx.over:
            piece = min(self.taken, least, todo - done)
            now = heat.first * (heat.last / heat.first) ** (done / todo) if heat.last > 0.0 else 0.0
            kernels.sweep(
                self.model, self.cells, self.pairs, self.k, now, self.records.tiny, done, piece, JUMPS
            )
            done += piece
        return done

    def thin(self, share: float) -> int:
        """Dissolve a share of the cells; return the number of remaining cells."""
        kernels.thin(self.model, self.cells, self.pairs, share * self.taken)
        return int((self.cells.sizes > 0).sum())

    @property
    def costs(self) -> NDArray[np.float64]:
        """Cost of each cell; 0 for an empty one."""
        out = np.empty(len(self.cells.sizes))
        states.costs(self.model, self.cells, out)
        return out


class ModelCells:
    """The cells of a partition during a search, in any space with a cost model.

    Parameters
    ----------
    records : Records
        The records.
    labels : array, shape (n,)
        Cells of k to 2k-1 records, numbered from 0.
    k : int
        Least size of a cell.
    """

    def __init__(self, records: Records, labels: Ints, k: int) -> None:
        self.records, self.k, self.part = records, k, Partition(labels)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.records.X.shape[1])

    @property
    def cost(self) -> float:
        """Cost of all cells."""
        return self.records.cost(self.part)

    @property
    def labels(self) -> Ints:
        """The cell of each record."""
        return self.part.labels

    def __len__(self) -> int:
        return self.part.n_cells

    def visit(self, width: int, heat: Heat, ctx: Context) -> float:
        """Visit pairs of neighbours in all blocks; return the visits per cell."""
        cells = len(self)
        return sum(self._among_near(lambda block: block.visit(heat, ctx), width, ctx)) / cells

    def dissolve(self, share: float, width: int, ctx: Context) -> None:
        """Dissolve a share of the cells, drawn at random; their records go to near cells with room."""
        self._among_near(lambda block: block.thin(share), width, ctx)

    def polish(self, visits: float, ctx: Context) -> None:
        """End with `exchange` in each block, which finds the remaining gains.

        It runs for the remaining time, or for the number of perturbations that matches the visits per
        cell.
        """
        n, seconds = len(self.labels), ctx.left * ctx.threads

        def work(problem: Problem, labels: Ints, seed: int) -> tuple[Ints, int]:
            here = ctx.quiet(rng=np.random.default_rng(seed))
            if ctx.timed:
                here = here.limited(seconds * problem.n / n)
            kicks = None if ctx.timed else int(np.ceil(KICKS * visits * problem.n))
            part = Partition(labels, k=self.k)
            if part.n_cells > 1 and not ctx.over:
                near = self.records.pace.near_in_blocks
                part = exchange(problem, part, here, ExchangeOptions(neighbours=near, iterations=kicks))
            return part.labels, 0

        self._in_blocks(work, ctx)

    def _among_near(self, action: Callable[[Block], int], width: int, ctx: Context) -> list[int]:
        """Run a function in blocks of cells that know their near cells; return the results."""

        def work(problem: Problem, labels: Ints, seed: int) -> tuple[Ints, int]:
            block = Block(problem.records, labels, self.k)
            if block.taken < 2 or ctx.over or not block.look(width, seed, ctx):
                return labels, 0
            answer = action(block)
            return block.cells.labels, answer

        return self._in_blocks(work, ctx)

    def _in_blocks(self, work: Callable[[Problem, Ints, int], tuple[Ints, int]], ctx: Context) -> list[int]:
        """Work on all cells in blocks, each with its own random numbers; return the results.

        The order of the blocks does not change the result.
        """
        sizes, members = self.part.sizes, self.part.cells()
        centroids = self.part.centroids(self.records.coordinates)
        most = min(BLOCK, max(LEAST, len(self) // 4))
        blocks = cut(centroids, sizes, records=int(most * sizes.mean()), rng=ctx.rng)
        seeds = ctx.rng.integers(1, 2**63, len(blocks)).tolist()
        rows = [np.concatenate([members[q] for q in block]) for block in blocks]

        def improve(number: int) -> tuple[Ints, int]:
            block = blocks[number]
            own = np.repeat(np.arange(len(block)), sizes[block])
            return work(Problem(self.records.subset(rows[number]), self.k), own, seeds[number])

        result = ctx.map(improve, range(len(blocks)), whole=False)
        labels, top = np.empty(self.part.n, np.int64), 0
        for inside, (own, _) in zip(rows, result, strict=True):
            labels[inside] = top + own
            top += int(own.max()) + 1
        self.part = Partition(labels, k=self.k)
        return [answer for _, answer in result]
