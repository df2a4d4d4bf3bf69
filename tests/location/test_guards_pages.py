"""Attacks on the pages, each of which must fail."""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from location.town_hall import PASSWORD, code_for
from location.visitor import TOKEN, Town, Visitor, entries, joined, town
from voronym_location.directory import Entry
from voronym_location.pages.guards import form_token
from voronym_location.pages.view import static

ELSEWHERE = "https://evil.example"
EVIL = "<script>alert(1)</script>"
WORSE = "\"'><img src=x onerror=alert(1)>"


def page_routes(app: Any, method: str) -> list[str]:
    """Return the paths of all pages, those of tomorrow included."""
    routes = (route for route in _flat(app.routes) if isinstance(route, APIRoute))
    out = [
        r.path for r in routes if method in r.methods and not r.path.startswith(("/v1", "/healthz", "/metr"))
    ]
    assert out
    return out


def _flat(routes: Any) -> Iterator[Any]:
    for route in routes:
        inner = getattr(getattr(route, "original_router", route), "routes", None)
        yield from [route] if inner is None else _flat(inner)


# -- forms that other sites send --------------------------------------------------------------------------


def test_every_form_refuses_what_did_not_come_from_a_page_of_ours(place: Town) -> None:
    server, app = place
    me, other = Visitor(app).sign_in("p0@example.org"), Visitor(app).sign_in("p1@example.org")
    session = me.cookie("session") or ""
    before = server.export(session)
    stolen = other.token("/me")
    for path in page_routes(app, "POST"):
        for fields in ({}, {"form_token": ""}, {"form_token": stolen}, {"form_token": "é"}):
            sent = {"do": "delete", "sure": "delete", "latitude": "48", "longitude": "11", **fields}
            assert me.send("POST", path, data=sent).status_code == 403, (path, fields)
    assert server.export(session) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": ELSEWHERE},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_right_token_from_the_wrong_site_is_refused(place: Town, headers: dict[str, str]) -> None:
    server, app = place
    me = Visitor(app).sign_in("p0@example.org")
    right = {"form_token": me.token("/leave"), "do": "delete", "sure": "delete"}
    assert me.send("POST", "/leave", data=right, headers=headers).status_code == 403
    assert server.whoami(me.cookie("session") or "").email == "p0@example.org"


def test_nobody_is_signed_in_as_somebody_else_by_a_foreign_form(place: Town) -> None:
    """Login CSRF: a site signs its visitor in as itself, and reads later where they said they live."""
    victim = Visitor(place[1])
    mine = Visitor(place[1])
    sent = {"email": "p1@example.org", "password": PASSWORD, "form_token": mine.token("/sign-in")}
    assert victim.send("POST", "/sign-in", data=sent).status_code == 403
    victim.get("/sign-in")  # has a visit of their own now
    assert victim.send("POST", "/sign-in", data=sent).status_code == 403
    assert victim.cookie("session") is None


def test_the_token_of_forms_does_not_give_the_session_away(place: Town) -> None:
    me = Visitor(place[1]).sign_in("p0@example.org")
    session = me.cookie("session") or ""
    for path in page_routes(place[1], "GET"):
        if "{" not in path:
            assert session not in me.get(path).text
    assert form_token(session) == me.token("/me")
    assert form_token("a") != form_token("b")


def test_the_cookie_is_nothing_to_the_api(place: Town) -> None:
    """The API takes tokens in a header alone, which no foreign form can send."""
    me = Visitor(place[1]).sign_in("p0@example.org")
    assert me.get("/v1/me").status_code == 401
    assert me.send("DELETE", "/v1/me").status_code == 401


# -- scripts in names ---------------------------------------------------------------------------------------


def test_names_from_the_directory_and_from_forms_are_texts(tmp_path: Path) -> None:
    with town(tmp_path, people=20) as (server, app, made):
        # Straight streets with names that would run, north of the town.
        lat, lon = made.centre[0] + 0.02, made.centre[1]
        for shift, name in enumerate((EVIL, WORSE)):
            server.import_directory(
                [Entry(f"{name} {n}", lat + 1e-4 * n, lon + 2e-3 * shift) for n in range(1, 40)]
            )
        joined(server, "p0@example.org")
        me = Visitor(app).sign_in("p0@example.org")
        views = [
            {"latitude": f"{lat + 2e-3}", "longitude": f"{lon + 2e-3 * i}", "span": "500"} for i in (0, 1)
        ]
        pages = [me.post("/home", view) for view in views] + [me.get("/home"), me.get("/me")]
        pages += [me.post("/home", {"do": "find", "text": text}) for text in (EVIL, WORSE, f"{EVIL} 3")]
        for text in (EVIL, WORSE):
            out = Visitor(app)
            pages += [
                out.post("/sign-in", {"email": text, "password": text}),
                out.post("/sign-up", {"email": text, "password": text}),
                out.post("/verify", {"email": text, "code": text}),
            ]
        for page, sign in zip(pages, ("&lt;script&gt;alert(1)", "&lt;img src=x"), strict=False):
            assert sign in page.text, "the street is not on the map"
        for page in pages:
            assert page.status_code < 500
            assert EVIL not in page.text
            assert WORSE not in page.text
            assert "<img" not in page.text


def test_a_name_cannot_turn_the_line_around(place: Town) -> None:
    me = Visitor(place[1]).sign_in("p0@example.org")
    assert "\u202e" not in me.post("/home", {"do": "find", "text": "a\u202eb\x00c"}).text


# -- other sites, frames, caches ----------------------------------------------------------------------------


def every_answer(place: Town) -> list[Any]:
    me, out = Visitor(place[1]).sign_in("p0@example.org"), Visitor(place[1])
    paths = [path for path in page_routes(place[1], "GET") if "{" not in path]
    paths += ["/static/style.css", "/static/none.css", "/nothing", "/v1/me", "/v1/keys", "/healthz"]
    results = [who.get(path, origin=ELSEWHERE) for who in (me, out) for path in paths]
    asked = {"origin": ELSEWHERE, "access-control-request-method": "POST"}
    results += [me.send("OPTIONS", path, headers=asked) for path in paths]
    return [*results, me.send("POST", "/leave", data={}), me.post("/home", {"do": "find", "text": "nowhere"})]


def test_no_other_site_may_read_or_frame_an_answer(place: Town) -> None:
    for answer in every_answer(place):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_nothing_but_our_own_files_may_run_or_load(place: Town) -> None:
    for answer in every_answer(place):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "*" not in policy
        assert answer.headers["referrer-policy"] == "same-origin"
        if "<html" in answer.text:
            assert not re.search(r"<style|\sstyle=|<script(?! src=\"/static/)|\son\w+=", answer.text)
            loaded = re.findall(r'(?:src|href|action)="([^"]*)"', answer.text)
            assert all(item.startswith(("/", "#")) and not item.startswith("//") for item in loaded)


def test_nothing_personal_is_kept_on_the_way(place: Town) -> None:
    for answer in every_answer(place):
        if "/static/" not in str(answer.url):
            assert answer.headers["cache-control"] == "no-store", answer.url


@pytest.mark.parametrize("base", ["http://town.example", "https://town.example"])
def test_cookies_are_out_of_reach_of_scripts_and_other_sites(place: Town, base: str) -> None:
    me = Visitor(place[1], base)
    first = me.get("/sign-in").headers["set-cookie"]
    done = me.post("/sign-in", {"email": "p0@example.org", "password": PASSWORD})
    session = next(
        text for text in done.headers.get_list("set-cookie") if "session=" in text and '""' not in text
    )
    for text in (first, session):
        assert "HttpOnly" in text
        assert "SameSite=strict" in text
        assert "Path=/" in text
        assert "Domain" not in text
        assert ("Secure" in text) == base.startswith("https")
        assert text.startswith("__Host-") == base.startswith("https")
    assert ("strict-transport-security" in done.headers) == base.startswith("https")


def test_who_signed_out_is_out(place: Town) -> None:
    me = Visitor(place[1]).sign_in("p0@example.org")
    session = me.cookie("session") or ""
    assert me.post("/sign-out", {}, page="/me").status_code == 303
    assert me.cookie("session") is None
    me.cookies.set("voronym-session", session)
    answer = me.get("/me")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in"


# -- who is here? -------------------------------------------------------------------------------------------


def plain(text: str, *emails: str) -> str:
    for email in emails:
        text = text.replace(email, "EMAIL")
    return TOKEN.sub("TOKEN", text)


def test_pages_do_not_say_who_has_an_account(place: Town) -> None:
    server, app = place
    known, unknown = "p1@example.org", "nobody@example.org"
    for path, fields in (
        ("/sign-up", {}),
        ("/verify", {"code": "00000000", "password": PASSWORD}),
        ("/sign-in", {"password": "not the right one"}),
    ):
        messages = [Visitor(app).post(path, {"email": email, **fields}) for email in (known, unknown)]
        assert messages[0].status_code == messages[1].status_code
        assert plain(messages[0].text, known) == plain(messages[1].text, unknown), path
        assert sorted(messages[0].headers) == sorted(messages[1].headers)
    assert server.sign_in(known, PASSWORD).account.email == known  # a sign-up by others changed nothing


def test_trying_passwords_on_the_page_is_slowed_down(tmp_path: Path) -> None:
    with town(tmp_path, people=0 + 12, attempts=4) as (_, app, _made):
        out = Visitor(app)
        token = out.token("/sign-in")
        tries = [
            out.send("POST", path, data={"email": f"x{i}@example.org", "password": "x", "form_token": token})
            for i, path in enumerate(["/sign-in", "/sign-up", "/verify"] * 2)
        ]
        assert [item.status_code for item in tries[4:]] == [429, 429]
        assert tries[5].headers["retry-after"] == "60"


# -- what visitors send -------------------------------------------------------------------------------------


def test_a_place_is_never_in_an_address_line(place: Town) -> None:
    """Address lines end up in histories and logs."""
    me = Visitor(place[1]).sign_in("p0@example.org")
    for path in ("/home", "/me", "/leave"):
        forms = re.findall(r"<form[^>]*>", me.get(path).text)
        assert all('method="post"' in form for form in forms)
    assert "12.98765" not in me.get("/home?latitude=12.98765&longitude=3").text
    assert (
        me.post("/home", {"do": "use", "chosen": "1", "latitude": "48.2716", "longitude": "11.4684"}).headers[
            "location"
        ]
        == "/me"
    )


def test_no_page_takes_the_name_of_somebody(place: Town) -> None:
    """Nobody can ask for others: no path has a place for who is asked about."""
    for method in ("GET", "POST"):
        assert [path for path in page_routes(place[1], method) if "{" in path] in ([], ["/static/{name}"])


@pytest.mark.parametrize(
    "name", ["../guards.py", "..%2fguards.py", "%2e%2e/guards.py", "pages.css%00", "/etc/passwd"]
)
def test_only_our_own_files_are_handed_out(place: Town, name: str) -> None:
    assert Visitor(place[1]).get(f"/static/{name}").status_code in (404, 405)


def test_names_that_somebody_makes_up_are_not_remembered() -> None:
    """Anybody may ask for any name, as often as they like: the memory is not theirs to fill."""
    static("style.css")
    tracemalloc.start()
    try:
        for number in range(200):
            assert static(f"{number}{'x' * 10_000}") is None
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 200_000


def test_what_is_no_form_of_ours_is_refused_before_it_is_read(place: Town) -> None:
    me = Visitor(place[1]).sign_in("p0@example.org")
    token = me.token("/me")
    long = me.send("POST", "/home", data={"form_token": token, "text": "x" * 20_000})
    many = me.send("POST", "/home", data={"form_token": token, **{f"f{i}": "" for i in range(30)}})
    kind = me.send("POST", "/home", json={"form_token": token})
    torn = me.send(
        "POST",
        "/home",
        content=b"text=%ff\xff&x",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert [item.status_code for item in (long, many, kind, torn)] == [413, 400, 415, 400]


@pytest.mark.parametrize(
    "bad",
    [
        *("nan", "1e400", "", "１２"),
        *(pytest.param(bad, marks=pytest.mark.slow) for bad in ("inf", "-inf", "91", "x", "9" * 400, "-0")),
    ],
)
def test_spoilt_places_are_answered_with_a_page(place: Town, bad: str) -> None:
    me = Visitor(place[1]).sign_in("p0@example.org")
    for name in ("latitude", "longitude", "span", "wide.x", "narrow.y", "text"):
        for do in ("", "use", "find", "north", "closer", "farther", "nonsense"):
            fields = {
                "latitude": "48.2716",
                "longitude": "11.4684",
                "span": "900",
                "wide.x": "3",
                "wide.y": "4",
            }
            answer = me.post("/home", fields | {"do": do, name: bad})
            assert answer.status_code in (200, 303, 400), (name, do)


def test_codes_are_not_on_pages(place: Town) -> None:
    server, app = place
    done = Visitor(app).post("/sign-up", {"email": "new@example.org"})
    assert code_for(server, "new@example.org") not in done.text
    done = Visitor(app).post("/verify", {"email": "new@example.org", "code": "1", "password": PASSWORD})
    assert done.status_code == 400
    assert PASSWORD not in done.text


def test_entries_has_the_people_that_it_is_asked_for(place: Town) -> None:
    del place
    from voronym_location.village import Village

    assert [entry.email for entry in entries(Village.make(3), 2, first=5)] == [
        "p5@example.org",
        "p6@example.org",
    ]


def test_who_gave_no_home_can_see_their_data_and_leave(tmp_path: Path) -> None:
    with town(tmp_path, people=12) as (server, app, _):
        me = Visitor(app).sign_in(joined(server, "new@example.org"))
        text = me.get("/me").text
        assert 'action="/export"' in text
        assert 'href="/leave"' in text
        assert me.post("/export", {}).json()["home"] is None
        assert me.post("/leave", {"do": "delete", "sure": " Delete "}).status_code == 200
        assert me.cookie("session") is None
        assert (
            Visitor(app).post("/sign-in", {"email": "new@example.org", "password": PASSWORD}).status_code
            == 401
        )


def test_who_strays_or_meets_a_defect_of_ours_is_told_by_a_page(
    place: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, app = place
    me = Visitor(app).sign_in("p0@example.org")
    for method, path, status in (("GET", "/nothing", 404), ("GET", "/home/x", 404), ("DELETE", "/me", 405)):
        answer = me.send(method, path)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert "There is no such page" in answer.text
        assert "Sign out" in answer.text
    assert me.get("/v1/nothing").json() == {"error": "Not Found"}

    def broken(*_: object) -> None:
        raise ValueError("48.1234")

    for part in ("home", "whoami"):
        monkeypatch.setattr(server, part, broken)
        answer = me.get("/me")
        assert (answer.status_code, "Our mistake" in answer.text) == (500, True)
        assert "48.1234" not in answer.text


def test_a_point_that_has_run_out_is_said_to_have(tmp_path: Path) -> None:
    """A service that cannot make an epoch goes on to show the old one."""
    with town(tmp_path, people=40) as (server, app, _):
        me = Visitor(app).sign_in(joined(server, "p0@example.org"))
        assert "has run out" not in me.get("/me").text
        server.clock = lambda: time.time() + 3 * 86_400
        assert "has run out" in me.get("/me").text
