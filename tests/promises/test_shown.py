"""What is shown of values, fetched from afar, or chosen to be published: small promises of several pages."""

from __future__ import annotations

import stat
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym import cli
from voronym.table.places.store import fetched


def test_a_category_of_one_person_is_not_published_beside_others() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        job = np.where(
            rng.random(90) < 0.2, [f"own{i}" for i in range(90)], rng.choice(["nurse", "cook"], 90)
        )
        table = pl.DataFrame({"age": rng.integers(20, 80, 90), "job": job, "row": np.arange(90)})
        asked: dict[str, Any] = {"keys": ["age", "job"], "other": ["row"], "k": 3, "method": "mdav"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shown = vr.anonymize(table, **asked, allow_near_unique=["job"]).table
        both = shown.join(table.select("row", own=pl.col("job").str.starts_with("own")), on="row")
        for (_, name), group in both.group_by("age", "job"):
            assert not str(name).startswith("own") or group["own"].all()


def test_gaps_are_chosen_by_keys_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    keys = {"age": rng.integers(20, 40, 120), "job": rng.choice(list("abcdef"), 120), "row": np.arange(120)}
    drawn = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: drawn(0 if seed is None else seed))
    made = []
    for ill in (
        rng.choice(["flu", "gout"], 120),
        ["flu"] * 119 + ["hiv"],
        [f"x{i % 40}" for i in range(120)],
    ):
        table = pl.DataFrame({**keys, "ill": ill})
        asked: dict[str, Any] = {"keys": ["age", "job"], "confidential": ["ill"], "other": ["row"], "k": 3}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = vr.anonymize(table, **asked, method="local-suppression")
        made.append(release.table.sort("row").select("age", "job"))
    assert made[0].null_count().sum_horizontal().item() > 0
    assert made[0].equals(made[1])
    assert made[0].equals(made[2])


def test_inspect_shows_the_shape_of_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pl.DataFrame(
        {
            "name": ["Zyxilla Quorn", "Abelard Wim"] * 20,
            "pay": [987654, 123987] * 20,
            "born": ["1931-02-03"] * 40,
        }
    )
    table.write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(sys, "argv", ["voronym", "inspect", str(tmp_path / "t.csv")])
    with pytest.raises(SystemExit):
        cli.main()
    printed = "".join(capsys.readouterr())
    assert "pay" in printed
    for value in ("Zyxilla", "Quorn", "Abelard", "987654", "123987", "1931-02-03"):
        assert value not in printed


def test_what_is_fetched_is_for_its_owner_and_removed() -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe_file("/people.csv", b"age\n30\n")
    with fetched("memory://people.csv") as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.read_bytes() == b"age\n30\n"
    assert not path.parent.exists()
