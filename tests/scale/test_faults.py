"""Faults on the way: the release is the same, or it is absent; and nothing is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import voronym as vr
from scale.conftest import ROLES, fill_the_disk, people, rows, write
from voronym.run.parts import engine, spill
from voronym.run.parts.runners import local

ASKED = {**ROLES, "k": 4, "leaf": 300}


@pytest.mark.parametrize("after", [0, 1, 3, 8, 14, 20, 32, 42])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    write(people(900), tmp_path / "data", 2)
    fill_the_disk(monkeypatch, after)
    with pytest.raises(vr.WriteError, match="No space left on device"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(people(3000), tmp_path / "data", 2)
    vr.anonymize(tmp_path / "data", output=tmp_path / "one", **ASKED, workers=1)
    whole, stages, killed = local.Local._round, list[str](), list[str]()

    def interrupted(runner: local.Local, work: str, stage: str, tasks: Sequence[int], pause: Any) -> Any:
        """Kill a worker as soon as there is work for several and they have worked before."""

        def kill() -> None:
            if len(tasks) > 3 and len(stages) > 1 and not killed:
                killed.append(stage)
                os.kill(next(iter(runner._pool._processes)), signal.SIGKILL)
            pause()

        stages.append(stage)
        return whole(runner, work, stage, tasks, kill)

    monkeypatch.setattr(local.Local, "_round", interrupted)
    vr.anonymize(tmp_path / "data", output=tmp_path / "two", **ASKED, workers=2)
    assert [stages.count(stage) for stage in killed] == [2]
    assert rows(tmp_path / "one").equals(rows(tmp_path / "two"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "one", "two"]


@pytest.mark.parametrize("resume", [False, True])
def test_what_a_killed_run_left_is_no_obstacle(tmp_path: Path, resume: bool) -> None:
    write(people(900), tmp_path / "data", 2)
    for name in (".out.new-abcdefgh", ".out.work-abcdefgh", ".voronym-abcdefgh"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / ".out.lock").touch(0o600)
    vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, workers=1, resume=resume)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out"]


def test_an_unfinished_file_of_a_killed_writer_is_no_obstacle(tmp_path: Path) -> None:
    """A strange file in the folder of the release still stops it: it was never counted."""
    write(people(900), tmp_path / "data", 2)
    asked = {**ASKED, "workers": 1, "resume": True}

    def stop(step: vr.Progress) -> None:
        if "writing" in step.stage:
            raise KeyboardInterrupt

    for strange, outcome in (("thesis.parquet", pytest.raises(vr.WriteError, match="somebody else")),
                             (f".part-00000.parquet.{uuid4().hex}", contextlib.nullcontext())):  # fmt: skip
        with pytest.raises(KeyboardInterrupt):
            vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked, progress=stop)
        folder = next(tmp_path.glob(".out.new-*"))
        (folder / strange).write_bytes(b"half a file")
        with outcome:
            vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked)
        if not (tmp_path / "out").exists():
            (folder / strange).unlink()
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".parquet"}
    assert len(rows(tmp_path / "out")) == 900


def test_two_workers_with_the_same_task(tmp_path: Path) -> None:
    for text in (b"first", b"second"):
        with spill.whole(tmp_path / "file") as temporary:
            temporary.write_bytes(text)
    assert (tmp_path / "file").read_bytes() == b"first"
    assert len(list(tmp_path.iterdir())) == 1


def test_one_run_at_a_time(tmp_path: Path) -> None:
    write(people(900), tmp_path / "data", 2)
    messages: list[BaseException] = []

    def meanwhile(step: vr.Progress) -> None:
        if "round 1" in step.stage and not messages:
            with pytest.raises(vr.InputError, match="another run is at work") as result:
                vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, workers=1)
            messages.append(result.value)

    vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, workers=1, progress=meanwhile)
    assert messages
    assert len(rows(tmp_path / "out")) == 900


def test_a_folder_with_other_files_is_not_emptied(tmp_path: Path) -> None:
    write(people(900), tmp_path / "data", 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, workers=1, work=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


LIMITED = """
import os, sys
from pathlib import Path
import numpy as np
from voronym.run.parts import job, spill
from voronym.run.parts.runners.local import _begin

@job.stage("greedy")
def greedy(one, number):
    return np.ones(number * 10**6, np.uint8).sum()

folder = Path(sys.argv[1])
spill.keep(folder / "job.json", job.Job(folder, folder, (), ()))
_begin(1_500_000_000, os.getpid())
print(job.perform(str(folder), "greedy", 100))
try:
    job.perform(str(folder), "greedy", 3_000)
except Exception as error:
    print(type(error).__name__, error)
print(sorted(path.name for path in folder.iterdir()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the data of a process")
def test_a_task_that_needs_more_memory_than_a_worker_has(tmp_path: Path) -> None:
    words = [sys.executable, "-c", LIMITED, str(tmp_path)]
    sentence = subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=240
    ).stdout.splitlines()
    assert sentence[0] == "100000000"
    assert sentence[1].startswith(
        "ShortOfMemoryError a task of the stage 'greedy' needs more memory than a worker has"
    )
    assert sentence[2] == "['greedy-000100.done', 'job.json']"


def test_too_little_memory_is_said(tmp_path: Path) -> None:
    write(people(900), tmp_path / "data", 2)
    never = r"a worker needs about 367\.0 MB of memory before it has read a row, and 60\.0 MB are allowed"
    for who in ("local", "dask"):
        with pytest.raises(vr.InputError, match=never):
            vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ROLES, k=4, memory="60MB", engine=who)
    with pytest.raises(vr.InputError, match=r"leaves of 900 records.*memory='370MB' or more.*leaf"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ROLES, k=4, memory=367_100_000)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


RESERVED = """
import os, sys
from pathlib import Path
import numpy as np, polars as pl
from voronym.run.parts import counting, spill
from voronym.run.parts.runners.local import _begin
from voronym.table.schema import Column, Schema

path = Path(sys.argv[1], "rows.arrow")
counting.sort(pl.DataFrame({"x": np.arange(1000) // 5}), ["x"], ["x"], path, 3)
frame = pl.concat(spill.gather([path], 0, 3))
counting.count(frame, Schema((Column("x", "key", "numeric"),)), (), None)
held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
print(int(held.split()[1]) // 1024, flush=True)
_begin(1, os.getpid())
os.write(1, b"begun")
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the data of a process")
def test_what_is_reserved_does_not_count_as_memory(tmp_path: Path) -> None:
    """A worker that counts a thousand rows holds some 200 MB; one without any memory begins all the same."""
    surroundings = {**os.environ, **local.ALONE}
    words = [sys.executable, "-c", RESERVED, str(tmp_path)]
    message = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=True, timeout=240)
    held, begun = message.stdout.split()
    assert int(held) < 600
    assert begun == "begun"


def test_a_bucket_is_no_larger_than_a_leaf() -> None:
    assert engine.buckets_of(100_000_000, 250_000) == 400
    assert engine.buckets_of(100_000_000, 50_000) == 400  # many small ones would cost more than they spare
    assert engine.buckets_of(100_000_000, 5_000_000) == 100
    assert engine.buckets_of(900, 300) == 1


@pytest.mark.filterwarnings("ignore")
def test_dask_workers_that_wait_for_memory_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    from voronym.run.parts.runners import dask

    monkeypatch.setattr(dask, "PAUSE", 0.3)
    crew = dask.Dask(workers=1, memory=50_000_000)
    try:
        while not crew._paused:
            time.sleep(0.05)
        with pytest.raises(vr.VoronymError, match="all Dask workers pause"):
            list(crew.run(str(tmp_path), "look", [0], lambda: None))
    finally:
        crew.close()


def test_a_leader_that_nobody_asks_about_is_gone() -> None:
    """It is a zombie then, which has a number still: its workers would wait for it without end."""
    leader = subprocess.Popen([sys.executable, "-c", ""])
    assert not local._is_gone(os.getpid())
    for _ in range(200):
        if local._is_gone(leader.pid):
            break
        time.sleep(0.05)
    os.kill(leader.pid, 0)
    assert local._is_gone(leader.pid)
    leader.wait()
    assert local._is_gone(leader.pid)
