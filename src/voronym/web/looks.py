"""Open a table: a file, a database, or a data set of many parts; and describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import ReadError
from voronym.run.source import has_parts
from voronym.table.formats import FORMATS, by_suffix
from voronym.table.packing import suffix_of
from voronym.table.read import read
from voronym.table.schema import Schema
from voronym.table.source import source_of
from voronym.table.sql import tables_of
from voronym.web.column_facts import column_facts, shown_text
from voronym.web.intake import check_columns, check_lines, check_unpacked
from voronym.web.settings import Settings

FIRST = 8
"""Number of rows that are shown."""
LOOKED = 50_000
"""Number of random rows to show from a data set of many parts."""
_WHOLE = re.compile(r'select \* from "((?:[^"]|"")+)"')
"""The only query of the page: another could read other files."""


@dataclass(frozen=True)
class Opened:
    """A table that was opened.

    Parameters
    ----------
    path : str
        The file, folder or pattern.
    reading : dict
        Reading options.
    frame : DataFrame
        All rows, or some of many parts.
    rows : int
        Rows in all.
    files : int
        Files of a data set of many parts; 0 of a single table.
    tables : list of str
        Tables of a database.
    """

    path: str
    reading: dict[str, Any]
    frame: pl.DataFrame
    rows: int
    files: int = 0
    tables: tuple[str, ...] = ()


def opened(path: str, reading: Mapping[str, Any], limits: Mapping[str, int] | None) -> Opened:
    """Open the data at a path; apply the limits if it was uploaded."""
    how = dict(reading)
    if has_parts(path):
        return _parts(path, how, limits)
    file = Path(path)
    if limits is not None:
        check_unpacked(file, limits["unpacked"])
        check_lines(file, limits["columns"])
    tables: list[str] = []
    name = by_suffix(suffix_of(file))
    if name is not None and FORMATS[name].database:
        tables = tables_of(file)
        how["query"] = _query(file.name, tables, how.get("query"))
    frame = read(file, **how)
    if limits is not None:
        check_columns(len(frame.columns), limits["columns"])
    return Opened(path, how, frame, len(frame), 0, tuple(tables))


def _query(name: str, tables: list[str], query: str | None) -> str:
    """Return the query for a whole table of a database: the chosen table, or the first one."""
    if not tables:
        raise ReadError(f"{name!r} is a database without tables")
    if query is None:
        return whole_table(tables[0])
    asked = _WHOLE.fullmatch(query)
    if asked is None or asked[1].replace('""', '"') not in tables:
        raise ReadError(
            "the page reads whole tables of a database; for a query of your own use voronym anonymize --query"
        )
    return query


def whole_table(name: str) -> str:
    """Return the query for a whole table.

    Examples
    --------
    >>> whole_table("people")
    'select * from "people"'
    """
    quoted = name.replace('"', '""')
    return f'select * from "{quoted}"'  # noqa: S608 - quoted


def _parts(path: str, reading: dict[str, Any], limits: Mapping[str, int] | None) -> Opened:
    from voronym.run.parts.measuring import drawn  # not waited for by a single table
    from voronym.run.parts.source import find

    files = find(path)
    for file in files if limits is not None else ():
        check_unpacked(file, limits["unpacked"])  # type: ignore[index]
        check_lines(file, limits["columns"])  # type: ignore[index]
    frame, rows = drawn(files, LOOKED, 0, reading or None)
    return Opened(path, reading, frame, rows, len(files))


def about(table: Opened) -> dict[str, Any]:
    """Return a description of a table, and the proposals for its columns."""
    frame = table.frame
    proposal = Schema.infer(frame)
    source = source_of(frame)
    advice = {item for _, item in proposal.several}  # of use until a column of people is chosen
    return {
        "rows": table.rows,
        "reading": table.reading,
        "parts": {"files": table.files, "rows": len(frame)} if table.files else None,
        "tables": [[name, whole_table(name)] for name in table.tables],
        "head": [[shown_text(value) for value in row] for row in frame.head(FIRST).rows()],
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "reason": proposal.reasons[column.name],
                "shape": proposal.shapes.get(column.name, ""),
                **column_facts(frame[column.name]),
            }
            for column in proposal.schema
        ],
        "warnings": [warning for warning in proposal.warnings if warning not in advice],
        "several": [list(pair) for pair in proposal.several],
        "read": "" if source is None else source.says(),
        "format": "" if source is None else source.format,
        "settings": Settings.of_schema(proposal.schema).having(k=5, weights=proposal.weights).plain(),
    }
