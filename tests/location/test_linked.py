"""An intruder who links pseudonyms follows people through all of their groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from location.checker import Checker
from location.town_hall import quick_token, scattered, service
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym_location import Population, Settings, Standing, check, plan
from voronym_location.policies import POLICIES
from voronym_location.simulate import _lives
from voronym_location.statements import Waiting
from voronym_location.town import Town


def smallest_linked(policy: str, settings: Settings, epochs: int = 15) -> list[int]:
    """Return the smallest set of people with one linked history at each epoch, by the independent checker."""
    town, made, checker = Town.make(1500, seed=41), POLICIES[policy](settings), Checker()
    sets = []
    for epoch, person in _lives(400, epochs, 0.04, 3):
        output = made.step(person, town.homes[person], Context())
        handed = {
            item: (f"{item}-{place}", place)  # a pseudonym for each place; the checker links them by person
            for item, place in zip(person.tolist(), output.place.tolist(), strict=True)
            if place >= 0
        }
        sets.append(checker.observe({item: item for item in person.tolist()}, handed)[1])
        assert handed, epoch
    return sets


def test_who_links_pseudonyms_finds_k_where_groups_are_retired() -> None:
    settings = Settings(k=5, headroom=6, young=0)
    assert min(smallest_linked("retire", settings)) >= 5
    assert min(smallest_linked("cohort", settings)) < 5  # what the policy is for


def test_a_second_place_is_refused() -> None:
    town = Town.make(200, seed=1)
    people = Population.of(np.arange(200), *town.homes.T)
    settings = Settings(k=5, budget=0.5)
    first = plan(people, Standing.empty(), settings)
    rest = people.after(first.group, first.since).rows(np.arange(40, 200))
    second = plan(rest, first.standing, settings)
    assert second.told.any()
    check(rest, second, first.standing, 5)
    with pytest.raises(GuaranteeError, match="second place"):
        check(rest, second, first.standing, 5, linked=True)
    with pytest.raises(InputError, match="linked"):
        Settings(linked=True, redesign=5)


def test_the_service_gives_nobody_a_second_place(tmp_path: Path, database: str) -> None:
    """People leave, come back and move; whoever had a place gets no other."""
    with service(
        tmp_path, database=database, epochs={"linked": True, "headroom": 3, "budget": 1.0}
    ) as server:
        server.import_directory(scattered(80))
        server.run_epoch()
        token = quick_token(server, "p0@example.org")
        server.cancel(token)
        server.run_epoch()
        server.submit_address(token, "street 5")  # back again, under the same account
        mover = quick_token(server, "p1@example.org")
        server.submit_address(mover, "street 6")
        for number in range(10, 40):
            server.cancel(quick_token(server, f"p{number}@example.org"))
        figures = server.run_epoch()
        assert figures["retired"] > 2
        assert figures["told"] == 0
        for who in (token, mover):
            answer = server.statement(who)
            assert isinstance(answer, Waiting)
            assert "nobody gets a second point" in answer.reason


def test_linked_is_for_a_service_from_its_first_epoch(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(40))
        server.run_epoch()
    with service(tmp_path, epochs={"linked": True}) as server, pytest.raises(InputError, match="first epoch"):
        server.run_epoch()
