"""Writing that goes wrong leaves what was there, and nothing else."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from table.test_write import BROKEN, GOOD, SUFFIXES, names
from voronym.core import place
from voronym.errors import InputError, WriteError
from voronym.table import check, write


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(WriteError, match="exists already"):
        write(GOOD, path, keys=["age"], k=2)
    with pytest.raises(WriteError, match="fewer than k=2"):
        write(BROKEN, path, keys=["age"], k=2, overwrite=True)
    assert path.read_text() == "old"
    write(GOOD, path, keys=["age"], k=2, overwrite=True)
    assert path.read_text().startswith("age,word,secret\n")
    assert names(tmp_path) == ["out.csv"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    count = check.count_delimited

    def slow(*args: Any) -> tuple[int, int]:
        path.write_text("somebody else's")
        return count(*args)

    monkeypatch.setattr(check, "count_delimited", slow)
    with pytest.raises(WriteError, match="exists already"):
        write(GOOD, path, keys=["age"], k=2)
    assert path.read_text() == "somebody else's"
    assert names(tmp_path) == ["out.csv"]


def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)
    assert names(tmp_path) == ["out.csv"]
    with pytest.raises(WriteError, match="exists already"):
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)


@pytest.mark.parametrize("step", ["_flush", "_count", "digest_of", "move"])
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()]
)
def test_interrupted_at_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: Any
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(place.File if step == "move" else sys.modules["voronym.table.write"], step, fail)
    with pytest.raises((WriteError, KeyboardInterrupt)) as caught:
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)
    assert isinstance(caught.value, KeyboardInterrupt) == isinstance(error, KeyboardInterrupt)
    assert names(tmp_path) == []


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk, in a process of its own."""
    script = (
        "import resource, sys, polars as pl\n"
        "from voronym.errors import WriteError\n"
        "from voronym.table import write\n"
        "table = pl.DataFrame({'age': range(200_000)}).with_columns(age=pl.col('age').hash() // 2)\n"
        "table = pl.concat([table, table])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        write(table, path, keys=['age'], k=2)\n"
        "    except WriteError as error:\n"
        "        print(error)\n"
    )
    paths = [str(tmp_path / f"out{suffix}") for suffix in SUFFIXES]
    done = subprocess.run(
        [sys.executable, "-c", script, *paths], capture_output=True, text=True, timeout=120, check=True
    )
    text = done.stdout.splitlines()
    assert len(text) == len(SUFFIXES)
    assert all(f"could not write 'out{suffix}'" in line for suffix, line in zip(SUFFIXES, text, strict=True))
    assert names(tmp_path) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 65536


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path, message in [
        (tmp_path / "folder.csv", "is a folder"),
        (tmp_path, "is a folder; name a file in it"),
        (tmp_path / "nowhere" / "out.csv", "does not exist"),
        (tmp_path / "out.xyz", ".xyz files cannot be written; use one of .csv"),
        (tmp_path / "out.sas7bdat", "can be read but not written"),
        (tmp_path / "out.parquet.gz", "only text files are packed"),
        (tmp_path / "out", "no suffix that says its format"),
        (Path("/dev/full"), "no suffix"),
    ]:
        with pytest.raises(WriteError, match=message):
            write(GOOD, path, keys=["age"], k=2, overwrite=True)
    with pytest.raises(WriteError, match="not a regular file"):
        write(GOOD, "/dev/full", keys=["age"], k=2, overwrite=True, format="csv")
    with pytest.raises(WriteError, match="no column 'nope'"):
        write(GOOD, tmp_path / "out.csv", keys=["nope"], k=2)
    with pytest.raises(WriteError, match="no key"):
        write(GOOD, tmp_path / "out.csv", keys=[], k=2)
    with pytest.raises(InputError, match="delimiter"):
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2, delimiter="ab")
    with pytest.raises(WriteError, match="no format is called"):
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2, format="xls")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WriteError, match="Permission denied"):
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)
    tmp_path.chmod(0o700)
