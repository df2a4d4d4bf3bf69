"""Full disk, database gone, clock set back: a clear sentence, and the old epoch is still served."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from location.audit import Audit
from location.town_hall import FAST, Postgres, postgres_bin, quick_token, scattered, service
from voronym.errors import GuaranteeError
from voronym_location import publishing
from voronym_location.errors import Busy, Unavailable
from voronym_location.homes import STANDING
from voronym_location.logs import JsonLines
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.statements import Statement
from voronym_location.store.quick import Quick


def looked(house: Service, tmp_path: Path) -> int:
    return Audit(house.settings.database or str(tmp_path / "service.db"), 10).look()


def test_a_clock_that_is_set_back_makes_no_epoch_and_loses_none(tmp_path: Path, database: str) -> None:
    shown = [1_800_000_000.0]
    with service(tmp_path, database=database, clock=lambda: shown[0]) as server:
        server.import_directory(scattered(60))
        server.run_epoch()
        token = quick_token(server, "p1@example.org")
        before = server.statement(token)
        shown[0] -= 3600
        with pytest.raises(Unavailable, match="clock"):
            server.run_epoch()
        assert server.statement(token) == before
        server.submit_address(token, "street 3")  # writes go on
        shown[0] += 7200
        assert server.run_epoch()["epoch"] == 2


def test_a_database_that_is_away_is_said_and_what_was_said_before_is_said_again(tmp_path: Path) -> None:
    programs = postgres_bin()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    postgres = Postgres(programs)
    try:
        with service(tmp_path, database=postgres.fresh()) as first:
            first.import_directory(scattered(60))
            first.run_epoch()
            token, other, leaver = (quick_token(first, f"p{number}@example.org") for number in (1, 2, 3))
            before = first.statement(token)
            assert isinstance(before, Statement)
            first.statement(leaver)
            first.cancel(leaver)
            assert asyncio.run(_soon(first, token)) == before
            postgres.stop()
            assert first.statement(token) == before
            assert asyncio.run(_soon(first, token)) == before
            for unknown in (other, leaver):  # nothing was said to one; the other left
                with pytest.raises(Unavailable, match="cannot be reached"):
                    first.statement(unknown)
            for call in (
                lambda: first.submit_address(token, "street 4"),
                lambda: first.cancel(token),
                first.run_epoch,
            ):
                with pytest.raises(Unavailable, match="nothing was changed"):
                    call()
            postgres.start()
            assert first.statement(token) == before
            first.submit_address(token, "street 4")
            assert first.run_epoch()["epoch"] == 2
    finally:
        postgres.close()


async def _soon(house: Service, token: str) -> object:
    quick = Quick(house.store, STANDING)
    try:
        return await house.statement_soon(token, quick)
    finally:
        await quick.close()


def test_a_file_without_a_name_is_not_written(tmp_path: Path) -> None:
    with service(tmp_path) as server:
        server.import_directory(scattered(60))
        server.run_epoch()
        token = quick_token(server, "p1@example.org")
        before = server.statement(token)
        (tmp_path / "service.db").rename(tmp_path / "elsewhere.db")
        with pytest.raises(Unavailable, match="was moved or deleted"):
            server.submit_address(token, "street 3")
        with pytest.raises(Unavailable, match="was moved or deleted"):
            server.run_epoch()
        assert server.statement(token) == before
        (tmp_path / "elsewhere.db").rename(tmp_path / "service.db")
        server.submit_address(token, "street 3")


FULL = """
import resource, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from location.town_hall import quick_token, scattered, service
from voronym_location.errors import Unavailable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with service(Path({folder!r})) as one:
    one.import_directory(scattered(300))
    one.run_epoch()
    token = quick_token(one, "p1@example.org")
    before = one.statement(token)
    size = sum(file.stat().st_size for file in Path({folder!r}).glob("service.db*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
    for name, call in (
        ("move", lambda: [one.submit_address(token, f"street {{n % 300}}") for n in range(3000)]),
        ("epoch", one.run_epoch),
    ):
        try:
            call()
            print(name, "went through")
        except Unavailable as error:
            print(name, error)
    assert one.statement(token) == before
    print("served")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    one.submit_address(token, "street 7")
    print("epoch", one.run_epoch()["epoch"])
"""


def test_a_full_disk_is_said_and_statements_are_read_as_before(tmp_path: Path) -> None:
    script = FULL.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path), room=4096)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    message = done.stdout.splitlines()
    assert message[0].startswith("move the disk of the database")
    assert message[1].startswith("epoch the disk of the database")
    assert "nothing was changed" in message[0]
    assert message[2:] == ["served", "epoch 2"]
    assert Audit(str(tmp_path / "service.db"), 10).look() == 2


def test_an_epoch_that_breaks_the_promise_is_not_published(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both counts refuse on their own: the one over arrays, and the one in SQL."""
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(60))
        server.run_epoch()
        token = quick_token(server, "p1@example.org")
        before = server.statement(token)

        def broken(*given: object, **more: object) -> object:
            made = publishing_plan(*given, **more)  # type: ignore[arg-type]
            rows = np.flatnonzero(made.group == made.standing.groups[0])[3:]
            made.group[rows] = made.standing.groups[1]  # people join a group that lives, and leave too few
            return made

        publishing_plan = publishing.plan
        monkeypatch.setattr(publishing, "plan", broken)
        with pytest.raises(GuaranteeError, match="not published"):
            server.run_epoch()
        monkeypatch.setattr(publishing, "check", lambda *_, **__: None)
        with pytest.raises(GuaranteeError, match="below k=10"):
            server.run_epoch()
        assert looked(server, tmp_path) == 1
        assert server.statement(token) == before
        monkeypatch.undo()
        assert server.run_epoch()["epoch"] == 2


def test_who_leaves_while_the_epoch_is_planned_does_not_count(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known cancellations: a group that is large enough only with them is not published."""
    with service(tmp_path, database=database, epochs={"headroom": 0}) as server:
        server.import_directory(scattered(60))
        tokens = [quick_token(server, f"p{number}@example.org") for number in range(60)]
        plan, left = publishing.plan, []

        def slow(*given: object, **more: object) -> object:
            made = plan(*given, **more)  # type: ignore[arg-type]
            sizes = np.bincount(made.group)
            row = int(np.flatnonzero(sizes[made.group] == sizes.min())[0])
            left.append(row)
            server.cancel(tokens[row])
            server.submit_address(tokens[(row + 1) % 60], "street 9")  # a move is for the next epoch
            return made

        monkeypatch.setattr(publishing, "plan", slow)
        figures = server.run_epoch()
        assert figures["people"] == 59
        assert looked(server, tmp_path) == 1
        assert server.statement(tokens[left[0]]) is None
        moved = server.statement(tokens[(left[0] + 1) % 60])
        assert not isinstance(moved, Statement) or moved.moving


def test_a_draft_whose_maker_died_is_shown_to_nobody_and_removed(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(60))
        server.run_epoch()
        token = quick_token(server, "p1@example.org")
        before = server.statement(token)
        with server.store.write() as connection:
            connection.execute(
                text(
                    "insert into member (epoch, person, cohort, since, seen, version, household, counting) "
                    "select 2, person, -1, 2, 2, version, household, counting from member"
                )
            )
            connection.execute(
                text("insert into cohort (id, born, latitude, longitude) values (999, 2, 0, 0)")
            )
        assert server.statement(token) == before
        assert server.run_epoch()["epoch"] == 2
        looked(server, tmp_path)


def test_only_one_epoch_is_made_at_a_time(tmp_path: Path, database: str) -> None:
    with service(tmp_path, database=database) as server, publishing.alone(server.store), pytest.raises(Busy):
        server.run_epoch()


def test_the_scheduler_makes_epochs_and_heeds_the_clock(tmp_path: Path) -> None:
    from voronym_location.scheduler import Scheduler

    settings = ServiceSettings(folder=tmp_path, period=3600.0, **FAST)
    with Service(settings) as server:
        server.import_directory(scattered(30))
        server.run_epoch()
        scheduler = Scheduler(server)
        assert 0.0 < scheduler.due() <= 3600.0
        server.clock = lambda: time.time() - 100
        assert scheduler.due() == 60.0
        server.clock = lambda: time.time() + 7200
        assert scheduler.due() == 0.0
        assert scheduler._once()
        assert (server.in_force() or {})["epoch"] == 2


def test_the_scheduler_outlives_what_goes_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from voronym_location import scheduler

    tried: list[int] = []

    def fails(*_: object, **__: object) -> None:
        tried.append(1)
        raise OSError(12, "no memory for another process")

    monkeypatch.setattr(scheduler, "AGAIN", 0.01)
    monkeypatch.setattr(scheduler.subprocess, "Popen", fails)
    with Service(ServiceSettings(folder=tmp_path, period=1e-6, **FAST)) as server:
        made = scheduler.Scheduler(server)
        made.start()
        ends = time.monotonic() + 60
        while len(tried) < 3 and time.monotonic() < ends:
            time.sleep(0.01)
        made.close()
    assert len(tried) >= 3
    assert all("no memory" not in line for line in map(JsonLines().format, caplog.records))


def test_a_defect_of_an_epoch_is_told_without_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from voronym_location import scheduler

    def fails(*_: object) -> None:
        raise ValueError("a home at 48.1234")

    monkeypatch.setattr(Service, "run_epoch", fails)
    monkeypatch.setattr(sys, "stdin", io.StringIO(ServiceSettings(folder=tmp_path, **FAST).to_json()))
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(scheduler, "_end_with_parent", lambda: None)  # this process has other parents
    loggers = [logging.getLogger(name) for name in ("voronym_location", "uvicorn", "uvicorn.error")]
    kept = [(first.handlers, first.propagate, first.level) for first in loggers]
    try:
        with pytest.raises(SystemExit):
            scheduler.main()
    finally:
        for first, (handlers, propagate, level) in zip(loggers, kept, strict=True):
            first.handlers, first.propagate, first.level = handlers, propagate, level
    message = capfd.readouterr().err
    assert "ValueError" in message
    assert "48.1234" not in message


def test_who_leaves_while_the_epoch_is_published_is_for_the_next(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL lets others commit within the transaction that publishes; SQLite has one writer."""
    with service(tmp_path, database=postgres.fresh()) as server:
        server.import_directory(scattered(60))
        token = quick_token(server, "p1@example.org")
        left = publishing._left

        def late(*given: object) -> set[int]:
            result = left(*given)  # type: ignore[arg-type]
            server.cancel(token)
            return result

        monkeypatch.setattr(publishing, "_left", late)
        assert server.run_epoch()["people"] == 60
        assert looked(server, tmp_path) == 1
        monkeypatch.undo()
        assert server.run_epoch()["people"] == 59
        assert looked(server, tmp_path) == 2
