"""A release into a PostgreSQL database, in one transaction; the server is started by this test."""

from __future__ import annotations

import datetime as dt
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

import voronym as vr
from location.town_hall import Postgres, postgres_bin
from voronym.cli import main
from voronym.core.atomic import placed, together
from voronym.table.places import shown

PEOPLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 60, 61, 62, 63],
        "sex": ["f"] * 4 + ["m"] * 4,
        "ill": ["flu\t\\N", "none", None, ""] * 2,
        "since": [dt.date(2020, 1, 1 + i) for i in range(8)],
        "paid": [1.5, None] * 4,
        "insured": [True, False] * 4,
    }
)
ROLES: dict[str, Any] = {"keys": ["age", "sex"], "confidential": ["ill", "since", "paid", "insured"], "k": 4}
WORDS = ["--key", "age,sex", "--confidential", "ill,since,paid,insured", "-k", "4"]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    programs = postgres_bin()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    made = Postgres(programs, "-c fsync=off")
    yield made
    made.close()


@pytest.fixture
def town(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of an empty database; passing files are in a folder that can be looked into."""
    (tmp_path / "passing").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "passing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_parquet("people.parquet")
    return server.fresh().replace("+psycopg", "")


def tables(address: str) -> set[str]:
    with psycopg.connect(address) as base:
        query = "select table_name from information_schema.tables where table_schema = 'public'"
        return {row[0] for row in base.execute(query)}


def rows_of(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return sorted(frame.rows(), key=str)


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr("sys.argv", ["voronym", "anonymize", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_a_release_becomes_a_table_with_its_types(town: str) -> None:
    release = vr.anonymize(PEOPLE, **ROLES)
    assert release.write(town).k_counted == 4
    there = vr.read(town, query="select * from release")
    assert rows_of(there) == rows_of(release.frame().collect())
    with psycopg.connect(town) as base:
        sizes = base.execute("select count(*) from release group by age, sex").fetchall()
    assert sizes == [(4,), (4,)]
    assert not list(Path("passing").iterdir())


def test_a_table_that_is_there_stays_unless_it_is_ours(town: str) -> None:
    release = vr.anonymize(PEOPLE, **ROLES)
    with psycopg.connect(town) as base:
        base.execute('create schema s; create table s."Original" as select 1 as a')
    for overwrite, says in ((False, "exists already"), (True, "was not written by voronym")):
        with pytest.raises(vr.WriteError, match=says):
            release.write(town, table="s.Original", overwrite=overwrite)
    assert vr.read(town, query='select * from s."Original"').rows() == [(1,)]
    release.write(town, table="s.new")
    with pytest.raises(vr.WriteError, match=r"'s\.new' exists already"):
        release.write(town, table="s.new")
    vr.anonymize(PEOPLE.select(ROLES["keys"]), keys=["age", "sex"], k=4).write(
        town, table="s.new", overwrite=True
    )
    assert vr.read(town, query="select * from s.new").columns == ["age", "sex"]


def test_nothing_is_there_where_a_report_fails(town: str) -> None:
    def write_beside_a_taken_name() -> None:
        with together():
            vr.anonymize(PEOPLE, **ROLES).write(town)
            with placed(Path("taken.html"), overwrite=False) as file:
                file.write_text("a report", encoding="utf-8")
            Path("taken.html").write_text("of somebody else", encoding="utf-8")

    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name()
    assert tables(town) == set()


def test_the_table_is_counted_in_the_database(town: str) -> None:
    """A rule of the server makes two combinations of three: what came to be is what counts."""
    release = vr.anonymize(PEOPLE, **ROLES)
    with psycopg.connect(town) as base:
        base.execute(
            "create function less() returns event_trigger language plpgsql as $$ begin "
            "execute 'create trigger t before insert on release for each row when (new.paid is null) "
            "execute function gone()'; end $$"
        )
        base.execute(
            "create function gone() returns trigger language plpgsql as $$ begin return null; end $$"
        )
        base.execute(
            "create event trigger e on ddl_command_end when tag in ('CREATE TABLE') execute function less()"
        )
    with pytest.raises(vr.WriteError, match="4 of 8 rows"):
        release.write(town)
    assert tables(town) == set()


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (PEOPLE.with_columns(ill=pl.lit("a\0b")), "could not write table 'release': DataError"),
        (PEOPLE.rename({"ill": "i" * 64}), "cuts names longer than 63 bytes"),
    ],
)
def test_what_the_server_cannot_hold(town: str, frame: pl.DataFrame, says: str) -> None:
    roles = {"keys": ["age", "sex"], "confidential": frame.columns[2:], "k": 4}
    with pytest.raises(vr.WriteError, match=says):
        vr.anonymize(frame, **roles).write(town)
    assert tables(town) == set()


def test_the_command_line(
    town: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["people.parquet", *WORDS, "-o", town, "--out-table", "given"]
    assert not run(monkeypatch, *words)
    assert shown(town) in "".join(capsys.readouterr().err.split())
    assert tables(town) == {"given"}
    assert run(monkeypatch, *words)
    assert "'given' exists already" in capsys.readouterr().err
    assert not run(monkeypatch, *words, "--overwrite")
    assert run(monkeypatch, *words[:-4], "-o", "postgresql://me:hunter2@127.0.0.1:1/x")
    printed = "".join(capsys.readouterr())
    assert "could not connect to the PostgreSQL server" in printed
    assert "hunter2" not in printed
    Path("many").mkdir()
    PEOPLE.write_parquet("many/a.parquet")
    assert not run(monkeypatch, "many", *WORDS, "-o", town, "--out-table", "parts")
    assert tables(town) == {"given", "parts"}


KILLED = """
import os, signal
from voronym.cli import main
from voronym.table.places.postgresql import _Copy

_Copy.after = lambda self: os.kill(os.getpid(), signal.SIGKILL)
main()
"""


def test_a_run_that_is_killed_before_the_end_leaves_nothing(town: str) -> None:
    words = ["anonymize", "people.parquet", *WORDS, "-o", town]
    ended = subprocess.run([sys.executable, "-c", KILLED, *words], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert tables(town) == set()
    vr.anonymize(PEOPLE, **ROLES).write(town)
    assert not list(Path("passing").iterdir())
