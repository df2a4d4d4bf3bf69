"""Attacks on accounts: who is here, guessing, taking over. Each must fail."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from statistics import median

import pytest

from location.client import Client, clients, of
from location.town_hall import PASSWORD, code_for, join, service
from voronym.location.errors import Refused, TooMany
from voronym.location.passwords import one_time_code


def test_without_the_code_nobody_has_an_account(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        one.sign_up("ada@example.org", PASSWORD)
        with pytest.raises(Refused):
            one.sign_in("ada@example.org", PASSWORD)


# -- enumeration, timing, authentication


def test_signing_up_and_in_answer_the_same_whether_or_not_somebody_is_here(client: Client) -> None:
    join(of(client), "here@example.org")
    answers = []
    for email in ("here@example.org", "nobody@example.org"):
        given = {"email": email, "password": "wrong password!"}
        one = client.post("/v1/sign-in", json=given)
        two = client.post("/v1/sign-up", json=given)
        three = client.post("/v1/verify", json={"email": email, "code": "1"})
        answers.append([(each.status_code, each.text, sorted(each.headers)) for each in (one, two, three)])
    assert answers[0] == answers[1]
    of(client).deliver()
    mails = [file.read_text() for file in of(client).settings.mailbox.glob("*.eml")]
    assert sum("To: here@" in mail for mail in mails) - 1 == sum("To: nobody@" in mail for mail in mails) == 1


def test_signing_in_takes_as_long_for_nobody(tmp_path: Path) -> None:
    with service(tmp_path, hash_memory=16_384, hash_rounds=2) as one:
        join(one, "here@example.org")
        times: dict[str, list[float]] = {"here": [], "nobody": []}
        for _ in range(4):
            for who, found in times.items():
                began = time.process_time()
                with pytest.raises(Refused):
                    one.sign_in(f"{who}@example.org", "wrong password!")
                found.append(time.process_time() - began)
        assert 0.5 < median(times["here"]) / median(times["nobody"]) < 2.0


@pytest.mark.parametrize("email", ["here@example.org", "nobody@example.org"])
def test_guessing_is_slowed_down_for_everybody_alike(tmp_path: Path, email: str) -> None:
    shown = [1e9]
    with service(tmp_path, clock=lambda: shown[0]) as one:
        join(one, "here@example.org")
        for _ in range(6):
            with pytest.raises(Refused):
                one.sign_in(email, "wrong password!")
        with pytest.raises(TooMany) as found:
            one.sign_in(email, PASSWORD)
        assert 0 < found.value.wait <= 2
        shown[0] += 3
        with pytest.raises(Refused):
            one.sign_in(email, "wrong password!")
        with pytest.raises(TooMany) as found:
            one.sign_in(email, "wrong password!")
        assert found.value.wait > 2


def test_guessing_codes_is_slowed_down(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        one.sign_up("ada@example.org", PASSWORD)
        for number in range(6):
            assert not one.verify("ada@example.org", f"{number:08d}")
        with pytest.raises(TooMany):
            one.verify("ada@example.org", code_for(one, "ada@example.org"))


def test_one_network_address_may_not_try_without_end(tmp_path: Path) -> None:
    with clients(tmp_path, attempts=5) as client:
        given = {"email": "ada@example.org", "password": PASSWORD}
        answers = [client.post("/v1/sign-up", json=given).status_code for _ in range(7)]
    assert answers == [202] * 5 + [429] * 2


def test_mail_is_not_a_weapon(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        for _ in range(10):
            one.sign_up("victim@example.org", PASSWORD)
        one.deliver()
        assert len(list(one.settings.mailbox.glob("*.eml"))) == 3


def test_tokens_and_passwords_are_not_in_the_database(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        token = join(one, "ada@example.org")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("service.db*"))
    assert token.encode() not in stored
    assert PASSWORD.encode() not in stored
    assert b"$argon2id$" in stored


def test_a_new_password_ends_all_sessions_and_a_session_ends(tmp_path: Path) -> None:
    shown = [1e9]
    with service(tmp_path, clock=lambda: shown[0]) as one:
        old = join(one, "ada@example.org")
        shown[0] += 1
        new = join(one, "ada@example.org")
        with pytest.raises(Refused):
            one.whoami(old)
        assert one.whoami(new).email == "ada@example.org"
        shown[0] += 31 * 86400
        for ask in (one.whoami, one.statement, one.home, one.export, one.cancel, one.delete):
            with pytest.raises(Refused):
                ask(new)


def test_an_operator_needs_the_second_factor_and_cannot_be_taken_over_by_mail(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        secret = base64.b32decode(one.add_operator("op@example.org", PASSWORD))
        for code in ("", "000000", one_time_code(b"x" * 20, time.time())):
            with pytest.raises(Refused):
                one.sign_in("op@example.org", PASSWORD, code)
        token = one.sign_in("op@example.org", PASSWORD, one_time_code(secret, time.time())).token
        assert one.whoami(token).operator
        one.sign_up("op@example.org", "another password")
        assert not one.verify("op@example.org", code_for(one, "op@example.org"))
