"""The service as plain methods, on SQLite and on PostgreSQL."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import text

from location.town_hall import PASSWORD, code_for, join, quick_token, scattered, service
from voronym_location import directory, publishing
from voronym_location import service as service_module
from voronym_location.directory import Entry
from voronym_location.errors import BadRequest, Refused
from voronym_location.memory import Memory
from voronym_location.statements import Statement, Waiting


def test_from_signing_up_to_a_statement_and_out_again(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        token = join(server, "ada@example.org")
        assert server.statement(token) is None
        server.import_directory(scattered(60))
        server.submit_address(token, "STREET  7")
        assert isinstance(server.statement(token), Waiting)
        figures = server.run_epoch()
        assert figures["people"] == 61
        message = server.statement(token)
        assert isinstance(message, Statement)
        inside = json.loads(message.signed)
        assert inside["epoch"] == 1
        assert inside["k"] == 10
        assert inside["centroid"] == [message.latitude, message.longitude]
        raw = base64.b64decode(server.key.public)
        Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(message.signature), message.signed.encode()
        )
        stored = server.export(token)
        assert stored["home"]["latitude"] == server.home(token)["latitude"]
        assert stored["statement"]["pseudonym"] == message.pseudonym
        server.cancel(token)
        assert server.statement(token) is None
        assert server.run_epoch()["people"] == 60
        server.delete(token)
        with pytest.raises(Refused):
            server.whoami(token)


def test_a_move_takes_effect_with_the_next_epoch_under_a_new_pseudonym(tmp_path: Path, database: str) -> None:
    people = scattered(300)
    with service(tmp_path, database=database) as server:
        server.import_directory(people)
        server.run_epoch()
        token = quick_token(server, "p5@example.org")
        before = server.statement(token)
        far = max(people, key=lambda entry: abs(entry.latitude - people[5].latitude))
        server.submit_address(token, far.address)
        between = server.statement(token)
        assert isinstance(before, Statement)
        assert isinstance(between, Statement)
        assert (between.signed, between.pseudonym, between.moving) == (before.signed, before.pseudonym, True)
        server.run_epoch()
        after = server.statement(token)
        assert isinstance(after, Waiting) or after.pseudonym != before.pseudonym


def test_people_of_a_group_get_the_same_signed_bytes_and_different_pseudonyms(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(120))
        server.run_epoch()
        messages = [server.statement(quick_token(server, f"p{number}@example.org")) for number in range(120)]
        groups: dict[tuple[float, float], list[Statement]] = {}
        for each in messages:
            if isinstance(each, Statement):
                groups.setdefault((each.latitude, each.longitude), []).append(each)
        assert groups
        for members in groups.values():
            assert len(members) >= 10
            assert len({(each.signed, each.signature, each.key) for each in members}) == 1
            assert len({each.pseudonym for each in members}) == len(members)


def test_an_imported_person_claims_the_account_by_mail(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(30))
        with pytest.raises(Refused):
            server.sign_in("p3@example.org", PASSWORD)
        token = join(server, "p3@example.org")
        assert server.home(token) is not None


def test_importing_twice_changes_no_home_that_somebody_chose(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(30))
        token = quick_token(server, "p3@example.org")
        server.submit_address(token, "street 9")
        chosen = server.home(token)
        assert server.import_directory(scattered(30)) == {"rows": 30, "people": 0}
        assert server.home(token) == chosen


def test_a_wrong_code_is_no_code_and_a_right_one_works_once(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        server.sign_up("ada@example.org")
        assert not server.verify("ada@example.org", "00000000", PASSWORD)
        code = code_for(server, "ada@example.org")
        assert not server.verify("bob@example.org", code, PASSWORD)
        assert server.verify("ada@example.org", code, PASSWORD)
        assert not server.verify("ada@example.org", code, PASSWORD)


@pytest.mark.parametrize("place", [(91, 0), (float("nan"), 0), (0, 181), ("x", 0), (None, None)])
def test_what_is_no_place_is_refused_without_repeating_it(
    tmp_path: Path, place: tuple[object, object]
) -> None:
    with service(tmp_path) as server:
        token = join(server, "ada@example.org")
        with pytest.raises(BadRequest, match="degrees"):
            server.submit_home(token, *place)


def test_the_tables_of_the_migrations_are_those_of_the_code(tmp_path: Path, database: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from voronym_location.store.tables import metadata

    with service(tmp_path, database=database) as server, server.store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path, database: str) -> None:
    from voronym_location.errors import Unavailable

    with service(tmp_path, database=database) as server, server.store.write() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(Unavailable, match="newer version"), service(tmp_path, database=database):
        pass


def test_who_says_the_same_home_again_has_not_moved(tmp_path: Path, database: str) -> None:
    """A device that submits its home whenever it starts must neither wait forever nor break its group."""
    people = scattered(60)
    with service(tmp_path, database=database) as server:
        server.import_directory(people)
        server.run_epoch()
        token = quick_token(server, "p5@example.org")
        before = server.statement(token)
        server.submit_home(token, people[5].latitude + 1e-6, people[5].longitude)
        server.submit_address(token, people[5].address)
        assert server.statement(token) == before
        assert server.run_epoch()["told"] == 0
        after = server.statement(token)
        assert isinstance(before, Statement)
        assert isinstance(after, Statement)
        assert after.pseudonym == before.pseudonym


def test_an_import_does_not_bring_back_who_left(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(60))
        token = quick_token(server, "p5@example.org")
        server.cancel(token)
        assert server.import_directory(scattered(61)) == {"rows": 61, "people": 1}
        assert server.home(token) is None
        assert server.run_epoch()["people"] == 60


def test_people_of_one_house_count_once_though_the_directory_came_between(tmp_path: Path) -> None:
    with service(tmp_path, epochs={"k": 2, "homes": 1, "headroom": 0}) as server:
        first, second, other = (join(server, f"{name}@example.org") for name in ("ada", "bob", "cid"))
        server.submit_home(first, 48.0, 11.0)
        server.import_directory([Entry("tower 1", 48.0, 11.0), Entry("tower 2", 48.001, 11.0)])
        server.submit_address(second, "tower 1")
        assert server.run_epoch()["served"] == 0
        server.submit_address(other, "tower 2")
        assert server.run_epoch()["served"] == 3


def test_the_figure_of_the_smallest_group_is_of_what_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People may leave while an epoch is planned."""
    with service(tmp_path, epochs={"k": 10, "headroom": 5}) as server:
        server.import_directory(scattered(16))
        token = quick_token(server, "p5@example.org")
        draft = publishing.draft

        def late(*given: Any) -> None:
            draft(*given)
            server.cancel(token)

        monkeypatch.setattr(publishing, "draft", late)
        figures = server.run_epoch()
    assert (figures["people"], figures["smallest"]) == (15, 15)


def test_the_outline_is_made_again_when_the_directory_changes_and_not_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    outline = directory.outline
    monkeypatch.setattr(directory, "outline", lambda *given: made.append(1) or outline(*given))
    now = [0.0]
    monkeypatch.setattr(service_module.time, "monotonic", lambda: now[0])
    with service(tmp_path) as server, service(tmp_path) as other:
        token = join(server, "ada@example.org")
        server.import_directory(scattered(60))
        for _ in range(3):
            now[0] += 100
            assert (server.outline(token) or {})["squares"] == 64
        assert len(made) == 1
        moved = [replace(entry, latitude=entry.latitude + 1) for entry in scattered(60)]
        other.import_directory(moved)  # by another process, say
        now[0] += 100
        assert (server.outline(token) or {})["south"] > 48.5


@pytest.mark.parametrize("homes", [1, 2])
def test_who_is_left_while_an_epoch_is_planned_must_not_be_one_building(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, homes: int
) -> None:
    """Two addresses of one building are k = 2, and no crowd."""
    with service(tmp_path, epochs={"k": 2, "headroom": 1, "homes": homes}) as server:
        house = [Entry(f"tower {n}", 48.0, 11.0, f"p{n}@example.org") for n in range(2)]
        server.import_directory([*house, Entry("cottage", 48.001, 11.0, "far@example.org")])
        token = quick_token(server, "far@example.org")
        draft = publishing.draft

        def late(*given: Any) -> None:
            draft(*given)
            server.cancel(token)

        monkeypatch.setattr(publishing, "draft", late)
        assert server.run_epoch()["served"] == (2 if homes == 1 else 0)


def test_what_is_kept_for_an_outage_does_not_grow_without_end() -> None:
    memory = Memory(most=10)
    for person in range(1000):
        memory.drop_person(person)
    assert len(memory._left) <= 10
    memory.put(b"1", 7, "a statement")  # type: ignore[arg-type]
    memory.drop_person(7)
    assert memory.get(b"1") is None
