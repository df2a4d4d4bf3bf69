"""Data sets of many files, small ones."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from voronym.run.parts import spill

KEYS = ["age", "income", "sex", "town", "born", "grade"]
ROLES = {
    "keys": KEYS,
    "confidential": ["ill"],
    "identifiers": ["name"],
    "orders": {"grade": ["low", "mid", "high"]},
}


def people(n: int = 6000, seed: int = 0) -> pl.DataFrame:
    """Make a table with all kinds of keys, with gaps."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": age,
            "income": pl.Series(np.round(rng.lognormal(3, 1, n), 2)).set(pl.Series(age % 17 == 0), None),
            "sex": rng.choice(["f", "m"], n),
            "town": pl.Series(rng.choice([*"abcdefghij", None], n).tolist()),
            "born": pl.Series(rng.integers(0, 20_000, n)).cast(pl.Int32).cast(pl.Date),
            "grade": rng.choice(["low", "mid", "high"], n, p=[0.5, 0.3, 0.2]),
            "ill": rng.choice(["flu", "cold", "none"], n, p=[0.2, 0.3, 0.5]),
        }
    )


def write(frame: pl.DataFrame, folder: Path, files: int) -> Path:
    """Write a table as several Parquet files with several row groups."""
    folder.mkdir()
    ends = np.linspace(0, len(frame), files + 1).astype(int)
    for i in range(files):
        piece = frame[ends[i] : ends[i + 1]]
        piece.write_parquet(folder / f"part-{i}.parquet", row_group_size=max(1, len(piece) // 3))
    return folder


def rows(folder: Path) -> pl.DataFrame:
    """Return all rows of a release, sorted."""
    frame = pl.concat([pl.read_parquet(file) for file in sorted(folder.glob("*.parquet"))])
    return frame.sort(pl.all())


def work_of(output: Path) -> Path:
    """Return the work folder that a run to an output has, or left; else a folder that is not there."""
    left = sorted(output.parent.glob(f".{output.name}.work-*"))
    assert len(left) < 2, left
    return left[0] if left else output.parent / "none"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data set of three files."""
    return write(people(), tmp_path / "people", 3)


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let a disk be full after so many files were put in place."""
    real, calls = os.link, []

    def full(*paths: Path) -> None:
        calls.append(paths)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*paths)

    monkeypatch.setattr(spill.os, "link", full)
