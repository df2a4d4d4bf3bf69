"""A release into an existing database: a new table, in one transaction.

The release is made and counted as a Parquet file in a folder that only its owner can read. When all files
beside it are whole, it is copied to the database within a transaction and counted there again; the
transaction is committed when the other files have their names. Whoever looks meanwhile sees nothing of it,
and where anything fails, or the run is killed, the database takes it back.

A table is replaced on demand only if voronym wrote it, which its comment says: no original is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import polars as pl

from voronym.core.atomic import accompany, sealed, together
from voronym.core.locks import passing_folder
from voronym.core.place import CHANGED
from voronym.errors import WriteError
from voronym.table.frame import listing
from voronym.table.remote import address_of
from voronym.table.sql import connect_postgresql, postgresql_reason

_SERVER = re.compile(r"(?:postgresql|postgres):/{1,3}(?=[^/])")
_LONGEST = 63  # bytes of a name in PostgreSQL, which cuts longer ones without a word
MARK = "a release by voronym"
"""Comment of the tables that may be replaced."""


def server_of(path: object) -> str | None:
    """Return the address of a PostgreSQL database for a path; None if it is none.

    A `Path` has made one slash of two, or of three where no server is named.

    Examples
    --------
    >>> from pathlib import Path
    >>> server_of(Path("postgresql://host/town")), server_of(Path("postgresql:///town")), server_of("a.csv")
    ('postgresql://host/town', 'postgresql:///town', None)
    """
    text = str(path)
    start = _SERVER.match(text)
    if start is None:
        return None
    rest = text[start.end() :]
    nameless = not re.search("[/@]", rest.split("?", 1)[0])  # a database alone: the server is the usual one
    return f"postgresql://{'/' * nameless}{rest}"


def place_of(path: object) -> str:
    """Return the place of a table as people may read it: without a password.

    Examples
    --------
    >>> place_of("postgresql://me:secret@host/town?sslmode=require&password=secret"), place_of("out.csv")
    ('postgresql://me@host/town?sslmode=require', 'out.csv')
    """
    address = server_of(path)
    if address is None:
        return address_of(path) or str(path)
    start, _, query = re.sub(r"(?<=//)([^/?@:]*):[^/?]*@", r"\1@", address).partition("?")
    kept = [(name, value) for name, value in parse_qsl(query) if "password" not in name]
    return f"{start}?{urlencode(kept, safe='/')}" if kept else start


def check_server(address: str, table: str, *, overwrite: bool) -> None:
    """Refuse a database that does not answer, or a table that exists, before the work."""
    connection = connect_postgresql(address, WriteError)
    with connection:
        connection.read_only = True
        _refuse_taken(connection, table, overwrite=overwrite)


@contextmanager
def copied(address: str, table: str, keys: list[str], k: int, *, overwrite: bool) -> Iterator[Path]:
    """Yield the path of a Parquet file that becomes a table when its companions are complete."""
    with passing_folder() as folder, together():
        path = folder / "release.parquet"
        yield path
        content = path.read_bytes()
        if sealed(path) not in (None, hashlib.sha256(content).hexdigest()):
            raise WriteError(CHANGED.format(table))
        frame = pl.read_parquet(BytesIO(content))
        accompany(_Copy(address, table, keys, k, overwrite, frame))


@dataclass
class _Copy:
    """A finished table on its way to a server, in a transaction."""

    address: str
    table: str
    keys: list[str]
    k: int
    overwrite: bool
    frame: pl.DataFrame
    connection: Any = field(default=None, init=False)

    def before(self) -> None:
        """Copy and count it while it is invisible to others."""
        self.connection = connect_postgresql(self.address, WriteError)
        try:
            self._copy()
        except BaseException as error:
            self.undo()
            reason = postgresql_reason(error)
            if reason is None:
                raise
            raise WriteError(
                f"could not write table {self.table!r}: {reason}; nothing was released"
            ) from None

    def _copy(self) -> None:
        from psycopg import sql

        name, there = (
            _identifier(self.table),
            _refuse_taken(self.connection, self.table, overwrite=self.overwrite),
        )
        kinds = [(sql.Identifier(column), sql.SQL(_kind(values))) for column, values in _columns(self.frame)]
        columns = sql.SQL(", ").join(sql.SQL(" ").join(pair) for pair in kinds)
        keys = sql.SQL(", ").join(map(sql.Identifier, self.keys))
        with self.connection.cursor() as cursor:
            if there:
                cursor.execute(sql.SQL("drop table {}").format(name))
            cursor.execute(sql.SQL("create table {} ({})").format(name, columns))
            cursor.execute(sql.SQL("comment on table {} is {}").format(name, MARK))
            with cursor.copy(sql.SQL("copy {} from stdin").format(name)) as copy:
                for row in self.frame.iter_rows():
                    copy.write_row(row)
            count = sql.SQL("select sum(n), min(n) from (select count(*) as n from {} group by {}) as sizes")
            rows, smallest = cursor.execute(count.format(name, keys)).fetchone()
        if rows != self.frame.height or smallest < self.k:
            raise WriteError(
                f"table {self.table!r} came back with {rows} of {self.frame.height} rows, the smallest "
                f"combination of {listing(self.keys)} {smallest} times (k = {self.k}); nothing was released"
            )

    def after(self) -> None:
        """Have everybody see it."""
        self.connection.commit()
        self.connection.close()

    def undo(self) -> None:
        """Take it back."""
        self.connection.close()  # what is not committed is gone


def _identifier(table: str) -> Any:
    from psycopg import sql

    return sql.Identifier(*table.split(".", 1))


def _refuse_taken(connection: Any, table: str, *, overwrite: bool) -> bool:
    """Refuse a table that exists and stays; return whether one is to be replaced."""
    if not all(part and "\0" not in part for part in table.split(".", 1)):
        raise WriteError(f"no table can be called {table!r}; give it another name")
    _refuse_long(table.split(".", 1))
    name = _identifier(table).as_string(connection)
    row = connection.execute(
        "select obj_description(to_regclass(%s), 'pg_class') from (select 1) as t "
        "where to_regclass(%s) is not null",
        [name, name],
    ).fetchone()
    if row is None:
        return False
    if not overwrite:
        raise WriteError(f"table {table!r} exists already; choose another name, or allow overwriting")
    if row[0] != MARK:
        raise WriteError(
            f"table {table!r} was not written by voronym, and is never replaced; choose another name"
        )
    return True


def _refuse_long(names: list[str]) -> None:
    long = [name for name in names if len(name.encode()) > _LONGEST]
    if long:
        raise WriteError(f"PostgreSQL cuts names longer than {_LONGEST} bytes: shorten {listing(long)}")


def _columns(frame: pl.DataFrame) -> list[tuple[str, pl.Series]]:
    _refuse_long(frame.columns)
    return list(zip(frame.columns, frame.get_columns(), strict=True))


_KINDS: dict[Any, str] = {
    pl.Boolean: "boolean",
    pl.UInt64: "numeric",
    pl.Decimal: "numeric",
    pl.Date: "date",
    pl.Time: "time",
    pl.Duration: "interval",
    pl.Binary: "bytea",
    pl.String: "text",
    pl.Categorical: "text",
    pl.Enum: "text",
    pl.Null: "text",
}


def _kind(values: pl.Series) -> str:
    """Return PostgreSQL's type for a column."""
    dtype = values.dtype
    if isinstance(dtype, pl.Datetime):
        return "timestamp" if dtype.time_zone is None else "timestamptz"
    kind = _KINDS.get(dtype.base_type())
    kind = kind or ("bigint" if dtype.is_integer() else "double precision" if dtype.is_float() else None)
    if kind is None:
        raise WriteError(f"column {values.name!r} holds values that no plain table takes; make them texts")
    return kind
