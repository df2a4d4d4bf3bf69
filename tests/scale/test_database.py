"""A query to a DuckDB file as a data set."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import voronym as vr
from scale.conftest import ROLES, people, rows, work_of, write
from scale.test_cli import call

QUERY = "select * from people where age >= 30"
ASKED = {**ROLES, "k": 4, "leaf": 800, "workers": 1}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A database of one table."""
    people(3000).write_parquet(tmp_path / "people.parquet")
    with duckdb.connect(str(tmp_path / "register.duckdb")) as engine:
        engine.execute(f"create table people as from '{tmp_path}/people.parquet'")
    (tmp_path / "people.parquet").unlink()
    return tmp_path / "register.duckdb"


def test_a_query_is_released_like_its_rows_in_files(base: Path, tmp_path: Path) -> None:
    old = people(3000).filter(people(3000)["age"] >= 30)
    write(old, tmp_path / "data", 1)
    vr.anonymize(tmp_path / "data", output=tmp_path / "files", **ASKED)
    before = base.read_bytes()
    made = vr.anonymize(base, output=tmp_path / "base", **ASKED, reading={"query": QUERY})
    assert made.rows == len(old)
    assert rows(tmp_path / "base").equals(rows(tmp_path / "files"))
    assert base.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"register.duckdb", "data", "files", "base"}


def test_identifiers_never_reach_the_work_folder(base: Path, tmp_path: Path) -> None:
    def stop(step: vr.Progress) -> None:
        if "round 2" in step.stage:
            raise KeyboardInterrupt

    asked = {**ASKED, "reading": {"query": QUERY}, "resume": True}
    with pytest.raises(KeyboardInterrupt):
        vr.anonymize(base, output=tmp_path / "out", **asked, progress=stop)
    kept = list(work_of(tmp_path / "out").iterdir())
    assert any(path.name.startswith("text-") for path in kept)
    assert not any(b"person " in path.read_bytes() for path in kept if path.is_file())
    vr.anonymize(base, output=tmp_path / "out", **asked)
    assert not work_of(tmp_path / "out").exists()


def test_the_command_line(base: Path, tmp_path: Path) -> None:
    words = ["--key", "age,income,sex", "--confidential", "ill", "--drop-undeclared", "-k", 4, "--workers", 1]
    code, text = call("plan", base, "--query", QUERY, *words, "--leaf", 800)
    assert code == 0, text
    code, text = call("anonymize", base, "--query", QUERY, "-o", tmp_path / "out", *words, "--leaf", 800)
    assert code == 0, text
    assert len(rows(tmp_path / "out")) == people(3000).filter(people(3000)["age"] >= 30).height


def test_a_plan_counts_and_copies_a_part(base: Path) -> None:
    planned = vr.plan(base, **ASKED, reading={"query": QUERY})
    assert planned.rows == people(3000).filter(people(3000)["age"] >= 30).height


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "needs a query; its tables are: 'people'"),
        ("select * from nobody", "nobody"),
        ("selec 1", "syntax|parser"),
        ("select age, age from people", "age"),
        ("select age from people where age > 1000", "no rows"),
        ("create table x as select 1", "the query failed on DuckDB file"),
    ],
)
def test_a_bad_query_is_answered(base: Path, tmp_path: Path, query: str | None, message: str) -> None:
    with pytest.raises(vr.VoronymError, match=f"(?i){message}"):
        vr.anonymize(base, output=tmp_path / "out", **ASKED, reading={"query": query})
    assert [path.name for path in tmp_path.iterdir()] == ["register.duckdb"]


def test_sqlite_is_for_single_tables(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as base:
        base.execute("create table t (x int)")
        base.commit()
    with pytest.raises(vr.ReadError, match="SQLite file, and only DuckDB's are read in parts"):
        vr.anonymize(tmp_path / "a.db", output=tmp_path / "out", **ASKED, reading={"query": "select 1"})
