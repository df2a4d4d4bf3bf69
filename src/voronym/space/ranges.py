"""The space of ranges: the cost of a group is the certainty penalty of the ranges that it publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import cells
from voronym._kernels import ranges as kernels
from voronym._kernels.cells import Cells
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space.base import Array, Space
from voronym.space.records import Pace, Records

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Axis:
    """A column as the space reads it: see `voronym._kernels.ranges`.

    Parameters
    ----------
    shape : int
        ``LINE``, ``TREE`` or ``SET``.
    table : array, shape (levels, codes)
        Left and right ends; penalties by level; or the penalty of one more category.
    nodes : array of int, shape (levels, codes)
        For a tree, the node above each code at each level.
    place : array, shape (codes,)
        A number for each code; codes in narrow ranges have near numbers.
    centre : int
        The code that is in the middle, or the most frequent.
    weight : float
        Weight of the column.
    """

    shape: int
    table: Array
    nodes: Ints
    place: Array
    centre: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Ranges(Space):
    """Records as rows of codes; the cost between two is the penalty of the range that covers both.

    The cost of a group is its size times the penalty of its range, summed over the columns. A range is no
    record, so there are no costs to a centroid; the published range comes from all members.

    Parameters
    ----------
    axes : sequence of Axis
        The columns.
    """

    axes: tuple[Axis, ...]
    name: str = "ranges"
    columns: kernels.Columns = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.axes:
            raise InputError("a space of ranges needs a column")
        object.__setattr__(self, "columns", _flat(self.axes))

    def cost(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return the penalties of the ranges of two, shape (len(X), len(Y))."""
        a, b = (np.ascontiguousarray(item, dtype=np.int64) for item in (X, Y))
        out = np.empty((len(a), len(b)))
        kernels.costs(self.columns, a, b, out)
        return out

    def centroid(self, X: ArrayLike) -> Array:
        """Return the row of X with the least summed cost to all rows."""
        rows = np.asarray(X)
        return np.asarray(rows[int(np.argmin(self.cost(rows, rows).sum(axis=1)))], dtype=np.float64)

    def records(self, X: ArrayLike) -> Spans:
        """Return rows of codes as records."""
        return Spans(self, np.ascontiguousarray(X, dtype=np.int64))

    def __repr__(self) -> str:
        return f"Ranges({len(self.axes)} columns)"


class Spans(Records):
    """Records of a space of ranges."""

    begin = "cuts"
    pace = Pace(chains=1, kicks=1.0, triples=0.0, speed=1e6, least=100.0)

    def __init__(self, space: Ranges, X: Ints) -> None:
        super().__init__(space, X)
        self.ranges = space

    def model(self, room: int) -> kernels.Ranges:
        """Return the cost model of ranges."""
        return kernels.make(self.ranges.columns, self.X, room)

    def scan(self) -> kernels.RangeScan:
        """Return a scan with the centre of all records, whichever remain."""
        centre = np.array([axis.centre for axis in self.ranges.axes], np.int64)
        return kernels.RangeScan(self.ranges.columns, self.X, centre, centre.copy())

    def _tallied(self, part: Partition) -> kernels.Ranges:
        self.check(part)
        model, own = self.model(part.n_cells), cells.make(part.labels, part.n_cells, part.sizes)
        for first in range(0, part.n_cells, 1024):  # short calls, so that Ctrl-C works
            kernels.tally_all(model, own, first, min(part.n_cells, first + 1024))
        return model

    def centroids(self, part: Partition) -> Array:
        """Return the ranges of the groups, both numbers of each column, shape (m, 2 d)."""
        model = self._tallied(part)
        return np.concatenate([model.one, model.other], axis=1).astype(np.float64)

    def representatives(self, part: Partition) -> Array:
        """Return a record of each group that is near to its others: a range is no record."""
        return self.space.centroids(self.X, part.labels, part.n_cells)

    def stand_ins(self, model: object, cells: Cells) -> Array:  # noqa: ARG002 - the model has no centroids
        """Return a member of each group under change."""
        member = np.where(cells.sizes > 0, cells.members[np.minimum(cells.start, len(cells.members) - 1)], 0)
        return np.ascontiguousarray(self.X[member])

    def cost(self, part: Partition) -> float:
        """Return the penalty, summed over records and columns."""
        return float(self._tallied(part).total.sum())

    @cached_property
    def coordinates(self) -> Array:
        """The place of each code on its column, to cut along."""
        return np.stack([axis.place[self.X[:, c]] for c, axis in enumerate(self.ranges.axes)], axis=1)


def _flat(axes: Sequence[Axis]) -> kernels.Columns:
    """Return the flat arrays that kernels read."""
    tables = [np.ascontiguousarray(axis.table, dtype=np.float64).reshape(-1) for axis in axes]
    nodes = [np.ascontiguousarray(axis.nodes, dtype=np.int64).reshape(-1) for axis in axes]
    return kernels.Columns(
        np.array([axis.shape for axis in axes], np.int64),
        np.array([axis.table.shape[1] for axis in axes], np.int64),
        np.concatenate(tables),
        np.cumsum([0, *map(len, tables[:-1])]).astype(np.int64),
        np.concatenate([*nodes, np.empty(0, np.int64)]),
        np.cumsum([0, *map(len, nodes[:-1])]).astype(np.int64),
        np.array([axis.weight for axis in axes], np.float64),
    )
