"""Attacks on epochs that must fail. Each says what it tries, and fails where its guard is taken out."""

from __future__ import annotations

import numpy as np
import pytest

from location.checker import Checker
from location.test_epochs import Pseudonyms, lives
from voronym.errors import GuaranteeError
from voronym_location import Population, Settings, Standing, check, plan
from voronym_location.intruders import Intruder
from voronym_location.policies import POLICIES
from voronym_location.population import points
from voronym_location.town import Town

SETTINGS = Settings(k=5, headroom=1, budget=0.2, homes=1)


def metres(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(points(*one.T) - points(*two.T)).sum(axis=1))


def known_but_one(group: np.ndarray, homes: np.ndarray, places: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return where the people in these rows must live, if all others of their groups are known: nc - rest."""
    result = np.empty((len(rows), 2))
    for at, row in enumerate(rows):
        others = np.flatnonzero(group == group[row])
        result[at] = len(others) * places[row] - homes[others[others != row]].sum(axis=0)
    return result


def test_differencing_a_join_does_not_find_the_home():
    """An intruder knows every home but the newcomer's, and who is in which group, and subtracts."""
    town = Town.make(900, seed=31)
    off, away, moved = [], [], 0
    before = None
    for population, standing, epoch in lives(town, 12, SETTINGS, people=600, change=0.03, seed=2):
        homes = np.stack([population.latitude, population.longitude], axis=1)
        places = epoch.places()
        if before is not None:  # joins and leaves change no place that lives, so nothing is there to subtract
            kept = np.intersect1d(standing.groups, epoch.standing.groups)
            old, new = (
                item.centroids[np.searchsorted(item.groups, kept)] for item in (standing, epoch.standing)
            )
            moved += int((old != new).any(axis=1).sum())
            joined = np.flatnonzero(epoch.told & (population.group < 0))
            guess = known_but_one(epoch.group, homes, places, joined)
            off.extend(metres(guess, homes[joined]))
            away.extend(metres(places[joined], homes[joined]))
        before = epoch
    assert moved == 0
    assert len(off) > 80
    assert np.median(off) > 0.7 * np.median(away)  # no better than the place, which everybody may know


def test_the_subtraction_is_exact_where_places_are_means():
    """The attack above is a real one: without rounding it is exact."""
    town = Town.make(60, seed=3)
    people = Population.of(np.arange(60), *town.homes.T)
    for grid, exact in ((0.0, True), (10.0, False)):
        epoch = plan(people, Standing.empty(), Settings(k=5, grid=grid))
        rows = np.arange(60)
        guess = known_but_one(epoch.group, town.homes, epoch.places(), rows)
        off = np.median(metres(guess, town.homes))
        assert (off < 1.0) == exact


def test_intersection_over_epochs_finds_nobody():
    """An intruder keeps everything that was published under each pseudonym."""
    town = Town.make(1500, seed=33)
    checker, names = Checker(), Pseudonyms()
    smallest = []
    for population, _, epoch in lives(town, 15, SETTINGS, people=500, change=0.05, seed=1):
        active = dict(zip(population.person.tolist(), population.household.tolist(), strict=True))
        smallest.append(checker.observe(active, names.handed(population, epoch))[0])
    assert min(smallest) >= 5


@pytest.mark.parametrize(("policy", "alone"), [("afresh", 0.4), ("reuse", 0.1), ("rerun", 0.2)])
def test_the_intersection_finds_many_under_other_policies(policy, alone):
    """The same intruder, counted by the library: what the guard is for."""
    from voronym.core.context import Context
    from voronym_location.simulate import _lives

    town, made, intruder = Town.make(900, seed=34), POLICIES[policy](SETTINGS), Intruder(linking=False)
    for _, person in _lives(300, 12, 0.05, 0):
        output = made.step(person, town.homes[person], Context())
        seen = intruder.see(person, output.place, output.fresh, 5)
    assert seen.single > alone


def test_averaging_gives_one_place_for_each_pseudonym():
    """An intruder averages all places of a pseudonym: there is only one, so there is nothing to average."""
    town, names = Town.make(900, seed=35), Pseudonyms()
    places: dict[int, set[object]] = {}
    for population, _, epoch in lives(town, 15, SETTINGS, people=300, change=0.05, seed=3):
        for pseudonym, place in names.handed(population, epoch).values():
            places.setdefault(pseudonym, set()).add(place)
    assert max(map(len, places.values())) == 1
    assert len(places) > 300  # people were told anew, under new names


def towers(flats: int = 12) -> tuple[Town, np.ndarray]:
    """Three buildings of many flats, with houses between them; and which building each home is in."""
    rng = np.random.default_rng(4)
    corners = np.array([[48.10, 11.50], [48.11, 11.52], [48.12, 11.50]])
    houses = np.array([48.11, 11.51]) + rng.normal(0, 0.004, (60, 2))
    homes = np.concatenate([np.repeat(corners, flats, axis=0), houses])
    return homes, np.concatenate([np.repeat(np.arange(3), flats), 3 + np.arange(60)])


def buildings_of(group: np.ndarray, building: np.ndarray) -> int:
    """Return the least number of buildings that a group's people live in."""
    return min(len(set(building[group == item].tolist())) for item in np.unique(group[group >= 0]))


def test_a_group_is_not_one_building():
    """An intruder reads the building off a place: everybody of the group lives there."""
    homes, building = towers()
    people = Population.of(np.arange(len(homes)), *homes.T, household=np.arange(len(homes)))
    bare = plan(people, Standing.empty(), Settings(k=5, headroom=0, homes=1))
    assert buildings_of(bare.group, building) == 1  # by construction
    epoch = plan(people, Standing.empty(), Settings(k=5, headroom=0, homes=3))
    assert buildings_of(epoch.group, building) >= 3
    wide = plan(people, Standing.empty(), Settings(k=5, headroom=0, homes=1, radius=30.0))
    assert buildings_of(wide.group, building) >= 2


def test_a_group_does_not_become_one_building_when_others_leave():
    homes, building = towers()
    people = Population.of(np.arange(len(homes)), *homes.T, household=np.arange(len(homes)))
    settings = Settings(k=5, headroom=0, homes=3, budget=0.5)
    first = plan(people, Standing.empty(), settings)
    stay = np.flatnonzero(building < 3)  # everybody in a house leaves
    rest = people.after(first.group, first.since).rows(stay)
    second = plan(rest, first.standing, settings)
    check(rest, second, first.standing, 5)
    served = second.group >= 0
    assert not served.any() or buildings_of(second.group, building[stay]) >= 3


def test_people_of_one_address_count_once():
    """Ten accounts at one address hide nobody."""
    homes = np.concatenate([np.tile([[48.1, 11.5]], (10, 1)), [[48.1, 11.51], [48.1, 11.52]]])
    people = Population.of(np.arange(12), *homes.T)
    assert (plan(people, Standing.empty(), Settings(k=5, homes=1)).group < 0).all()
    epoch = plan(people, Standing.empty(), Settings(k=3, homes=1, headroom=0))
    assert epoch.figures.smallest == 3


def test_people_who_do_not_count_hide_nobody():
    """New accounts around a target are served with it, and do not count."""
    rng = np.random.default_rng(0)
    homes = np.array([48.1, 11.5]) + rng.normal(0, 1e-3, (12, 2))
    counts = np.arange(12) < 4
    people = Population.of(np.arange(12), *homes.T, counts=counts)
    assert (plan(people, Standing.empty(), Settings(k=5, homes=1)).group < 0).all()
    epoch = plan(people, Standing.empty(), Settings(k=4, homes=1, headroom=0))
    assert (epoch.group >= 0).all()
    assert epoch.figures.smallest == 4
    fewer = people.after(epoch.group, epoch.since).rows(np.arange(1, 12))  # one who counts leaves
    later = plan(fewer, epoch.standing, Settings(k=4, homes=1, headroom=0))
    assert (later.group < 0).all()


def test_cancellations_never_leave_fewer_than_k():
    """Somebody who knows exactly who cancelled finds k others who did not, or nothing published at all."""
    town = Town.make(300, seed=36)
    people = Population.of(np.arange(300), *town.homes.T)
    settings = Settings(k=5, headroom=0, budget=0.0)
    first = plan(people, Standing.empty(), settings)
    rng = np.random.default_rng(1)
    rest = people.after(first.group, first.since).rows(np.sort(rng.choice(300, 240, replace=False)))
    stale = np.bincount(rest.group)  # what the old groups would be, without those who left
    assert 0 < stale[stale > 0].min() < 5
    epoch = plan(rest, first.standing, settings)
    assert np.unique(epoch.group[epoch.group >= 0], return_counts=True)[1].min() >= 5
    check(rest, epoch, first.standing, 5)
    unchanged = type(epoch)(rest.group, rest.since, first.standing, epoch.dissolved, epoch.told & False,
                            epoch.figures)  # fmt: skip
    with pytest.raises(GuaranteeError, match="fewer than k=5"):
        check(rest, unchanged, first.standing, 5)


def test_a_place_is_not_in_a_lake():
    """A map tells an intruder that nobody lives in a lake, and a provider nothing useful there."""
    rng = np.random.default_rng(6)
    angle = rng.uniform(0, 2 * np.pi, 12)
    shore = np.array([48.1, 11.5]) + 0.01 * np.stack([np.sin(angle), 1.5 * np.cos(angle)], axis=1)
    people = Population.of(np.arange(12), *shore.T)
    settings = Settings(k=10, headroom=2)

    def wet(place: np.ndarray) -> bool:
        return bool(((place - [48.1, 11.5]) ** 2 / [0.01**2, 0.015**2]).sum() < 0.8)

    bare = plan(people, Standing.empty(), settings)
    assert wet(bare.standing.centroids[0])
    more = np.array([48.1, 11.5]) + 0.012 * np.stack(
        [np.sin(np.arange(60)), 1.5 * np.cos(np.arange(60))], axis=1
    )
    directory = np.concatenate([shore, more])
    epoch = plan(people, Standing.empty(), settings, directory=directory)
    assert not wet(epoch.standing.centroids[0])
    assert 10 <= epoch.figures.candidates <= 72
    far = plan(people, Standing.empty(), settings, directory=[[47.0, 10.0]])  # it knows nothing of this place
    assert (far.standing.centroids == bare.standing.centroids).all()
    assert far.figures.candidates == 0
