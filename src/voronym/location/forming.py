"""New groups of the people who have none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from voronym.context import Context
from voronym.errors import InputError
from voronym.location.population import Floats, Ints, Population, points
from voronym.problem import Problem
from voronym.registry import METHODS

if TYPE_CHECKING:
    from voronym.location.epochs import Settings, Standing


PLACE = 10.0
"""Metres: homes in one such cube are at one place, such as the flats of a building."""


@dataclass(eq=False)
class Crowd:
    """The people of an epoch while it is planned: groups end, and those who were in them wait."""

    people: Population
    standing: Standing
    settings: Settings
    points: Floats
    group: Ints
    directory: Floats | None

    @classmethod
    def of(
        cls, people: Population, standing: Standing, settings: Settings, directory: ArrayLike | None
    ) -> Crowd:
        """Return the people as the last epoch left them."""
        known = None if directory is None else np.asarray(directory, np.float64).reshape(-1, 2)
        inside = people.group >= 0
        lost = int((inside & ~np.isin(people.group, standing.groups)).sum())
        if lost:
            raise InputError(f"{lost} people are in groups that the standing does not have")
        return cls(people, standing, settings, people.points, people.group.copy(), known)

    @property
    def sizes(self) -> Ints:
        """How many addresses count in each group of the standing."""
        return self.count(self.group)

    def count(self, group: Ints) -> Ints:
        """Return how many addresses of people who count are in each group of the standing."""
        rows = np.flatnonzero((group >= 0) & self.people.counts)
        return _distinct(
            np.searchsorted(self.standing.groups, group[rows]),
            self.people.household[rows],
            len(self.standing),
        )

    def smallest(self, group: Ints) -> int:
        """Return the least number of addresses that share a group; 0 where nobody is served."""
        rows = np.flatnonzero(group >= 0)
        if not len(rows):
            return 0
        numbers, codes = np.unique(group[rows], return_inverse=True)
        count = self.people.counts[rows]
        return int(_distinct(codes[count], self.people.household[rows][count], len(numbers)).min())

    def weak(self) -> Ints:
        """Return the groups that fell below k."""
        return self.standing.groups[self.sizes < self.settings.k]

    def living(self) -> Ints:
        """Return the groups that have k."""
        return self.standing.groups[self.sizes >= self.settings.k]

    def dissolve(self, groups: Ints) -> None:
        """End groups: their people wait."""
        self.group[np.isin(self.group, groups)] = -1

    @cached_property
    def places(self) -> Floats:
        """The places of the standing, in metres."""
        return points(*self.standing.centroids.T)

    def rms(self) -> float:
        """Return the rms distance of those who are served, metres."""
        inside = self.group >= 0
        if not inside.any():
            return 0.0
        there = self.places[np.searchsorted(self.standing.groups, self.group[inside])]
        return float(np.sqrt(np.square(self.points[inside] - there).sum(axis=1).mean()))

    @property
    def waited(self) -> Ints:
        """For how many epochs those who were not served have waited; 0 for all others."""
        now = self.standing.epoch + 1
        return np.where(self.people.group < 0, np.maximum(now - self.people.since, 0), 0)


def form(crowd: Crowd, ctx: Context, *, everything: bool = False) -> Ints:
    """Return new groups of the people who have none, 0..m-1, for everybody; -1 for all others.

    Every new group has k addresses that count, at the least number of different places.
    """
    labels = np.full(len(crowd.people), -1, np.int64)
    pool = np.flatnonzero(crowd.group < 0)
    units = Units.of(crowd, pool)
    most = int(units.counts.sum())
    k = crowd.settings.k
    if most < k:
        return labels
    found = _divide(units, min(k + crowd.settings.headroom, most), ctx)
    if not everything:
        found = _postponed(crowd, units, found)
    found = _obeying(crowd, units, found)
    labels[pool] = found[units.of_person]
    return labels


@dataclass(frozen=True, eq=False)
class Units:
    """The addresses of people who are to be grouped: people of one address go together, and count once."""

    points: Floats
    counts: NDArray[np.bool_]
    waited: Ints
    of_person: Ints

    @classmethod
    def of(cls, crowd: Crowd, pool: Ints) -> Units:
        """Return the addresses of some of the people."""
        homes, codes = np.unique(crowd.people.household[pool], return_inverse=True)
        m = len(homes)
        many = np.maximum(np.bincount(codes, minlength=m), 1)
        middle = [np.bincount(codes, column, m) / many for column in crowd.points[pool].T]
        waited = np.zeros(m, np.int64)
        np.maximum.at(waited, codes, crowd.waited[pool])
        counts = np.bincount(codes, crowd.people.counts[pool], m) > 0
        return cls(np.stack(middle, axis=1), counts, waited, codes)

    def __len__(self) -> int:
        return len(self.points)


def _divide(units: Units, k: int, ctx: Context) -> Ints:
    """Divide addresses into groups of k that count; those that do not count go with the nearest."""
    inside = np.flatnonzero(units.counts)
    labels = np.full(len(units), -1, np.int64)
    problem = Problem.of(units.points[inside], k)
    labels[inside] = METHODS["pairs"].partition(problem, ctx).labels
    rest = np.flatnonzero(~units.counts)
    if len(rest):
        labels[rest] = labels[inside[cKDTree(units.points[inside]).query(units.points[rest])[1]]]
    return labels


def _middles(units: Units, labels: Ints) -> tuple[Floats, Floats]:
    """Return the mean of each group's addresses, and their mean squared distance from it."""
    m = int(labels.max(initial=-1)) + 1
    rows = np.flatnonzero(labels >= 0)
    own = labels[rows]
    many = np.maximum(np.bincount(own, minlength=m), 1)
    middle = np.stack([np.bincount(own, column, m) / many for column in units.points[rows].T], axis=1)
    return middle, np.bincount(own, np.square(units.points[rows] - middle[own]).sum(axis=1), m) / many


def _postponed(crowd: Crowd, units: Units, labels: Ints) -> Ints:
    """Let wide groups wait, unless somebody in them has waited long enough."""
    limit = crowd.settings.compact * (crowd.standing.rms or np.inf)
    m = int(labels.max(initial=-1)) + 1
    late = np.bincount(labels, units.waited >= max(crowd.settings.wait, 1), m) > 0
    wide = (_middles(units, labels)[1] > limit**2) & ~late
    return _renumbered(np.where(wide[labels], -1, labels))


def _obeying(crowd: Crowd, units: Units, labels: Ints) -> Ints:
    """Join groups that are at too few places, or too narrow, to the nearest others; else they wait."""
    while True:
        m = int(labels.max(initial=-1)) + 1
        bad = np.flatnonzero(_lacking(crowd, units, labels, m))
        if not len(bad):
            return labels
        if m == 1:
            return np.full(len(labels), -1, np.int64)
        middle = _middles(units, labels)[0]
        nearest = cKDTree(middle).query(middle[bad], 2)[1]
        other = np.where(nearest[:, 0] == bad, nearest[:, 1], nearest[:, 0])
        into = np.arange(m)
        into[bad[0]] = other[0]
        for one, two in zip(bad[1:], other[1:], strict=True):  # no chains in one turn: the rest comes next
            if into[two] == two and not (into == one).any():
                into[one] = two
        labels = _renumbered(np.where(labels >= 0, into[labels], -1))


def _lacking(crowd: Crowd, units: Units, labels: Ints, m: int) -> NDArray[np.bool_]:
    """Which groups have too few addresses, too few different places, or too small a radius."""
    rows = np.flatnonzero((labels >= 0) & units.counts)
    few = np.bincount(labels[rows], minlength=m) < crowd.settings.k
    cells = np.rint(units.points[rows] / PLACE).astype(np.int64)
    codes = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
    alike = _distinct(labels[rows], codes, m) < crowd.settings.homes
    narrow = _middles(units, labels)[1] < crowd.settings.radius**2
    return np.asarray(few | alike | narrow)


def _distinct(groups: Ints, codes: Ints, m: int) -> Ints:
    """Return how many different codes each group has."""
    order = np.lexsort([codes, groups])
    one, two = groups[order], codes[order]
    first = np.ones(len(order), bool)
    first[1:] = (one[1:] != one[:-1]) | (two[1:] != two[:-1])
    return np.bincount(one[first], minlength=m).astype(np.int64)


def _renumbered(labels: Ints) -> Ints:
    """Return labels 0..m-1 without gaps; -1 stays."""
    out = labels.copy()
    inside = labels >= 0
    out[inside] = np.unique(labels[inside], return_inverse=True)[1].reshape(-1)
    return out
