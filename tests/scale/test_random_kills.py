"""Ten kills each of driver, worker, store and database at random moments: the release is the same, or absent.

Schedulers and workers of Dask, and Spark's, are killed in `test_lost_clusters`.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

import voronym as vr
from location.town_hall import Postgres, postgres_bin
from scale.conftest import ROLES, people, rows, write

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ASKED: dict[str, Any] = {**ROLES, "k": 4, "leaf": 300}
WORDS = ["--key", ",".join(ROLES["keys"]), "--confidential", "ill", "--identifier", "name", "-k", "4"]
WORDS += ["--order", "grade=low<mid<high", "--leaf", "300"]
TIMES = 10


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files of people, and their release by a run that nobody killed."""
    write(people(2000), tmp_path / "data", 2)
    vr.anonymize(tmp_path / "data", output=tmp_path / "whole", workers=1, **ASKED)
    (tmp_path / "passing").mkdir()
    return tmp_path / "data"


def start(
    data: Path, output: str, *words: str, source: str | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Start a run as a process of its own."""
    command = [
        sys.executable,
        "-m",
        "voronym",
        "anonymize",
        source or str(data),
        "-o",
        output,
        *WORDS,
        *words,
    ]
    place = {"TMPDIR": str(data.parent / "passing"), **environment}
    return subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env={**os.environ, **place})  # fmt: skip


def length_of(data: Path, *words: str, output: str = "", **environment: str) -> float:
    """Return the seconds that a run takes which nobody disturbs."""
    began = time.monotonic()
    with start(data, output or str(data.parent / "timed"), *words, **environment) as run:
        run.communicate()
    assert run.returncode == 0
    return time.monotonic() - began


def disturbed(run: subprocess.Popen[str], seconds: float, how: Callable[[], bool]) -> tuple[bool, str]:
    """Disturb a run after some seconds; return whether it was, and what it printed."""
    try:
        _, printed = run.communicate(timeout=seconds)
        return False, printed
    except subprocess.TimeoutExpired:
        done = how()
    return done, run.communicate(timeout=120)[1]


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


STORE = """
import sys; from moto.server import ThreadedMotoServer as S; s = S('127.0.0.1', 0, verbose=False)
s.start(); print(s.get_host_and_port()[1], flush=True); sys.stdin.read()
"""
WAY = """
import asyncio, sys
async def carry(reader, writer):
    try:
        while data := await reader.read(4096):
            writer.write(data); await writer.drain()
    except OSError:
        pass
    writer.close()
async def pair(reader, writer):
    there = await asyncio.open_connection('127.0.0.1', int(sys.argv[1]))
    await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))
async def main():
    server = await asyncio.start_server(pair, '127.0.0.1', 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
"""The way to the store: killed, the store is out of reach, and still holds what came through."""


@pytest.fixture
def servers() -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    for name in ("s3fs", "moto", "flask", "flask_cors"):
        pytest.importorskip(name, reason="pip install s3fs 'moto[s3]' flask flask-cors")
    started: list[subprocess.Popen[str]] = []

    def begin(code: str, *words: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield begin
    for process in started:
        process.kill()
        process.wait()


def test_the_store_is_killed_and_has_the_release_or_none(data: Path, servers: Any, tmp_path: Path) -> None:
    """Source, work folder and output are all in the store; a tenth of the run has one kill."""
    import boto3

    draw, here, there = random.Random(5), data.parent, 0
    expected = sorted(rows(here / "whole").rows(), key=str)
    _, port = servers(STORE)
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
                          aws_access_key_id="x", aws_secret_access_key="x")  # noqa: S106  # fmt: skip
    client.create_bucket(Bucket="town")
    for file in data.iterdir():
        client.upload_file(str(file), "town", f"data/{file.name}")
    source, output = "s3://town/data/*.parquet", "s3://town/out/release.parquet"

    def names(under: str = "") -> list[str]:
        return [
            item["Key"] for item in client.list_objects_v2(Bucket="town", Prefix=under).get("Contents", [])
        ]

    def begin(gate: str) -> subprocess.Popen[str]:
        known = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{gate}", "AWS_DEFAULT_REGION": "us-east-1",
                 "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_MAX_ATTEMPTS": "1"}  # fmt: skip
        return start(data, output, "--workers", "1", "--work", "s3://town/work", source=source, **known)

    def undisturbed(printed: str) -> None:
        """The release is whole, and nothing else is there."""
        assert names() == [
            *(f"data/{file.name}" for file in sorted(data.iterdir())),
            "out/release.parquet",
        ], printed
        client.download_file("town", "out/release.parquet", str(tmp_path / "fetched.parquet"))
        assert sorted(pl.read_parquet(tmp_path / "fetched.parquet").rows(), key=str) == expected
        client.delete_object(Bucket="town", Key="out/release.parquet")

    def length() -> float:
        began = time.monotonic()
        with begin(port) as run:
            printed = run.communicate()[1]
        assert run.returncode == 0, printed
        undisturbed(printed)
        return time.monotonic() - began

    whole = min(length(), length())
    shares: list[float] = []
    for turn in range(4 * TIMES):
        way, gate = servers(WAY, port)
        pausing = turn % 4 == 3  # slow, and then there again
        share = (len(shares) + draw.random()) / TIMES

        def stop(way: subprocess.Popen[str] = way, pausing: bool = pausing) -> bool:
            way.send_signal(signal.SIGSTOP if pausing else signal.SIGKILL)
            if pausing:
                time.sleep(1.0)
                way.send_signal(signal.SIGCONT)
            return not pausing

        run = begin(gate)
        began = time.monotonic()
        killed, printed = disturbed(run, share * whole, stop)
        if not killed:
            assert run.returncode == 0, printed
            undisturbed(printed)
            whole = min(whole, time.monotonic() - began)  # the machine is less busy than it was
            continue
        shares.append(share)
        assert "defect of voronym" not in printed
        left = names("out/")
        assert left in ([], ["out/release.parquet"])
        assert left or run.returncode, "there is no release, and the run says that there is"
        if left:  # its answer may have been lost on the way
            there += 1
            client.download_file("town", left[0], str(tmp_path / "fetched.parquet"))
            assert sorted(pl.read_parquet(tmp_path / "fetched.parquet").rows(), key=str) == expected
            client.delete_object(Bucket="town", Key=left[0])
        if run.returncode:
            assert len(printed.strip().splitlines()) <= 6, printed
        assert not list((here / "passing").glob("voronym-*"))
        length()  # the same command removes what the lost one could not
        if len(shares) == TIMES:
            break
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


def test_a_disk_that_is_full(data: Path) -> None:
    """A small disk, and not the answer of one: what it cannot take may be the half of a file."""
    here, disk, whole = data.parent, data.parent / "disk", []
    disk.mkdir()
    for size in (64, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 2048, 16_384):  # kilobytes
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}k,mode=700", "none", str(disk)]
        if subprocess.run(words, check=False, capture_output=True).returncode:
            pytest.skip("making a disk needs the superuser")
        try:
            with start(data, str(disk / "out"), "--workers", "1") as run:
                printed = run.communicate()[1]
            whole.append(run.returncode == 0)
            assert whole[-1] or "No space left on device" in printed, printed
            assert [path.name for path in disk.iterdir()] == (["out"] if whole[-1] else [])
            assert not whole[-1] or rows(disk / "out").equals(rows(here / "whole"))
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    assert whole[-1]
    assert not whole[0]
    print(f"{whole.count(False)} of {len(whole)} disks were full")  # noqa: T201
