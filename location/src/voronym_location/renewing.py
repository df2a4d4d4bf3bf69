"""An ordinary epoch: regroup small areas, those with the largest gain per person first.

An area is a group with up to three neighbours and the waiting people around it. Its gain, in squared metres,
is its present cost, plus the price of waiting for people who would be served, less the cost of the new
groups. Areas are taken in order of gain per person who gets a new place, until the budget is used. Then all
dissolved areas are searched once more as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voronym._kernels import renew as kernels
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.registry import REFINERS
from voronym_location.population import Floats, Ints

if TYPE_CHECKING:
    from voronym_location.forming import Crowd

AROUND = 3
"""Largest number of neighbours that are dissolved with a group."""
LOOSE = (4, 3)
"""Number of waiting people that an area considers: a base, and more for each neighbour."""
SWEEPS = 8
"""Number of rounds of moves within an area."""
ROUNDS = 4
"""Rounds of searching for areas, while the budget lasts."""
FIRST = 0.6
"""Share of the remaining budget spent on areas in a round; the rest is for people who join new groups."""
TRIED, FEW = 12, 2000
"""Areas tried per area in the budget, the most promising first; or all, if there are few."""
HOPE = 0.25
"""Largest expected gain of regrouping, as a share of the squared metres of living groups."""
BLOCK = 512
"""Number of areas tried between two looks at the clock."""


@dataclass(eq=False)
class Field:
    """Counted addresses, in groups and waiting.

    ``points``: their places. ``group``: the row of the present group, or -1. ``cost``: the present cost,
    in squared metres or as the price of waiting. ``leave``: whether the person may keep waiting.
    """

    points: Floats
    group: Ints
    cost: Floats
    leave: NDArray[np.bool_]
    people: Ints
    row: Ints
    """The address of each person; -1 for uncounted people."""

    @classmethod
    def of(cls, crowd: Crowd, weak: Ints) -> Field:
        """Return the addresses of a crowd; addresses in weak groups count as waiting."""
        standing, settings = crowd.standing, crowd.settings
        lost = np.isin(standing.groups, weak)
        waits = (crowd.barred | crowd.people.young) & (crowd.group < 0)
        rows = np.flatnonzero(crowd.people.counts & ~waits)
        at = np.where(crowd.group[rows] >= 0, np.searchsorted(standing.groups, crowd.group[rows]), -1)
        home = crowd.people.household[rows]
        order = np.lexsort([home, at])
        new = np.ones(len(rows), bool)
        new[1:] = (np.diff(at[order]) != 0) | (np.diff(home[order]) != 0)
        unit = np.empty(len(rows), np.int64)
        unit[order] = np.cumsum(new) - 1
        m = int(new.sum())
        many = np.bincount(unit, minlength=m)
        points = np.stack([np.bincount(unit, column, m) / many for column in crowd.points[rows].T], axis=1)
        group = at[order][new]
        waited = np.zeros(m)
        np.maximum.at(waited, unit, crowd.waited[rows])
        usual = standing.rms or crowd.rms()
        price = (settings.compact * usual * (1.0 + waited / max(settings.wait, 1))) ** 2
        leave = (group < 0) | lost[group] if len(lost) else group < 0
        apart = np.square(points - crowd.places[group]).sum(axis=1) if len(standing) else price
        row = np.full(len(crowd.people), -1, np.int64)
        row[rows] = unit
        return cls(points, group, np.where(leave, price, apart), leave, many, row)


def renew(crowd: Crowd, weak: Ints, ctx: Context) -> tuple[Ints, Ints]:
    """Return the new groups of people, 0..m-1 or -1, and the living groups dissolved for them.

    Parameters
    ----------
    crowd : Crowd
        The people as the last epoch left them.
    weak : array of int
        The groups that fell below k.
    ctx : Context
        Its generator is used.
    """
    field = Field.of(crowd, weak)
    search = Search(field, crowd, ctx)
    room = int(crowd.settings.budget * len(crowd.people))
    for turn in range(ROUNDS):
        part = ctx.part(turn / ROUNDS * 0.8, (turn + 1) / ROUNDS * 0.8)
        share = 1.0 if turn == ROUNDS - 1 else FIRST
        took = search.take(int(share * (room - search.told)), part)
        if not took + search.fill(room - search.told):
            break
    labels = _searched(field, search.labels, crowd.settings.k + crowd.settings.headroom, ctx.part(0.8, 1.0))
    everybody = np.where(field.row >= 0, labels[field.row], -1)
    gone = crowd.standing.groups[search.dissolved]
    return everybody, np.setdiff1d(gone, weak)


class Search:
    """The state of the search: the areas taken so far."""

    def __init__(self, field: Field, crowd: Crowd, ctx: Context) -> None:
        self.field, self.k, self.ctx = field, crowd.settings.k + crowd.settings.headroom, ctx
        self.places = crowd.places
        m = len(crowd.standing)
        inside = np.flatnonzero(field.group >= 0)
        self.member = inside[np.argsort(field.group[inside], kind="stable")]
        self.first = np.searchsorted(field.group[self.member], np.arange(m + 1))
        # Groups that may be dissolved: none if nobody may get a second place.
        self.free = (np.diff(self.first) > 0) & ~np.bool_(crowd.settings.linked)
        self.loose = field.group < 0
        share = np.where(field.leave[self.member], 1.0, HOPE) * field.cost[self.member]
        self.hope = np.bincount(field.group[self.member], share, m)  # of each group
        self.dissolved = np.zeros(m, bool)
        self.labels = np.full(len(field.points), -1, np.int64)
        self.formed = self.told = 0

    def take(self, room: int, ctx: Context) -> int:
        """Take areas by falling gain per person; return their number."""
        groups, loose, hopes = self._areas()
        if room < self.k or not len(groups):
            return 0
        most = max(FEW, TRIED * room // self.k)
        if len(groups) > most:  # the cost of an epoch grows with its changes
            chosen = np.sort(np.argpartition(-hopes, most)[:most])
            groups, loose = groups[chosen], loose[chosen]
        gains, result, slots, units = self._tried(groups, loose, ctx)
        order = np.argsort(-gains / np.maximum(result, 1), kind="stable")
        taken = 0
        for area in order[gains[order] > 0.0]:
            if result[area] > room:
                continue
            own, inside = groups[area], slots[area] >= 0
            own, chosen = own[own >= 0], units[area][inside]
            if not self.free[own].all() or (self.labels[chosen] >= 0).any():
                continue
            self.free[own] = False
            self.dissolved[own] = True
            numbers = np.unique(slots[area][inside], return_inverse=True)[1].reshape(-1)
            self.labels[chosen] = self.formed + numbers
            self.loose[chosen] = False
            rest = units[area][(slots[area] < 0) & (units[area] >= 0)]
            self.loose[rest] = self.labels[rest] < 0
            self.formed += int(numbers.max()) + 1
            spent = int(self.field.people[chosen].sum())
            self.told += spent
            room -= spent
            taken += 1
        return taken

    def fill(self, room: int) -> int:
        """Let waiting people join new groups if that costs less than waiting; return their number."""
        loose, inside = np.flatnonzero(self.loose), np.flatnonzero(self.labels >= 0)
        if not len(loose) or not len(inside) or room <= 0:
            return 0
        sizes = np.bincount(self.labels[inside], minlength=self.formed)
        sums = [
            np.bincount(self.labels[inside], column, self.formed) for column in self.field.points[inside].T
        ]
        middle = np.stack(sums, axis=1) / sizes[:, None]
        gap, near = cKDTree(middle).query(self.field.points[loose])
        gain = self.field.cost[loose] - np.square(gap) * sizes[near] / (sizes[near] + 1.0)
        taken = 0
        for at in np.argsort(-gain, kind="stable").tolist():
            many = int(self.field.people[loose[at]])
            if gain[at] <= 0.0:
                break
            if many <= room and sizes[near[at]] < 2 * self.k - 1:
                self.labels[loose[at]] = near[at]
                sizes[near[at]] += 1
                self.loose[loose[at]] = False
                self.told += many
                room -= many
                taken += 1
        return taken

    def _areas(self) -> tuple[Ints, Ints, Floats]:
        """Return the groups and the waiting addresses of areas, padded by -1, and the promise of each."""
        alive, loose = np.flatnonzero(self.free), np.flatnonzero(self.loose)
        width = max(LOOSE[0] + LOOSE[1] * AROUND, self.k + 4)
        around = Around(self.field, loose, width)
        groups: list[Ints] = []
        if len(alive):
            many = min(AROUND + 1, len(alive))
            near = cKDTree(self.places[alive]).query(self.places[alive], many)[1].reshape(len(alive), many)
            for j in range(many):
                own = np.full((len(alive), AROUND + 1), -1, np.int64)
                own[:, : j + 1] = alive[near[:, : j + 1]]
                groups.append(own)
                around.look(self.places[own[:, : j + 1]].mean(axis=1), LOOSE[0] + LOOSE[1] * j)
        if len(loose) >= self.k:
            groups.append(np.full((len(loose), AROUND + 1), -1, np.int64))
            around.look(self.field.points[loose], self.k + 4)
        if not groups:
            none = np.empty(0, np.int64)
            return none.reshape(0, AROUND + 1), none.reshape(0, width), np.empty(0)
        both = np.concatenate(groups)
        hopes, people = np.concatenate(around.hopes), np.concatenate(around.people)
        inside = np.where(both >= 0, both, 0)
        hopes = hopes + np.where(both >= 0, self.hope[inside], 0.0).sum(axis=1)
        people = people + np.where(both >= 0, np.diff(self.first)[inside], 0).sum(axis=1)
        return both, np.concatenate(around.found), hopes / np.maximum(people, 1)

    def _tried(self, groups: Ints, loose: Ints, ctx: Context) -> tuple[Floats, Ints, Ints, Ints]:
        """Regroup areas by trial; return gains, affected people, and the new places."""
        areas = len(groups)
        sizes = np.diff(self.first)
        width = int(np.where(groups >= 0, sizes[groups], 0).sum(axis=1).max()) + loose.shape[1]
        width = min(width, 8 * (AROUND + 1) * self.k)
        gains, people = np.empty(areas), np.empty(areas, np.int64)
        slots, units = np.empty((areas, width), np.int64), np.empty((areas, width), np.int64)
        field, d = self.field, self.field.points.shape[1]

        def block(start: int) -> None:
            work = (
                np.empty(width, np.int64), np.empty(width, np.int64), np.empty((width, d)), np.empty(width),
                np.empty(width, bool), np.empty(4 * (AROUND + 1), np.int64), np.empty((4 * (AROUND + 1), d)),
            )  # fmt: skip
            stop = min(areas, start + BLOCK)
            kernels.evaluate(
                field.points, field.cost, field.leave, self.first, self.member, groups, loose, self.k, SWEEPS,
                *work, gains, people, slots, units, start, stop,
            )  # fmt: skip

        ctx.map(block, range(0, areas, BLOCK))
        return gains, people, slots, units


class Around:
    """Finds the waiting addresses around places, and the possible gain of including them."""

    def __init__(self, field: Field, loose: Ints, width: int) -> None:
        self.field, self.loose, self.width = field, loose, width
        self.tree = cKDTree(field.points[loose]) if len(loose) else None
        self.found: list[Ints] = []
        self.hopes: list[Floats] = []
        self.people: list[Ints] = []

    def look(self, at: Floats, many: int) -> None:
        """Find a number of waiting addresses around each place."""
        out = np.full((len(at), self.width), -1, np.int64)
        gain = np.zeros((len(at), 1))
        if self.tree is not None:
            many = min(many, len(self.loose))
            gap, near = (item.reshape(len(at), many) for item in self.tree.query(at, many))
            out[:, :many] = self.loose[near]
            gain = np.maximum(self.field.cost[out[:, :many]] - np.square(gap), 0.0)
        self.found.append(out)
        self.hopes.append(gain.sum(axis=1))
        self.people.append((gain > 0.0).sum(axis=1))


def _searched(field: Field, labels: Ints, k: int, ctx: Context) -> Ints:
    """Search the groups of all areas together: adjacent areas find better borders."""
    inside = np.flatnonzero(labels >= 0)
    if not len(inside) or labels.max() == 0:
        return labels
    problem = Problem.of(field.points[inside], k)
    out = labels.copy()
    out[inside] = REFINERS["pairs"].improve(problem, Partition(labels[inside], k=k), ctx).labels
    return out
