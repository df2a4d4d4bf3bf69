"""The independent checker: count the key combinations of a written file, from its bytes.

It imports nothing of voronym and shares no code with the writers, so a mistake in one cannot hide in the
other. Polars writes Parquet and Arrow files; PyArrow (or DuckDB) counts them, where it is installed.
"""

import csv
import gzip
import importlib.util
import io
from collections import Counter
from typing import Any


def count_delimited(path: Any, keys: list[Any], delimiter: str, encoding: str = "utf-8") -> tuple[int, int]:
    """Return (rows, size of the smallest combination of keys) of a delimited text file.

    Keys are headings, or the numbers of columns in a file without headings.
    """
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with _opened(path, encoding) as file:
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            headed = any(isinstance(key, str) for key in keys)
            header = next(rows) if headed else []
            at = [header.index(key) for key in keys] if headed else keys
            width = len(header)
            cells: Counter[Any] = Counter()
            for row in rows:
                width = width or len(row)
                if len(row) != width:
                    raise ValueError("a row has more or fewer cells than the header")
                cells[tuple([row[i] for i in at])] += 1
    finally:
        csv.field_size_limit(limit)
    return _answer(cells)


def _opened(path: Any, encoding: str) -> Any:
    with open(path, "rb") as file:  # noqa: PTH123 - takes any path
        start = file.read(4)
    if start[:2] == b"\x1f\x8b":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    if start == b"\x28\xb5\x2f\xfd":
        import zstandard

        return io.TextIOWrapper(zstandard.open(path, "rb"), encoding=encoding, newline="")
    return open(path, encoding=encoding, newline="")  # noqa: PTH123


def count_columnar(path: object, keys: list[str], kind: str) -> tuple[int, int]:
    """Return (rows, size of the smallest combination of keys) of a "parquet" or "arrow" file."""
    return _answer(Counter(zip(*_columns(str(path), list(keys), kind), strict=True)))


def count_statistical(path: Any, keys: list[str], kind: str) -> tuple[int, int]:
    """Return (rows, size of the smallest combination of keys) of an SPSS ("sav") or Stata ("dta") file."""
    if kind == "dta" and importlib.util.find_spec("pandas"):
        import pandas as pd

        table = pd.read_stata(path, convert_categoricals=False, convert_dates=False, convert_missing=False)
        columns = [_plain_values(table[key].tolist()) for key in keys]
    else:
        import pyreadstat

        read = pyreadstat.read_dta if kind == "dta" else pyreadstat.read_sav
        table, _ = read(str(path), output_format="dict", disable_datetime_conversion=True)
        columns = [_plain_values(table[key]) for key in keys]
    return _answer(Counter(zip(*columns, strict=True)))


def count_excel(path: object, keys: list[str]) -> tuple[int, int]:
    """Return (rows, size of the smallest combination of keys) of the first sheet of a spreadsheet."""
    import fastexcel

    table = fastexcel.read_excel(str(path)).load_sheet(0, header_row=None, dtypes="string").to_polars()
    header = list(table.row(0))
    columns = [table.to_series(header.index(key))[1:].to_list() for key in keys]
    return _answer(Counter(zip(*columns, strict=True)))


def count_database(path: Any, keys: list[str], name: str, kind: str) -> tuple[int, int]:
    """Return (rows, size of the smallest combination of keys) of a table of an SQLite or DuckDB file."""
    quoted = ['"' + key.replace('"', '""') + '"' for key in (name, *keys)]
    query = f"select count(*) from {quoted[0]} group by {', '.join(quoted[1:])}"  # noqa: S608 - quoted
    if kind == "duckdb":
        import duckdb

        with duckdb.connect(str(path), read_only=True) as base:
            sizes = [row[0] for row in base.execute(query).fetchall()]
    else:
        import sqlite3

        base = sqlite3.connect(path)
        try:
            sizes = [row[0] for row in base.execute(query)]
        finally:
            base.close()
    return sum(sizes), min(sizes, default=0)


def _columns(path: str, keys: list[str], kind: str) -> list[list[Any]]:
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pa.OSFile(path) as file:
            table = pq.read_table(file) if kind == "parquet" else pa.ipc.open_file(file).read_all()
            return [_plain_values(table[key].to_pylist()) for key in keys]
    if kind == "parquet" and importlib.util.find_spec("duckdb"):
        import duckdb

        names = ", ".join('"' + key.replace('"', '""') + '"' for key in keys)
        with duckdb.connect() as base:
            rows = base.execute(f"select {names} from read_parquet(?)", [path]).fetchall()  # noqa: S608
        return [_plain_values(column) for column in zip(*rows, strict=True)]
    import polars as pl

    table = pl.read_parquet(path) if kind == "parquet" else pl.read_ipc(path)
    return [_plain_values(table[key].to_list()) for key in keys]


def _plain_values(values: Any) -> list[Any]:
    return [None if value != value else value for value in values]  # NaN is missing, and equals itself


def _answer(cells: Counter[Any]) -> tuple[int, int]:
    return sum(cells.values()), min(cells.values(), default=0)
