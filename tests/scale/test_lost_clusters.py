"""Machines of a cluster that are lost: the release is the same, or it is absent; and nothing is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

import voronym as vr
from scale.conftest import ROLES, people, rows, write

ASKED = {**ROLES, "k": 4, "leaf": 500}
TIMES = 10

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data set of three files, and a release of it by one process."""
    write(people(3000), tmp_path / "data", 3)
    vr.anonymize(tmp_path / "data", output=tmp_path / "local", **ASKED, workers=1)
    return tmp_path / "data"


@contextmanager
def meanwhile(what: Callable[[], None], seconds: float) -> Iterator[None]:
    """Do something after some seconds, or never, where all is over before."""
    timer = threading.Timer(seconds, what)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def dask(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler and two workers as processes of their own; give its address and the scheduler."""
    port = random.randint(20_000, 60_000)
    address = f"tcp://127.0.0.1:{port}"
    plain = ["--no-dashboard", "--host", "127.0.0.1", "--port", str(port)]
    started = [_start("distributed.cli.dask_scheduler", *plain, folder=folder)]
    work = ["--nthreads", "1", "--no-dashboard", "--death-timeout", "20"]
    started += [_start("distributed.cli.dask_worker", address, *work, folder=folder) for _ in range(2)]
    try:
        yield address, started[0]
    finally:
        for item in reversed(started):
            for child in (
                (*psutil.Process(item.pid).children(recursive=True), item) if item.poll() is None else ()
            ):
                child.kill()
            item.wait()


def _start(module: str, *words: str, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-m", module, *words], stdout=log, stderr=log, cwd=folder)


def visible(folder: Path) -> set[str]:
    """Return what is in a folder, hidden things included, but for what Dask itself wrote."""
    return {path.name for path in folder.iterdir()} - {"log", "dask-scratch-space"}


def test_dask_workers_killed_at_ten_moments(data: Path, tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    draw = random.Random(1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        for name in ("first", "warm"):
            began = time.monotonic()
            vr.anonymize(data, output=tmp_path / name, **ASKED, engine="dask", address=address)
            whole = time.monotonic() - began
        killed = 0

        def kill() -> None:
            nonlocal killed
            os.kill(draw.choice(list(cluster.workers.values())).pid, signal.SIGKILL)
            killed += 1

        runs = 0
        while killed < 10 and runs < 40:  # a run may end before its moment comes
            with Client(cluster) as client:
                client.wait_for_workers(2)  # a nanny brings another
            before, began = killed, time.monotonic()
            with meanwhile(kill, draw.uniform(0.0, 0.9 * whole)):
                vr.anonymize(data, output=tmp_path / "out", **ASKED, engine="dask", address=address)
            if killed == before:
                whole = min(whole, time.monotonic() - began)  # the machine is less busy than it was
            runs += 1
            assert rows(tmp_path / "out").equals(rows(tmp_path / "local")), runs
            shutil.rmtree(tmp_path / "out")
    assert killed == 10
    assert visible(tmp_path) == {"data", "local", "first", "warm"}


def test_the_dask_scheduler_is_killed(data: Path, tmp_path: Path) -> None:
    before = visible(tmp_path)
    for resume in (False, True):
        with dask(tmp_path) as (address, scheduler):
            reached: list[str] = []

            def kill(
                step: vr.Progress, single: subprocess.Popen[bytes] = scheduler, to: list[str] = reached
            ) -> None:
                if "round 2" in step.stage and not to:
                    to.append(step.stage)
                    single.kill()

            with pytest.raises(vr.VoronymError, match="cluster was lost: nothing was released"):
                vr.anonymize(
                    data,
                    output=tmp_path / "out",
                    **ASKED,
                    engine="dask",
                    address=address,
                    resume=resume,
                    progress=kill,
                )
            assert reached
        assert not (tmp_path / "out").exists()
        left = {name.split("-")[0] for name in visible(tmp_path) - before}
        assert left == ({".out.work", ".out.new"} if resume else set())
    vr.anonymize(data, output=tmp_path / "out", **ASKED, workers=1, resume=True)
    assert rows(tmp_path / "out").equals(rows(tmp_path / "local"))
    assert visible(tmp_path) == before | {"out"}


def test_the_dask_scheduler_is_killed_at_ten_moments(data: Path, tmp_path: Path) -> None:
    before, draw, killed, whole = visible(tmp_path), random.Random(6), 0, 0.0
    for turn in range(4 * TIMES):
        with dask(tmp_path) as (address, scheduler):
            asked = {**ASKED, "engine": "dask", "address": address, "resume": True}
            if not whole:
                for _ in range(2):  # the second finds workers that have read everything
                    began = time.monotonic()
                    vr.anonymize(data, output=tmp_path / "out", overwrite=True, **asked)
                    whole = time.monotonic() - began
                shutil.rmtree(tmp_path / "out")
            lost = None
            try:
                with meanwhile(scheduler.kill, draw.uniform(0.05, 1.0) * whole):
                    vr.anonymize(data, output=tmp_path / "out", **asked)
            except vr.VoronymError as error:
                lost = str(error)
        if lost is not None:
            killed += 1
            assert "does not answer" in lost or "cluster was lost: nothing was released" in lost
            assert not (tmp_path / "out").exists()
            for path in tmp_path.glob(".out.*"):
                assert path.stat().st_mode & 0o077 == 0, "others could read what a lost run left"
            vr.anonymize(data, output=tmp_path / "out", **ASKED, workers=1, resume=True)
        assert rows(tmp_path / "out").equals(rows(tmp_path / "local")), turn
        shutil.rmtree(tmp_path / "out")
        assert visible(tmp_path) == before
        if killed == TIMES:
            break
    assert killed == TIMES


@contextmanager
def spark(master: str, **settings: str) -> Iterator[None]:
    """Start a session, which the engine finds."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'voronym[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    build = SparkSession.builder.appName("test").master(master).config("spark.ui.enabled", "false")
    for name, value in settings.items():
        build = build.config(name.replace("_", "."), value)
    session = build.getOrCreate()
    try:
        yield
    finally:
        session.stop()


def children(word: str) -> list[psutil.Process]:
    """Return processes under this one whose command has a word."""
    results = []
    for item in psutil.Process().children(recursive=True):
        try:
            if word in " ".join(item.cmdline()):
                results.append(item)
        except psutil.Error:
            continue
    return results


@pytest.mark.parametrize(
    ("master", "word"),
    [
        ("local[2,4]", "pyspark.daemon"),
        ("local-cluster[2,1,1024]", "CoarseGrainedExecutorBackend"),
    ],
)
def test_a_spark_executor_is_killed(data: Path, tmp_path: Path, master: str, word: str) -> None:
    before = visible(tmp_path)
    killed: list[int] = []

    def kill(step: vr.Progress) -> None:
        there = children(word)
        if "round 2" in step.stage and there and not killed:
            killed.append(there[-1].pid)
            there[-1].kill()

    with spark(master):
        vr.anonymize(data, output=tmp_path / "out", **ASKED, engine="spark", progress=kill)
    assert killed
    assert rows(tmp_path / "out").equals(rows(tmp_path / "local"))
    assert visible(tmp_path) - {"spark-warehouse", "artifacts"} == before | {"out"}


KILLED = """
import json, os, signal, sys
import psutil
import voronym as vr

def kill(step):
    for process in psutil.Process().children(recursive=True):
        if "round 2" in step.stage and "java" in process.name():
            process.kill()

try:
    vr.anonymize(sys.argv[1], output=sys.argv[2], **json.loads(sys.argv[3]), engine="spark", workers=2,
                 resume=True, progress=kill)
except vr.VoronymError as error:
    print("said:", type(error).__name__, error)
"""


def test_the_machine_of_java_is_killed(data: Path, tmp_path: Path) -> None:
    """In a process of its own, which has no other session."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'voronym[spark]'")
    words = [sys.executable, "-c", KILLED, str(data), str(tmp_path / "out"), json.dumps(ASKED)]
    ended = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert "said: LostError Spark gave up in the stage" in ended.stdout, ended.stderr[-2000:]
    vr.anonymize(data, output=tmp_path / "out", **ASKED, workers=1, resume=True)
    assert rows(tmp_path / "out").equals(rows(tmp_path / "local"))
