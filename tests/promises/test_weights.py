"""A weighted mean is nobody's: not that of a firm that stands for five hundred others, either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr


def firms(seed: int, n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    heavy = rng.random(n) < 0.1
    return pl.DataFrame(
        {
            "turnover": np.round(rng.lognormal(12, 1.2, n), 2),
            "staff": rng.integers(1, 400, n),
            "weight": np.where(heavy, 500.0, 1.0),
            "sector": rng.choice(["a", "b", "c"], n),
        }
    )


def near(frame: pl.DataFrame, made: pl.DataFrame) -> float:
    """Return the share of heavy firms whose turnover is published to 0.1 %."""
    published = np.sort(made["turnover"].unique().to_numpy())
    own = frame.filter(pl.col("weight") > 1)["turnover"].to_numpy()
    nearest = published[np.abs(published[None, :] - own[:, None]).argmin(axis=1)]
    return float((np.abs(nearest / own - 1.0) < 1e-3).mean())


def release(frame: Any, **more: Any) -> vr.Release:
    roles = {"keys": ["turnover", "staff"], "confidential": ["sector"], "other": ["weight"], "k": 5}
    return vr.anonymize(frame, method="mdav", **roles, **more)


@pytest.mark.filterwarnings("ignore")
def test_the_turnover_of_a_firm_that_stands_for_many() -> None:
    weighted, plain, groups = [], [], []
    for seed in range(8):
        frame = firms(seed)
        made = release(frame, weights="weight", publish_weights="own")
        weighted.append(near(frame, made.table))
        plain.append(near(frame, release(frame).table))
        groups += [line for line in made.log if "rule of p percent" in line]
    assert np.mean(weighted) < np.mean(plain) + 0.05
    assert len(groups) == 8  # it is said


@pytest.mark.filterwarnings("ignore")
def test_weights_that_are_alike_keep_weighted_totals() -> None:
    rng = np.random.default_rng(0)
    frame = firms(0).with_columns(weight=pl.Series(rng.uniform(1, 5, 300)))
    made = release(frame, weights="weight")
    assert not [line for line in made.log if "rule of p percent" in line]
    before = (frame["turnover"] * frame["weight"]).sum()
    after = (made.table["turnover"] * made.table["weight"]).sum()
    assert after == pytest.approx(before, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_over_parts(tmp_path: Path) -> None:
    frame = firms(3, 900)
    (tmp_path / "src").mkdir()
    frame.write_parquet(tmp_path / "src" / "0.parquet")
    more = {"weights": "weight", "publish_weights": "own", "leaf": 300, "workers": 1}
    release(tmp_path / "src", output=tmp_path / "out", **more)
    made = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert near(frame, made) < 0.25
