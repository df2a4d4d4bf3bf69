"""Homes and attributes grouped together: what a provider is told is shared by k, counted by others."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import text

import voronym as vr
from location.audit import Audit
from location.checker import Checker
from location.client import clients, of
from location.test_epochs import lives
from location.town_hall import join, quick_token, scattered, service
from location.visitor import Visitor, joined
from voronym.errors import GuaranteeError, InputError
from voronym.table.codec import Codec
from voronym_location import Population, Settings, Standing, check, plan
from voronym_location.attributes import Attributes
from voronym_location.directory import Entry, read_rows
from voronym_location.errors import BadRequest
from voronym_location.joint import Joint
from voronym_location.provider import Provider
from voronym_location.sealing import Place, Seal
from voronym_location.statements import Statement
from voronym_location.town import Town

ASKED: dict[str, Any] = {
    "born": {"kind": "numeric", "low": 1900, "high": 2026},
    "schooling": {"kind": "ordinal", "values": ["none", "school", "university"]},
    "sex": {"kind": "nominal", "values": ["f", "m", "x"]},
}
PERSON = {"born": 1980, "schooling": "school", "sex": "f"}


def facts(n: int, seed: int = 5) -> np.ndarray:
    """Return made-up attributes of n people."""
    rng = np.random.default_rng(seed)
    columns = (
        rng.integers(1935, 2009, n),
        rng.choice(ASKED["schooling"]["values"], n),
        rng.choice(["f", "m"], n),
    )
    out = np.empty((n, 3), object)
    for at, column in enumerate(columns):
        out[:, at] = column.tolist()
    return out


def entries(n: int, *, first: int = 0) -> list[Entry]:
    """Return a directory of people with attributes."""
    return [
        replace(row, attributes=json.dumps(dict(zip(ASKED, values, strict=True))))
        for row, values in zip(scattered(n, first, first=first), facts(n, first).tolist(), strict=True)
    ]


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


@pytest.mark.parametrize("sealed", [False, True])
def test_attributes_are_kept_like_homes(tmp_path: Path, database: str, sealed: bool) -> None:
    """Sealed, exported, a move where they change, and gone with the person."""
    keys = tmp_path / "etc" / "homes.key"
    Seal().renewed().write(keys)
    audit = Audit(database or str(tmp_path / "service.db"), 10)
    given = {"database": database, "attributes": ASKED} | ({"home_key": str(keys)} if sealed else {})
    with service(tmp_path, **given) as server:
        server.import_directory(entries(60))
        token = join(server, "new@example.org")
        server.submit_address(token, "street 3", PERSON)
        kept = audit.rows("select attributes, length(sealed) from home")
        assert len(kept) == 61
        assert (kept[0][0] is None) == sealed
        assert len({row[1] for row in kept}) == 1  # the length tells nothing
        version = audit.rows("select version from home order by person desc limit 1")
        server.submit_address(token, "street 3", PERSON)
        assert audit.rows("select version from home order by person desc limit 1") == version
        server.submit_address(token, "street 3", PERSON | {"sex": "x"})
        assert audit.rows("select version from home order by person desc limit 1") != version
        assert server.export(token)["home"]["attributes"] == PERSON | {"sex": "x"}
        if sealed:
            server.rotate_homes()
            assert server.home(token)["attributes"]["born"] == 1980  # type: ignore[index]
        server.preview_epoch()
        assert server.publish_preview()["served"] > 50
        assert server.run_epoch()["told"] == 0  # what was published by the desk stands
        shown = server.statement(quick_token(server, "p7@example.org"))
        assert isinstance(shown, Statement)
        assert Provider({"a": (48.0, 11.0)}, server.key.public).check(shown.plain())
        assert json.loads(shown.signed)["attributes"] == shown.attributes == shown.plain()["attributes"]
        server.delete(token)
        assert audit.rows("select count(*) from home") == [(60,)]


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


def test_attributes_cannot_be_changed_under_living_groups(tmp_path: Path) -> None:
    with service(tmp_path, attributes=ASKED) as server:
        first, *others = entries(60)
        alone = json.dumps(json.loads(first.attributes) | {"sex": "x"})
        server.import_directory([replace(first, attributes=alone), *others])
        server.run_epoch()
    gone = {"sex": {"kind": "nominal", "values": ["f", "x"]}}  # all men would vanish at once
    narrow = {"born": {"kind": "numeric", "low": 1950, "high": 2026}}
    other = {"sex": {"kind": "numeric", "low": 0, "high": 9}}
    unsaid = {"sex": {"kind": "nominal", "values": ["f", "m"]}}  # one person has the other, and no group
    for change in (gone, narrow, other, unsaid):
        with (
            service(tmp_path, attributes=ASKED | change) as server,
            pytest.raises(InputError, match="after-restore"),
        ):
            server.run_epoch()
    fewer = {"born": ASKED["born"]}
    with service(tmp_path, attributes=fewer, epochs={"budget": 1.0}) as server:
        with pytest.raises(InputError, match="after-restore"):
            server.run_epoch()
        server.begin_again()
        assert server.run_epoch()["served"] > 50  # what is asked for less was told before
        assert list(server.statement(quick_token(server, "p1@example.org")).attributes) == ["born"]  # type: ignore[union-attr]
    more = fewer | {"pets": {"kind": "numeric", "low": 0, "high": 9}}
    with service(tmp_path, attributes=more) as server:
        server.begin_again()
        assert server.run_epoch()["people"] == 0  # nobody told it yet
        waiting = server.statement(quick_token(server, "p1@example.org"))
        assert "pets" in waiting.reason  # type: ignore[union-attr]


def test_a_draft_is_refused_when_settings_changed_since(tmp_path: Path) -> None:
    """Before the first group: fewer attributes, other values, another order, another k."""
    fewer = {"born": ASKED["born"]}
    other = ASKED | {"sex": {"kind": "nominal", "values": ["f", "m", "x", "d"]}}
    turned = dict(reversed(ASKED.items()))
    with service(tmp_path, attributes=ASKED) as server:
        server.import_directory(entries(60))
        server.preview_epoch()
    for change in (
        {"attributes": fewer},
        {"attributes": other},
        {"attributes": turned},
        {"epochs": {"k": 12}},
    ):
        with (
            service(tmp_path, **({"attributes": ASKED} | change)) as server,
            pytest.raises(BadRequest, match="discard the draft and look at the next epoch again"),
        ):
            server.publish_preview()
    with service(tmp_path, attributes=ASKED) as server:
        assert server.publish_preview()["served"] > 50


def test_a_sealed_home_is_as_long_with_attributes_as_without() -> None:
    seal, asked = Seal([bytes(32)]), Attributes.of(ASKED)
    facts = (
        "",
        asked.write(PERSON),
        asked.write({"born": 1980.123456789, "schooling": "university", "sex": "x"}),
    )
    assert len({len(seal.close(7, Place(48.0, 11.0, 3, text))["sealed"]) for text in facts}) == 1
    assert [seal.open(7, seal.close(7, Place(48.0, 11.0, 3, text))).attributes for text in facts] == [*facts]
    long = {"kind": "nominal", "values": ["a", "\u00e9" * 60]}  # six bytes each, as JSON has them
    with pytest.raises(InputError, match="has room for 256"):
        Attributes.of({"work": long})
    for low, high in ((0, 1e300), (-1e300, 0)):
        with pytest.raises(InputError, match="has room for 256"):
            Attributes.of({"size": {"kind": "numeric", "low": low, "high": high}})


def test_old_databases_go_on_without_attributes(tmp_path: Path, database: str) -> None:
    """Up from the version before, and down again: the same statement, the same signed bytes."""
    from alembic import command
    from alembic.config import Config

    from voronym_location.store import Store, upgrade

    def move(revision: str, way: Any) -> None:
        store = Store(database or f"sqlite:///{tmp_path / 'service.db'}")
        config = Config()
        config.set_main_option("script_location", str(Path(upgrade.__file__).with_name("migrations")))
        with closing(store), store.engine.connect() as connection, connection.begin():
            config.attributes["connection"] = connection
            way(config, revision)

    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(50))
        server.run_epoch()
        before = server.statement(quick_token(server, "p1@example.org"))
    for revision, way in (("0004", command.downgrade), ("head", command.upgrade)):
        move(revision, way)
    with service(tmp_path, database=database) as server:
        assert server.statement(quick_token(server, "p1@example.org")) == before
        assert "attributes" not in before.signed + json.dumps(before.plain())  # type: ignore[union-attr]
        server.run_epoch()
        assert server.statement(quick_token(server, "p1@example.org")).pseudonym == before.pseudonym  # type: ignore[union-attr]
        keys = tmp_path / "etc" / "homes.key"
        with server.store.write() as connection:  # sealed with attributes, which version 4 cannot read
            Seal().renewed().write(keys)
            sealed = Seal.read(keys).close(1, Place(1.0, 2.0, 3, "{}"))
            connection.execute(
                text("update home set sealed = :sealed where person = 1"), {"sealed": sealed["sealed"]}
            )
    with pytest.raises(RuntimeError, match="rotate-homes --plain"):
        move("0004", command.downgrade)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"kind": "number"}, "kind: one of numeric, ordinal, nominal"),
        ({"kind": "numeric", "low": 5}, "'low' and 'high'"),
        ({"kind": "numeric", "low": 5, "high": 1}, "'low' and 'high'"),
        ({"kind": "numeric", "low": 0, "high": 9, "values": ["a"]}, "take it out"),
        ({"kind": "numeric", "low": "0", "high": 9}, "must be a number"),
        ({"kind": "nominal", "values": ["a", "a"]}, "2 to 64 different texts"),
        ({"kind": "nominal"}, "2 to 64 different texts"),
        ({"kind": "ordinal", "values": "abc"}, "2 to 64 different texts"),
        ({"kind": "numeric", "low": 0, "high": 9, "importance": 0}, "above 0"),
        ({"kind": "numeric", "lwo": 0, "high": 9}, "low"),
    ],
)
def test_wrong_declarations_are_refused(tmp_path: Path, declared: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says), service(tmp_path, attributes={"age": declared}):
        pass


def test_wrong_names_and_places_of_declarations_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    from voronym_location.settings import ServiceSettings

    for name in ("latitude", "Age", "my age"):
        with pytest.raises(InputError, match="another name"):
            Attributes.of({name: ASKED["born"]})
    file = tmp_path / "location.toml"
    file.write_text("[attributes]\nborn = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[attributes.NAME\]"):
        ServiceSettings.load(file)
    file.write_text('[attributes.born]\nkind = "numeric"\nlow = 1900\nhigh = 2026\n', encoding="utf-8")
    loaded = ServiceSettings.load(file)
    assert Attributes.of(ServiceSettings.from_json(loaded.to_json()).attributes).names == ("born",)
    monkeypatch.setenv("VORONYM_LOCATION_ATTRIBUTES", "born")
    with pytest.raises(InputError, match="file of settings"):
        ServiceSettings.load(file)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "born, schooling, sex"),
        ({"born": 1980, "sex": "f"}, "schooling is missing"),
        (PERSON | {"born": 3000}, "number from 1900 to 2026"),
        (PERSON | {"born": True}, "number from 1900 to 2026"),
        (PERSON | {"sex": "female-77"}, "one of: f, m, x"),
        (PERSON | {"shoes": 41}, "asks for: born, schooling, sex"),
    ],
)
def test_wrong_attributes_are_refused_and_not_repeated(
    tmp_path: Path, sent: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadRequest, match=says) as refused:
        Attributes.of(ASKED).write(sent)
    assert not any(value in str(refused.value) for value in ("3000", "female-77", "shoes", "41"))


def test_attributes_travel_by_the_api_and_by_a_directory(tmp_path: Path) -> None:
    with clients(tmp_path, attributes=ASKED) as client:
        server = of(client)
        words = {"authorization": f"Bearer {join(server, 'ada@example.org')}"}
        asked = client.get("/v1/attributes", headers=words).json()
        assert [item["name"] for item in asked] == list(ASKED)
        place = {"latitude": 48.0, "longitude": 11.0}
        refused = client.put("/v1/home", json=place, headers=words)
        assert refused.status_code == 400
        assert "born is missing" in refused.text
        assert client.put("/v1/home", json=place | {"attributes": PERSON}, headers=words).status_code == 200
        assert client.get("/v1/home", headers=words).json()["attributes"] == PERSON
    head = "address,latitude,longitude,email,born,schooling"
    with pytest.raises(BadRequest, match="column 'sex'"):
        list(read_rows([head, "a,48,11,a@example.org,1980,school"], 9, Attributes.of(ASKED)))
    lines = [
        f"{head},sex",
        "a,48,11,a@example.org,1980,school,f",
        "b,48,11,,,,",
        "c,48,11,c@example.org,80,school,f",
    ]
    with pytest.raises(BadRequest, match=r"line 4 .*1900 to 2026"):
        list(read_rows(lines, 9, Attributes.of(ASKED)))
    rows = list(read_rows(lines[:3], 9, Attributes.of(ASKED)))
    assert [json.loads(row.attributes or "{}") for row in rows] == [PERSON, {}]


def test_the_pages_ask_for_attributes_and_show_those_of_the_group(tmp_path: Path) -> None:
    with clients(tmp_path, attributes=ASKED) as client:
        server = of(client)
        server.import_directory(entries(40))
        visitor = Visitor(client.app).sign_in(joined(server, "p3@example.org"))
        here = entries(40)[3]
        form = {"latitude": str(here.latitude), "longitude": str(here.longitude), "span": "500"}
        form |= {"chosen": "1", "do": "use"}
        assert visitor.get("/home").text.count('name="attribute-') == 3
        wrong = visitor.post("/home", form | {"attribute-born": "1750", "attribute-sex": "f"}, page="/home")
        assert wrong.status_code == 400
        assert 'value="1750"' in wrong.text
        sent = {f"attribute-{name}": str(value) for name, value in PERSON.items()}
        assert visitor.post("/home", form | sent, page="/home").status_code == 303
        server.run_epoch()
        assert visitor.get("/me").text.count("of your group") == 3


def test_a_town_without_attributes_is_grouped_as_before() -> None:
    """The same arrays with no attributes declared: nothing of the joint space is made."""
    for population, standing, epoch in lives(
        Town.make(120, seed=9), 3, Settings(k=5), people=100, change=0.05, seed=1
    ):
        assert epoch.standing.attributes.shape == (len(epoch.standing), 0)
        check(population, epoch, standing, 5)
