"""Data sets of many files, measured: the same as one table, where that is promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voronym as vr
from scale.conftest import people, write
from scale.test_cli import call
from voronym.run.parts import measuring

KEYS = ["sex", "town", "grade"]


def coarse(n: int = 3000) -> pl.DataFrame:
    """Return a table with two confidential columns and gaps."""
    rng = np.random.default_rng(7)
    pay = pl.Series(rng.integers(1, 9, n) * 100.0).set(pl.Series(rng.random(n) < 0.03), None)
    return people(n).drop("name").with_columns(pay=pay)


def test_counts_and_models_are_those_of_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voronym.run.parts.engine.FILE", 700)  # several buckets
    frame = coarse()
    write(frame, tmp_path / "data", 4)
    asked = {"keys": KEYS, "confidential": ["ill", "pay"], "models": ["k-anonymity=5", "l-diversity=2"]}
    result = vr.measure(tmp_path / "data", **asked, workers=1)
    held = vr.measure(frame, **asked)
    assert result.risk == held.risk
    assert result.risk.k == frame.group_by(KEYS).len()["len"].min()
    counted = {item.model: item for item in held.findings}
    assert {"k-anonymity", "l-diversity", "t-closeness", "mutual-information"} <= {
        item.model for item in result.findings
    }
    for item in result.findings:
        other = counted[item.model]
        assert item.holds == other.holds
        assert item.value == pytest.approx(other.value, rel=1e-12), item.model
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_model_of_a_population_is_counted_too(tmp_path: Path) -> None:
    write(coarse(1500), tmp_path / "data", 2)
    coarse(4000).select(KEYS).write_parquet(tmp_path / "everybody.parquet")
    model = f"k-map=3,population={tmp_path / 'everybody.parquet'}"
    parts = vr.measure(tmp_path / "data", keys=KEYS, models=[model], workers=1)
    whole = vr.measure(coarse(1500), keys=KEYS, models=[model])
    assert [str(finding) for finding in parts.findings] == [str(finding) for finding in whole.findings]


def test_a_class_whose_rows_lie_in_many_files_is_one(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x"] * 3 + ["y"] * 3, "b": [1, 2, 3, 1, 2, 3]})
    write(frame.sort("b"), tmp_path / "data", 3)
    result = vr.measure(tmp_path / "data", keys=["a"], workers=1)
    assert result.risk.k == 3
    assert result.risk.histogram == {3: 2}


def test_what_is_sampled_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "BESIDE", 400)
    before = coarse()
    after = before.with_columns(income=pl.col("income").mean())
    write(before, tmp_path / "before", 3)
    write(after, tmp_path / "after", 2)
    asked = {"keys": ["age", "income"], "confidential": ["ill"], "workers": 1}
    result = vr.measure(tmp_path / "after", original=tmp_path / "before", **asked)
    assert result.utility is not None
    assert result.linkage is None
    assert any("400 of 3,000 records" in note for note in result.notes)
    assert result.risk == vr.measure(after, keys=["age", "income"]).risk  # counted over all


def test_a_sample_is_drawn_from_everywhere(tmp_path: Path) -> None:
    write(pl.DataFrame({"i": np.arange(20_000)}), tmp_path / "data", 5)
    drawn = measuring.take(tmp_path / "data", 2000, seed=3)["i"].to_numpy()
    assert len(set(drawn.tolist())) == 2000
    assert abs(drawn.mean() - 10_000) < 4 * 20_000 / np.sqrt(12 * 2000)
    per = np.bincount(drawn // 4000, minlength=5)
    assert per.min() > 300
    assert not np.array_equal(drawn, measuring.take(tmp_path / "data", 2000, seed=4)["i"].to_numpy())


def test_the_command_line(tmp_path: Path) -> None:
    write(coarse(1500), tmp_path / "data", 3)
    words = ["measure", tmp_path / "data", "--key", ",".join(KEYS), "--confidential", "ill"]
    code, text = call(*words, "-k", 2)
    assert code == 0, text
    assert "1,500 records" in text
    code, text = call(*words, "-k", 1000)
    assert code == 3, text
    assert call(*words, "--aligned")[0] == 1
    code, text = call("compare", tmp_path / "data", "--key", "age,income", "-k", 5, "--method", "kd")
    assert code == 0, text
    assert "1,500 records drawn at random" in text
