"""Ten kills each of driver, worker and database at random moments: the release is the same, or absent.

Machines of clusters are killed in `test_lost_clusters`, stores in `test_lost_stores`.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

import voronym as vr
from location.town_hall import Postgres, postgres_bin
from scale.conftest import rows
from scale.runs import ASKED, TIMES, disturbed, length_of, prepared, start

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return prepared(tmp_path)


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_the_driver_is_killed_and_the_next_run_goes_on(data: Path) -> None:
    draw, here, times = random.Random(2), data.parent, 0
    whole = length_of(data, "--workers", "2")
    for turn in range(4 * TIMES):
        output = here / f"out-{turn}"
        run = start(data, str(output), "--workers", "2", "--resume")

        def kill(run: subprocess.Popen[str] = run) -> bool:
            os.kill(run.pid, signal.SIGKILL)
            return True

        killed, _ = disturbed(run, draw.uniform(0.3, 0.95) * whole, kill)
        if killed and run.returncode == -signal.SIGKILL:
            times += 1
            assert not output.exists() or rows(output).equals(rows(here / "whole"))
            for path in here.glob(".out-*"):
                assert path.stat().st_mode & 0o077 == 0, "others could read what a killed run left"
            with start(data, str(output), "--workers", "2", "--resume", "--overwrite") as again:
                printed = again.communicate()[1]
            assert again.returncode == 0, printed
        assert rows(output).equals(rows(here / "whole"))
        assert not hidden(here)
        if times == TIMES:
            break
    assert times == TIMES


def test_workers_are_killed_and_the_release_is_the_same(data: Path) -> None:
    draw, here, times = random.Random(3), data.parent, 0
    whole = length_of(data, "--workers", "2")
    for turn in range(6 * TIMES):
        output = here / f"out-{turn}"
        run = start(data, str(output), "--workers", "2")

        def kill(run: subprocess.Popen[str] = run) -> bool:
            words = ("forkserver", "resource_tracker")
            crew = [
                child
                for child in psutil.Process(run.pid).children(recursive=True)
                if not any(word in " ".join(child.cmdline()) for word in words) or child.ppid() != run.pid
            ]
            if crew:
                draw.choice(crew).kill()
            return bool(crew)

        killed, printed = disturbed(run, draw.uniform(0.3, 0.95) * whole, kill)
        times += killed
        assert run.returncode == 0, printed
        assert rows(output).equals(rows(here / "whole"))
        assert not hidden(here)
        if times == TIMES:
            break
    assert times == TIMES


def test_the_database_is_killed_and_has_the_table_or_none(data: Path) -> None:
    import psycopg

    programs = postgres_bin()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    draw, here, server = random.Random(4), data.parent, Postgres(programs)
    expected = sorted(rows(here / "whole").rows(), key=str)
    there, shares = 0, []
    try:
        whole = length_of(data, "--workers", "1", output=server.fresh().replace("+psycopg", ""))
        for turn in range(4 * TIMES):
            address = server.fresh().replace("+psycopg", "")
            run = start(data, address, "--workers", "1")

            def kill() -> bool:
                server.stop("immediate")
                return True

            # Most of them late: that is when the table is on its way.
            number, began = len(shares), time.monotonic()
            share = (number + draw.random()) / TIMES if turn % 3 == 0 else draw.uniform(0.8, 1.0)
            killed, printed = disturbed(run, share * whole, kill)
            if killed:
                shares.append(share)
                server.start()
            else:
                whole = min(whole, time.monotonic() - began)  # the machine is less busy than it was
            assert "defect of voronym" not in printed
            with psycopg.connect(address) as base:
                name = base.execute("select to_regclass('release')").fetchone()
                made = name is not None and name[0] is not None
            assert made == (run.returncode == 0), printed
            there += made
            if made:
                frame = vr.read(address, query="select * from release")
                assert sorted(frame.select(rows(here / "whole").columns).rows(), key=str) == expected
            assert not list((here / "passing").glob("voronym-passing-*"))
            if len(shares) == TIMES:
                break
    finally:
        server.close()
    assert len(shares) == TIMES
    print(f"killed at {[round(share, 2) for share in shares]} of a run; {there} were whole")  # noqa: T201


@pytest.mark.parametrize("moment", ["cut", "spread", "round@1", "write", "count"])
@pytest.mark.parametrize("how", ["other values", "gone"])
def test_a_source_that_changes_gives_no_release(
    data: Path, monkeypatch: pytest.MonkeyPatch, moment: str, how: str
) -> None:
    from voronym.run.parts.stages import Stages

    real, file = Stages.perform, data / "part-1.parquet"

    def perform(lead: Stages, name: str, tasks: int) -> list[Any]:
        if name == moment:
            if how == "gone":
                file.unlink()
            else:
                pl.read_parquet(file).with_columns(pl.col("age").reverse()).write_parquet(
                    file, row_group_size=333
                )
        return real(lead, name, tasks)

    monkeypatch.setattr(Stages, "perform", perform)
    with pytest.raises(vr.VoronymError, match="part-1"):
        vr.anonymize(data, output=data.parent / "out", workers=1, **ASKED)
    assert not (data.parent / "out").exists()
    assert not hidden(data.parent)


@pytest.mark.parametrize("after", range(0, 60, 3))
def test_a_full_disk_at_every_stage(data: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    from scale.conftest import fill_the_disk

    fill_the_disk(monkeypatch, after)
    with contextlib.suppress(vr.WriteError):
        vr.anonymize(data, output=data.parent / "out", workers=1, **ASKED)
    out = data.parent / "out"
    assert not out.exists() or rows(out).equals(rows(data.parent / "whole"))
    assert not hidden(data.parent)


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a disk of some size for the length of the block."""
    folder.mkdir(exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=700", "none", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("making a disk needs the superuser")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full(data: Path) -> None:
    """A small disk, and not the answer of one: what it cannot take may be the half of a file."""
    here, whole = data.parent, []
    for size in (64, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 2048, 16_384):  # kilobytes
        with small_disk(here / "disk", size) as disk:
            with start(data, str(disk / "out"), "--workers", "1") as run:
                printed = run.communicate()[1]
            whole.append(run.returncode == 0)
            assert whole[-1] or "No space left on device" in printed, printed
            assert [path.name for path in disk.iterdir()] == (["out"] if whole[-1] else [])
            assert not whole[-1] or rows(disk / "out").equals(rows(here / "whole"))
    assert whole[-1]
    assert not whole[0]
    print(f"{whole.count(False)} of {len(whole)} disks were full")  # noqa: T201


STAGES = ["look", "scan", "cut", "spread", "round@0", "round@1", "round@2", "write", "sort", "count"]


@pytest.mark.parametrize("moment", STAGES)
def test_a_disk_that_somebody_fills_at_a_stage(
    data: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    from voronym.run.parts.stages import Stages

    real, names = Stages.perform, []
    with small_disk(data.parent / "disk", 16_384) as disk:

        def perform(lead: Stages, name: str, tasks: int) -> list[Any]:
            names.append(name)
            if name == moment:
                with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
                    while file.write(bytes(4096)):
                        pass
            return real(lead, name, tasks)

        monkeypatch.setattr(Stages, "perform", perform)
        with pytest.raises(vr.WriteError, match="No space left on device"):
            vr.anonymize(data, output=disk / "out", workers=1, **ASKED)
        assert [path.name for path in disk.iterdir()] == ["filler"]
        assert names == STAGES[: len(names)]
        (disk / "filler").unlink()
        monkeypatch.setattr(Stages, "perform", real)
        vr.anonymize(data, output=disk / "out", workers=1, **ASKED)
        assert rows(disk / "out").equals(rows(data.parent / "whole"))
