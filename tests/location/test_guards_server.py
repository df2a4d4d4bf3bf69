"""Attacks on the server, each of which must fail."""

from __future__ import annotations

import gzip
import io
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from location.client import Client, bearer, of
from location.town_hall import PASSWORD, Postgres, join, quick_token, scattered, service
from voronym_location import census
from voronym_location.directory import Entry
from voronym_location.errors import BadRequest, Refused, Unavailable
from voronym_location.logs import JsonLines
from voronym_location.service import Service
from voronym_location.statements import Statement

SECRET_PLACE = 48.123456789
MARK = "very-private-mark"


# -- Sybil


def crowd(house: Service, many: int, place: tuple[float, float], apart: float) -> list[str]:
    """Sign up made-up people around a place, each at an address of its own, and return their tokens."""
    tokens = []
    for number in range(many):
        token = join(house, f"fake{place[0]:.4f}-{number}@example.org")
        angle = 2 * np.pi * number / many
        house.submit_home(token, place[0] + apart * np.sin(angle), place[1] + apart * np.cos(angle))
        tokens.append(token)
    return tokens


def epochs_until_served(house: Service, token: str, most: int) -> int:
    for number in range(1, most + 1):
        house.run_epoch()
        if isinstance(house.statement(token), Statement):
            return number
    return most + 1


def lonely(tmp_path: Path, **given: Any) -> int:
    """Return after how many epochs a target far out is served among k-1 made-up people; 5 for never."""
    with service(tmp_path, epochs={"wait": 0, "homes": 1, "headroom": 0, "budget": 1.0}, **given) as server:
        server.import_directory(scattered(40))
        server.run_epoch()
        target = join(server, "target@example.org")
        with server.store.write() as connection:  # the town's directory reaches this far
            connection.exec_driver_sql("delete from directory")
        server.submit_home(target, 49.0, 12.0)
        crowd(server, 9, (49.0, 12.0), 0.001)
        return epochs_until_served(server, target, 4)


def test_made_up_neighbours_count_only_after_a_while_and_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(census, "_counting", lambda latitude, *_: np.ones(len(latitude), bool))
        assert lonely(tmp_path / "open") == 1  # they fill a group at once
    assert lonely(tmp_path / "shut", age=2, newcomers=0.0) == 4  # their age, then half of k at a time


def test_people_at_one_address_count_once(tmp_path: Path) -> None:
    with service(tmp_path, epochs={"wait": 0, "homes": 1}) as server:
        server.import_directory(
            [Entry("tower 1", 48.0, 11.0, f"t{number}@example.org") for number in range(30)]
        )
        figures = server.run_epoch()
        assert figures["served"] == 0
        token = join(server, "near@example.org")
        server.submit_home(token, 48.0003, 11.0002)  # some metres off is the same address
        with server.store.read() as connection:
            houses = connection.exec_driver_sql("select count(distinct household) from home").scalar()
        assert houses == 1


def test_a_home_far_from_every_address_is_refused(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(30))
        token = join(server, "ada@example.org")
        with pytest.raises(BadRequest, match="no address of the directory"):
            server.submit_home(token, 40.0, 10.0)


# -- asking for others, the operator's curiosity


def test_every_route_asks_for_a_token_and_none_takes_a_name(client: Client) -> None:
    described = client.get("/v1/openapi.json").json()["paths"]
    free = {"/v1/sign-up", "/v1/verify", "/v1/sign-in", "/v1/sign-out", "/v1/keys", "/healthz"}
    for path, methods in described.items():
        if not path.startswith("/v1") and path != "/healthz":
            continue  # the pages have tests of their own
        assert "{" not in path
        for method, about in methods.items():
            assert about.get("description"), path
            if path not in free:
                body = {"latitude": 1, "longitude": 1} if path == "/v1/home" else None
                answer = client.request(method, path, headers=bearer("x" * 43), json=body)
                assert answer.status_code == 401, (method, path)


def test_an_operator_sees_no_home_and_no_small_count(client: Client) -> None:
    server = of(client)
    server.import_directory(scattered(40))
    server.run_epoch()
    token = quick_token(server, "p1@example.org")
    assert client.get("/v1/operator/figures", headers=bearer(token)).status_code == 403
    assert client.post("/v1/operator/directory", headers=bearer(token), content=b"x").status_code == 403
    server.add_operator("op@example.org", PASSWORD)
    operator = quick_token(server, "op@example.org")
    text = client.get("/v1/operator/figures", headers=bearer(operator))
    assert text.status_code == 200
    assert "@" not in text.text
    home = server.home(token)
    assert home is not None
    assert str(home["latitude"])[:8] not in text.text
    for number in range(35):
        server.cancel(quick_token(server, f"p{number}@example.org"))
    server.run_epoch()
    newest = client.get("/v1/operator/figures", headers=bearer(operator)).json()["epochs"][0]
    assert newest["people"] is None
    assert newest["waiting"] is None
    assert "voronym_people" not in client.get("/metrics", headers={}).text
    with server.store.read() as connection:
        noted = connection.exec_driver_sql("select action from audit").scalars().all()
    assert noted.count("figures read") == 2


# -- uploads


def test_uploads_are_limited_in_bytes_and_rows_and_not_unpacked(client: Client) -> None:
    server = of(client)
    server.add_operator("op@example.org", PASSWORD)
    head = bearer(quick_token(server, "op@example.org"))

    def send(content: Any, **more: str) -> tuple[int, str]:
        answer = client.post("/v1/operator/directory", headers=head | more, content=content)
        return answer.status_code, answer.text

    async def _pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 1000

    lines = ["address,latitude,longitude", *(f"s {row},48,11" for row in range(60))]
    assert send("\n".join(lines[:40]).encode())[0] == 200
    assert send("\n".join(lines).encode())[0] == 413
    assert send(b"x" * 30_000)[0] == 413
    assert send(_pieces())[0] == 413
    packed = gzip.compress(b"address,latitude,longitude\n" + b"s,48,11\n" * 10**6)
    assert len(packed) < 20_000
    assert send(packed, **{"content-encoding": "gzip"})[0] == 415
    status, text = send(f"address,latitude,longitude\nok,48,11\n{MARK},{MARK},11".encode())
    assert status == 400
    assert "line 3" in text
    assert MARK not in text
    with server.store.read() as connection:  # a file with a mistake changed nothing
        assert connection.exec_driver_sql("select count(*) from directory where key = 'ok'").scalar() == 0


# -- values in answers and logs


def test_neither_answers_nor_logs_repeat_what_was_sent(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    server = of(client)
    try:
        token = join(server, "ada@example.org")
        answers = [
            client.put("/v1/home", headers=bearer(token), json={"latitude": MARK, "longitude": MARK}),
            client.put("/v1/home", headers=bearer(token), json={"address": MARK}),
            client.put("/v1/home", headers=bearer(token), json={"latitude": 1e300, MARK: MARK}),
            client.post("/v1/sign-in", json={"email": MARK, "password": MARK}),
            client.post("/v1/sign-up", content=f"{{{MARK}"),
            client.post("/v1/sign-up", json=[MARK]),
            client.get(f"/v1/{MARK}?{MARK}", headers=bearer(MARK)),
            client.get("/v1/statement", headers=bearer(MARK)),
        ]

        def broken(*_: object) -> None:
            raise RuntimeError(MARK)

        monkeypatch.setattr(server, "home", broken)
        answers.append(client.get("/v1/home", headers=bearer(token)))
        monkeypatch.setattr(server.store, "read", broken)
        answers.append(client.get("/v1/me", headers=bearer(token)))
        assert [each.status_code for each in answers] == [422, 400, 422, 400, 422, 422, 404, 401, 500, 500]
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
    assert all(MARK not in each.text + str(each.headers) for each in answers)
    text = lines.getvalue()
    assert '"defect"' in text
    for value in (MARK, token, "ada@example.org", PASSWORD):
        assert value not in text


def test_errors_of_the_database_quote_no_values(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        with pytest.raises(Unavailable) as result, server.store.write() as connection:
            connection.exec_driver_sql(f"insert into nowhere values ('{MARK}')")
        assert MARK not in str(result.value)
        assert result.value.__cause__ is None


# -- injection, deletion, tables


@pytest.mark.parametrize("word", ["' or 1=1 --", "'; drop table home; --", "%", "\x00", "\ud800"])
def test_what_is_sent_is_never_sql(tmp_path: Path, word: str) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(20))
        token = join(server, "ada@example.org")
        with pytest.raises(BadRequest):
            server.submit_address(token, word)
        for ask in (server.whoami, server.statement):
            with pytest.raises(Refused):
                ask(word)
        with pytest.raises((BadRequest, Refused)):
            server.sign_in(f"x{word}@example.org", word)
        with server.store.read() as connection:
            assert connection.exec_driver_sql("select count(*) from home").scalar() == 20


def test_delete_means_delete(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(60))
        token = join(server, "leaver@example.org")
        server.submit_home(token, *list(server.home(quick_token(server, "p7@example.org")).values())[:2])
        server.run_epoch()
        text = server.statement(token)
        server.delete(token)
        server.run_epoch()
    base = sqlite3.connect(tmp_path / "service.db")
    base.execute("pragma wal_checkpoint(truncate)")
    base.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("service.db*"))
    assert b"leaver@example.org" not in stored
    assert isinstance(text, Statement)
    assert bytes.fromhex(text.pseudonym) not in stored


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    with service(tmp_path / "new") as server:
        join(server, "ada@example.org")
        server.run_epoch()
        files = [file for file in (tmp_path / "new").rglob("*") if file.is_file()]
        assert len(files) >= 3
        assert all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_a_role_with_few_rights_is_enough(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.fresh()
    name = url.split("@/")[1].split("?")[0]
    with service(tmp_path, database=url):
        pass
    postgres.sql(
        name,
        "drop role if exists helper; create role helper login; "
        "grant select, insert, update, delete on all tables in schema public to helper; "
        "grant usage on all sequences in schema public to helper",
    )
    with service(tmp_path, database=postgres.url(name, "helper")) as server:
        server.import_directory(scattered(30))
        token = join(server, "ada@example.org")
        server.submit_address(token, "street 1")
        assert server.run_epoch()["people"] == 31
        server.delete(token)
        with pytest.raises(Unavailable), server.store.write() as connection:
            connection.exec_driver_sql("drop table home")
    postgres.sql(name, "drop owned by helper; drop role helper")
