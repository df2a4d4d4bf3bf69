"""A work folder that somebody else made, or may write to: nothing in it is run, read or written."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr

STRANGER = 65534
SOURCES = Path(vr.__file__).parent


class Proof:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "src").mkdir()
    for part in range(2):
        frame = {"age": rng.integers(18, 90, 150), "ill": rng.choice(["a", "b"], 150)}
        pl.DataFrame(frame).write_parquet(tmp_path / "src" / f"{part}.parquet")
    return tmp_path / "src"


def run(data: Path, **more: Any) -> vr.Release:
    asked = {"keys": ["age"], "confidential": ["ill"], "k": 5, "method": "mdav", "workers": 1, **more}
    return vr.anonymize(data, output=data.parent / "release", **asked)


def plant(folder: Path, proof: Path) -> None:
    folder.mkdir()
    for name in ("job.pickle", "job.json", "look-000000.done", "whole-000000.done", "write-000000.done"):
        (folder / name).write_bytes(pickle.dumps(Proof(proof)))


@pytest.mark.parametrize("name", [".release.work", ".release.work-abcdefgh"])
@pytest.mark.parametrize("how", ["open", "link", "stranger"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_planted_work_folder(data: Path, name: str, how: str, resume: bool) -> None:
    work, proof = data.parent / name, data.parent / "proof"
    plant(data.parent / "planted" if how == "link" else work, proof)
    if how == "link":
        (data.parent / "planted").chmod(0o700)
        work.symlink_to(data.parent / "planted")
    elif how == "stranger":
        if os.geteuid() != 0:
            pytest.skip("only the superuser can give a folder away")
        os.chown(work, STRANGER, STRANGER)
        work.chmod(0o700)
    else:
        work.chmod(0o777)
    before = {path.name: path.read_bytes() for path in work.iterdir()}
    if resume:
        with pytest.raises(vr.InputError, match="is not ours"):
            run(data, resume=True)
        assert not (data.parent / "release").exists()
    else:
        assert run(data).risk.k >= 5
    assert not proof.exists()
    assert {path.name: path.read_bytes() for path in work.iterdir()} == before


def test_who_watches_the_folder_sees_no_way_in(data: Path) -> None:
    """The folder of a run has a name of its own each time, is the owner's alone, and holds no pickle."""
    seen: list[Path] = []

    def look(_: vr.Progress) -> None:
        for path in data.parent.glob(".release.*"):
            seen.append(path)
            assert path.stat().st_mode & 0o077 == 0
            for inside in path.iterdir() if path.is_dir() else ():
                assert not inside.read_bytes().startswith(b"\x80")  # how a pickle begins

    for _ in range(2):
        run(data, overwrite=True, progress=look)
    names = {path.name for path in seen}
    assert len([name for name in names if re.fullmatch(r"\.release\.work-\w{8}", name)]) == 2
    assert len([name for name in names if re.fullmatch(r"\.release\.new-\w{8}", name)]) == 2


def test_a_folder_that_is_swapped_is_noticed(data: Path) -> None:
    """In a folder that all may write to, somebody takes the work folder away and puts their own there."""
    done = []

    def swap(step: vr.Progress) -> None:
        work = next(data.parent.glob(".release.work-*"))
        if not done and (work / "recipe.json").exists():
            done.append(work.rename(data.parent / "taken"))
            plant(work, data.parent / "proof")
            work.chmod(0o777)

    with pytest.raises(vr.ReadError, match="is not ours"):
        run(data, progress=swap)
    assert done
    assert not (data.parent / "release").exists()
    assert not (data.parent / "proof").exists()


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_place_where_others_may_swap_folders(data: Path, mode: int) -> None:
    place = data.parent / "place"
    place.mkdir()
    place.chmod(mode)
    with pytest.raises(vr.InputError, match="other users of this machine may change"):
        run(data, work=place)
    place.chmod(0o1777)
    assert run(data, work=place).risk.k >= 5
    assert list(place.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a folder away")
@pytest.mark.parametrize("link", [False, True])
def test_a_place_of_somebody_else(data: Path, link: bool) -> None:
    place = data.parent / "place"
    if link:
        (data.parent / "mine").mkdir()
        place.symlink_to(data.parent / "mine")
        os.lchown(place, STRANGER, STRANGER)
    else:
        place.mkdir()
        os.chown(place, STRANGER, STRANGER)
    with pytest.raises(vr.InputError, match="other users of this machine may change"):
        run(data, work=place)


@pytest.mark.parametrize("how", ["link", "folder", "stranger"])
def test_a_planted_lock(data: Path, how: str) -> None:
    lock, secret = data.parent / ".release.lock", data.parent / "secret"
    secret.write_text("mine")
    if how == "link":
        lock.symlink_to(secret)
    elif how == "folder":
        lock.mkdir()
    else:
        lock.touch()
        if os.geteuid() != 0:
            pytest.skip("only the superuser can give a file away")
        os.chown(lock, STRANGER, STRANGER)
    with pytest.raises(vr.InputError, match="belongs to another user"):
        run(data)
    assert secret.read_text() == "mine"


def test_nothing_is_unpickled() -> None:
    """No module reads a pickle. Numba keeps machine code in its own way, beside the package."""
    reads = re.compile(
        r"\bpickle\.loads?\b|\bUnpickler\b|cloudpickle|joblib|\bshelve\b|\bmarshal\b|allow_pickle=True"
    )
    results = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        for line in path.read_text().splitlines()
        if reads.search(line)
    ]
    assert results == []


def test_an_executors_message_is_no_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pyarrow as pa

    from voronym.run.parts.runners import spark

    def perform(_: str, stage: str, number: int) -> Any:
        if stage == "bad":
            raise vr.GuaranteeError("k cannot be reached")
        return {"rows": number, "counts": np.arange(3)}

    monkeypatch.setattr(spark, "perform", perform)
    asked = pa.RecordBatch.from_pydict({"id": [0, 1]})
    rows = [row for batch in spark._doing("work", "good", [4, 7])([asked]) for row in batch.to_pylist()]
    assert [row["number"] for row in rows] == [4, 7]
    assert spark._answer(rows[1]["answer"])["rows"] == 7
    assert spark._answer(rows[1]["answer"])["counts"].tolist() == [0, 1, 2]
    row = next(spark._doing("work", "bad", [4, 7])([asked])).to_pylist()[0]
    with pytest.raises(vr.GuaranteeError, match="k cannot be reached"):
        spark._answer(row["answer"])
    proof = tmp_path / "proof"
    with pytest.raises(vr.ReadError, match="changed after it was written"):
        spark._answer(pickle.dumps(("", Proof(proof))))
    assert not proof.exists()


def test_the_old_attack_from_the_command_line(data: Path) -> None:
    home = data.parent
    plant(home / ".release.work", home / "proof")
    (home / ".release.work").chmod(0o777)
    words = [sys.executable, "-m", "voronym.cli", "anonymize", str(data), "-o", str(home / "release"),
             "--key", "age", "--confidential", "ill", "-k", "5", "--workers", "1"]  # fmt: skip
    done = subprocess.run([*words, "--resume"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not ours" in " ".join(done.stderr.split())
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (home / "proof").exists()
