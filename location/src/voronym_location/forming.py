"""Form new groups of people without a group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from voronym.core.context import Context
from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.designing import design
from voronym_location.population import Floats, Ints, Objects, Population, points

if TYPE_CHECKING:
    from voronym_location.epochs import Standing
    from voronym_location.joint import Joint
    from voronym_location.rules import Settings


PLACE = 10.0
"""Side of a cube in metres; homes in the same cube, such as flats of a building, are one place."""


def young_limit(k: int) -> int:
    """Return the largest number of young people's addresses that count in a group: k / 3, rounded down.

    Examples
    --------
    >>> [young_limit(k) for k in (2, 10, 20)]
    [0, 3, 6]
    """
    return k // 3


@dataclass(eq=False)
class Crowd:
    """The people of an epoch during planning: groups end, and their members wait."""

    people: Population
    standing: Standing
    settings: Settings
    group: Ints
    directory: Floats | None
    attributes: Attributes

    @classmethod
    def of(
        cls,
        people: Population,
        standing: Standing,
        settings: Settings,
        directory: ArrayLike | None,
        attributes: Attributes | None = None,
    ) -> Crowd:
        """Return the people as of the last epoch."""
        known = None if directory is None else np.asarray(directory, np.float64).reshape(-1, 2)
        inside = people.group >= 0
        lost = int((inside & ~np.isin(people.group, standing.groups)).sum())
        if lost:
            raise InputError(f"{lost} people are in groups that the standing does not have")
        asked = Attributes(attributes or ())
        if not len(standing):
            standing = replace(standing, attributes=np.empty((0, len(asked)), object))
        if people.attributes.shape[1] != len(asked) or standing.attributes.shape[1] != len(asked):
            raise InputError(f"there are {len(asked)} attributes: people and groups need a value for each")
        return cls(people, standing, settings, people.group.copy(), known, asked)

    @cached_property
    def joint(self) -> Joint | None:
        """People and groups with their attributes, if there are any."""
        if not self.attributes or not len(self.people):
            return None
        from voronym_location.joint import Joint

        return Joint(self.people, self.standing, self.attributes)

    @cached_property
    def homes(self) -> Floats:
        """Everybody's home, in metres."""
        return self.people.points

    @cached_property
    def points(self) -> Floats:
        """The points to group: homes, or homes and attributes in one space."""
        return self.homes if self.joint is None else self.joint.people

    def beside(self, labels: Ints, m: int) -> Objects:
        """Return the published attributes of each of m new groups."""
        if self.joint is None:
            return np.empty((m, len(self.attributes)), object)
        return self.joint.publish(labels, m, self.settings.k)

    def apart(self) -> dict[str, float]:
        """Return the distance of published attributes from people's own."""
        rows = np.flatnonzero(self.group >= 0)
        if self.joint is None:
            return {}
        at = np.searchsorted(self.standing.groups, self.group[rows])
        return self.joint.apart(rows, self.standing.attributes[at], self.settings.k)

    @property
    def sizes(self) -> Ints:
        """Number of counted addresses in each group of the standing."""
        return self.count(self.group)

    def count(self, group: Ints) -> Ints:
        """Return the number of counted addresses in each group of the standing."""
        at = np.where(group >= 0, np.searchsorted(self.standing.groups, group), -1)
        return self.hiding(at, len(self.standing))

    def hiding(self, labels: Ints, m: int) -> Ints:
        """Return the number of counted addresses in each of m groups; those of young people up to a limit."""
        people = self.people
        rows = np.flatnonzero((labels >= 0) & people.counts)
        old = rows[~people.young[rows]]
        settled = _distinct(labels[old], people.household[old], m)
        fresh = _distinct(labels[rows], people.household[rows], m) - settled
        return np.asarray(settled + np.minimum(fresh, young_limit(self.settings.k)))

    def smallest(self, group: Ints) -> int:
        """Return the smallest number of addresses that share a group; 0 if nobody is served."""
        rows = np.flatnonzero(group >= 0)
        if not len(rows):
            return 0
        numbers, codes = np.unique(group[rows], return_inverse=True)
        labels = np.full(len(group), -1, np.int64)
        labels[rows] = codes
        return int(self.hiding(labels, len(numbers)).min())

    @cached_property
    def seeds(self) -> NDArray[np.bool_]:
        """The people from whom groups are formed: they count and are not young. Young people join later."""
        return self.people.counts & ~self.people.young

    @cached_property
    def barred(self) -> NDArray[np.bool_]:
        """The people who may not get a new group: with ``linked``, all who had a place before."""
        return self.people.published & self.settings.linked

    def weak(self) -> Ints:
        """Return the groups that lack something now: k addresses, distinct places, or width."""
        return self.standing.groups[self.lacking]

    def living(self) -> Ints:
        """Return the groups that still meet all demands."""
        return self.standing.groups[~self.lacking]

    @cached_property
    def lacking(self) -> NDArray[np.bool_]:
        """Whether each present group fails a demand by now; its last members may live in one building."""
        at = np.where(self.group >= 0, np.searchsorted(self.standing.groups, self.group), -1)
        return _lacking(self, at, len(self.standing))

    def dissolve(self, groups: Ints) -> None:
        """End groups: their people wait."""
        self.group[np.isin(self.group, groups)] = -1

    @cached_property
    def places(self) -> Floats:
        """The places of the present groups, in metres; with attributes, their points in the joint space."""
        return points(*self.standing.centroids.T) if self.joint is None else self.joint.groups

    def rms(self) -> float:
        """Return the rms distance of served people, in metres."""
        inside = self.group >= 0
        if not inside.any():
            return 0.0
        there = self.places[np.searchsorted(self.standing.groups, self.group[inside])]
        return float(np.sqrt(np.square(self.points[inside] - there).sum(axis=1).mean()))

    @cached_property
    def buildings(self) -> Ints:
        """The number of each home's building, to some metres: flats of a building share it."""
        x, y, z = np.rint(self.homes.T / PLACE).astype(np.int64)
        return np.asarray((x << 42) + (y << 21) + z)

    @property
    def waited(self) -> Ints:
        """Number of epochs that unserved people have waited; 0 for all others."""
        now = self.standing.epoch + 1
        return np.where(self.people.group < 0, np.maximum(now - self.people.since, 0), 0)


def form(crowd: Crowd, ctx: Context) -> Ints:
    """Return new groups, 0..m-1, of all people without a group; -1 for all others.

    Every new group has at least k counted addresses, at the required number of distinct places.
    """
    labels = np.full(len(crowd.people), -1, np.int64)
    rows = np.flatnonzero((crowd.group < 0) & crowd.seeds & ~crowd.barred)
    homes, codes = np.unique(crowd.people.household[rows], return_inverse=True)
    k = crowd.settings.k
    if len(homes) < k:
        return labels
    many = np.bincount(codes)
    middle = np.stack([np.bincount(codes, column) / many for column in crowd.points[rows].T], axis=1)
    least = min(k + crowd.settings.headroom, len(homes))
    labels[rows] = design(middle, least, crowd.places, ctx, crowd.settings.grouping)[codes]
    return obeying(crowd, labels)


def obeying(crowd: Crowd, labels: Ints, room: int | None = None) -> Ints:
    """Return new groups that meet all demands, and add people who do not count yet.

    Groups with too few addresses or places, or with too small a radius, are joined to the nearest other
    new group; if there is none, their people wait. At most ``room`` further people join, the nearest
    first.
    """
    labels = _renumbered(_joined_by_others(crowd, labels, room))
    while True:
        m = int(labels.max(initial=-1)) + 1
        bad = np.flatnonzero(_lacking(crowd, labels, m))
        if not len(bad):
            return labels
        if m == 1:
            return np.full(len(labels), -1, np.int64)
        middle = _middles(crowd.points, labels)[0]
        nearest = cKDTree(middle).query(middle[bad], 2)[1]
        other = np.where(nearest[:, 0] == bad, nearest[:, 1], nearest[:, 0])
        into, taken = np.arange(m), np.zeros(m, bool)
        for item, two in zip(bad.tolist(), other.tolist(), strict=True):
            if not taken[item] and not taken[two]:  # no chains in one turn: the rest comes next
                into[item] = two
                taken[item] = taken[two] = True
        labels = _renumbered(np.where(labels >= 0, into[labels], -1))


def _joined_by_others(crowd: Crowd, labels: Ints, room: int | None) -> Ints:
    """Let young and uncounted people join the nearest new group, if they wait near enough."""
    rest = np.flatnonzero((crowd.group < 0) & ~crowd.seeds & ~crowd.barred & (labels < 0))
    inside = np.flatnonzero(labels >= 0)
    if not len(rest) or not len(inside):
        return labels
    gap, near = cKDTree(crowd.points[inside]).query(crowd.points[rest])
    usual = crowd.standing.rms or np.inf
    close = gap <= crowd.settings.compact * usual * (1.0 + crowd.waited[rest] / max(crowd.settings.wait, 1))
    chosen = np.flatnonzero(close)
    chosen = chosen[np.argsort(gap[chosen], kind="stable")[:room]]
    out = labels.copy()
    out[rest[chosen]] = labels[inside[near[chosen]]]
    return out


def _middles(X: Floats, labels: Ints, m: int | None = None) -> tuple[Floats, Floats]:
    """Return the mean of the points of each new group, and their mean squared distance from it."""
    m = int(labels.max(initial=-1)) + 1 if m is None else m
    rows = np.flatnonzero(labels >= 0)
    own = labels[rows]
    many = np.maximum(np.bincount(own, minlength=m), 1)
    middle = np.stack([np.bincount(own, column, m) / many for column in X[rows].T], axis=1)
    return middle, np.bincount(own, np.square(X[rows] - middle[own]).sum(axis=1), m) / many


def _lacking(crowd: Crowd, labels: Ints, m: int) -> NDArray[np.bool_]:
    """Return the groups with too few addresses, too few distinct places, or too small a radius."""
    rows = np.flatnonzero((labels >= 0) & crowd.people.counts)
    few = crowd.hiding(labels, m) < crowd.settings.k
    alike = _distinct(labels[rows], crowd.buildings[rows], m) < crowd.settings.homes
    if crowd.settings.radius <= 0.0:
        return np.asarray(few | alike)
    return np.asarray(few | alike | (_middles(crowd.homes, labels, m)[1] < crowd.settings.radius**2))


def _distinct(groups: Ints, codes: Ints, m: int) -> Ints:
    """Return the number of distinct codes of each group."""
    order = np.lexsort([codes, groups])
    result, two = groups[order], codes[order]
    first = np.ones(len(order), bool)
    first[1:] = (result[1:] != result[:-1]) | (two[1:] != two[:-1])
    return np.bincount(result[first], minlength=m).astype(np.int64)


def _renumbered(labels: Ints) -> Ints:
    """Return labels 0..m-1 without gaps; -1 stays."""
    out = labels.copy()
    inside = labels >= 0
    out[inside] = np.unique(labels[inside], return_inverse=True)[1].reshape(-1)
    return out
