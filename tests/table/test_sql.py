from __future__ import annotations

import datetime as dt
import os
import sqlite3
import sys
import types
import uuid
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest

from voronym.errors import MissingExtraError, ReadError
from voronym.table import read

SERVER = os.environ.get("VORONYM_TEST_POSTGRESQL", "")  # the address of a server to try the real thing


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute(
            "create table t as select range::int as age, range * 1.5 as w, 'ñ' || range as town, "
            "date '2020-01-01' as d, timestamptz '2020-01-01 00:00:00+00' as z, uuid() as u, null as n "
            "from range(3)"
        )
    return path


@pytest.fixture
def lite(tmp_path: Path) -> Path:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table t (age integer, w real, town text, m)")
        base.executemany(
            "insert into t values (?, ?, ?, ?)", [(1, 2.5, "ñ", 1), (None, None, None, "SECRET")]
        )
        base.commit()
    return path


def test_duckdb(duck: Path) -> None:
    frame = read(duck, query="select * from t where age > 0 order by age;")
    assert frame["age"].to_list() == [1, 2]
    assert frame["w"].to_list() == [Decimal("1.5"), Decimal("3.0")]
    assert frame["town"].to_list() == ["ñ1", "ñ2"]
    assert frame["z"].to_list()[0] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    assert frame["u"].dtype == pl.String
    assert frame["n"].to_list() == [None, None]
    assert read(duck, query="select age from t where age > 9").shape == (0, 1)


def test_sqlite(lite: Path) -> None:
    assert read(lite, query="select age, w, town from t").rows() == [(1, 2.5, "ñ"), (None, None, None)]
    assert read(lite.rename(lite.with_suffix(".db")), query="select age from t").rows() == [(1,), (None,)]


@pytest.mark.parametrize("base", ["duck", "lite"])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "needs a query; its tables are: 't'"),
        ("select nope from t", "nope"),
        ("selec", "syntax error"),
        ("drop table t", "failed"),
        ("select age, age from t", "several columns called 'age'"),
    ],
)
def test_queries_that_fail(
    base: str, query: str | None, message: str, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(base)
    before = path.read_bytes()
    with pytest.raises(ReadError, match=message):
        read(path, query=query)
    assert path.read_bytes() == before


def test_values_stay_out_of_messages(duck: Path, lite: Path) -> None:
    for path, query in ((duck, "select 'SECRET'::int"), (lite, "select m from t")):
        with pytest.raises(ReadError) as caught:
            read(path, query=query)
        assert "SECRET" not in str(caught.value).replace(query, "")


def test_missing_extras(duck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'voronym\[sql\]'"):
        read(duck, query="select 1")
    with pytest.raises(MissingExtraError, match=r"pip install 'voronym\[sql\]'"):
        read("postgresql://localhost/x", query="select 1")


class FakeConnection:
    """Enough of a PostgreSQL connection to follow the code path where there is no server."""

    read_only = False

    def __init__(
        self, rows: list[tuple[Any, ...]], names: list[str] | None, error: Exception | None = None
    ) -> None:
        self.rows, self.error = rows, error
        self.description = None if names is None else [types.SimpleNamespace(name=name) for name in names]

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def cursor(self) -> FakeConnection:
        assert self.read_only
        return self

    def execute(self, _: str) -> None:
        if self.error:
            raise self.error

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.rows


def connect(monkeypatch: pytest.MonkeyPatch, connection: FakeConnection) -> None:
    monkeypatch.setattr(psycopg, "connect", lambda *_, **__: connection)


def test_postgresql_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://me:hunter2@localhost/x"
    rows = [(1, Decimal("1.10"), uuid.UUID(int=1), True), (None, None, None, None)]
    connect(monkeypatch, FakeConnection(rows, ["age", "w", "u", "b"]))
    expected = [(1, Decimal("1.10"), str(uuid.UUID(int=1)), True), (None, None, None, None)]
    assert read(address, query="select ...").rows() == expected
    connect(monkeypatch, FakeConnection([], None))
    with pytest.raises(ReadError, match="should be a select"):
        read(address, query="set x = 1")
    connect(monkeypatch, FakeConnection([], None, psycopg.DataError("invalid input: SECRET")))
    with pytest.raises(ReadError, match="failed on PostgreSQL: DataError"):
        read(address, query="select")
    with pytest.raises(ReadError, match="needs a query"):
        read(address)


def test_no_server_and_no_password_in_the_message() -> None:
    with pytest.raises(ReadError, match="could not connect to the PostgreSQL server") as caught:
        read("postgresql://me:hunter2@127.0.0.1:1/x", query="select 1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.skipif(not SERVER, reason="set VORONYM_TEST_POSTGRESQL to the address of a server")
def test_postgresql() -> None:
    frame = read(
        SERVER,
        query="select g as age, g * 1.5 as w, date '2020-01-01' + g as d, now() as t, "
        "gen_random_uuid() as u, 'ñ' || g as town, null::int as n from generate_series(1, 3) g",
    )
    assert frame["age"].to_list() == [1, 2, 3]
    assert frame["d"].to_list()[0] == dt.date(2020, 1, 2)
    assert frame["town"].to_list() == ["ñ1", "ñ2", "ñ3"]
    for query, message in [
        ("select nope", 'column "nope" does not exist'),
        ("create table zz (a int)", "ReadOnly"),
    ]:
        with pytest.raises(ReadError, match=message):
            read(SERVER, query=query)
    with pytest.raises(ReadError) as caught:
        read(SERVER, query="select ('SEC' || 'RET')::int")
    assert "SECRET" not in str(caught.value)
