"""Keys of every kind, in leaves: types, ranges and resolutions are kept, and engines agree."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from scale.conftest import rows, write

N = 900


def tables() -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    """Return tables of keys, and what is said about them."""
    rng = np.random.default_rng(3)
    times = pl.Series(rng.integers(0, 10**7, N) * 60_000_000).cast(pl.Datetime("us", "UTC"))
    many = [f"town {i}" for i in np.minimum(rng.geometric(0.02, N), 150)]
    codes = rng.integers(1, 30, N)
    debts = pl.Series([Decimal(int(x)) / 100 for x in rng.integers(-(10**6), 10**6, N)]).cast(
        pl.Decimal(12, 2)
    )
    return {
        "places": (
            pl.DataFrame({"lat": rng.normal(41, 1, N), "lon": rng.normal(2, 1, N), "age": codes}),
            {"locations": [("lat", "lon")]},
        ),
        "money": (
            pl.DataFrame({
                "debt": debts,
                "score": pl.Series(rng.normal(0, 1, N)).cast(pl.Float32),
                "big": rng.integers(2**60, 2**60 + 10**6, N),
                "small": pl.Series(rng.integers(0, 200, N)).cast(pl.UInt8),
            }),
            {},
        ),
        "times": (
            pl.DataFrame({
                "seen": times, "born": times.dt.date(), "left": times.set(pl.Series(codes < 5), None),
            }),
            {},
        ),
        "categories": (
            pl.DataFrame({
                "town": many, "smokes": rng.random(N) < 0.2, "floor": rng.integers(0, 9, N),
                "none": pl.Series([None] * N, dtype=pl.String),
            }),
            {"kinds": {"floor": "ordinal"}},
        ),
        "texts": (
            pl.DataFrame({
                "age": [str(x) for x in rng.integers(20, 80, N)], "zip": [f"{x:05d}" for x in codes],
            }),
            {"kinds": {"age": "numeric"}},
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["places", "money", "categories", *(pytest.param(n, marks=pytest.mark.slow) for n in ("times", "texts"))],
)
@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_key(name: str, tmp_path: Path) -> None:
    keys, text = tables()[name]
    ill = np.random.default_rng(4).choice(["flu", "cold", "none"], N, p=[0.2, 0.3, 0.5])
    frame = keys.with_columns(ill=pl.Series(ill))
    write(frame, tmp_path / "data", 3)
    asked = {"keys": keys.columns, "confidential": ["ill"], "k": 4, "models": ["t-closeness=0.4"], **text}
    single = vr.anonymize(tmp_path / "data", output=tmp_path / "one", **asked, leaf=300, workers=1)
    out = rows(tmp_path / "one")
    whole = vr.anonymize(frame, **asked)
    held = pl.DataFrame(whole.table)
    assert dict(out.schema) == dict(held.schema)
    assert out.group_by(keys.columns).len()["len"].min() >= 4
    for key in keys.columns:
        values = held[key] if name == "texts" else frame[key]
        if values.dtype.is_numeric() or values.dtype.is_temporal():
            assert out[key].min() >= frame[key].cast(values.dtype).min()
            assert out[key].max() <= frame[key].cast(values.dtype).max()
        else:
            assert set(out[key]) <= set(frame[key])
    if name == "times":
        assert (out["seen"].dt.second() == 0).all()  # the resolution of the column
    assert single.group_loss < 3.0 * whole.group_loss + 1.0  # a leaf has 75 groups
    in_one_leaf = vr.anonymize(tmp_path / "data", output=tmp_path / "whole", **asked, workers=1)
    assert rows(tmp_path / "whole").equals(held.sort(pl.all()))
    assert in_one_leaf.findings == whole.findings


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["places", "money", "categories", *(pytest.param(n, marks=pytest.mark.slow) for n in ("times", "texts"))],
)
@pytest.mark.filterwarnings("ignore")
def test_engines_agree_on_every_kind(name: str, tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    keys, text = tables()[name]
    frame = keys.with_columns(ill=pl.Series(np.random.default_rng(4).choice(["flu", "cold"], N)))
    write(frame, tmp_path / "data", 3)
    asked = {"keys": keys.columns, "confidential": ["ill"], "k": 4, "models": ["t-closeness=0.4"], **text}
    asked |= {"leaf": 300}
    vr.anonymize(tmp_path / "data", output=tmp_path / "one", **asked, workers=1)
    vr.anonymize(tmp_path / "data", output=tmp_path / "two", **asked, workers=2)
    assert rows(tmp_path / "two").equals(rows(tmp_path / "one"))
    for workers in (1, 2, 3):
        threads = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
        with LocalCluster(n_workers=workers, **threads) as cluster, Client(cluster) as client:
            at = client.scheduler.address
            vr.anonymize(
                tmp_path / "data", output=tmp_path / f"d{workers}", **asked, engine="dask", address=at
            )
        assert rows(tmp_path / f"d{workers}").equals(rows(tmp_path / "one"))


@pytest.fixture(scope="module")
def spark() -> Iterator[None]:
    """A session, which the engine finds."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'voronym[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield
    session.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["places", "money", "categories", *(pytest.param(n, marks=pytest.mark.slow) for n in ("times", "texts"))],
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("spark")
def test_spark_agrees_on_every_kind(name: str, tmp_path: Path) -> None:
    keys, text = tables()[name]
    frame = keys.with_columns(ill=pl.Series(np.random.default_rng(4).choice(["flu", "cold"], N)))
    write(frame, tmp_path / "data", 3)
    asked = {"keys": keys.columns, "confidential": ["ill"], "k": 4, "models": ["t-closeness=0.4"], **text}
    vr.anonymize(tmp_path / "data", output=tmp_path / "local", **asked, leaf=300, workers=1)
    vr.anonymize(tmp_path / "data", output=tmp_path / "spark", **asked, leaf=300, engine="spark")
    assert rows(tmp_path / "spark").equals(rows(tmp_path / "local"))
