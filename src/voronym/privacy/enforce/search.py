"""Exchanges of records between near cells, with the judges looking on."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voronym._kernels import enforce as kernels
from voronym.partition import Partition
from voronym.privacy.enforce.rules import Asked
from voronym.progress import Progress, Step

NEAR = 10
"""Cells with the nearest centroids, between which records move."""

DONORS = 12
"""Nearest records of a kind that a refused cell has too few of, and their own cells more than their share."""

KINDS = 16
"""Groups, at most, in which a column with many levels is looked at for donors."""

PIECE = 0.1
"""Seconds that a piece of kernel work should take."""

ENOUGH = 5e-3
"""A pass that gains less than this share ends the search."""

Ints = NDArray[np.int64]


class Search:
    """Cells under change: every move lowers the sum of squares, or what is violated, or both.

    Records are centred and divided by the largest magnitude, so that one threshold separates gains from
    rounding. No cell gets smaller than k; a cell may grow by half.
    """

    def __init__(
        self, X: NDArray[np.float64], labels: Ints, k: int, asked: Asked, progress: Progress
    ) -> None:
        centred = X - X.mean(axis=0)
        largest = float(np.abs(centred).max())
        self.points = np.ascontiguousarray(centred / largest if largest > 0.0 else centred)
        self.tiny = 1e-12 * max(float(np.square(self.points).sum(axis=1).max()), 1e-300)
        self.k, self.asked, self.progress = k, asked, progress
        self.groups = _groups(self.points, labels, asked)
        self.memory = _memory(asked, int(self.groups.room.max()) + 2)
        kernels.fill(self.points, self.groups, asked.rules)

    @property
    def squares(self) -> float:
        """Sum of squares, on the common scale."""
        return float(self.groups.square.sum())

    @property
    def refused(self) -> int:
        """Number of cells that a rule on single cells refuses, plus 1 for a sum that is too large."""
        rules, groups = self.asked.rules, self.groups
        additive = np.array([bool(judge.additive) for judge in self.asked.judges])
        cells = int((groups.violated[:, ~additive] > 0).any(axis=1).sum())
        over = groups.totals[additive] > rules.need[additive] / rules.scale[additive]
        return cells + int(over.any())

    def run(self, *, passes: int, weight: float = 0.0, hard: bool = True, donors: bool = False) -> None:
        """Visit all records so many times, or until little is gained.

        A unit of violation costs ``weight`` of the sum of squares. Hard: what holds goes on to hold.
        """
        near = np.hstack([self._near(), self._donors()]) if donors else self._near()
        self.groups.changed[:] = self.groups.clock[0] = self.groups.clock[0] + 1
        self.groups.checked[:] = 0
        before = self._cost(weight)
        for turn in range(passes):
            if self._pass(near, weight, hard) == 0:
                break
            after = self._cost(weight)
            if before - after < ENOUGH * abs(before):
                break
            before = after
            if turn % 3 == 2 and not donors:
                near = self._near()
                self.groups.checked[:] = 0

    def _cost(self, weight: float) -> float:
        return self.squares + weight * float(self.groups.weight.sum())

    def _near(self) -> Ints:
        """Return the cells with the nearest centroids for each record, shape (n, K)."""
        tree = cKDTree(self.groups.centroids)
        width = min(NEAR, len(self.groups.sizes))
        out = np.empty((len(self.points), width), np.int64)
        for begin in range(0, len(out), 8192):
            rows = slice(begin, begin + 8192)
            found = tree.query(self.points[rows], width)[1]
            out[rows] = found.reshape(-1, width)
            self.progress(Step("enforce", 0.0))
        return out

    def _donors(self) -> Ints:
        """Return, for the records of refused cells, cells that can give what theirs lacks, shape (n, K).

        Near cells tend to lack the same. So each refused cell finds the confidential values that it has least
        of for their share in the table, and the nearest records with these in cells that have more of them.
        Records of other cells get their own cell, which is no candidate.
        """
        groups = self.groups
        judge = int(np.argmax(groups.totals))
        codes = self.asked.codes[self.asked.rules.column[judge]]
        kinds = _coarse(codes)
        cells, width = len(groups.sizes), int(kinds.max()) + 1
        counts = np.bincount(groups.labels * width + kinds, minlength=cells * width).reshape(cells, width)
        over = counts / groups.sizes[:, None] - np.bincount(kinds) / len(kinds)
        lacks = np.argmin(over, axis=1)
        found = np.repeat(np.arange(cells)[:, None], DONORS, axis=1)
        for kind in range(width):
            ask = np.flatnonzero((groups.weight > 0) & (lacks == kind))
            give = np.flatnonzero((kinds == kind) & (over[groups.labels, kind] > 0))
            if len(ask) and len(give):
                many = min(DONORS, len(give))
                nearest = cKDTree(self.points[give]).query(groups.centroids[ask], many)[1]
                found[ask[:, None], np.arange(many)] = groups.labels[give][nearest.reshape(-1, many)]
        return np.asarray(found[groups.labels])

    def _pass(self, near: Ints, weight: float, hard: bool) -> int:
        begin, step, moves, n = 0, 64, 0, len(self.points)
        while begin < n:
            started = perf_counter()
            moves += kernels.settle(
                self.points, self.groups, self.asked.rules, self.memory, self.asked.codes,
                self.asked.profile, near, self.k, weight, hard, self.tiny, begin, min(n, begin + step),
            )  # fmt: skip
            begin += step
            seconds = max(perf_counter() - started, 1e-6)
            step = int(step * min(4.0, max(0.25, PIECE / seconds))) + 1
            self.progress(Step("enforce", min(begin, n) / n))
        return moves

    def partition(self) -> Partition:
        """Return the cells as they are."""
        return Partition(self.groups.labels, k=self.k)


def _coarse(codes: Ints) -> Ints:
    """Return codes in at most `KINDS` groups of about equal size."""
    counts = np.bincount(codes)
    if len(counts) <= KINDS:
        return codes
    middle = np.cumsum(counts) - counts / 2
    group = np.unique((KINDS * middle / len(codes)).astype(np.int64), return_inverse=True)[1]
    return np.asarray(group.reshape(-1)[codes], np.int64)


def _groups(points: NDArray[np.float64], labels: Ints, asked: Asked) -> kernels.Groups:
    part = Partition(labels)
    n, d = points.shape
    m = part.n_cells
    room = part.sizes + np.maximum(part.sizes // 2, 4)
    start = np.concatenate([[0], np.cumsum(room + 1)[:-1]]).astype(np.int64)
    members = np.zeros(int((room + 1).sum()), np.int64)
    ordered = np.zeros((len(asked.codes), len(members)), np.int64)
    by_cell = np.argsort(part.labels, kind="stable")
    slot = np.arange(n) - np.repeat(np.cumsum(part.sizes) - part.sizes, part.sizes)
    place = start[part.labels[by_cell]] + slot
    members[place] = by_cell
    slots = np.empty(n, np.int64)
    slots[by_cell] = slot
    for c, row in enumerate(asked.codes):
        ordered[c, place] = row[np.lexsort((row, part.labels))]
    rules = len(asked.judges)
    return kernels.Groups(
        part.labels.copy(),
        slots,
        start,
        room,
        part.sizes.copy(),
        members,
        ordered,
        np.zeros((m, d)),
        np.zeros(n),
        np.zeros((m, rules)),
        np.zeros((m, rules)),
        np.zeros(m),
        np.zeros(rules),
        np.zeros(m, np.int64),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
    )


def _memory(asked: Asked, room: int) -> kernels.Memory:
    profiles, rules = int(asked.profile.max()) + 1, len(asked.judges)
    return kernels.Memory(
        np.zeros(profiles + 1),
        np.zeros(profiles + 1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(room, np.int64),
        np.zeros((2, rules)),
    )
