"""The operator's desk: look at the next epoch, put it in force, discard it, pause; who runs the service."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from location.audit import Audit
from location.client import clients
from location.town_hall import PASSWORD, code_for, quick_token, scattered, service
from location.visitor import Town, Visitor, joined
from voronym_location.errors import BadRequest, Forbidden, TooMany
from voronym_location.passwords import one_time_code
from voronym_location.scheduler import AGAIN, Scheduler
from voronym_location.statements import Statement


def test_a_draft_is_put_in_force_as_it_was_looked_at(tmp_path: Path, database: str) -> None:
    """Nobody is told anything of a draft; who leaves, moves or joins since is as documented."""
    now = [1e9]
    with service(tmp_path, database=database, clock=lambda: now[0], epochs={"budget": 1.0}) as server:
        audit = Audit(database or str(tmp_path / "service.db"), 10)
        server.import_directory(scattered(90))
        server.run_epoch()
        audit.look()
        tokens = {number: quick_token(server, f"p{number}@example.org") for number in (0, 1, 2)}
        for number in range(60, 85):
            server.cancel(quick_token(server, f"p{number}@example.org"))
        before = server.statement(tokens[2])
        draft = server.preview_epoch()
        assert server.statement(tokens[2]) == before  # and nobody else, by the audit
        assert audit.look() == 1
        assert draft["figures"]["epoch"] == 2
        server.cancel(tokens[0])
        server.submit_address(tokens[1], "street 44")
        server.import_directory(scattered(4, seed=9, first=200))
        figures = server.publish_preview()
        assert figures["epoch"] == 2
        assert figures["people"] == 90 - 25 - 1
        assert audit.look() == 2
        assert len(draft["places"]) >= figures["groups"]
        moved = server.statement(tokens[1])
        assert not isinstance(moved, Statement) or moved.moving
        assert server.run_epoch()["people"] == 90 - 25 - 1 + 4
        audit.look()


def test_a_draft_can_be_taken_back_and_is_not_looked_at_all_day(tmp_path: Path) -> None:
    now = [1e9]
    with service(tmp_path, clock=lambda: now[0]) as server:
        server.import_directory(scattered(60))
        server.run_epoch()
        with pytest.raises(BadRequest, match="look at it first"):
            server.publish_preview()
        server.preview_epoch()
        with pytest.raises(TooMany, match="4 times in a period"):
            server.preview_epoch()
        assert server.discard_preview()
        assert not server.discard_preview()
        with server.store.read() as connection:
            rows = connection.exec_driver_sql("select count(*) from member where epoch > 1").scalar()
            born = connection.exec_driver_sql("select count(*) from cohort where born > 1").scalar()
        assert (rows, born) == (0, 0)
        with pytest.raises(BadRequest, match="look at it first"):
            server.publish_preview()
        now[0] += 90_000
        server.preview_epoch()
        server.run_epoch()  # the schedule makes its own, and a draft of the same epoch is gone
        with pytest.raises(BadRequest, match="look at it first"):
            server.publish_preview()


def test_a_paused_schedule_makes_no_epoch(tmp_path: Path) -> None:
    now = [1e9]
    with service(tmp_path, clock=lambda: now[0], period=60.0) as server:
        server.import_directory(scattered(40))
        server.run_epoch()
        now[0] += 61
        scheduler = Scheduler(server)
        assert scheduler.due() == 0
        server.pause_epochs()
        assert scheduler.due() == AGAIN
        server.pause_epochs(on=False)
        assert scheduler.due() == 0


def test_the_desk_is_for_operators_and_shows_no_small_count(place: Town) -> None:
    first, app = place
    me = Visitor(app).sign_in(joined(first, "p5@example.org"))
    for name in ("preview", "publish", "discard", "pause", "resume"):
        assert me.post(f"/operator/{name}", {}, page="/me").status_code == 403
    with pytest.raises(Forbidden):
        first.preview_epoch(quick_token(first, "p5@example.org"))
    secret = base64.b32decode(first.add_operator("desk@example.org", PASSWORD))
    code = one_time_code(secret, first.clock())
    desk = Visitor(app).sign_in("desk@example.org", code=code)
    page = desk.post("/operator/preview", {}, page="/operator")
    assert page.status_code == 200
    assert "Put it in force" in page.text
    again = desk.post("/operator/preview", {}, page="/operator")
    assert again.status_code == 429
    assert "wait" in again.text
    done = desk.post("/operator/publish", {}, page="/operator")
    assert "The epoch is in force" in done.text
    assert "draft put in force" in done.text  # it is noted
    with first.store.read() as connection:
        homes = connection.exec_driver_sql("select latitude from home").scalars().all()
    assert not any(f"{home:.5f}" in page.text for home in homes)


def test_who_runs_the_service_and_local_times(tmp_path: Path) -> None:
    with clients(tmp_path / "said", operator="Town of Elm", contact="anon@elm.example", backups=30,
                 zone="Europe/Madrid", terms="Free of charge.") as client:  # fmt: skip
        page = client.get("/about").text
        for words in ("Town of Elm", "anon@elm.example", "30 days", "Free of charge."):
            assert words in page
        assert "Town of Elm" in client.get("/").text
    with clients(tmp_path / "silent") as client:
        assert "has not said who they are" in client.get("/").text


def test_a_mistyped_address_is_helped(place: Town) -> None:
    first, app = place
    me = Visitor(app).sign_in(joined(first, "p6@example.org"))
    with first.store.read() as connection:
        address = connection.exec_driver_sql("select address from directory order by id limit 1").scalar()
    slips = [address[:2] + address[3:], address[1:], address[:4] + "x" + address[4:]]
    shown = [me.post("/home", {"do": "find", "text": slip}, page="/home") for slip in slips]
    assert [page.status_code for page in shown] == [400, 400, 400]
    assert sum(f'value="{address}"' in page.text for page in shown) >= 2
    assert "Did you mean" not in me.post("/home", {"do": "find", "text": "qq"}, page="/home").text


def test_a_home_needs_a_choice_and_a_code_signs_in(place: Town) -> None:
    first, app = place
    new = Visitor(app)
    first.sign_up("fresh@example.org")
    given = {"email": "fresh@example.org", "code": code_for(first, "fresh@example.org"), "password": PASSWORD}
    done = new.post("/verify", given, page="/verify")
    assert done.headers["location"] == "/me"
    assert "disabled" in new.get("/home").text
    spot = {"do": "use", "latitude": "48.2716", "longitude": "11.4684"}
    assert new.post("/home", spot, page="/home").status_code == 400
    assert first.home(new.cookie("session") or "") is None
