"""The active people, their homes, and their groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError
from voronym.space import Sphere
from voronym_location.globe import RADIUS

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Objects = NDArray[np.object_]

SAME = 1e-5
"""In degrees, about a metre: homes closer than this count as one address by default."""


@dataclass(frozen=True, eq=False)
class Population:
    """The active people, as columns of equal length.

    A person who moves counts as leaving and joining: a new home, and no group.

    Parameters
    ----------
    person : array of int
        Numbers that the caller chose, all different. The order of the rows changes nothing.
    latitude, longitude : arrays of float
        Homes, in degrees.
    group : array of int
        The group of each person; -1 for people who wait.
    since : array of int
        The epoch in which they began to wait, or in which their group was formed.
    household : array of int
        The address of each, as a number: people of one address count once towards k.
    counts : array of bool
        Whether each person has been known long enough to count towards k. Others may be served, but hide
        nobody.
    young : array of bool
        Whether each person counts but came recently: in each group, addresses of young people count for at
        most a third of k.
    published : array of bool
        Whether each person had a place before: an intruder who links pseudonyms knows their history.
    attributes : array of object, shape (n, a)
        Attributes that are grouped with homes; empty if a service declares none.

    Examples
    --------
    >>> people = Population.of([1, 2, 3], [48.1, 48.1, 48.2], [11.5, 11.5, 11.5])
    >>> people.household.tolist(), people.group.tolist()
    ([0, 0, 1], [-1, -1, -1])
    """

    person: Ints
    latitude: Floats
    longitude: Floats
    group: Ints
    since: Ints
    household: Ints
    counts: NDArray[np.bool_]
    young: NDArray[np.bool_]
    published: NDArray[np.bool_]
    attributes: Objects = field(default_factory=lambda: no_attributes(0))

    @classmethod
    def of(
        cls,
        person: ArrayLike,
        latitude: ArrayLike,
        longitude: ArrayLike,
        *,
        group: ArrayLike | None = None,
        since: ArrayLike | None = None,
        household: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        young: ArrayLike | None = None,
        published: ArrayLike | None = None,
        attributes: ArrayLike | None = None,
    ) -> Population:
        """Return a population; by default all wait and count, nobody is young, equal homes are one address.

        People with a group had a place before, by default.
        """
        places = [np.asarray(column, np.float64) for column in (latitude, longitude)]
        n = len(places[0])
        homes = _addresses(*places) if household is None else np.asarray(household, np.int64)
        return cls(
            np.asarray(person, np.int64),
            places[0],
            places[1],
            np.full(n, -1, np.int64) if group is None else np.asarray(group, np.int64),
            np.zeros(n, np.int64) if since is None else np.asarray(since, np.int64),
            homes,
            np.ones(n, bool) if counts is None else np.asarray(counts, bool),
            np.zeros(n, bool) if young is None else np.asarray(young, bool),
            _grouped(group, n) if published is None else np.asarray(published, bool),
            no_attributes(n) if attributes is None else np.asarray(attributes, object),
        )

    def __post_init__(self) -> None:
        n = len(self.person)
        if self.attributes.shape == (0, 0):
            object.__setattr__(self, "attributes", no_attributes(n))
        if len(self.attributes) != n:
            raise InputError(f"there are {n} people, but attributes has another number of rows")
        for name in ("latitude", "longitude", "group", "since", "household", "counts", "young", "published"):
            if getattr(self, name).shape != (n,):
                raise InputError(f"there are {n} people, but {name} has a different number of values")
        if len(np.unique(self.person)) < n:
            raise InputError(f"{n - len(np.unique(self.person))} person numbers occur more than once")
        off = ~(np.abs(self.latitude) <= 90.0) | ~(np.abs(self.longitude) <= 180.0)
        if off.any():
            raise InputError(
                f"{int(off.sum())} homes are no latitude (-90..90) and longitude (-180..180) in degrees"
            )

    def __len__(self) -> int:
        return len(self.person)

    @property
    def points(self) -> Floats:
        """Homes in metres from the middle of the earth, shape (n, 3): straight lines are distances."""
        return points(self.latitude, self.longitude)

    def rows(self, where: NDArray[np.int64] | NDArray[np.bool_]) -> Population:
        """Return some of the people."""
        columns = {name: getattr(self, name)[where] for name in self.__dataclass_fields__}
        return Population(**columns)

    def after(self, group: Ints, since: Ints) -> Population:
        """Return the same people with the groups of an epoch."""
        now = np.asarray(group, np.int64)
        return replace(
            self, group=now, since=np.asarray(since, np.int64), published=self.published | (now >= 0)
        )

    def __repr__(self) -> str:
        return f"Population({len(self):,} people, {int((self.group < 0).sum()):,} of them wait)"


def no_attributes(n: int) -> Objects:
    """Return no attributes for n people or groups."""
    return np.empty((n, 0), object)


def points(latitude: ArrayLike, longitude: ArrayLike) -> Floats:
    """Return places in metres from the middle of the earth, shape (n, 3)."""
    if np.size(latitude) == 0:
        return np.empty((0, 3))
    return RADIUS * Sphere.from_degrees(latitude, longitude)


def degrees(places: Floats) -> Floats:
    """Return latitude and longitude of such points, or of their means, shape (n, 2)."""
    return np.stack(Sphere.to_degrees(places), axis=1) if len(places) else np.empty((0, 2))


def is_young(seen: ArrayLike, now: int, epochs: int) -> NDArray[np.bool_]:
    """Return which people are young: their home was first seen recently, and after the first epoch.

    Examples
    --------
    >>> is_young([1, 3, 8], 10, 5).tolist()
    [False, False, True]
    """
    first = np.asarray(seen, np.int64)
    return np.asarray((first > 1) & (now - first < epochs))


def _grouped(group: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    return np.zeros(n, bool) if group is None else np.asarray(group, np.int64) >= 0


def _addresses(latitude: Floats, longitude: Floats) -> Ints:
    """Return a number for each home; homes within about a metre share a number."""
    if not len(latitude) or not (np.isfinite(latitude).all() and np.isfinite(longitude).all()):
        return np.zeros(len(latitude), np.int64)
    cells = np.stack([np.rint(latitude / SAME), np.rint(longitude / SAME)], axis=1).astype(np.int64)
    return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1), np.int64)
