"""Attacks on and by the operator's page, each of which must fail."""

from __future__ import annotations

import base64
import re
import time
from pathlib import Path

import pytest

from location.town_hall import PASSWORD
from location.visitor import Town, Visitor, town
from voronym_location.directory import Entry
from voronym_location.passwords import one_time_code


@pytest.fixture(scope="module")
def operator(place: Town) -> tuple[str, bytes]:
    return "op@example.org", base64.b32decode(place[0].add_operator("op@example.org", PASSWORD))


@pytest.fixture(scope="module")
def operating(place: Town, operator: tuple[str, bytes]) -> Visitor:
    email, secret = operator
    return Visitor(place[1]).sign_in(email, code=one_time_code(secret, time.time()))


def test_the_operators_page_is_for_operators(place: Town, operating: Visitor) -> None:
    citizen = Visitor(place[1]).sign_in("p0@example.org").get("/operator")
    assert citizen.status_code == 403
    assert "have a point" not in citizen.text
    stranger = Visitor(place[1]).get("/operator")
    assert stranger.status_code == 303
    assert "have a point" not in stranger.text
    assert "have a point" in operating.get("/operator").text


def test_an_operator_needs_the_second_factor(place: Town, operator: tuple[str, bytes]) -> None:
    out = Visitor(place[1])
    for code in ("", "000000", "abc"):
        done = out.post("/sign-in", {"email": operator[0], "password": PASSWORD, "code": code})
        assert done.status_code == 401
    assert out.cookie("session") is None


def test_a_small_count_is_not_on_the_page_nor_the_difference_of_two(tmp_path: Path) -> None:
    with town(tmp_path, people=96) as (first, app, made):
        secret = base64.b32decode(first.add_operator("op@example.org", PASSWORD))
        far = [
            Entry(f"Far Lane {n}", made.centre[0] + 0.3, made.centre[1], f"far{n}@example.org")
            for n in range(3)
        ]
        first.import_directory(far)
        figures = first.run_epoch()
        assert figures["waiting"] == 3
        me = Visitor(app).sign_in("op@example.org", code=one_time_code(secret, time.time()))
        text = me.get("/operator").text
        facts = re.findall(r'<dd class="value">([^<]*)</dd>', text)
        assert facts[2] == "under 10"
        messages = [int(value) for value in facts[:2]]
        assert all(value % 10 == 0 for value in messages)
        assert abs(messages[0] - messages[1]) in (0, 10)
        counts = {
            int(value)
            for row in re.findall(r"<tr>.*?</tr>", text)
            for value in re.findall(r"<td>(\d+)</td>", row)
        }
        assert counts
        assert all(value % 10 == 0 for value in counts)


def test_the_operators_page_shows_no_home(place: Town, operating: Visitor) -> None:
    first, _ = place
    text = operating.get("/operator").text
    home = first.home(first.sign_in("p0@example.org", PASSWORD).token)
    assert home is not None
    assert f"{home['latitude']:.3f}" not in text
    assert "example.org" not in text
