"""Plan the next epoch: kept places, dissolved groups, new places."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context
from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.forming import Crowd, form, obeying
from voronym_location.population import Floats, Ints, Objects, Population, no_attributes, points
from voronym_location.renewing import renew
from voronym_location.rules import Settings
from voronym_location.snapping import candidates, snapped


@dataclass(frozen=True, eq=False)
class Standing:
    """The groups that live after an epoch.

    Parameters
    ----------
    epoch : int
        Its number; 0 before the first.
    groups : array of int, shape (m,)
        The numbers of the groups, ascending. A number is never used again.
    centroids : array, shape (m, 2)
        The place of each, latitude and longitude in degrees. It was fixed when the group was formed.
    born : array of int, shape (m,)
        The epoch in which each group was formed.
    top : int
        The highest number used so far; -1 before the first.
    designed : int
        The epoch of the last design of everything.
    rms : float
        The rms distance then, metres; with attributes, that in the joint space.
    attributes : array of object, shape (m, a)
        The published attributes of each group; it was fixed with it.

    Examples
    --------
    >>> Standing.empty()
    Standing(epoch 0, 0 groups)
    """

    epoch: int
    groups: Ints
    centroids: Floats
    born: Ints
    top: int = -1
    designed: int = 0
    rms: float = 0.0
    attributes: Objects = field(default_factory=lambda: no_attributes(0))

    @classmethod
    def empty(cls) -> Standing:
        """Return the state before the first epoch."""
        none = np.empty(0, np.int64)
        return cls(0, none, np.empty((0, 2)), none)

    @classmethod
    def of(
        cls, epoch: int, groups: ArrayLike, centroids: ArrayLike, born: ArrayLike, **more: Any
    ) -> Standing:
        """Return a standing from columns in any order, such as a database's."""
        numbers = np.asarray(groups, np.int64).reshape(-1)
        order = np.argsort(numbers, kind="stable")
        places = np.asarray(centroids, np.float64).reshape(len(numbers), 2)
        attributes = np.asarray(more.pop("attributes", no_attributes(len(numbers))), object)
        columns = numbers[order], places[order], np.asarray(born, np.int64)[order]
        return cls(epoch, *columns, **more, attributes=attributes[order])

    def rows(self, where: NDArray[np.bool_]) -> Standing:
        """Return the standing of some of the groups."""
        names = ("groups", "centroids", "born", "attributes")
        return replace(self, **{name: getattr(self, name)[where] for name in names})

    def __post_init__(self) -> None:
        m = len(self.groups)
        if self.attributes.shape == (0, 0):
            object.__setattr__(self, "attributes", no_attributes(m))
        if self.centroids.shape != (m, 2) or self.born.shape != (m,) or len(self.attributes) != m:
            raise InputError(f"there are {m} groups: each needs a place and the epoch it was formed in")
        if m and ((np.diff(self.groups) <= 0).any() or self.groups[0] < 0 or self.groups[-1] > self.top):
            raise InputError("groups have ascending numbers from 0 to the highest one used so far")

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        return f"Standing(epoch {self.epoch}, {len(self):,} groups)"


@dataclass(frozen=True)
class Figures:
    """Aggregate figures of an epoch; they contain no person's values.

    ``told``: people who got a new place. ``renewed``: those of them whose group was dissolved for the
    sake of others. ``dissolved``: groups that fell below k. ``smallest``: the smallest number of
    addresses that share a history. ``rms`` and ``median``: metres from home. ``candidates``: the smallest
    number of public addresses in reach of a new group, given a directory. ``retired``: people who wait
    for ever, because ``linked`` allows no second place. ``attributes``: error of published attributes, as
    rms of numbers or as share of people with another value.
    """

    epoch: int
    people: int
    served: int
    waiting: int
    told: int
    renewed: int
    groups: int
    formed: int
    dissolved: int
    smallest: int
    rms: float
    median: float
    redesigned: bool
    candidates: int | None = None
    retired: int = 0
    attributes: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Epoch:
    """The published result of an epoch.

    Parameters
    ----------
    group : array of int, shape (n,)
        The group of each person, in the order of the population; -1 for people who wait.
    since : array of int, shape (n,)
        When they began to wait, or when their group was formed.
    standing : Standing
        The groups that live, with their places.
    dissolved : array of int
        The ended groups: groups below k, and groups dissolved together with them.
    told : array of bool, shape (n,)
        Whether each person gets a new place, and with it a new pseudonym.
    figures : Figures
        Aggregate figures.
    """

    group: Ints
    since: Ints
    standing: Standing
    dissolved: Ints
    told: NDArray[np.bool_]
    figures: Figures

    def places(self) -> Floats:
        """Return everybody's place, latitude and longitude, shape (n, 2); NaN for waiting people."""
        out = np.full((len(self.group), 2), np.nan)
        inside = self.group >= 0
        out[inside] = self.standing.centroids[np.searchsorted(self.standing.groups, self.group[inside])]
        return out


def plan(
    population: Population,
    standing: Standing,
    settings: Settings,
    ctx: Context | None = None,
    *,
    directory: ArrayLike | None = None,
    attributes: Attributes | None = None,
) -> Epoch:
    """Return the next epoch; the result depends only on people and settings, not on the order of rows.

    Parameters
    ----------
    population : Population
        The active people, each with the group of the last epoch, without people who left.
    standing : Standing
        The standing after the last epoch.
    settings : Settings
        k, and all else.
    ctx : Context, optional
        Progress, threads and wishes. The work must be whole: a request to finish raises.
    directory : array, shape (a, 2), optional
        Public addresses, latitude and longitude. Places are put near an address, and the addresses in reach
        of each new group are counted.
    attributes : Attributes, optional
        The attributes that are grouped with homes, and published with the place.

    Returns
    -------
    Epoch

    Examples
    --------
    >>> people = Population.of(range(5), [48.0, 48.001, 48.002, 48.1, 48.101], [11.5] * 5)
    >>> first = plan(people, Standing.empty(), Settings(k=3, headroom=0, homes=1))
    >>> first.figures.served, first.figures.groups
    (5, 1)
    """
    here = Context() if ctx is None else ctx
    order = np.argsort(population.person, kind="stable")
    people = population.rows(order)
    now = standing.epoch + 1
    crowd = Crowd.of(people, standing, settings, directory, attributes)
    rng = np.random.default_rng([settings.seed, now])
    work = here.part(0.0, 0.95, stage="grouping")
    work.rng = rng
    whole_town = _redesign(crowd, standing, settings, now)
    weak = crowd.weak()
    if whole_town or not len(standing):
        extra = crowd.living()
        crowd.dissolve(np.concatenate([weak, extra]))
        labels = form(crowd, work)
    else:
        labels, extra = renew(crowd, weak, work)
        crowd.dissolve(np.concatenate([weak, extra]))
        room = max(0, int(settings.budget * len(people)) - int((labels >= 0).sum()))
        labels = obeying(crowd, labels, room)
    made = _publish(people, crowd, labels, crowd.standing, now, weak, extra, whole_town)
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return replace(made, group=made.group[back], since=made.since[back], told=made.told[back])


def _redesign(crowd: Crowd, standing: Standing, settings: Settings, now: int) -> bool:
    """Whether age or loss requires a new design of everything."""
    if not len(standing):
        return False
    old = settings.redesign > 0 and now - standing.designed >= settings.redesign
    return old or (settings.worse > 0.0 and crowd.rms() > (1.0 + settings.worse) * standing.rms)


def _publish(
    people: Population,
    crowd: Crowd,
    labels: Ints,
    standing: Standing,
    now: int,
    weak: Ints,
    extra: Ints,
    whole_town: bool,
) -> Epoch:
    """Give new groups numbers and places, and count them."""
    result = labels >= 0
    fresh = int(labels.max(initial=-1)) + 1
    group = np.where(result, standing.top + 1 + labels, crowd.group)
    centroids = snapped(crowd, labels, fresh)
    kept = ~np.isin(standing.groups, np.concatenate([weak, extra]))
    began = people.group != group
    since = np.where(began | (people.since < 0), now, people.since)
    after = Standing(
        now,
        np.concatenate([standing.groups[kept], standing.top + 1 + np.arange(fresh)]),
        np.concatenate([standing.centroids[kept], centroids]),
        np.concatenate([standing.born[kept], np.full(fresh, now, np.int64)]),
        standing.top + fresh,
        standing.designed,
        standing.rms,
        np.concatenate([standing.attributes[kept], crowd.beside(labels, fresh)]),
    )
    away = _away(people, group, after)
    rms = float(np.sqrt(np.square(away).mean())) if len(away) else 0.0
    settled = Crowd.of(people.after(group, since), after, crowd.settings, None, crowd.attributes)
    if whole_town or not len(standing):
        after = replace(after, designed=now, rms=settled.rms() if crowd.attributes else rms)
    figures = Figures(
        now, len(people), int((group >= 0).sum()), int((group < 0).sum()), int(result.sum()),
        int((result & np.isin(people.group, extra)).sum()), len(after), fresh, len(weak),
        crowd.smallest(group), rms, float(np.median(away)) if len(away) else 0.0, whole_town,
        candidates(crowd, labels, centroids), int((crowd.barred & (group < 0)).sum()), settled.apart(),
    )  # fmt: skip
    return Epoch(group, since, after, np.sort(np.concatenate([weak, extra])), result, figures)


def _away(people: Population, group: Ints, after: Standing) -> Floats:
    """Return the distance of served people from their place, in metres."""
    inside = group >= 0
    places = points(*after.centroids.T)[np.searchsorted(after.groups, group[inside])]
    return np.asarray(np.sqrt(np.square(people.points[inside] - places).sum(axis=1)))
