"""A query to a DuckDB file as a data set: DuckDB streams the result to Parquet, in the work folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from voronym.errors import MissingExtraError, ReadError
from voronym.table.sql import SQLITE_MAGIC, NoQueryError, _failed, _refuse_repeated

SUFFIXES = (".duckdb", ".ddb", ".db")
MEMORY = "1GB"
"""Memory limit of DuckDB; above it, DuckDB writes to the work folder."""


def is_database(file: Path) -> bool:
    """Whether a file is a database, by its name."""
    return file.name.lower().endswith(SUFFIXES)


@contextmanager
def _asked(path: Path, query: str | None, spare: Path | None) -> Iterator[Any]:
    """Yield the result of a query before it is fetched; the file is only read."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("this file needs DuckDB: pip install 'voronym[sql]'") from None
    with path.open("rb") as file:
        if file.read(16) == SQLITE_MAGIC:
            raise ReadError(
                f"{path.name!r} is an SQLite file, and only DuckDB's are read in parts: leave out the "
                "engine if it fits the memory, or import it to DuckDB"
            )
    # One thread, so that the order of rows, and with it the release, is the same each time.
    config: dict[str, Any] = {"threads": 1, "memory_limit": MEMORY}
    if spare is not None:
        config["temp_directory"] = str(spare)
    try:
        with duckdb.connect(str(path), read_only=True, config=config) as base:
            if query is None:
                raise NoQueryError(path.name, [row[0] for row in base.execute("show tables").fetchall()])
            result = base.sql(query)
            if result is None:
                raise ReadError("the query gives no table; it should be a select")
            _refuse_repeated(list(result.columns))
            yield result
    except duckdb.Error as error:
        known = isinstance(error, (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException))
        raise ReadError(_failed(f"DuckDB file {path.name!r}", error, str(error) if known else "")) from None


def columns(path: Path, query: str | None) -> list[str]:
    """Return the columns of a query."""
    with _asked(path, query, None) as result:
        return list(result.columns)


def count(path: Path, query: str | None) -> int:
    """Return the number of rows of a query."""
    with _asked(path, query, None) as result:
        return int(result.aggregate("count(*)").fetchall()[0][0])


def export(
    path: Path, query: str | None, kept: Callable[[list[str]], Collection[str]], target: Path, spare: Path
) -> list[str]:
    """Write the kept columns of a query to a Parquet file; return all its columns."""
    with _asked(path, query, spare) as result:
        names = list(result.columns)
        chosen = kept(names)
        quoted = ('"' + name.replace('"', '""') + '"' for name in names if name in chosen)
        result.project(", ".join(quoted)).write_parquet(str(target), row_group_size=100_000)
    return names
