"""Mail that a server refuses, puts off, or cannot take now, and mail that waits."""

from __future__ import annotations

import smtplib
import threading
from pathlib import Path
from typing import Any

import pytest

from location.town_hall import service
from voronym_location import mail
from voronym_location.errors import BadRequest
from voronym_location.service import Service


class Server:
    """Stands for the mail server: refuses, puts off, or is away."""

    taken: list[str] = []  # noqa: RUF012
    away = False
    came = threading.Event()

    def __init__(self, *_: Any, **__: Any) -> None:
        if self.away:
            raise ConnectionRefusedError(111, "refused")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def ehlo(self) -> None:
        return None

    def has_extn(self, _: str) -> bool:
        return False

    def send_message(self, message: Any) -> None:
        to = str(message["To"])
        if to.startswith("gone"):
            raise smtplib.SMTPRecipientsRefused({to: (550, b"no such user")})
        if to.startswith("later"):
            raise smtplib.SMTPRecipientsRefused({to: (450, b"greylisted")})
        if to.startswith("long"):
            raise smtplib.SMTPDataError(552, b"too large")
        self.taken.append(to)
        self.came.set()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> type[Server]:
    fresh = type("Fresh", (Server,), {"taken": [], "away": False, "came": threading.Event()})
    monkeypatch.setattr(smtplib, "SMTP", fresh)
    return fresh


def waiting(one: Service) -> list[str]:
    with one.store.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("select recipient from outbox order by id")]


def test_an_address_that_is_refused_keeps_nobody_waiting(tmp_path: Path, server: type[Server]) -> None:
    """Anybody may sign an address up that is none: others get their codes all the same."""
    shown = [1e9]
    with service(tmp_path, smtp="mail.example", clock=lambda: shown[0]) as single:
        for name in ("gone", "later", "long", "ada", "bob"):
            single.sign_up(f"{name}@example.org")
        single.deliver()
        assert sorted(server.taken) == ["ada@example.org", "bob@example.org"]
        assert waiting(single) == ["later@example.org"]
        shown[0] += 3600  # its code is void by now, and so is the message
        single.sign_up("cid@example.org")
        single.deliver()
        assert waiting(single) == []
        assert "cid@example.org" in server.taken


def test_mail_is_tried_again_when_the_server_is_back(
    tmp_path: Path, server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "AGAIN", 0.02)
    server.away = True
    with service(tmp_path, smtp="mail.example") as single:
        single.sign_up("ada@example.org")
        with pytest.raises(OSError, match="refused"):
            single.deliver()
        server.away = False
        assert server.came.wait(60)  # nobody else signed up meanwhile
        assert server.taken == ["ada@example.org"]


@pytest.mark.parametrize(
    "email",
    ["ü@example.org", "a@", "a@-", "a@.", "a@x..org", "a b@example.org", "(a@example.org", "a\\@example.org",
     "a@exämple.org", "a" * 65 + "@example.org", "a@" + "x" * 64 + ".org", "\u212a" * 3 + "@example.org"],
)  # fmt: skip
def test_what_mail_servers_do_not_take_is_no_address(tmp_path: Path, email: str) -> None:
    with service(tmp_path) as single, pytest.raises(BadRequest, match="e-mail"):
        single.sign_up(email)


def test_usual_addresses_are_taken(tmp_path: Path) -> None:
    with service(tmp_path) as single:
        for email in ("Ada.Love+home@Example.org", "o_o-1@a-b.example", "x@localhost"):
            single.sign_up(email)
        with single.store.read() as connection:
            result = connection.exec_driver_sql("select email from code").scalars().all()
    assert "ada.love+home@example.org" in result
