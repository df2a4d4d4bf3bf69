"""Read tables by a query to DuckDB, SQLite or PostgreSQL, over read-only connections.

Messages contain no passwords and no values: from a failed query only the server's remarks on grammar and
names are shown.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from voronym.errors import MissingExtraError, ReadError, VoronymError, WriteError
from voronym.table.frame import listing

_PLAIN = (bool, int, float, str, bytes)
SQLITE_MAGIC = b"SQLite format 3\0"


def read_database(path: Path, query: str | None) -> pl.DataFrame:
    """Run a query on a DuckDB or SQLite file, recognised by its first bytes."""
    with path.open("rb") as file:
        start = file.read(16)
    if start == SQLITE_MAGIC:
        return _sqlite(path, query)
    if start[8:12] == b"DUCK":
        return _duckdb(path, query)
    raise ReadError(f"{path.name!r} is neither an SQLite nor a DuckDB database, although its suffix says so")


def tables_of(path: Path) -> list[str]:
    """Return the tables and views of a DuckDB or SQLite file."""
    try:
        read_database(path, None)
    except NoQueryError as error:
        return error.tables
    return []


def _sqlite(path: Path, query: str | None) -> pl.DataFrame:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as base:
            if query is None:
                names = "select name from sqlite_master where type in ('table', 'view') order by name"
                raise NoQueryError(path.name, [row[0] for row in base.execute(names)])
            cursor = base.execute(query)
            return _frame(cursor.description, cursor.fetchall())
    except sqlite3.Error as error:
        known = isinstance(error, sqlite3.OperationalError)
        raise ReadError(_failed(f"SQLite file {path.name!r}", error, str(error) if known else "")) from None


def _duckdb(path: Path, query: str | None) -> pl.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("this file needs DuckDB: pip install 'voronym[sql]'") from None
    try:
        with duckdb.connect(str(path), read_only=True) as base:
            if query is None:
                raise NoQueryError(path.name, [row[0] for row in base.execute("show tables").fetchall()])
            return _relation(base.sql(query))
    except duckdb.Error as error:
        known = isinstance(error, (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException))
        raise ReadError(_failed(f"DuckDB file {path.name!r}", error, str(error) if known else "")) from None


def _relation(relation: Any) -> pl.DataFrame:
    """Fetch a DuckDB relation; instants are passed as whole microseconds, without a further library."""
    if relation is None:
        raise ReadError("the query gives no table; it should be a select")
    names, zoned = (
        list(relation.columns),
        [str(kind) == "TIMESTAMP WITH TIME ZONE" for kind in relation.types],
    )
    _refuse_repeated(names)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    parts = [f"epoch_us({q}) as {q}" if instant else q for q, instant in zip(quoted, zoned, strict=True)]
    frame = _frame([(name,) for name in names], relation.project(", ".join(parts)).fetchall())
    instants = [name for name, instant in zip(names, zoned, strict=True) if instant]
    return frame.with_columns(pl.col(instants).cast(pl.Datetime("us", "UTC"))) if instants else frame


def connect_postgresql(address: str, failure: type[ReadError] | type[WriteError]) -> Any:
    """Return a connection to a PostgreSQL server; errors do not show the password."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("PostgreSQL needs psycopg: pip install 'voronym[sql]'") from None
    try:
        return psycopg.connect(address, connect_timeout=15)
    except psycopg.Error as error:
        reason = next(iter(str(error).strip().splitlines()), "")
        raise failure(_failed("the PostgreSQL server", error, reason, what="could not connect to")) from None


def postgresql_reason(error: BaseException) -> str | None:
    """Return PostgreSQL's reason for a refusal, without values; None for errors of other libraries."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    grammar = (error.sqlstate or "").startswith("42")  # syntax, names, rights; other classes may quote values
    return (grammar and error.diag.message_primary) or type(error).__name__


def read_postgresql(address: str, query: str | None, rows: int | None = None) -> Iterator[pl.DataFrame]:
    """Run a query on a PostgreSQL server, read-only; yield all rows, or ``rows`` at a time."""
    if query is None:
        raise ReadError("a database needs a query, such as query='select * from patients'")
    connection = connect_postgresql(address, ReadError)
    try:
        with connection:
            connection.read_only = True
            with connection.cursor() if rows is None else connection.cursor("voronym") as cursor:
                cursor.execute(query)
                if cursor.description is None:
                    raise ReadError("the query gives no table; it should be a select")
                names = [(column.name,) for column in cursor.description]
                yield _frame(names, cursor.fetchall() if rows is None else cursor.fetchmany(rows))
                while rows is not None and (more := cursor.fetchmany(rows)):
                    yield _frame(names, more)
    except VoronymError:
        raise
    except Exception as error:
        reason = postgresql_reason(error)
        if reason is None:
            raise
        raise ReadError(_failed("PostgreSQL", error, reason)) from None


def _frame(description: Any, rows: Sequence[Sequence[Any]]) -> pl.DataFrame:
    if not description:
        raise ReadError("the query gives no table; it should be a select")
    names = [column[0] for column in description]
    _refuse_repeated(names)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pl.DataFrame([_column(name, values) for name, values in zip(names, columns, strict=True)])


def _refuse_repeated(names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ReadError(
            f"the query gives several columns called {listing(repeated)}; name them apart with 'as'"
        )


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    import datetime as dt
    import decimal

    types = Counter(type(value) for value in values if value is not None)
    simple = {*_PLAIN, dt.date, dt.datetime, dt.time, dt.timedelta, decimal.Decimal, list, dict}
    if not types:
        return pl.Series(name, [None] * len(values), dtype=pl.Null)
    if set(types) <= {int, float}:
        return pl.Series(name, values, strict=False, dtype=pl.Float64 if float in types else None)
    if len(types) > 1:
        counts = ", ".join(f"{count} {kind.__name__}" for kind, count in types.most_common())
        raise ReadError(f"column {name!r} of the query mixes types ({counts}); cast it to one")
    if next(iter(types)) not in simple:  # UUIDs, network addresses, ranges: as text
        return pl.Series(name, [None if value is None else str(value) for value in values])
    try:
        return pl.Series(name, list(values))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise ReadError(f"column {name!r} of the query does not fit a single type; cast it to one") from None


def write_database(frame: pl.DataFrame, path: Path, name: str) -> int:
    """Write a table into a new file of SQLite (.sqlite .sqlite3 .db) or DuckDB (.duckdb .ddb)."""
    if not name or "\0" in name or name.lower().startswith("sqlite_"):
        raise WriteError(f"no table can be called {name!r}; give it another name")
    quoted = '"' + name.replace('"', '""') + '"'
    if kind_of(path.suffix) == "duckdb":
        _write_duckdb(frame, path, quoted)
        return 0
    plain = frame.select(_sqlite_column(column) for column in frame.get_columns())
    kinds: dict[Any, str] = {pl.Int64: "integer", pl.Float64: "real"}
    columns = ", ".join(
        '"' + item.replace('"', '""') + '" ' + kinds.get(dtype.base_type(), "text")
        for item, dtype in plain.schema.items()
    )
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f"create table {quoted} ({columns})")
        marks = ", ".join("?" * plain.width)
        base.executemany(f"insert into {quoted} values ({marks})", plain.iter_rows())  # noqa: S608 - quoted
    return 0


def _write_duckdb(frame: pl.DataFrame, path: Path, quoted: str) -> None:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("DuckDB needs duckdb: pip install 'voronym[sql]'") from None
    passing = path.with_name(f"{path.name}.parquet")  # it takes that without any further library
    try:
        frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).write_parquet(passing)
        with duckdb.connect(str(path)) as base:
            base.execute(f"create table {quoted} as select * from read_parquet(?)", [str(passing)])  # noqa: S608
    finally:
        passing.unlink(missing_ok=True)


def kind_of(suffix: str) -> str:
    """Return the database of a suffix, for writing."""
    return "duckdb" if suffix.lower() in (".duckdb", ".ddb") else "sqlite"


def _sqlite_column(column: pl.Series) -> pl.Series:
    """Return a column in one of SQLite's three types."""
    dtype = column.dtype
    if dtype.is_integer() or dtype == pl.Boolean:
        return column.cast(pl.Int64)
    if dtype.is_float():
        return column.cast(pl.Float64)
    if dtype.is_nested() or dtype == pl.Binary:
        raise WriteError(
            f"column {column.name!r} holds values that no table of SQLite takes; make them texts"
        )
    return column.dt.to_string("iso") if dtype == pl.Duration else column.cast(pl.String)


class NoQueryError(ReadError):
    """A database was named without a query."""

    def __init__(self, name: str, tables: list[str]) -> None:
        there = f"its tables are: {listing(tables)}" if tables else "it has no tables"
        super().__init__(f"{name!r} is a database and needs a query; {there}")
        self.tables = tables


def _failed(where: str, error: Exception, reason: str, *, what: str = "the query failed on") -> str:
    first = next(iter(reason.strip().splitlines()), "")
    return f"{what} {where}: {first or type(error).__name__}"
