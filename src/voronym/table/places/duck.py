"""An existing DuckDB file: a release becomes a further table, in one transaction."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import MissingExtraError, WriteError
from voronym.table.places.base import MARK, Load, Place, Sink, refuse_taken
from voronym.table.sql import read_database

_MAGIC = b"DUCK"


class DuckFile(Place):
    """DuckDB files that already hold tables."""

    name = "DuckDB"
    source = False  # its format reads it

    def address(self, text: str) -> str | None:
        """Return the path of an existing DuckDB file."""
        if not text.endswith((".duckdb", ".ddb", ".db")):
            return None
        with contextlib.suppress(OSError), Path(text).open("rb") as file:
            return text if file.read(12)[8:] == _MAGIC else None
        return None

    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Return the result of a query."""
        return read_database(Path(address), query)

    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse a file in use, and an existing table."""
        with contextlib.closing(_opened(address, read_only=True)) as base:
            _replaces(base, table, overwrite=overwrite)

    def sink(self, load: Load) -> Sink:
        """Return the sink of the table."""
        return _Insert(load)


@dataclass
class _Insert(Sink):
    """A release to insert into a file of tables."""

    base: Any = field(default=None, init=False)

    def fill(self) -> None:
        """Copy the rows, still invisible to others."""
        load = self.load
        self.base = _opened(load.address, read_only=False)
        self.base.execute("begin")
        name = _quoted(load.table)
        if _replaces(self.base, load.table, overwrite=load.overwrite):
            self.base.execute(f"drop table {name}")
        files = [str(file) for file in load.files]
        self.base.execute(f"create table {name} as select * from read_parquet(?)", [files])  # noqa: S608 - quoted
        self.base.execute(f"comment on table {name} is '{MARK}'")

    def count(self) -> tuple[int, int]:
        """Count in the table."""
        keys = ", ".join(map(_name, self.load.keys))
        sizes = f"select count(*) as n from {_quoted(self.load.table)} group by {keys}"  # noqa: S608 - quoted
        rows, least = self.base.execute(f"select sum(n), min(n) from ({sizes})").fetchone()  # noqa: S608
        return int(rows or 0), int(least or 0)

    def after(self) -> None:
        """Commit the transaction."""
        self.base.execute("commit")
        self.base.close()

    def undo(self) -> None:
        """Close without a commit."""
        if self.base is not None:
            self.base.close()


def _opened(address: str, *, read_only: bool) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("this file needs DuckDB: pip install 'voronym[sql]'") from None
    try:
        return duckdb.connect(address, read_only=read_only)
    except duckdb.Error as error:
        name = Path(address).name
        raise WriteError(
            f"the database {name!r} cannot be opened ({type(error).__name__}): does another program hold it?"
        ) from None


def _replaces(base: Any, table: str, *, overwrite: bool) -> bool:
    """Refuse to replace a table that must stay; return whether a table is replaced."""
    *schema, name = table.split(".", 1)
    if not name or not all(schema):
        raise WriteError(f"no table can be called {table!r}; give it another name")
    place = [schema[0] if schema else "main", name]
    row = base.execute(
        "select comment from duckdb_tables() where schema_name = ? and table_name = ? "
        "union all select null from duckdb_views() where schema_name = ? and view_name = ?",
        [*place, *place],
    ).fetchone()
    if row is None:
        return False
    refuse_taken(f"table {table!r}", row[0], overwrite=overwrite)
    return True


def _quoted(table: str) -> str:
    return ".".join(map(_name, table.split(".", 1)))


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
