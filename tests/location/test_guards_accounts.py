"""Attacks on accounts: who is here, guessing, taking over. Each must fail."""

from __future__ import annotations

import base64
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from location.client import Client, clients, of
from location.town_hall import PASSWORD, Postgres, code_for, join, service
from location.visitor import Visitor
from voronym_location.errors import Refused, TooMany
from voronym_location.gate import Attempts
from voronym_location.passwords import one_time_code


def test_without_the_code_nobody_has_an_account(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.sign_up("ada@example.org")
        with pytest.raises(Refused):
            server.sign_in("ada@example.org", PASSWORD)


# -- enumeration, timing, authentication


def test_signing_up_and_in_answer_the_same_whether_or_not_somebody_is_here(client: Client) -> None:
    join(of(client), "here@example.org")
    answers = []
    for email in ("here@example.org", "nobody@example.org"):
        given = {"email": email, "password": "wrong password!"}
        first = client.post("/v1/sign-in", json=given)
        second = client.post("/v1/sign-up", json=given)
        three = client.post("/v1/verify", json={**given, "code": "1"})
        answers.append(
            [(each.status_code, each.text, sorted(each.headers)) for each in (first, second, three)]
        )
    assert answers[0] == answers[1]
    of(client).deliver()
    mails = [file.read_text() for file in of(client).settings.mailbox.glob("*.eml")]
    assert sum("To: here@" in mail for mail in mails) - 1 == sum("To: nobody@" in mail for mail in mails) == 1


def test_signing_in_takes_as_long_for_nobody(tmp_path: Path) -> None:
    with service(tmp_path, hash_memory=16_384, hash_rounds=2) as server:
        join(server, "here@example.org")
        times: dict[str, list[float]] = {"here": [], "nobody": []}
        for _ in range(4):
            for who, result in times.items():
                began = time.process_time()
                with pytest.raises(Refused):
                    server.sign_in(f"{who}@example.org", "wrong password!")
                result.append(time.process_time() - began)
        # The least: on a busy machine some take longer, and none takes less than the work does.
        assert 0.5 < min(times["here"]) / min(times["nobody"]) < 2.0


@pytest.mark.parametrize("email", ["here@example.org", "nobody@example.org"])
def test_guessing_is_slowed_down_for_everybody_alike(tmp_path: Path, email: str) -> None:
    shown = [1e9]
    with service(tmp_path, clock=lambda: shown[0]) as server:
        join(server, "here@example.org")
        for _ in range(6):
            with pytest.raises(Refused):
                server.sign_in(email, "wrong password!")
        with pytest.raises(TooMany) as result:
            server.sign_in(email, PASSWORD)
        assert 0 < result.value.wait <= 2
        shown[0] += 3
        with pytest.raises(Refused):
            server.sign_in(email, "wrong password!")
        with pytest.raises(TooMany) as result:
            server.sign_in(email, "wrong password!")
        assert result.value.wait > 2


def test_guessing_codes_is_slowed_down(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.sign_up("ada@example.org")
        for number in range(6):
            assert not server.verify("ada@example.org", f"{number:08d}", PASSWORD)
        with pytest.raises(TooMany):
            server.verify("ada@example.org", code_for(server, "ada@example.org"), PASSWORD)


def test_one_network_address_may_not_try_without_end(tmp_path: Path) -> None:
    with clients(tmp_path, attempts=5) as client:
        given = {"email": "ada@example.org", "password": PASSWORD}
        answers = [client.post("/v1/sign-up", json=given).status_code for _ in range(7)]
    assert answers == [202] * 5 + [429] * 2


def test_mail_is_not_a_weapon(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        for _ in range(10):
            server.sign_up("victim@example.org")
        server.deliver()
        assert len(list(server.settings.mailbox.glob("*.eml"))) == 3


def test_tokens_and_passwords_are_not_in_the_database(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        token = join(server, "ada@example.org")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("service.db*"))
    assert token.encode() not in stored
    assert PASSWORD.encode() not in stored
    assert b"$argon2id$" in stored


def test_a_new_password_ends_all_sessions_and_a_session_ends(tmp_path: Path) -> None:
    shown = [1e9]
    with service(tmp_path, clock=lambda: shown[0]) as server:
        old = join(server, "ada@example.org")
        shown[0] += 1
        new = join(server, "ada@example.org")
        with pytest.raises(Refused):
            server.whoami(old)
        assert server.whoami(new).email == "ada@example.org"
        shown[0] += 31 * 86400
        for ask in (
            server.whoami,
            server.statement,
            server.home,
            server.export,
            server.cancel,
            server.delete,
        ):
            with pytest.raises(Refused):
                ask(new)


def test_an_operator_needs_the_second_factor_and_cannot_be_taken_over_by_mail(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        secret = base64.b32decode(server.add_operator("op@example.org", PASSWORD))
        for code in ("", "000000", one_time_code(b"x" * 20, time.time())):
            with pytest.raises(Refused):
                server.sign_in("op@example.org", PASSWORD, code)
        token = server.sign_in("op@example.org", PASSWORD, one_time_code(secret, time.time())).token
        assert server.whoami(token).operator
        server.sign_up("op@example.org")
        assert not server.verify("op@example.org", code_for(server, "op@example.org"), "another password")


def test_a_code_that_somebody_else_asked_for_gives_them_nothing(tmp_path: Path) -> None:
    """An intruder signs a neighbour's address up first; the neighbour enters a code that came by mail."""
    with service(tmp_path) as server:
        for _ in range(3):
            server.sign_up("ada@example.org")  # the intruder, until no more is mailed
        server.sign_up("ada@example.org")  # Ada
        code = code_for(server, "ada@example.org")
        for guess in ("00000000", "an intruder's own"):
            assert not server.verify("ada@example.org", guess, "an intruder's password")
        assert server.verify("ada@example.org", code, PASSWORD)
        assert server.sign_in("ada@example.org", PASSWORD).account.email == "ada@example.org"
        with pytest.raises(Refused):
            server.sign_in("ada@example.org", "an intruder's password")


@pytest.mark.parametrize("where", ["/v1/sign-in", "/sign-in"])
def test_a_strange_code_does_not_tell_who_is_an_operator(client: Client, where: str) -> None:
    of(client).add_operator("op@example.org", PASSWORD)
    answers = []
    for who in ("op@example.org", "nobody@example.org"):
        given = {"email": who, "password": PASSWORD, "code": "é"}
        if where == "/sign-in":
            answers.append(Visitor(client.app).post(where, given).status_code)
        else:
            answers.append(client.post(where, json=given).status_code)
    assert answers == [401, 401]


def test_a_code_of_the_second_factor_is_good_once(tmp_path: Path, database: str) -> None:
    shown = [1e9]
    with service(tmp_path, clock=lambda: shown[0], database=database) as server:
        secret = base64.b32decode(server.add_operator("op@example.org", PASSWORD))
        code = one_time_code(secret, shown[0])
        assert server.sign_in("op@example.org", PASSWORD, code).account.operator
        with pytest.raises(Refused):  # who looked over the shoulder, and has the password
            server.sign_in("op@example.org", PASSWORD, code)
        shown[0] += 30
        assert server.sign_in("op@example.org", PASSWORD, one_time_code(secret, shown[0])).account.operator


def test_a_network_of_the_sixth_version_is_one_asker() -> None:
    attempts = Attempts(2)
    neighbours = [f"2001:db8:0:1::{number:x}" for number in range(5)]
    assert [attempts.passes(neighbour, 0.0) for neighbour in neighbours] == [True, True, False, False, False]
    assert attempts.passes("2001:db8:0:2::1", 0.0)
    mapped = [attempts.passes(f"::ffff:192.0.2.{number}", 0.0) for number in range(4)]
    assert mapped == [True] * 4
    assert not all(attempts.passes("192.0.2.1", 0.0) for _ in range(2))
    assert attempts.passes("no address", 0.0)


def test_failures_at_a_time_all_count(tmp_path: Path, postgres: Postgres) -> None:
    """PostgreSQL lets two write at a time: a guess must not hide behind another."""
    with service(tmp_path, database=postgres.fresh()) as server, ThreadPoolExecutor(8) as several:

        def guess(_: int) -> str:
            try:
                server.sign_in("ada@example.org", "wrong password!")
            except (Refused, TooMany) as error:
                return type(error).__name__
            return "in"

        text = list(several.map(guess, range(24)))
        with server.store.read() as connection:
            counted = connection.exec_driver_sql("select failures from attempt").scalar()
    assert set(text) <= {"Refused", "TooMany"}
    assert counted == text.count("Refused")


def test_who_reads_the_mail_cannot_be_locked_out_by_wrong_passwords(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        join(server, "ada@example.org")
        for _ in range(6):
            with pytest.raises(Refused):
                server.sign_in("ada@example.org", "a guess of mine")
        with pytest.raises(TooMany):
            server.sign_in("ada@example.org", PASSWORD)
        server.sign_up("ada@example.org")
        assert server.verify("ada@example.org", code_for(server, "ada@example.org"), PASSWORD)
        assert server.sign_in("ada@example.org", PASSWORD).token
