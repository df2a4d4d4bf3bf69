"""Where distances come from: a tree of boxes in Euclidean space, blocks of a matrix in any other.

A source has the units of a problem: places, each with one point or several equal ones. It answers two
questions about centroids C and costs c: which cell is the best of every unit (`scan`), and which cells
matter to it (`arcs`). Neither needs all distances at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import boxes as kernels
from voronym.space import Euclidean, Space

ROOM = 8
"""Points in a leaf: few, so that most leaves lie in one cell."""

PIECE = 131_072
"""Points below a node that is searched in one go, where boxes tell cells apart: about 0.05 s."""

WORK = 100_000_000
"""Distances times columns of such a piece, where they do not: about 0.1 s."""

BLOCK = 4_000_000
"""Distances in a block of a matrix."""

KEPT = 30_000_000
"""Distances that are kept from one question to the next; more are computed anew."""


T = TypeVar("T")

Tick = Callable[[], object]
"""Called now and then between kernels; it may raise to stop the work."""


@dataclass(frozen=True, eq=False)
class Scan:
    """The best cell of every unit, and the next where it is within a margin (else -1 and infinity)."""

    labels: NDArray[np.int64]
    second: NDArray[np.int64]
    gaps: NDArray[np.float64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Arcs:
    """The best cell of every unit, and for units with a choice the cells that matter, unit by unit."""

    labels: NDArray[np.int64]
    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    value: NDArray[np.float64]  # the distance, without the cost
    complete: bool  # whether every unit has an arc to every cell


class Source(Protocol):
    """What the solvers ask."""

    mass: NDArray[np.int64]

    def scan(self, c: NDArray[np.float64], margin: float) -> Scan:
        """Return the best cells under some costs, and the next best within a margin."""
        ...

    def arcs(self, c: NDArray[np.float64], margin: float, many: int, keep: NDArray[np.int64] | None) -> Arcs:
        """Return the cells within a margin of the best; if ``many`` > 1, the so many best instead."""
        ...

    def place(self, C: NDArray[np.float64]) -> None:
        """Set the centroids."""
        ...

    def distances(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each unit to one centroid."""
        ...

    def rows(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of some units to all centroids."""
        ...


class Merge:
    """Equal points as one unit with a mass; units in the order of a source."""

    def __init__(self, X: NDArray[np.float64]) -> None:
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

    def reorder(self, order: NDArray[np.int64]) -> None:
        """Put the units into another order."""
        if self.whole:
            self.members = order
        else:
            start = np.cumsum(self.mass) - self.mass
            sizes = self.mass[order]
            shift = np.repeat(start[order] - (np.cumsum(sizes) - sizes), sizes)
            self.members = self.members[np.arange(len(self.members)) + shift]
        self.first, self.mass = self.first[order], self.mass[order]

    def spread(self, cell: NDArray[np.int64], amount: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cell of each point, from how much of each unit is in which cell, units ascending."""
        labels = np.empty(len(self.members), np.int64)
        labels[self.members] = cell if self.whole else np.repeat(cell, amount)
        return labels

    def join(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a cell for each unit: that of its first point."""
        return labels[self.first]


class Tree:
    """Squared Euclidean distances, by a tree of boxes."""

    def __init__(self, X: NDArray[np.float64], merge: Merge, tick: Tick) -> None:
        self.origin = X.mean(axis=0)
        self.boxes = kernels.grow(np.ascontiguousarray(X[merge.first] - self.origin), merge.mass, ROOM)
        merge.reorder(self.boxes.order)
        self.mass = self.boxes.mass
        self.tick = tick
        self.depth = len(self.boxes.start).bit_length() + 1
        self.room = 8192
        self.pool = ThreadPoolExecutor(min(2, os.cpu_count() or 1))

    def place(self, C: NDArray[np.float64]) -> None:
        """Set the centroids."""
        self.C = np.ascontiguousarray(C - self.origin)
        piece = PIECE if C.shape[1] <= 4 else max(1024, min(PIECE, WORK // C.size))
        level = 0
        while len(self.mass) >> level > piece and 2 << level < len(self.boxes.start):
            level += 1
        self.roots = range(1 << level, 2 << level)

    def scan(self, c: NDArray[np.float64], margin: float) -> Scan:
        """Return the best cells under some costs, and the next best within a margin."""
        n, m = len(self.mass), len(c)
        labels, second, gaps = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)

        def below(root: int) -> NDArray[np.int64]:
            counts = np.zeros(m, np.int64)
            cells, values, stack, _, _ = self._scratch(m, 1)
            kernels.scan(
                self.boxes, root, self.C, c, margin, labels, second, gaps, counts, cells, values, stack
            )
            return counts

        counts = np.sum(in_threads(below, self.roots, self.pool, self.tick), axis=0)
        return Scan(labels, second, gaps, counts)

    def arcs(self, c: NDArray[np.float64], margin: float, many: int, keep: NDArray[np.int64] | None) -> Arcs:
        """Return the cells within a margin of the best; if ``many`` > 1, the so many best instead."""
        n, m = len(self.mass), len(c)
        labels = np.empty(n, np.int64)
        before = np.full(n, -1, np.int64) if keep is None else keep
        tie = rounding(c)

        def below(root: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
            cells, values, stack, near, chosen = self._scratch(m, many)
            room = self.room
            while True:
                unit, cell, value = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
                used = kernels.arcs(
                    self.boxes, root, self.C, c, margin, many, tie, before, labels, unit, cell, value, cells,
                    values, stack, near, chosen,
                )  # fmt: skip
                if used <= room:
                    return unit[:used], cell[:used], value[:used]
                room = used

        parts = in_threads(below, self.roots, self.pool, self.tick)
        self.room = max(self.room, *(len(part[0]) * 5 // 4 for part in parts))
        return gather(labels, parts, c)

    def distances(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each unit to one centroid."""
        total = np.zeros(len(labels))
        for j in range(self.C.shape[1]):
            total += np.square(self.boxes.points[:, j] - self.C[labels, j])
        return total

    def rows(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of some units to all centroids."""
        return Euclidean().cost(self.boxes.points[units], self.C)

    def _scratch(
        self, m: int, many: int
    ) -> tuple[
        NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]
    ]:
        size = m * (self.depth + 1)
        return (
            np.empty(size, np.int64),
            np.empty(size),
            np.empty((2 * self.depth, 3), np.int64),
            np.empty(many),
            np.empty(many, np.int64),
        )


class Matrix:
    """The distances of any space, by blocks of its matrix, kept where they are not too many."""

    def __init__(self, X: NDArray[np.float64], merge: Merge, space: Space, tick: Tick) -> None:
        self.points = np.ascontiguousarray(X[merge.first])
        self.mass = merge.mass
        self.space = space
        self.tick = tick

    def place(self, C: NDArray[np.float64]) -> None:
        """Set the centroids."""
        self.C = C
        step = max(1, BLOCK // len(C))
        n = len(self.points)
        self.blocks = [slice(start, min(n, start + step)) for start in range(0, n, step)]
        self.kept = [self._compute(rows) for rows in self.blocks] if n * len(C) <= KEPT else None

    def _compute(self, rows: slice) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.space.cost(self.points[rows], self.C), dtype=np.float64)

    def _matrix(self, number: int) -> NDArray[np.float64]:
        return self._compute(self.blocks[number]) if self.kept is None else self.kept[number]

    def scan(self, c: NDArray[np.float64], margin: float) -> Scan:
        """Return the best cells under some costs, and the next best within a margin."""
        n = len(self.mass)
        labels, second, gaps = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
        counts = np.zeros(len(c), np.int64)
        for number, rows in enumerate(self.blocks):
            kernels.scan_matrix(
                self._matrix(number),
                c,
                self.mass[rows],
                margin,
                labels[rows],
                second[rows],
                gaps[rows],
                counts,
            )
        return Scan(labels, second, gaps, counts)

    def arcs(self, c: NDArray[np.float64], margin: float, many: int, keep: NDArray[np.int64] | None) -> Arcs:
        """Return the cells within a margin of the best; if ``many`` > 1, the so many best instead."""
        n, m = len(self.mass), len(c)
        labels = np.empty(n, np.int64)
        before = np.full(n, -1, np.int64) if keep is None else keep
        tie = rounding(c)
        cells, values, near, chosen = (
            np.empty(m, np.int64),
            np.empty(m),
            np.empty(many),
            np.empty(many, np.int64),
        )
        parts = []
        for number, rows in enumerate(self.blocks):
            D = self._matrix(number)
            room = D.size if many < 2 else min(D.size, many * len(D))
            unit, cell, value = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
            used = kernels.arcs_of_matrix(
                D, c, rows.start, margin, many, tie, before[rows], labels[rows], unit, cell, value, cells,
                values, near, chosen,
            )  # fmt: skip
            parts.append((unit[:used].copy(), cell[:used].copy(), value[:used].copy()))
            self.tick()
        return gather(labels, parts, c)

    def rows(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of some units to all centroids."""
        return np.asarray(self.space.cost(self.points[units], self.C), dtype=np.float64)

    def distances(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each unit to one centroid."""
        out = np.empty(len(labels))
        for number, rows in enumerate(self.blocks):
            D = self._matrix(number)
            out[rows] = D[np.arange(len(D)), labels[rows]]
        return out


def rounding(c: NDArray[np.float64]) -> float:
    """Return how much two sums of a distance and a cost may differ and count as equal."""
    return float(1e-12 * np.abs(c).max())


def gather(
    labels: NDArray[np.int64],
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]],
    c: NDArray[np.float64],
) -> Arcs:
    """Join the arcs of several pieces, and take the costs out of their values."""
    unit, cell, value = (np.concatenate([part[side] for part in parts]) for side in range(3))
    return Arcs(labels, unit, cell, value - c[cell], len(unit) == len(labels) * len(c))


def widen(
    source: Source, arcs: Arcs, flow: NDArray[np.int64], units: NDArray[np.int64], c: NDArray[np.float64]
) -> tuple[Arcs, NDArray[np.int64]]:
    """Give some units arcs to four times as many cells, the nearest; return the arcs and their flows."""
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


def in_threads(
    work: Callable[[int], T], items: Sequence[int], pool: ThreadPoolExecutor, tick: Tick
) -> list[T]:
    """Return ``work(item)`` for all items, in their order, on threads where there are several."""
    if len(items) == 1:
        return [work(items[0])]
    found: list[T] = []
    for result in pool.map(work, items):
        found.append(result)
        tick()
    return found
