"""Attributes in the database: sealed and forgotten with the home, and fixed under living groups."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from location.attributes import ASKED, PERSON, entries
from location.audit import Audit
from location.town_hall import join, quick_token, scattered, service
from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.errors import BadRequest
from voronym_location.provider import Provider
from voronym_location.sealing import Place, Seal
from voronym_location.statements import Statement


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
