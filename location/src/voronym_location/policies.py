"""The published places of each epoch: by `cohort`, the default, and by policies to compare it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.registry import Registry
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.quantize.costs.base import Bounds, equal_sizes
from voronym.quantize.pcl import Design, alternate
from voronym.quantize.quantizer import Quantizer
from voronym.quantize.settings import Settings as Lloyd
from voronym.space import Euclidean
from voronym_location.checking import check
from voronym_location.designing import carried
from voronym_location.epochs import Standing, plan
from voronym_location.population import Floats, Ints, Population, is_young, points
from voronym_location.rules import Settings


@dataclass(frozen=True, eq=False)
class EpochPlaces:
    """The published places of an epoch.

    Parameters
    ----------
    place : array of int, shape (n,)
        Number of each person's published place; equal places have equal numbers. -1 for people who wait.
    metres : array, shape (n,)
        Distance from home in metres; NaN for people who wait.
    told : array of bool, shape (n,)
        Whether each person got a new place.
    fresh : array of bool, shape (n,)
        Whether each person got a new pseudonym.
    """

    place: Ints
    metres: Floats
    told: NDArray[np.bool_]
    fresh: NDArray[np.bool_]


class Policy(Protocol):
    """A policy for a sequence of epochs, with its own state."""

    def step(self, person: Ints, homes: Floats, ctx: Context) -> EpochPlaces:
        """Give places to the active people, by ascending number."""
        ...


EVERY = 5
"""Default number of epochs between two runs of PCL."""

POLICIES: Registry[Callable[[Settings], Policy]] = Registry("policy")
"""Policies by name."""


@POLICIES.register("cohort")
class Cohort:
    """Groups that share a history: see `voronym_location.plan`. Every epoch is checked."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.standing = settings, Standing.empty()
        self.person = self.group = self.since = self.seen = np.empty(0, np.int64)
        self.published = np.empty(0, bool)

    def step(self, person: Ints, homes: Floats, ctx: Context) -> EpochPlaces:
        """Plan an epoch, check it, and publish it."""
        known, at = _known(person, self.person)
        now = self.standing.epoch + 1
        group = np.full(len(person), -1, np.int64)
        since, seen = np.full(len(person), now), np.full(len(person), now)
        published = np.zeros(len(person), bool)
        group[known], since[known], seen[known] = self.group[at], self.since[at], self.seen[at]
        published[known] = self.published[at]
        people = Population.of(
            person, *homes.T, group=group, since=since, household=person,
            young=is_young(seen, now, self.settings.young), published=published,
        )  # fmt: skip
        epoch = plan(people, self.standing, self.settings, ctx)
        check(people, epoch, self.standing, self.settings.k, linked=self.settings.linked)
        self.person, self.group, self.since, self.standing = person, epoch.group, epoch.since, epoch.standing
        self.seen, self.published = seen, published | (epoch.group >= 0)
        places = epoch.places()
        return EpochPlaces(epoch.group, _metres(homes, places), epoch.told, epoch.told)


@POLICIES.register("retire")
class Retire(Cohort):
    """Cohorts without second places: they also protect against linked pseudonyms.

    A group ends when fewer than k members are left; they are never served again. With k, headroom h and a
    steady rate of change, (h + 1) / (h + k) of all people who ever had a place have one at a given time.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(replace(settings, linked=True, redesign=0, worse=0.0))


@POLICIES.register("reuse")
class Reuse:
    """The paper's policy: centroids and costs are designed once, and newcomers are assigned by equation 4."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.quantizer: Quantizer | None = None
        self.person = np.empty(0, np.int64)

    def step(self, person: Ints, homes: Floats, ctx: Context) -> EpochPlaces:
        """Assign everybody to the cells of the first design."""
        X = points(*homes.T)
        if self.quantizer is None:
            self.quantizer = designed(X, self.settings.k, ctx).quantizer
        cells = self.quantizer.assign(X)
        result = np.ones(len(person), bool)
        result[_known(person, self.person)[0]] = False
        self.person = person
        metres = np.sqrt(np.square(X - self.quantizer.centroids[cells]).sum(axis=1))
        return EpochPlaces(cells, metres, result, np.zeros(len(person), bool))


@POLICIES.register("rerun")
class Rerun(Reuse):
    """The paper's policy to the letter: newcomers by equation 4, and PCL again at a fixed interval.

    A redesign starts from the old centroids, with the number of cells for the present people.
    ``redesign`` is the number of epochs between designs; 0 means `EVERY`. All places move at a redesign,
    and all people get a new one.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.every = settings.redesign or EVERY
        self.epoch, self.used, self.rounds = 0, 0, 0

    def step(self, person: Ints, homes: Floats, ctx: Context) -> EpochPlaces:
        """Assign people to the present cells, or redesign the cells from the old ones."""
        again = self.quantizer is not None and self.epoch % self.every == 0
        self.epoch += 1
        if again and self.quantizer is not None:
            X, old = points(*homes.T), self.quantizer
            cells = len(X) // self.settings.k
            sizes = equal_sizes(len(X), cells)
            begin = carried(X, old.centroids, cells, np.random.default_rng([self.settings.seed, self.epoch]))
            made = alternate(X, Bounds(sizes, sizes), begin, Euclidean(), Lloyd(tolerance=1e-5), ctx)
            self.used += len(old.centroids)
            self.quantizer, self.person = made.quantizer, np.empty(0, np.int64)
        result = super().step(person, homes, ctx)
        return replace(result, place=self.used + result.place)


@POLICIES.register("afresh")
class Afresh:
    """Group everybody again at each epoch, without regard to earlier ones."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.used = settings, 0

    def step(self, person: Ints, homes: Floats, ctx: Context) -> EpochPlaces:
        """Group everybody."""
        X = points(*homes.T)
        part = METHODS["mdav"].partition(Problem.of(X, self.settings.k), ctx)
        metres = np.sqrt(np.square(X - part.centroids(X)[part.labels]).sum(axis=1))
        place = self.used + np.asarray(part.labels)
        self.used += part.n_cells
        every = np.ones(len(person), bool)
        return EpochPlaces(place, metres, every, ~every)


def designed(X: Floats, k: int, ctx: Context) -> Design:
    """Return the paper's design: as many cells of k as possible, by probability-constrained Lloyd."""
    sizes = equal_sizes(len(X), len(X) // k)
    return alternate(X, Bounds(sizes, sizes), "mdav", Euclidean(), Lloyd(tolerance=1e-5), ctx)


def _known(person: Ints, before: Ints) -> tuple[Ints, Ints]:
    """Return the rows of people who were present before, and their former rows; both ascend by number."""
    return np.intersect1d(person, before, assume_unique=True, return_indices=True)[1:]


def _metres(homes: Floats, places: Floats) -> Floats:
    out = np.full(len(homes), np.nan)
    inside = np.isfinite(places[:, 0])
    if inside.any():
        apart = points(*homes[inside].T) - points(*places[inside].T)
        out[inside] = np.sqrt(np.square(apart).sum(axis=1))
    return out
