"""Tables for property tests: any mixture of kinds, with missing values, in any dataframe library."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

LIBRARIES = ["polars", "pandas", "pyarrow"]

_words = st.sampled_from(
    ["a", "b", "ß", "漢字", "=1+1", "-x", "@home", "a,b", 'q"q', " lead", "new\nline", "'"]
)
_KINDS = {
    "int": st.integers(-5, 5),
    "big": st.integers(10**9, 10**9 + 50),
    "float": st.floats(-3, 3, width=32).map(lambda x: round(x, 2)),
    "wide": st.floats(-1e12, 1e12),
    "word": _words,
    "bool": st.booleans(),
    "date": st.dates(dt.date(2020, 1, 1), dt.date(2020, 12, 31)),
    "time": st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)),
    "same": st.just(7),
}


@st.composite
def key_tables(draw: st.DrawFn, max_rows: int = 24) -> tuple[dict[str, list[object]], int]:
    """Draw key columns with missing values, a confidential and an identifier column, and a k that fits."""
    n = draw(st.integers(4, max_rows))
    names = draw(st.lists(st.sampled_from(sorted(_KINDS)), min_size=1, max_size=4))
    columns: dict[str, list[object]] = {}
    for index, kind in enumerate(names):
        values = _KINDS[kind]
        if draw(st.booleans()):
            values = st.none() | values
        columns[f"key {index} {kind}"] = draw(
            st.lists(values, min_size=n, max_size=n).filter(lambda v: any(x is not None for x in v))
        )
    columns["secret"] = [f"s{i}" for i in range(n)]
    columns["name"] = [f"person {i}" for i in range(n)]
    return columns, draw(st.integers(2, n // 2))


def build(columns: dict[str, list[object]], library: str) -> object:
    """Make a native table of one of the libraries."""
    table = pl.DataFrame(columns, strict=True)
    if library == "polars":
        return table
    if library == "pyarrow":
        return pa.table(columns)
    frame = pd.DataFrame(columns)
    frame.index = pd.Index(
        [f"row {i % 3}" for i in range(len(frame))]
    )  # repeated labels: positions must be used
    return frame


def count_csv(path: Path, keys: list[str]) -> int:
    """Return the least count of a key combination in a CSV file, by a reader written for this test."""
    rows = parse_csv(path.read_text(encoding="utf-8"))
    where = [rows[0].index(key) for key in keys]
    return min(Counter(tuple(row[j] for j in where) for row in rows[1:]).values())


def parse_csv(text: str) -> list[list[str]]:
    """Read RFC 4180 text character by character: shares nothing with the library or the csv module."""
    rows, row, cell, quoted, i = [], [], [], False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            if c == '"' and text[i + 1 : i + 2] == '"':
                cell.append('"')
                i += 1
            elif c == '"':
                quoted = False
            else:
                cell.append(c)
        elif c == '"':
            quoted = True
        elif c == ",":
            row.append("".join(cell))
            cell = []
        elif c == "\n":
            rows.append([*row, "".join(cell)])
            row, cell = [], []
        elif c != "\r":
            cell.append(c)
        i += 1
    return rows
