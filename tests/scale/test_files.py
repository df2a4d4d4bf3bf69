"""A data set of many files in, a release of many files out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import voronym as vr
from scale.conftest import KEYS, ROLES, people, rows, work_of, write
from voronym.run.parts import job, source


def least(folder: Path, keys: list[str]) -> int:
    """Count k in the files of a folder by an engine that shares nothing with the library."""
    named = ", ".join(f'"{key}"' for key in keys)
    asked = f"SELECT min(c) FROM (SELECT count(*) AS c FROM '{folder}/*.parquet' GROUP BY {named})"
    with duckdb.connect() as engine:
        return int(engine.execute(asked).fetchall()[0][0])


def test_one_leaf_is_the_release_in_memory(tmp_path: Path) -> None:
    write(people(900), tmp_path / "data", 3)
    asked = {**ROLES, "k": 4, "models": ["t-closeness=0.3"]}
    made = vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked, workers=1)
    held = vr.anonymize(people(900), **asked)
    assert rows(tmp_path / "out").equals(pl.DataFrame(held.table).sort(pl.all()))
    assert made.information_loss == held.information_loss
    assert [str(item) for item in made.findings] == [str(item) for item in held.findings]


WISHES: dict[str, dict[str, Any]] = {
    "steps": {"steps": ["top age=80", "round income=10"]},
    "strata": {"strata": ["sex"], "models": ["t-closeness=0.7"]},
    "left out": {"suppress": "2%"},
    "importance": {"importance": {"age": 3.0}},
}


@pytest.mark.parametrize("wish", list(WISHES))
def test_one_leaf_is_the_table_in_memory(tmp_path: Path, wish: str) -> None:
    write(people(600), tmp_path / "data", 2)
    asked = {**ROLES, "k": 4, "method": "mdav", **WISHES[wish]}
    made = vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked, workers=1)
    held = vr.anonymize(people(600), **asked)
    assert rows(tmp_path / "out").equals(pl.DataFrame(held.table).sort(pl.all()))
    assert [str(item) for item in made.findings] == [str(item) for item in held.findings]
    assert made.rows == len(held.table)


def test_leaves_keep_every_promise(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voronym.run.parts.engine.FILE", 1000)
    made = vr.anonymize(data, output=tmp_path / "out", **ROLES, k=4, workers=1, leaf=1000)
    out, before = rows(tmp_path / "out"), people()
    assert made.folder.files == 6
    assert made.k == least(tmp_path / "out", KEYS) >= 4
    assert out.columns == before.drop("name").columns
    assert out["ill"].sort().equals(before["ill"].sort())
    assert dict(out.schema) == dict(before.drop("name").schema)
    assert out["income"].min() >= before["income"].min()
    assert set(out["town"]) <= set(before["town"])
    assert 1000 < made.folder.groups <= 1500
    assert 0 < made.group_loss < made.information_loss < 30
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_workers_do_not_matter(data: Path, tmp_path: Path) -> None:
    asked = {**ROLES, "k": 4, "leaf": 1000, "models": ["t-closeness=0.35"]}
    first = vr.anonymize(data, output=tmp_path / "one", **asked, workers=1)
    second = vr.anonymize(data, output=tmp_path / "two", **asked, workers=2)
    assert rows(tmp_path / "one").equals(rows(tmp_path / "two"))
    assert first.findings == second.findings
    assert least(tmp_path / "two", KEYS) >= 4
    again = vr.anonymize(
        data, output=tmp_path / "three", recipe=vr.Recipe.from_toml(second.recipe.to_toml()), workers=1
    )
    assert rows(tmp_path / "three").equals(rows(tmp_path / "one"))
    assert again.recipe == second.recipe
    other = vr.anonymize(data, output=tmp_path / "four", **{**asked, "leaf": 1500}, workers=1)
    assert not rows(tmp_path / "four").equals(rows(tmp_path / "one"))
    assert other.k >= 4


def test_rows_come_in_a_fresh_order(data: Path, tmp_path: Path) -> None:
    asked = {**ROLES, "k": 4, "leaf": 1500, "workers": 1}
    frames = []
    for name in ("one", "two"):
        vr.anonymize(data, output=tmp_path / name, **asked)
        frames.append(pl.read_parquet(tmp_path / name / "part-00000.parquet"))
    assert not frames[0].equals(frames[1])
    place = pl.concat([frames[0].with_row_index(), people()["ill"].to_frame("was")], how="horizontal")
    assert abs((place["ill"] == place["was"]).mean() - 0.38) < 0.05  # what chance gives


def test_models_are_judged_against_the_whole(tmp_path: Path) -> None:
    frame = people(4000).with_columns(
        ill=pl.when(pl.col("age") < 30).then(pl.lit("flu")).otherwise(pl.col("ill"))
    )
    write(frame, tmp_path / "data", 2)
    made = vr.anonymize(
        tmp_path / "data", output=tmp_path / "out", keys=["age", "income"], confidential=["ill"],
        drop_undeclared=True, k=4, models=["t-closeness=0.45"], leaf=1000, workers=1,
    )  # fmt: skip
    out = rows(tmp_path / "out")
    q = dict(frame["ill"].value_counts(normalize=True).iter_rows())
    worst = 0.0
    for _, group in out.group_by(["age", "income"]):  # by hand: half the sum of differences
        p = dict(group["ill"].value_counts(normalize=True).iter_rows())
        worst = max(worst, sum(abs(p.get(item, 0.0) - q[item]) for item in q) / 2)
    finding = next(item for item in made.findings if item.model == "t-closeness")
    assert finding.value == pytest.approx(worst)
    assert worst <= 0.45 + 1e-9


@pytest.mark.slow
def test_rounds_win_back_what_borders_cost(tmp_path: Path) -> None:
    X = np.random.default_rng(1).standard_normal((20_000, 4))
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(4)})
    write(frame, tmp_path / "data", 1)
    asked = {"keys": frame.columns, "k": 5, "method": "pairs", "options": {"sweeps": 60.0}, "workers": 1}
    loss = {}
    for rounds in (1, 4):
        made = vr.anonymize(
            tmp_path / "data", output=tmp_path / f"out{rounds}", **asked, leaf=1000, rounds=rounds
        )
        loss[rounds] = made.group_loss
    Z = vr.standardize(X)
    whole = vr.information_loss(Z, vr.microaggregate(Z, 5, method="pairs", sweeps=60.0))
    assert loss[4] < 0.98 * loss[1]
    assert loss[4] < 1.03 * whole


def test_what_is_left_is_resumed(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {**ROLES, "k": 4, "leaf": 1000, "workers": 1, "resume": True}
    calls = []

    def stop(step: vr.Progress) -> None:
        calls.append(step.stage)
        if "round 2" in step.stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vr.anonymize(data, output=tmp_path / "out", **asked, progress=stop)
    work = work_of(tmp_path / "out")
    kept = sorted(work.iterdir())
    assert len(kept) > 5
    assert {oct(path.stat().st_mode & 0o777) for path in kept} == {"0o600"}
    assert oct(work.stat().st_mode & 0o777) == "0o700"
    assert not any(b"person " in path.read_bytes() for path in kept)  # identifiers
    done = []
    real = job.STAGES["round"]
    monkeypatch.setitem(
        job.STAGES, "round", lambda single, number: done.append(number[0]) or real(single, number)
    )
    vr.anonymize(data, output=tmp_path / "out", **asked, memory="3GB", engine="local")  # which may differ
    assert 0 not in done
    vr.anonymize(data, output=tmp_path / "plain", **{**asked, "resume": False})
    assert rows(tmp_path / "out").equals(rows(tmp_path / "plain"))
    assert not work.exists()


def test_what_is_left_of_another_request_is_not_resumed(data: Path, tmp_path: Path) -> None:
    asked = {**ROLES, "k": 4, "leaf": 1000, "workers": 1, "resume": True}

    def stop(_: vr.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vr.anonymize(data, output=tmp_path / "out", **asked, progress=stop)
    with pytest.raises(vr.InputError, match="belongs to another run, with other files or choices"):
        vr.anonymize(data, output=tmp_path / "out", **{**asked, "suppress": "1%"})
    assert not (tmp_path / "out").exists()


def test_cancelling_leaves_nothing(data: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())

    def stop(step: vr.Progress) -> None:
        if "writing" in step.stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vr.anonymize(data, output=tmp_path / "out", **ROLES, k=4, leaf=1000, workers=1, progress=stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("leaf", [1000, pytest.param(250_000, marks=pytest.mark.slow)])
def test_the_plan_knows_the_bytes(data: Path, tmp_path: Path, leaf: int) -> None:
    asked = {**ROLES, "k": 4, "leaf": leaf, "models": ["t-closeness=0.9"], "workers": 1}
    planned = vr.plan(data, **asked)
    most, output = 0, []

    def look(step: vr.Progress) -> None:
        nonlocal most
        here = [path.stat().st_size for path in work_of(tmp_path / "out").glob("[!.]*.arrow")]
        most = max(most, sum(here))

        output.append(step.stage)

    made = vr.anonymize(data, output=tmp_path / "out", **asked, progress=look)
    assert leaf > 6000 or any(re.fullmatch(r".*: \d+ of \d+, \d+ kB spilled", item) for item in output)
    assert planned.bytes_spilled == pytest.approx(made.folder.bytes_spilled, rel=0.2)
    assert planned.disk_needed == pytest.approx(most, rel=0.2)


def test_leaves_of_one_group_each_say_so(tmp_path: Path) -> None:
    """Only one record of each leaf has the third value that every group needs: no age is left."""
    ill = ["flu" if i % 2 else "cold" for i in range(400)]
    ill[60] = ill[300] = "rare"
    table = pl.DataFrame({"age": range(400), "ill": ill})
    asked = {"keys": ["age"], "confidential": ["ill"], "k": 5, "workers": 1, "leaf": 200, "rounds": 1}
    source = write(table, tmp_path / "data", 2)
    with pytest.warns(UserWarning, match=r"400 of 400 records .* one group each \(2 of 2\).* weaker model"):
        made = vr.anonymize(source, output=tmp_path / "one", models=["p-sensitive=3"], **asked)
    assert made.folder.groups == rows(made.folder.path)["age"].n_unique() == 2
    vr.anonymize(source, output=tmp_path / "several", **asked)  # several groups: not a word


def test_a_large_row_group_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One group of three times the rows of a part, between small ones: the same rows, in the same order."""
    import pyarrow.parquet as pq

    monkeypatch.setattr(source, "PART", 100)
    monkeypatch.setattr(source, "BATCH", 30)
    frame = people(500).with_row_index("at")
    with pq.ParquetWriter(tmp_path / "a.parquet", frame.to_arrow().schema) as file:
        for start, end in ((0, 40), (40, 90), (90, 440), (440, 500)):
            file.write_table(frame[start:end].to_arrow(), row_group_size=1000)
    data = source.survey([tmp_path / "a.parquet"])
    assert [part.rows for part in data.parts] == [90, 100, 100, 100, 50, 60]
    read = [source.load(part, ["at", "age"], data.types) for part in data.parts]
    assert pl.concat(read)["at"].to_list() == list(range(500))
    few = source.load(data.parts[2], ["at"], data.types, 7)
    assert few["at"].to_list() == list(range(190, 197))
