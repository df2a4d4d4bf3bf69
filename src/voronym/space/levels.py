"""Mixed records: rows of levels, with a separate metric for each column.

The problem: minimise ``sum_i cost(x_i, centroid of the group of i)`` with the cost of `voronym.space.Mixed`.
In each column the centroid is the level with the least sum of mapped distances to the members. This is the
loss of publishing centroids. Pairwise sums inside groups would need no centroid, but they are not the loss
that a reader of the release sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells, level_scan, levels
from voronym._kernels.mixed import LINE
from voronym.space.field import SMALL
from voronym.space.medoid import CANDIDATES
from voronym.space.records import Records

if TYPE_CHECKING:
    from voronym.partition import Partition
    from voronym.space.mixed import Mixed

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Centroids:
    """The centroids of groups of mixed records, and their costs.

    Parameters
    ----------
    levels : array of int, shape (m, d)
        The centroids.
    costs : array, shape (m, d)
        Summed cost of each group's members to its centroid, by column.
    """

    levels: Ints
    costs: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Summed cost of all records to the centroids of their groups."""
        return float(self.costs.sum())


class Codes(Records):
    """Records of a mixed space.

    Parameters
    ----------
    space : Mixed
        Their space.
    X : array of int, shape (n, d)
        The level of each record in each column.
    """

    def __init__(self, space: Mixed, X: Ints) -> None:
        super().__init__(space, X)
        self.mixed, self.codes = space, X

    @cached_property
    def columns(self) -> levels.Columns:
        """The columns as the cost model reads them."""
        tables, fields = self.mixed.tables, self.mixed.fields
        few = np.array([item.levels <= SMALL for item in fields]) & (tables.mapped_at >= 0)
        sizes = np.where(few, tables.levels, 0)
        at = np.where(few, np.cumsum(sizes) - sizes, -1).astype(np.int64)
        rows, rows_at, end = [np.empty(0)], np.full(len(at), -1, np.int64), 0
        for column in np.flatnonzero(few):
            size, first = int(tables.levels[column]), int(tables.mapped_at[column])
            rows += [tables.mapped[first : first + size * size], np.zeros(size)]
            rows_at[column], end = end, end + size * (size + 1)
        ordered = np.array([
            field.geometry.shape == LINE and bool((np.diff(field.geometry.coords[:, 0]) >= 0.0).all())
            for field in fields
        ])  # fmt: skip
        wide = int((~few).sum())
        return levels.Columns(
            tables.levels, at, rows_at, np.concatenate(rows), ordered.astype(np.int64), wide
        )

    def subset(self, rows: Ints) -> Codes:
        """Return some of the records."""
        made = Codes(self.mixed, np.ascontiguousarray(self.codes[rows]))
        made.columns = self.columns  # the same: searches take subsets by the thousand
        return made

    def proposals(self, k: int) -> int:
        """Return the number of proposals that take some hundredths of a second, estimated from the sizes."""
        columns = self.columns
        levels_in_all = int(columns.levels[columns.at >= 0].sum())
        return int(np.clip(1e7 / (100 + 2 * levels_in_all + 20 * columns.wide * (2 * k) ** 2), 50, 50_000))

    def model(self, room: int) -> levels.Levels:
        """Return the cost model of mapped distances."""
        return levels.make(self.mixed.tables, self.columns, self.codes, room)

    def scan(self) -> level_scan.LevelScan:
        """Return a scan of the levels.

        The centroid of the remaining records is exact in columns with at most 512 levels; in other
        columns it is the best of 256 levels, spread over all records.
        """
        tables, fields = self.mixed.tables, self.mixed.fields
        has = tables.mapped_at >= 0
        sizes = np.where(has, tables.levels, 0)
        tried: list[Ints] = []
        for column, item in enumerate(fields):
            if item.levels <= SMALL:
                tried.append(np.arange(item.levels))
            else:  # spread over the records: in a column of numbers, its quantiles
                middle = np.sort(self.codes[:, column])
                tried.append(np.unique(middle[np.linspace(0, len(middle) - 1, CANDIDATES).astype(np.int64)]))
        ends = np.cumsum([0, *map(len, tried)])
        return level_scan.LevelScan(
            tables,
            self.codes,
            np.zeros(int(sizes.sum())),
            np.where(has, np.cumsum(sizes) - sizes, -1).astype(np.int64),
            np.zeros(len(fields), np.int64),
            np.concatenate(tried).astype(np.int64),
            ends.astype(np.int64),
            np.zeros(int(ends[-1])),
            np.zeros(int(ends[-1])),
        )

    def centres(self, part: Partition) -> Centroids:
        """Return the centroid of each group and its cost, column by column.

        In a column with at most 512 levels it is the best of all levels; otherwise the best among the
        levels of the group's members (about 256 of them in a larger group). Ties go to the lowest
        level. O(n L) for L levels in all.
        """
        self.check(part)
        m, d = part.n_cells, self.codes.shape[1]
        width = int(self.columns.levels[self.columns.at >= 0].sum())
        block = max(1, 4_000_000 // max(1, width))  # groups at a time: memory stays O(n)
        order = np.argsort(part.labels, kind="stable")
        ends = np.concatenate([[0], np.cumsum(part.sizes)])
        result, costs = np.empty((m, d), np.int64), np.empty((m, d))
        for begin in range(0, m, block):
            end = min(m, begin + block)
            rows = order[ends[begin] : ends[end]]
            own = cells.make(part.labels[rows] - begin, end - begin, part.sizes[begin:end])
            model = levels.make(self.mixed.tables, self.columns, self.codes[rows], end - begin)
            for first in range(0, end - begin, 256):  # short calls, so that Ctrl-C works
                levels.tally_all(model, own, first, min(end - begin, first + 256))
            result[begin:end], costs[begin:end] = model.centroids, model.by_column
        return Centroids(result, costs)

    def centroids(self, part: Partition) -> NDArray[np.float64]:
        """Return the levels of the centroids, shape (m, d)."""
        return self.centres(part).levels  # type: ignore[return-value]

    def cost(self, part: Partition) -> float:
        """Return the summed cost of the records to the centroids of their groups."""
        return self.centres(part).total
