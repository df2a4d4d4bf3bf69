"""Epochs: what is promised holds, counted by a checker that shares no code with the library."""

from __future__ import annotations

import numpy as np
import pytest

from location.checker import Checker
from repeats import few
from voronym.errors import GuaranteeError, InputError
from voronym_location import Epoch, Population, Settings, Standing, check, plan
from voronym_location.town import Town


def lives(
    town: Town, epochs: int, settings: Settings, *, people: int, change: float, seed: int = 0, families=1
):
    """Run epochs as the service does; yield the population, what stood before, and the epoch."""
    rng = np.random.default_rng(seed)
    person, top = np.arange(people), people
    group, since = np.full(people, -1), np.ones(people, int)
    standing = Standing.empty()
    for number in range(epochs):
        if number:
            gone = rng.choice(len(person), int(change * len(person)), replace=False)
            new = top + np.arange(len(gone))
            person, group, since = (
                np.r_[np.delete(person, gone), new],
                np.r_[np.delete(group, gone), np.full(len(new), -1)],
                np.r_[np.delete(since, gone), np.full(len(new), number + 1)],
            )
            top += len(new)
        home = (person // families) % len(town.homes)
        shuffled = rng.permutation(len(person))
        person, group, since, home = (item[shuffled] for item in (person, group, since, home))
        population = Population.of(person, *town.homes[home].T, group=group, since=since, household=home)
        epoch = plan(population, standing, settings)
        yield population, standing, epoch
        group, since, standing = epoch.group, epoch.since, epoch.standing


class Pseudonyms:
    """Hands out pseudonyms as the service must: a fresh one for whoever is told anew."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.used = 0

    def handed(self, population: Population, epoch: Epoch):
        places = epoch.places()
        out = {}
        for row, person in enumerate(population.person.tolist()):
            if epoch.told[row]:
                self.used += 1
                self.of[person] = self.used
            if epoch.group[row] >= 0:
                out[person] = (self.of[person], tuple(places[row].tolist()))
        return out


def test_a_town_can_be_grouped_by_the_papers_algorithm():
    town = Town.make(240, seed=5)
    people = Population.of(np.arange(240), *town.homes.T)
    made = {
        name: plan(people, Standing.empty(), Settings(k=5, headroom=0, homes=1, grouping=name))
        for name in ("pairs", "pcl")
    }
    for epoch in made.values():
        check(people, epoch, Standing.empty(), 5)
        assert epoch.figures.served == 240
    assert (made["pairs"].group != made["pcl"].group).any()
    assert made["pcl"].figures.rms < 1.15 * made["pairs"].figures.rms
    with pytest.raises(InputError):
        Settings(grouping="magic")


@pytest.mark.parametrize(("change", "families"), few([(0.08, 2), (0.02, 1)], 1))
def test_everybody_served_shares_their_history_with_k(change, families):
    settings = Settings(k=5, headroom=1, budget=0.15)
    town, checker, names = Town.make(700, seed=3), Checker(), Pseudonyms()
    for population, before, epoch in lives(town, 12, settings, people=400, change=change, families=families):
        check(population, epoch, before, settings.k)
        active = dict(zip(population.person.tolist(), population.household.tolist(), strict=True))
        smallest, _ = checker.observe(active, names.handed(population, epoch))
        assert smallest >= 5
        assert epoch.figures.smallest == smallest
        assert epoch.figures.served == int((epoch.group >= 0).sum()) > 0.6 * len(population)


def test_the_order_of_rows_changes_nothing():
    town = Town.make(300, seed=4)
    people = Population.of(np.arange(300), *town.homes.T)
    turned = np.random.default_rng(0).permutation(300)
    server = plan(people, Standing.empty(), Settings(k=5))
    two = plan(people.rows(turned), Standing.empty(), Settings(k=5))
    assert (server.group[turned] == two.group).all()
    assert (server.standing.centroids == two.standing.centroids).all()


def first(k=5, **more):
    town = Town.make(200, seed=5)
    people = Population.of(np.arange(200), *town.homes.T)
    settings = Settings(k=k, **more)
    return people, plan(people, Standing.empty(), settings), settings


def test_an_epoch_that_breaks_the_promise_is_refused():
    from dataclasses import replace

    people, server, settings = first()
    kept = people.after(server.group, server.since)
    two = plan(kept, server.standing, settings)
    check(kept, two, server.standing, 5)
    moved = replace(two.standing, centroids=two.standing.centroids + 1e-9)
    wrong = {
        "moved": replace(two, standing=moved),
        "fewer than k": replace(two, group=np.where(two.group == two.group[0], -1, two.group)),
        "does not live": replace(two, group=np.where(two.group == two.group[0], 10**6, two.group)),
        "joined": replace(two, group=np.r_[two.group[-1:], two.group[:-1]]),
        "pseudonym": replace(two, told=~two.told),
    }
    for why, epoch in wrong.items():
        with pytest.raises(GuaranteeError, match=why):
            check(kept, epoch, server.standing, 5)
    with pytest.raises(GuaranteeError, match="fewer than k=60"):
        check(kept, two, server.standing, 60)
    later = replace(server.standing, top=server.standing.top + 500)
    with pytest.raises(GuaranteeError, match="used again"):
        check(people, server, replace(Standing.empty(), top=later.top), 5)


def test_wrong_input_is_said_in_words():
    with pytest.raises(InputError, match="more than once"):
        Population.of([1, 1], [48.0, 48.0], [11.0, 11.0])
    with pytest.raises(InputError, match="1 homes are no latitude"):
        Population.of([1, 2], [148.0, 48.0], [11.0, 11.0])
    with pytest.raises(InputError, match="groups that the standing does not have"):
        plan(Population.of([1], [48.0], [11.0], group=[7]), Standing.empty(), Settings())
    with pytest.raises(InputError, match="k must be a whole number"):
        Settings(k=1)


def test_too_few_people_wait():
    people = Population.of([1, 2], [48.0, 48.1], [11.0, 11.0])
    epoch = plan(people, Standing.empty(), Settings(k=3))
    assert epoch.group.tolist() == [-1, -1]
    check(people, epoch, Standing.empty(), 3)
    nobody = plan(people.rows(np.zeros(2, bool)), epoch.standing, Settings(k=3))
    assert nobody.figures.people == 0


def test_a_redesign_starts_from_the_old_places_and_tells_everybody():
    town = Town.make(2000, seed=6)
    for settings in (Settings(k=5, redesign=3, budget=0.05), Settings(k=5, worse=0.02, budget=0.05)):
        figures, before = [], None
        for population, standing, epoch in lives(town, 7, settings, people=600, change=0.06):
            check(population, epoch, standing, settings.k)
            figures.append(epoch.figures)
            if epoch.figures.redesigned:
                assert epoch.told[epoch.group >= 0].all()
                assert not np.intersect1d(standing.groups, epoch.standing.groups).size
                assert epoch.figures.rms < 1.1 * figures[0].rms
                assert epoch.standing.designed == epoch.figures.epoch
            elif before is not None:
                assert epoch.figures.told <= 0.05 * len(population) + settings.k
            before = epoch
        assert any(figure.redesigned for figure in figures[1:])
        assert not all(figure.redesigned for figure in figures[1:])
