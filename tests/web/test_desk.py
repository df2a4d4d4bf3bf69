"""What is on the desk goes when nobody asks, when memory runs out, and when a server was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from voronym.errors import InputError
from voronym.web.attempts import Run
from voronym.web.desk import Desk, Table
from voronym.web.guard import Guard
from voronym.web.intake import Limits
from voronym.web.process import Process, Refused
from voronym.web.serve import _watch
from web.house import house, upload


async def _nothing(*_: object) -> None:
    """An application that answers nothing."""


def test_an_idle_desk_is_wiped_and_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, looked = 0.03, 0  # the test moves the hands: on a busy machine a nap takes as long as it likes

    def shown() -> float:
        nonlocal looked
        looked += 1
        return now

    monkeypatch.setattr("voronym.web.serve.monotonic", shown)

    async def until(reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(240):
            while not reached():
                await asyncio.sleep(0.01)

    async def idle() -> tuple[Desk, list[str], Path]:
        nonlocal now
        (tmp_path / "desk").mkdir(mode=0o700)
        desk, printed = Desk(tmp_path / "desk", Limits(), 1000), list[str]()
        guard = Guard(_nothing, 1234, printed.append)
        folder = desk.place()
        (folder / "table.csv").write_text("a\n1\n")
        table = Table(desk, folder / "table.csv", "table.csv", folder, None)
        desk.tables[table.id] = table
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        guard.seen = 0.0
        watch = asyncio.create_task(_watch(guard, desk, 0.04))
        await until(lambda: looked > 3)
        assert desk.tables, "wiped too soon"
        guard._visitors.add("somebody")
        now = 0.05
        await until(lambda: not guard._visitors)
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        assert not guard._visitors
        return desk, printed, folder

    desk, printed, folder = asyncio.run(idle())
    assert not desk.tables
    assert not folder.exists()
    assert len(printed) == 1
    assert "deleted after 8 hours" in desk.note


@pytest.mark.slow
def test_work_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i * 7919}\n" for i in range(4_000_000)))

    async def read() -> str:
        process = await Process.start(600)
        try:
            await process.ask("open", path=str(path), reading={}, limits=None)
        except Refused as error:
            return str(error)
        finally:
            await process.end()
        return ""

    assert "not enough memory" in asyncio.run(read())


@pytest.mark.slow
def test_what_a_killed_server_left_is_wiped_by_the_next(tmp_path: Path) -> None:
    with house(tmp_path) as first:
        with first.enter() as client:
            upload(client, "table.csv", b"a,b\n" + b"1,2\n3,4\n" * 20)
        workers = psutil.Process(first.process.pid).children(recursive=True)
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        assert first.files()
        _, alive = psutil.wait_procs(workers, timeout=60)  # one may still be starting
        assert not alive, "a worker outlived its server"
    with house(tmp_path) as second:
        assert second.files() == set()


class Slow:
    """Stands for a worker that takes a moment to start and to read."""

    pid = 0
    compiling = False

    def __init__(self) -> None:
        self.alive = True

    async def ask(self, *_: object, **__: object) -> object:
        await asyncio.sleep(0.05)
        if not self.alive:
            raise Refused("gone", "Gone")
        return {}

    async def end(self) -> None:
        self.alive = False


@pytest.mark.parametrize("after", [0.02, 0.07])
def test_no_worker_outlives_a_table_that_is_forgotten(tmp_path: Path, after: float) -> None:
    """Also one that was on its way: it would hold the table until voronym ends."""
    workers: list[Slow] = []

    class Busy(Desk):
        async def worker(self) -> Any:
            await asyncio.sleep(0.05)
            workers.append(Slow())
            return workers[-1]

    async def forgotten() -> None:
        (tmp_path / "desk").mkdir(mode=0o700)
        desk = Busy(tmp_path / "desk", Limits(), 1000)
        folder = desk.place()
        table = Table(desk, folder / "table.csv", "table.csv", folder, None)
        desk.tables[table.id] = table
        asked = asyncio.create_task(table.ask("alone"))
        await asyncio.sleep(after)
        await desk.forget(table)
        with pytest.raises(Refused):
            await asked

    asyncio.run(forgotten())
    assert workers
    assert not any(item.alive for item in workers)


def test_a_run_that_waits_cannot_be_finished_and_is_not_read_away(tmp_path: Path) -> None:
    async def waiting() -> None:
        (tmp_path / "desk").mkdir(mode=0o700)
        desk = Desk(tmp_path / "desk", Limits(), 1000)
        folder = desk.place()
        table = Table(desk, folder / "table.csv", "table.csv", folder, None)
        run = Run(1, table.settings, folder / "run-1")
        table.runs.append(run)
        await table.wish(run, "finish")
        assert (run.state, run.wished) == ("waiting", "")
        with pytest.raises(InputError, match="wait for it, or cancel it"):
            await table.open({"header": False})
        await table.wish(run, "cancel")
        assert run.state == "cancelled"

    asyncio.run(waiting())


@pytest.mark.slow
def test_a_table_that_was_named_is_opened_at_once_and_the_desk_once_it_is_gone(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("age,ill\n" + "30,flu\n40,cold\n" * 20)
    with house(tmp_path, "mine.csv") as page, page.enter() as client:
        address = page.address
        seen = client.get(address)
        assert seen.url.path.endswith("/read")
        assert "Is this your table?" in seen.text
        ends = time.monotonic() + 60
        while page.address == address and time.monotonic() < ends:
            time.sleep(0.02)
        client.post(f"{seen.url.path.rpartition('/')[0]}/forget")
        assert client.get(page.address).url.path == "/"
