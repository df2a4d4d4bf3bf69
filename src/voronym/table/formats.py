"""File formats: the reader, writer and counter of each, in one table.

A new format is a module with its functions and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voronym.core.registry import Registry
from voronym.table import check, columnar, delimited, excel, sql, statistical, typeset
from voronym.table.clean import to_polars
from voronym.table.codebook import Labels
from voronym.table.dialect import Dialect, Reading
from voronym.table.frame import Frame
from voronym.table.packing import unpacked
from voronym.table.source import Source


@dataclass(frozen=True)
class How:
    """The options of a reader or writer apart from the path."""

    suffix: str
    query: str | None = None
    reading: Reading = field(default_factory=Reading)
    labels: Labels | None = None
    dialect: Dialect = field(default_factory=Dialect)
    source: Source | None = None
    guard: bool = True
    columns: tuple[str, ...] = ()
    table: str = "release"


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    suffixes : tuple of str
        Suffixes of its files, with the dot.
    read : callable
        ``(path, how) -> polars.DataFrame``.
    write : callable, optional
        ``(frame, path, how) -> cells that were guarded``; the frame is tidy.
    count : callable, optional
        ``(path, keys, how) -> (rows, size of the smallest combination of keys)``, by code that shares
        nothing with the writer.
    database : bool
        Whether reading takes a query.
    """

    suffixes: tuple[str, ...]
    read: Callable[[Path, How], pl.DataFrame]
    write: Callable[[Frame, Path, How], int] | None = None
    count: Callable[[Path, list[str], How], tuple[int, int]] | None = None
    database: bool = False


FORMATS: Registry[Format] = Registry("format")


def _places(keys: list[str], how: How) -> list[Any]:
    """Return the positions of the keys in a text file: by heading, or by column number."""
    if not how.dialect.header:
        return [how.columns.index(key) for key in keys]
    return list(typeset.guarded(keys)) if how.guard else list(keys)


def _statistical(name: str, *suffixes: str, written: bool) -> None:
    def read(path: Path, how: How) -> pl.DataFrame:
        return statistical.read_file(path, suffix=how.suffix, reading=how.reading)

    def write(frame: Frame, path: Path, how: How) -> int:
        known = how.source is not None and how.source.format in ("sav", "zsav")
        raw = how.source.raw if known and how.source is not None else None
        statistical.write_file(to_polars(frame), path, name, how.labels, raw)
        return 0

    def count(path: Path, keys: list[str], _: How) -> tuple[int, int]:
        return check.count_statistical(path, keys, name)

    FORMATS.add(name, Format(suffixes, read, write, count) if written else Format(suffixes, read))


FORMATS.add(
    "csv",
    Format(
        (".csv", ".tsv", ".txt"),
        lambda path, how: delimited.read_bytes(unpacked(path), path.name, how.reading, how.suffix),
        lambda frame, path, how: typeset.write_frame(frame, path, how.dialect, how.source, guard=how.guard),
        lambda path, keys, how: check.count_delimited(
            path, _places(keys, how), how.dialect.delimiter, how.dialect.codec
        ),
    ),
)
FORMATS.add(
    "parquet",
    Format(
        (".parquet",),
        lambda path, _: columnar.read_parquet(path),
        lambda frame, path, _: columnar.write_parquet(frame, path),
        lambda path, keys, _: check.count_columnar(path, keys, "parquet"),
    ),
)
FORMATS.add(
    "arrow",
    Format(
        (".feather", ".arrow", ".ipc"),
        lambda path, _: columnar.read_arrow(path),
        lambda frame, path, _: columnar.write_arrow(frame, path),
        lambda path, keys, _: check.count_columnar(path, keys, "arrow"),
    ),
)
FORMATS.add(
    "excel",
    Format(
        (".xlsx",),
        lambda path, how: excel.read_file(path, how.reading),
        lambda frame, path, how: excel.write_file(to_polars(frame), path, how.table),
        lambda path, keys, _: check.count_excel(path, keys),
    ),
)
_statistical("sav", ".sav", written=True)
_statistical("dta", ".dta", written=True)
_statistical("zsav", ".zsav", written=True)
_statistical("sas", ".sas7bdat", ".xpt", written=False)
FORMATS.add(
    "database",
    Format(
        (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3"),
        lambda path, how: sql.read_database(path, how.query),
        lambda frame, path, how: sql.write_database(to_polars(frame), path, how.table),
        lambda path, keys, how: check.count_database(path, keys, how.table, sql.kind_of(path.suffix)),
        database=True,
    ),
)


def by_suffix(suffix: str) -> str | None:
    """Return the name of the format of a suffix; None if it is unknown."""
    for formats in (FORMATS.entries(), FORMATS.items()):  # plug-ins are asked for unknown formats
        for name, entry in formats:
            if suffix in entry.suffixes:
                return name
    return None


def suffixes(*, written: bool = False) -> str:
    """Return the known suffixes, for messages."""
    order = ("csv", "parquet", "arrow")  # the most common formats come first
    names = sorted(FORMATS, key=lambda name: order.index(name) if name in order else len(order))
    known = [FORMATS[name] for name in names if not written or FORMATS[name].write is not None]
    return " ".join(suffix for item in known for suffix in item.suffixes)
