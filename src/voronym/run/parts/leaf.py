"""The groups of a leaf during the search, in blocks that fit a core's cache.

Blocks are cut along categories first. With many records, groups hardly ever mix categories, so such borders
cost nothing. The records of a block then agree in most columns, and the search can skip these columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import active
from voronym._kernels import pairs as kernels
from voronym.core.context import Context
from voronym.refiners.pair_cells import BLOCK, LEAST, NUMBERS, Cells
from voronym.run.parts.cuts import towards

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHAPE = 30
"""Number of groups in a block, per square of the number of plain coordinates. With more coordinates more
groups lie at a border, and larger blocks pay; with fewer, the search for neighbours costs more.
"""


class Leaf(Cells):
    """The groups of a leaf, for one worker.

    Parameters
    ----------
    X, labels, k, ctx
        As for `Cells`.
    kinds : sequence of arrays
        The coordinates of each key that is categories.
    """

    def __init__(self, X: Floats, labels: Ints, k: int, ctx: Context, kinds: Sequence[Ints] = ()) -> None:
        super().__init__(X, labels, k, ctx)
        self.kinds = kinds

    def _cut(self, rng: np.random.Generator) -> list[Ints]:
        d = self.X.shape[1]
        plain = d - sum(len(kind) for kind in self.kinds)
        most = min(BLOCK, max(LEAST, SHAPE * plain**2), max(32, NUMBERS // (d * kernels.room(self.k))))
        waiting, done = [np.arange(len(self))], []
        while waiting:
            block = waiting.pop()
            if len(block) <= max(most, 1):
                done.append(np.sort(block))
                continue
            points = self.centroids[block]
            along, gap = towards(points, self.kinds, rng)
            order = np.argsort(along, kind="stable")
            half = len(block) // 2
            if gap:
                low, high = len(block) // 8, len(block) - len(block) // 8
                wide = np.diff(along[order[low:high]])
                most_apart = int(np.argmax(wide))
                half = low + 1 + most_apart if wide[most_apart] > 0.0 else half  # for empty places
            waiting += [block[order[:half]], block[order[half:]]]
        return done

    def _load(self, cells: Ints, width: int, seed: int) -> kernels.Block:
        """Return a block with these groups, and only the columns in which their records differ."""
        sizes = self.sizes[cells]
        held = np.arange(self.members.shape[1]) < sizes[:, None]
        rows = self.members[cells][held]
        differ = np.zeros(self.X.shape[1], np.bool_)
        active.vary(self.X, rows, differ)
        columns = np.flatnonzero(differ)
        if len(columns) in (0, self.X.shape[1]):
            return super()._load(cells, width, seed)
        points = np.empty((len(rows), len(columns)))
        active.pick(self.X, rows, columns, points)
        here = self.centroids[cells][:, columns]
        middle = here.mean(axis=0)
        scale = 1.0 / max(float(np.abs(here - middle).max()), 1e-300)
        block = kernels.make(len(cells), len(columns), self.k, width, seed)
        places = np.zeros(held.shape, np.int32)
        places[held] = np.arange(len(rows))
        kernels.load(block, points, np.arange(len(cells)), places, sizes, middle, scale)
        block.record[: len(cells), : held.shape[1]][held] = rows
        return block
