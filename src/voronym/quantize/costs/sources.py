"""Sources of distances: a tree of boxes if a space has coordinates, blocks of a matrix otherwise.

A source holds the units of a problem: places, each with one or several equal points. For centroids C and
costs c it finds the best cell of every unit (`scan`) and the cells that matter to it (`arcs`). Neither needs
all distances at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voronym._kernels import boxes as kernels
from voronym.core.context import Context
from voronym.quantize.costs.base import Floats, Integers
from voronym.space import Euclidean, Space

ROOM = 8
"""Points per leaf: few, so that most leaves lie in one cell."""

PIECE = 131_072
"""Points below a node that is searched in one piece, if boxes separate cells: about 0.05 s."""

FEW = 256
"""Number of cells up to which that holds; with more cells a piece is smaller."""

WORK = 100_000_000
"""Distances times columns of such a piece if boxes do not separate cells: about 0.1 s."""

BLOCK = 4_000_000
"""Number of distances in a block of a matrix."""

KEPT = 30_000_000
"""Largest number of distances kept in memory between calls; more are computed again."""

Tick = Callable[[], None]
"""A function called between kernels from time to time; it may raise to stop the work."""


@dataclass(frozen=True, eq=False)
class Scan:
    """The best cell of every unit, and the next if it is within a margin (else -1 and infinity)."""

    labels: Integers
    second: Integers
    gaps: Floats
    counts: Integers


@dataclass(frozen=True, eq=False)
class Arcs:
    """The best cell of every unit, and for units with a choice the cells that matter, unit by unit."""

    labels: Integers
    unit: Integers
    cell: Integers
    value: Floats  # the distance, without the cost
    complete: bool  # whether every unit has an arc to every cell


class Source(ABC):
    """The units of a problem, and the queries of solvers about them.

    Parameters
    ----------
    mass : array of int, shape (units,)
        Points in each unit.
    ctx : Context
        Context, for its threads.
    tick : callable
        Called between blocks.
    """

    blocks: Sequence[Any]
    C: Floats

    def __init__(self, mass: Integers, ctx: Context, tick: Tick) -> None:
        self.mass, self.ctx, self.tick = mass, ctx, tick

    def scan(self, c: Floats, margin: float) -> Scan:
        """Return the best cells under some costs, and the next best within a margin."""
        n = len(self.mass)
        scan = Scan(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.zeros(len(c), np.int64))
        cells = kernels.Cells(self.C, c, float(margin), 1, 0.0)
        counts = self.ctx.map(lambda block: self._scan(block, cells, scan), self.blocks, tell=self.tick)
        np.sum(counts, axis=0, out=scan.counts)
        return scan

    def arcs(self, c: Floats, margin: float, many: int, keep: Integers | None) -> Arcs:
        """Return the cells within a margin of the best; if ``many`` > 1, the ``many`` best instead.

        ``keep`` has labels that are kept if they are as good as the best.
        """
        n = len(self.mass)
        labels, before = np.empty(n, np.int64), np.full(n, -1, np.int64) if keep is None else keep
        cells = kernels.Cells(self.C, c, float(margin), int(many), float(1e-12 * np.abs(c).max()))
        parts = self.ctx.map(
            lambda block: self._arcs(block, cells, before, labels), self.blocks, tell=self.tick
        )
        unit, cell, value = (np.concatenate(side) for side in zip(*parts, strict=True))
        return Arcs(labels, unit, cell, value - c[cell], len(unit) == n * len(c))

    @abstractmethod
    def place(self, C: Floats) -> None:
        """Set the centroids."""

    @abstractmethod
    def distances(self, labels: Integers) -> Floats:
        """Return the distance of each unit to one centroid."""

    @abstractmethod
    def rows(self, units: Integers) -> Floats:
        """Return the distances of some units to all centroids."""

    @abstractmethod
    def _scan(self, block: Any, cells: kernels.Cells, scan: Scan) -> Integers:
        """Fill the part of a block, and return the counts of its cells."""

    @abstractmethod
    def _arcs(self, block: Any, cells: kernels.Cells, keep: Integers, labels: Integers) -> kernels.Arcs:
        """Fill the labels of a block, and return its arcs."""


class Merge:
    """Equal points merged to one unit with a mass, in the order of a source."""

    def __init__(self, X: Floats) -> None:
        order = np.lexsort(X.T[::-1])
        fresh = np.empty(len(X), np.bool_)
        fresh[0] = True
        rows = X[order]
        np.any(rows[1:] != rows[:-1], axis=1, out=fresh[1:])
        self.whole = bool(fresh.sum() > 0.9 * len(X))  # hardly any are equal: every point for itself
        if self.whole:
            self.first = self.members = np.arange(len(X))
            self.mass = np.ones(len(X), np.int64)
        else:
            where = np.flatnonzero(fresh)
            self.first = order[where]
            self.mass = np.diff(np.append(where, len(X)))
            self.members = order  # ascending within a unit, as the sort is stable

    def reorder(self, order: Integers) -> None:
        """Reorder the units."""
        if self.whole:
            self.members = order
        else:
            start = np.cumsum(self.mass) - self.mass
            sizes = self.mass[order]
            shift = np.repeat(start[order] - (np.cumsum(sizes) - sizes), sizes)
            self.members = self.members[np.arange(len(self.members)) + shift]
        self.first, self.mass = self.first[order], self.mass[order]

    def spread(self, cell: Integers, amount: Integers) -> Integers:
        """Return the cell of each point, from the amounts of each unit in cells, units ascending."""
        labels = np.empty(len(self.members), np.int64)
        labels[self.members] = cell if self.whole else np.repeat(cell, amount)
        return labels

    def join(self, labels: Integers) -> Integers:
        """Return the cell of each unit, taken from its first point."""
        return labels[self.first]


class Tree(Source):
    """Squared Euclidean distances between coordinates, by a tree of boxes."""

    def __init__(self, X: Floats, space: Space, merge: Merge, ctx: Context, tick: Tick) -> None:
        self.origin, self.space = X.mean(axis=0), space
        self.boxes = kernels.grow(np.ascontiguousarray(X[merge.first] - self.origin), merge.mass, ROOM)
        merge.reorder(self.boxes.order)
        super().__init__(self.boxes.mass, ctx, tick)
        self.room = 8192

    def place(self, C: Floats) -> None:
        """Set the centroids."""
        placed = self.space.coordinates(C)
        assert placed is not None  # noqa: S101 - a tree is for spaces that have coordinates
        self.C = np.ascontiguousarray(placed - self.origin)
        piece = PIECE * FEW // max(FEW, len(C))
        if C.shape[1] > 4:
            piece = min(piece, WORK // C.size)
        level = 0
        while len(self.mass) >> level > max(1024, piece) and 2 << level < len(self.boxes.start):
            level += 1
        self.blocks = range(1 << level, 2 << level)

    def _scan(self, block: int, cells: kernels.Cells, scan: Scan) -> Integers:
        counts = np.zeros(len(cells.c), np.int64)
        work = kernels.scratch(len(cells.c), 1, len(self.boxes.start))
        kernels.scan(self.boxes, block, cells, work, scan.labels, scan.second, scan.gaps, counts)
        return counts

    def _arcs(self, block: int, cells: kernels.Cells, keep: Integers, labels: Integers) -> kernels.Arcs:
        work = kernels.scratch(len(cells.c), cells.many, len(self.boxes.start))
        used = self.room
        while True:
            room = used
            arcs = room_for(room)
            used = kernels.arcs(self.boxes, block, cells, work, keep, labels, arcs)
            if used <= room:
                self.room = max(self.room, used * 5 // 4)
                return kernels.Arcs(arcs.unit[:used], arcs.cell[:used], arcs.value[:used])

    def distances(self, labels: Integers) -> Floats:
        """Return the distance of each unit to one centroid."""
        return Euclidean().paired(self.boxes.points, self.C, labels)

    def rows(self, units: Integers) -> Floats:
        """Return the distances of some units to all centroids."""
        return Euclidean().cost(self.boxes.points[units], self.C)


class Matrix(Source):
    """The distances of any space, by blocks of its matrix, kept if there are not too many."""

    def __init__(self, X: Floats, space: Space, merge: Merge, ctx: Context, tick: Tick) -> None:
        self.points, self.space = np.ascontiguousarray(X[merge.first]), space
        super().__init__(merge.mass, ctx, tick)

    def place(self, C: Floats) -> None:
        """Set the centroids."""
        self.C = C
        step, n = max(1, BLOCK // len(C)), len(self.points)
        self.blocks = [slice(start, min(n, start + step)) for start in range(0, n, step)]
        self.kept: dict[int, Floats] = {}

    def _matrix(self, rows: slice) -> Floats:
        if rows.start not in self.kept:
            result = np.ascontiguousarray(self.space.cost(self.points[rows], self.C), dtype=np.float64)
            if len(self.points) * len(self.C) > KEPT:
                return result
            self.kept[rows.start] = result
        return self.kept[rows.start]

    def _scan(self, block: slice, cells: kernels.Cells, scan: Scan) -> Integers:
        counts = np.zeros(len(cells.c), np.int64)
        filled = scan.labels[block], scan.second[block], scan.gaps[block]
        work = kernels.scratch(len(cells.c), 1)
        kernels.scan_matrix(self._matrix(block), self.mass[block], cells, work, *filled, counts)
        return counts

    def _arcs(self, block: slice, cells: kernels.Cells, keep: Integers, labels: Integers) -> kernels.Arcs:
        D = self._matrix(block)
        arcs = room_for(D.size if cells.many < 2 else min(D.size, cells.many * len(D)))
        work = kernels.scratch(len(cells.c), cells.many)
        used = kernels.arcs_of_matrix(D, block.start, cells, work, keep[block], labels[block], arcs)
        return kernels.Arcs(arcs.unit[:used].copy(), arcs.cell[:used].copy(), arcs.value[:used].copy())

    def distances(self, labels: Integers) -> Floats:
        """Return the distance of each unit to one centroid."""
        out = np.empty(len(labels))
        for rows in self.blocks:
            D = self._matrix(rows)
            out[rows] = D[np.arange(len(D)), labels[rows]]
        return out

    def rows(self, units: Integers) -> Floats:
        """Return the distances of some units to all centroids."""
        return np.asarray(self.space.cost(self.points[units], self.C), dtype=np.float64)


def room_for(arcs: int) -> kernels.Arcs:
    """Return buffers for a number of arcs."""
    return kernels.Arcs(np.empty(arcs, np.int64), np.empty(arcs, np.int64), np.empty(arcs))


def widen(source: Source, arcs: Arcs, flow: Integers, units: Integers, c: Floats) -> tuple[Arcs, Integers]:
    """Give some units arcs to their nearest cells, four times as many; return the arcs and their flows."""
    m = len(c)
    inside = np.zeros(len(arcs.labels), np.bool_)
    inside[units] = True
    units = np.flatnonzero(inside)
    old = inside[arcs.unit]
    many = min(m, 4 * int(np.median(np.bincount(arcs.unit[old])[units])))
    unit, cell, value = [arcs.unit[old]], [arcs.cell[old]], [arcs.value[old]]
    step = max(1, BLOCK // m)
    for start in range(0, len(units), step):
        some = units[start : start + step]
        D = source.rows(some)
        nearest = np.argpartition(D + c, many - 1, axis=1)[:, :many]
        unit.append(np.repeat(some, many))
        cell.append(nearest.ravel())
        value.append(np.take_along_axis(D, nearest, axis=1).ravel())
    every, first = np.unique(np.concatenate(unit) * m + np.concatenate(cell), return_index=True)
    amount = np.zeros(len(every), np.int64)
    amount[first < old.sum()] = flow[old][first[first < old.sum()]]
    rest = np.flatnonzero(~old)
    at = np.searchsorted(arcs.unit[rest], every // m)
    wider = Arcs(
        arcs.labels,
        np.insert(arcs.unit[rest], at, every // m),
        np.insert(arcs.cell[rest], at, every % m),
        np.insert(arcs.value[rest], at, np.concatenate(value)[first]),
        False,
    )
    return wider, np.insert(flow[rest], at, amount)
