"""PostgreSQL: a query is read as a table, and a release becomes a further table, in one transaction.

The rows are copied and counted again within the transaction; it is committed when all other files have their
names. Until then other users see nothing. If anything fails, the database rolls it back.

A table is replaced only on request, and only if its comment says that voronym wrote it. So no original is
lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import polars as pl

from voronym.errors import WriteError
from voronym.table.frame import listing
from voronym.table.places.base import MARK, ROWS, Load, Place, Sink, refuse_taken
from voronym.table.sql import connect_postgresql, postgresql_reason, read_postgresql

_SERVER = re.compile(r"(?:postgresql|postgres):/{1,3}(?=[^/])")
_LONGEST = 63  # bytes of a name in PostgreSQL, which cuts longer ones without a word


class Server(Place):
    """Databases of PostgreSQL."""

    name = "PostgreSQL"
    takes_query = True

    def address(self, text: str) -> str | None:
        """Return the address with all its slashes.

        Examples
        --------
        >>> Server().address("postgresql:/host/town"), Server().address("postgresql:///town")
        ('postgresql://host/town', 'postgresql:///town')
        """
        start = _SERVER.match(text)
        if start is None:
            return None
        rest = text[start.end() :]
        nameless = not re.search("[/@]", rest.split("?", 1)[0])  # only a database: on the default server
        return f"postgresql://{'/' * nameless}{rest}"

    def shown(self, address: str) -> str:
        """Return the address without a password.

        Examples
        --------
        >>> Server().shown("postgresql://me:secret@host/town?sslmode=require&password=secret")
        'postgresql://me@host/town?sslmode=require'
        """
        start, _, query = re.sub(r"(?<=//)([^/?@:]*):[^/?]*@", r"\1@", address).partition("?")
        kept = [(name, value) for name, value in parse_qsl(query) if "password" not in name]
        return f"{start}?{urlencode(kept, safe='/')}" if kept else start

    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Return the result of a query."""
        frames = list(read_postgresql(address, query))
        return frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")

    def lay_down(self, address: str, query: str | None, folder: Path) -> None:
        """Write the result of a query to Parquet files, each with some rows."""
        for number, frame in enumerate(read_postgresql(address, query, PART)):
            frame.write_parquet(folder / f"part-{number}.parquet", row_group_size=ROWS)

    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse a database that does not answer, and a table that already exists."""
        connection = connect_postgresql(address, WriteError)
        with connection:
            connection.read_only = True
            _replaces(connection, table, overwrite=overwrite)

    def sink(self, load: Load) -> Sink:
        """Return the sink of the table."""
        return _Copy(load)


PART = 500_000
"""Number of rows per file of a query's result."""


@dataclass
class _Copy(Sink):
    """A release to copy to a server, in a transaction."""

    connection: Any = field(default=None, init=False)

    def fill(self) -> None:
        """Copy the rows, still invisible to others."""
        from psycopg import sql

        load = self.load
        self.connection = connect_postgresql(load.address, WriteError)
        name = _identifier(load.table)
        there = _replaces(self.connection, load.table, overwrite=load.overwrite)
        schema = load.scan().collect_schema()
        _refuse_long(schema.names())
        kinds = [(sql.Identifier(column), sql.SQL(_kind(column, dtype))) for column, dtype in schema.items()]
        columns = sql.SQL(", ").join(sql.SQL(" ").join(pair) for pair in kinds)
        with self.connection.cursor() as cursor:
            if there:
                cursor.execute(sql.SQL("drop table {}").format(name))
            cursor.execute(sql.SQL("create table {} ({})").format(name, columns))
            cursor.execute(sql.SQL("comment on table {} is {}").format(name, MARK))
            with cursor.copy(sql.SQL("copy {} from stdin").format(name)) as copy:
                for file in load.files:
                    for rows in pl.read_parquet(file).iter_slices(ROWS):
                        for row in rows.iter_rows():
                            copy.write_row(row)

    def count(self) -> tuple[int, int]:
        """Count in the table."""
        from psycopg import sql

        keys = sql.SQL(", ").join(map(sql.Identifier, self.load.keys))
        count = sql.SQL("select sum(n), min(n) from (select count(*) as n from {} group by {}) as sizes")
        query = count.format(_identifier(self.load.table), keys)
        rows, smallest = self.connection.execute(query).fetchone()
        return int(rows or 0), int(smallest or 0)

    def reason(self, error: BaseException) -> str | None:
        """Return the server's reason."""
        return postgresql_reason(error)

    def after(self) -> None:
        """Make the table visible to everybody."""
        self.connection.commit()
        self.connection.close()

    def undo(self) -> None:
        """Undo the copy."""
        if self.connection is not None:
            self.connection.close()  # uncommitted rows vanish


def _identifier(table: str) -> Any:
    from psycopg import sql

    return sql.Identifier(*table.split(".", 1))


def _replaces(connection: Any, table: str, *, overwrite: bool) -> bool:
    """Refuse to replace a table that must stay; return whether a table is replaced."""
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
    refuse_taken(f"table {table!r}", row[0], overwrite=overwrite)
    return True


def _refuse_long(names: list[str]) -> None:
    long = [name for name in names if len(name.encode()) > _LONGEST]
    if long:
        raise WriteError(f"PostgreSQL cuts names longer than {_LONGEST} bytes: shorten {listing(long)}")


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


def _kind(name: str, dtype: Any) -> str:
    """Return PostgreSQL's type for a column."""
    if isinstance(dtype, pl.Datetime):
        return "timestamp" if dtype.time_zone is None else "timestamptz"
    kind = _KINDS.get(dtype.base_type())
    kind = kind or ("bigint" if dtype.is_integer() else "double precision" if dtype.is_float() else None)
    if kind is None:
        raise WriteError(f"column {name!r} holds values that no plain table takes; make them texts")
    return kind
