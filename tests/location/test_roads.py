"""Epochs on a road graph: the same promise, counted by the same checker; ways instead of lines."""

from __future__ import annotations

import numpy as np
import pytest

from location.checker import Checker
from location.test_epochs import Pseudonyms
from voronym.errors import InputError
from voronym.space import Graph
from voronym_location import Population, Settings, Standing, check
from voronym_location.roads import nearest, plan_on_roads


def streets(side: int = 12):
    """Two quarters on either side of a river with one bridge; corners a hundred metres apart."""
    number = np.arange(side * side).reshape(side, side)
    edges = [(a, b) for a, b in zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    edges += [
        (number[i, j], number[i + 1, j])
        for i in range(side - 1)
        for j in range(side)
        if i != side // 2 - 1 or j == 0  # the only bridge is at the end
    ]
    step = 100.0 / 111_195.0
    at = np.stack(np.divmod(np.arange(side * side), side), axis=1)
    corners = np.array([48.1, 11.5]) + at * np.array([step, step / np.cos(np.radians(48.1))])
    return Graph(np.array(edges), np.full(len(edges), 100.0), power=2.0), corners, at


def test_the_promise_holds_on_roads_and_groups_do_not_cross_the_river():
    graph, corners, at = streets()
    settings = Settings(k=5, headroom=1, homes=2)
    rng, checker, names = np.random.default_rng(0), Checker(), Pseudonyms()
    person, group, since = np.arange(160), np.full(160, -1), np.ones(160, int)
    standing, homes = Standing.empty(), rng.integers(144, size=1000)
    for number in range(8):
        if number:
            gone = rng.choice(len(person), 10, replace=False)
            new = 150 + 10 * number + np.arange(10)
            person, group, since = (
                np.r_[np.delete(person, gone), new], np.r_[np.delete(group, gone), np.full(10, -1)],
                np.r_[np.delete(since, gone), np.full(10, number + 1)],
            )  # fmt: skip
        vertex = homes[person // 2]
        people = Population.of(person, *corners[vertex].T, group=group, since=since, household=person // 2)
        epoch = plan_on_roads(people, vertex, corners, graph, standing, settings)
        check(people, epoch, standing, 5)
        active = dict(zip(person.tolist(), (person // 2).tolist(), strict=True))
        assert checker.observe(active, names.handed(people, epoch))[0] >= 5
        assert epoch.figures.served > 0.7 * len(person)
        known = {tuple(corner) for corner in corners.tolist()}
        assert {tuple(place) for place in epoch.standing.centroids.tolist()} <= known
        if number == 0:  # by ways, the other bank is far
            bank = at[vertex, 0] < 6
            mixed = [len(set(bank[epoch.group == one])) for one in epoch.standing.groups]
            assert np.mean(np.array(mixed) == 1) > 0.8
        group, since, standing = epoch.group, epoch.since, epoch.standing


def test_homes_go_to_their_corners_and_wrong_ones_are_refused():
    graph, corners, _ = streets()
    assert nearest(corners, *(corners + 1e-5).T).tolist() == list(range(144))
    people = Population.of([1], [48.0], [11.0])
    with pytest.raises(InputError, match="a vertex for everybody"):
        plan_on_roads(people, [0, 1], corners, graph, Standing.empty(), Settings())
