"""Homes and attributes grouped together: what a provider is told is shared by k, counted by others."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from location.attributes import ASKED, entries, facts
from location.audit import Audit
from location.checker import Checker
from location.test_epochs import lives
from location.town_hall import quick_token, service
from voronym.errors import GuaranteeError
from voronym.table.codec import Codec
from voronym_location import Population, Settings, Standing, check, plan
from voronym_location.attributes import Attributes
from voronym_location.joint import Joint
from voronym_location.statements import Statement
from voronym_location.town import Town


def handed_out(server: Any, emails: list[str]) -> dict[str, tuple[str, Any]]:
    """Return the pseudonym and all that is signed of everybody who is served."""
    answers = {email: server.statement(quick_token(server, email)) for email in emails}
    return {
        email: (answer.pseudonym, answer.signed)
        for email, answer in answers.items()
        if isinstance(answer, Statement)
    }


def test_an_intruder_who_knows_place_and_attributes_of_everybody_finds_k(tmp_path: Path) -> None:
    """Over several epochs, by what providers were shown, and by plain SQL: nobody is in a smaller set."""
    audit = Audit(str(tmp_path / "service.db"), 10)
    checker, smallest = Checker(), []
    with service(tmp_path, attributes=ASKED, epochs={"budget": 0.4}) as server:
        server.import_directory(entries(150))
        people = [f"p{number}@example.org" for number in range(150)]
        for turn in range(4):
            assert server.run_epoch()["attributes"].keys() == ASKED.keys()
            audit.look()
            handed = handed_out(server, people)
            assert len(handed) > 100
            active = {email: email for email in people}  # everybody lives at an address of their own
            smallest.append(checker.observe(active, handed)[0])
            alike: dict[Any, set[str]] = defaultdict(set)
            for email, (_, signed) in handed.items():
                shown = json.loads(signed)
                alike[(*shown["centroid"], *shown["attributes"].values())].add(email)
            assert min(map(len, alike.values())) >= 10
            for email in people[: 8 + turn]:
                server.delete(quick_token(server, email))
            people = people[8 + turn :] + [f"p{200 + 10 * turn + more}@example.org" for more in range(10)]
            server.import_directory(entries(10, first=200 + 10 * turn))
        assert len({json.dumps(json.loads(signed)["attributes"]) for _, signed in handed.values()}) > 4
    assert min(smallest) >= 10


def test_grouping_by_homes_alone_leaves_people_alone_with_their_attributes() -> None:
    """The attack above is a real one: a provider that is told one's own attributes beside the point."""
    town = Town.make(150, seed=3)
    people = Population.of(np.arange(150), *town.homes.T)
    epoch = plan(people, Standing.empty(), Settings(k=10, homes=1))
    alike: dict[Any, int] = defaultdict(int)
    for group, row in zip(epoch.group.tolist(), facts(150).tolist(), strict=True):
        alike[(group, *row)] += 1
    assert min(alike.values()) == 1


def test_joint_coordinates_are_those_of_anonymize() -> None:
    town, values = Town.make(80, seed=1), facts(80)
    people = Population.of(np.arange(80), *town.homes.T, attributes=values)
    asked = Attributes.of(ASKED | {"sex": ASKED["sex"] | {"importance": 4.0}})
    ours = Joint(people, Standing.empty(), asked).people
    table = pl.DataFrame(
        {"lat": town.homes[:, 0], "lon": town.homes[:, 1], "born": values[:, 0].astype(float)}
        | {name: values[:, at].astype(str) for at, name in ((1, "schooling"), (2, "sex"))}
    )
    schema = vr.Schema.build(
        table,
        keys=table.columns,
        locations=[("lat", "lon")],
        orders={"schooling": ASKED["schooling"]["values"]},
    )
    theirs = Codec.fit(table, schema).encode(table)
    theirs[:, -1:] *= 2.0  # the root of the importance
    metres = people.points - people.points.mean(axis=0)
    theirs *= np.sqrt(np.square(metres).sum(axis=1).mean())
    for row in range(0, 80, 7):
        gaps = [np.square(X - X[row]).sum(axis=1) for X in (ours, theirs)]
        assert gaps[0] == pytest.approx(gaps[1], rel=1e-6, abs=1e-3)


def test_attributes_never_change_while_a_group_lives_and_cannot_be_subtracted() -> None:
    """Fixed with the place, on a grid: who knows all others' numbers is off by about the group's width."""
    town, values = Town.make(900, seed=7), facts(900)
    asked = Attributes.of({"born": ASKED["born"] | {"importance": 0.2}})
    off, wide = [], []
    settings = Settings(k=8, headroom=2, budget=0.3, homes=1)
    standing, group, since = Standing.empty(), np.full(900, -1), np.zeros(900)
    rng = np.random.default_rng(0)
    for _ in range(4):
        here = np.sort(rng.permutation(900)[:700])
        people = Population.of(
            here, *town.homes[here].T, group=group[here], since=since[here], attributes=values[here, :1]
        )
        epoch = plan(people, standing, settings, attributes=asked)
        check(people, epoch, standing, settings.k)
        kept = np.intersect1d(standing.groups, epoch.standing.groups)
        old, new = (
            each.attributes[np.searchsorted(each.groups, kept)] for each in (standing, epoch.standing)
        )
        assert old.tolist() == new.tolist()
        for number, (published,) in zip(
            epoch.standing.groups, epoch.standing.attributes.tolist(), strict=True
        ):
            own = values[here[epoch.group == number], 0].astype(float)
            if epoch.standing.born[np.searchsorted(epoch.standing.groups, number)] == epoch.standing.epoch:
                off.append(abs(len(own) * published - own[1:].sum() - own[0]))
                wide.append(own.std())
        standing, group = epoch.standing, np.full(900, -1)
        group[here], since[here] = epoch.group, epoch.since
    assert np.median(off) > 0.7 * np.median(wide)
    changed = Standing.of(
        standing.epoch - 1, standing.groups, standing.centroids, standing.born,
        attributes=standing.attributes + 1, top=standing.top,
    )  # fmt: skip
    with pytest.raises(GuaranteeError, match="attribute"):
        check(people, epoch, changed, settings.k)


def test_importance_trades_metres_for_attributes() -> None:
    town, values = Town.make(400, seed=2), facts(400)[:, :1]
    figures = []
    for importance in (0.001, 1.0):
        asked = Attributes.of({"born": ASKED["born"] | {"importance": importance}})
        people = Population.of(np.arange(400), *town.homes.T, attributes=values)
        figures.append(plan(people, Standing.empty(), Settings(k=10), attributes=asked).figures)
    assert figures[0].rms < 0.5 * figures[1].rms
    assert figures[1].attributes["born"] < 0.5 * figures[0].attributes["born"]


def test_a_value_that_few_members_have_is_not_given_out() -> None:
    """The only baker of a group of ten professions is not named: the town's most frequent value is."""
    asked = Attributes.of({"work": {"kind": "nominal", "values": ["baker", *map(str, range(9)), "clerk"]}})
    work = np.array([*asked[0].values[:10], *["clerk"] * 7, "baker", "baker", "baker"], object)[:, None]
    here = np.linspace(0.0, 0.01, 20)
    people = Population.of(np.arange(20), here, here, attributes=work)
    joint = Joint(people, Standing.empty(), asked)
    labels = np.repeat([0, 1], 10)
    assert joint.publish(labels, 2, 9)[:, 0].tolist() == ["clerk", "clerk"]
    assert joint.publish(labels[::-1].copy(), 2, 9)[:, 0].tolist() == ["clerk", "clerk"]
    assert joint.apart(np.arange(20), work, 9) == {}  # a figure of two groups is a figure of people
    assert joint.apart(np.arange(20), np.roll(work, 1, axis=0), 5) == {"work": 0.5}  # 12 of 20, in quarters


def test_a_town_without_attributes_is_grouped_as_before() -> None:
    """The same arrays with no attributes declared: nothing of the joint space is made."""
    for population, standing, epoch in lives(
        Town.make(120, seed=9), 3, Settings(k=5), people=100, change=0.05, seed=1
    ):
        assert epoch.standing.attributes.shape == (len(epoch.standing), 0)
        check(population, epoch, standing, 5)
