"""The same release from every engine, whatever the number of workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import voronym as vr
from scale.conftest import ROLES, people, rows, write

ASKED = {**ROLES, "k": 4, "leaf": 1000, "models": ["t-closeness=0.35"]}


@pytest.fixture
def local(data: Path, tmp_path: Path) -> Path:
    vr.anonymize(data, output=tmp_path / "local", **ASKED, workers=1)
    return tmp_path / "local"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_dask(data: Path, tmp_path: Path, local: Path, workers: int) -> None:
    from distributed import Client, LocalCluster

    threads = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
    with LocalCluster(n_workers=workers, **threads) as cluster, Client(cluster) as client:
        address = client.scheduler.address
        made = vr.anonymize(data, output=tmp_path / "dask", **ASKED, engine="dask", address=address)
    assert rows(tmp_path / "dask").equals(rows(local))
    assert made.recipe.engine == "dask"


@pytest.mark.filterwarnings("ignore")
def test_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'voronym[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    data = write(people(1500), tmp_path / "few", 2)  # every task is a process of its own
    asked = {**ASKED, "leaf": 800}
    vr.anonymize(data, output=tmp_path / "local", **asked, workers=1)
    vr.anonymize(data, output=tmp_path / "spark", **asked, engine="spark", workers=2)
    assert rows(tmp_path / "spark").equals(rows(tmp_path / "local"))


def test_an_engine_that_is_not_there(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voronym.run.parts.runners.dask.ANSWER", 0.5)
    with pytest.raises(vr.InputError, match="engine"):
        vr.anonymize(data, output=tmp_path / "out", **ASKED, engine="hadoop")
    with pytest.raises(vr.VoronymError, match="does not answer"):
        vr.anonymize(
            data, output=tmp_path / "out", **ASKED, engine="dask", address="tcp://127.0.0.1:9", workers=1
        )
    made = vr.anonymize(data, output=tmp_path / "made", **ASKED, workers=1)
    assert made.recipe.engine == "local"
    with pytest.raises(vr.VoronymError, match="does not answer"):  # a recipe runs on another engine, too
        vr.anonymize(
            data, output=tmp_path / "out", recipe=made.recipe, engine="dask", address="tcp://127.0.0.1:9"
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_release_in_a_folder_becomes_a_frame_of_dask(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("dask.dataframe")
    table, asked = vr.datasets.hospital(60), {"keys": ["age", "weight"], "k": 3, "drop_undeclared": True}
    (tmp_path / "in").mkdir()
    store = pl.DataFrame.write_parquet if suffix == "parquet" else pl.DataFrame.write_csv
    store(table[:30], tmp_path / "in" / f"a.{suffix}")
    store(table[30:], tmp_path / "in" / f"b.{suffix}")
    release = vr.anonymize(tmp_path / "in", output=tmp_path / "out", **asked)
    frame = release.frame("dask")
    assert type(frame).__module__.startswith("dask")
    lazy = release.frame()
    assert isinstance(lazy, pl.LazyFrame)
    both = [pl.from_pandas(frame.compute()), lazy.collect()]
    assert both[0].sort("age", "weight").equals(both[1].sort("age", "weight"))
    assert min(both[0].group_by("age", "weight").len()["len"]) >= 3
    in_memory = vr.anonymize(table, **asked)
    assert in_memory.frame("dask").shape[1] == 2
    for made in (release, in_memory):
        assert made.frame("pandas").shape == (60, 2)
        with pytest.raises(vr.InputError, match="frame of 'nonsense'"):
            made.frame("nonsense")
