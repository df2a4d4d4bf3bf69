"""Opening a table: a file, a database, or a data set of many parts; and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from voronym.errors import ReadError
from voronym.run.source import has_parts
from voronym.table.formats import FORMATS, by_suffix
from voronym.table.packing import suffix_of
from voronym.table.read import read
from voronym.table.schema import Schema
from voronym.table.source import source_of
from voronym.table.sql import tables_of
from voronym.web.intake import check_columns, check_lines, check_unpacked
from voronym.web.settings import Settings

FIRST, EXAMPLES, WIDE = 8, 4, 40
"""Rows and examples that are shown, and the signs of a cell that are."""
BARS = 12
"""Bars of the small histogram of a column."""
LOOKED = 50_000
"""Rows of a data set of many parts that are looked at, drawn at random."""
_WHOLE = re.compile(r'select \* from "((?:[^"]|"")+)"')
"""The one query that the page asks: another could read other files."""


@dataclass(frozen=True)
class Opened:
    """A table that was opened.

    Parameters
    ----------
    path : str
        The file, folder or pattern.
    reading : dict
        How it is read.
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
    """Open what lies at a path, under limits where it was uploaded."""
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
    """Return the query for a whole table of a database: the one that was chosen, or the first."""
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
    """Return what a table looks like, and what is proposed for its columns."""
    frame = table.frame
    proposal = Schema.infer(frame)
    source = source_of(frame)
    advice = {item for _, item in proposal.several}  # of use until a column of people is chosen
    return {
        "rows": table.rows,
        "reading": table.reading,
        "parts": {"files": table.files, "rows": len(frame)} if table.files else None,
        "tables": [[name, whole_table(name)] for name in table.tables],
        "head": [[text_of(value) for value in row] for row in frame.head(FIRST).rows()],
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "reason": proposal.reasons[column.name],
                "shape": proposal.shapes.get(column.name, ""),
                **_facts(frame[column.name]),
            }
            for column in proposal.schema
        ],
        "warnings": [warning for warning in proposal.warnings if warning not in advice],
        "several": [list(pair) for pair in proposal.several],
        "read": "" if source is None else source.says(),
        "format": "" if source is None else source.format,
        "settings": Settings.of_schema(proposal.schema).having(k=5, weights=proposal.weights).plain(),
    }


def _facts(column: pl.Series) -> dict[str, Any]:
    """Return counts and examples of a column."""
    try:
        distinct, often = column.n_unique(), column.drop_nulls().value_counts(sort=True).head(EXAMPLES)
        examples = [text_of(value) for value in often[column.name].to_list()] if column.name else []
    except Exception:  # what Polars cannot count has no examples
        distinct, examples = None, []
    missing = int(column.null_count())
    return {
        "distinct": None if distinct is None else distinct - bool(missing),
        "missing": missing,
        "examples": examples,
        "bars": _bars(column),
    }


def _bars(column: pl.Series) -> list[int]:
    """Return the counts of a small histogram: by value, or by the most frequent categories."""
    try:
        if column.dtype.is_numeric() or column.dtype.is_temporal():
            values = column.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
            values = values[np.isfinite(values)]
            return np.histogram(values, BARS)[0].tolist() if len(values) else []
        return column.drop_nulls().value_counts(sort=True)["count"].head(BARS).to_list()
    except Exception:  # what Polars cannot count has no histogram
        return []


def text_of(value: object) -> str:
    """Return a cell as it is shown, cut where it is long."""
    result = "–" if value is None else str(value)
    return result if len(result) <= WIDE else result[: WIDE - 1] + "…"
