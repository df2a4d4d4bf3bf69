"""SPSS, Stata and SAS files through pyreadstat, with their value labels.

A column all of whose values have labels is read as categories, named by the labels; SPSS's measure "ordinal"
makes their order count. Where only some values have labels (99 = "refused" in an age), the numbers stay.
Doubles that are all whole numbers become integers: the formats have no other way to say so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import MissingExtraError, ReadError, WriteError
from voronym.table.frame import listing

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_NAME = {"sav": re.compile(r"[^\W\d][\w.@#$]{0,63}"), "dta": re.compile(r"[^\W\d]\w{0,31}|_\w{0,31}")}


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("this file needs pyreadstat: pip install 'voronym[stat]'") from None
    return pyreadstat


def read_file(path: Path, *, suffix: str, encoding: str | None = None) -> pl.DataFrame:
    """Read a statistical file, labels kept as categories."""
    library = _pyreadstat()
    reader = getattr(library, READERS[suffix])
    try:
        frame, meta = reader(str(path), output_format="polars", encoding=encoding)
    except (library.ReadstatError, ValueError, UnicodeDecodeError) as error:
        raise ReadError(
            f"{path.name!r} could not be read as {suffix} ({type(error).__name__}); it may be damaged, "
            "of another format, or in another encoding"
        ) from None
    measures = meta.variable_measure or {}
    columns = []
    for column in frame.get_columns():
        labels = meta.variable_value_labels.get(column.name)
        labelled = _label(column, labels, measures.get(column.name) == "ordinal") if labels else None
        columns.append(_whole(column) if labelled is None else labelled)
    return pl.DataFrame(columns)


def _label(column: pl.Series, labels: dict[Any, str], ordinal: bool) -> pl.Series | None:
    """Return the column as categories; None where some of its values have no label."""
    present = set(column.drop_nulls().unique().to_list())
    if not present <= set(labels):
        return None
    texts = list(labels.values())
    names = {code: text if texts.count(text) == 1 else f"{text} ({code:g})" for code, text in labels.items()}
    kind = pl.Enum([names[code] for code in sorted(names)]) if ordinal else pl.Categorical
    return pl.Series(column.name, [None if v is None else names[v] for v in column.to_list()], dtype=kind)


def _whole(column: pl.Series) -> pl.Series:
    """Return doubles that are all whole as integers, and empty texts as missing."""
    if column.dtype == pl.String:
        return column.replace("", None)  # how the formats write a missing text
    if not column.dtype.is_float():
        return column
    observed = column.fill_nan(None).drop_nulls()
    if len(observed) and observed.is_finite().all() and (observed == observed.round()).all():
        largest: Any = observed.abs().max()
        if largest < 2**53:
            return column.fill_nan(None).cast(pl.Int64)
    return column


def _largest(column: pl.Series) -> int:
    ends: list[Any] = [column.min() or 0, column.max() or 0]
    return max(abs(int(value)) for value in ends)


def write_file(frame: pl.DataFrame, path: Path, kind: str) -> None:
    """Write an SPSS ("sav") or Stata ("dta") file; categories and booleans become labelled numbers."""
    library = _pyreadstat()
    unfit = [name for name in frame.columns if not _NAME[kind].fullmatch(name)]
    if unfit:
        raise WriteError(f"a .{kind} file cannot have columns called {listing(unfit)}; rename them")
    labels: dict[str, dict[int, str]] = {}
    measures: dict[str, str] = {}
    columns = []
    for column in frame.get_columns():
        name, dtype = column.name, column.dtype
        if isinstance(dtype, (pl.Enum, pl.Categorical)):
            used = set(column.drop_nulls().unique().to_list())
            levels = (
                [v for v in dtype.categories if v in used] if isinstance(dtype, pl.Enum) else sorted(used)
            )
            labels[name] = dict(enumerate(levels, start=1))
            measures[name] = "ordinal" if isinstance(dtype, pl.Enum) else "nominal"
            codes = {level: code for code, level in labels[name].items()}
            column = pl.Series(name, [codes.get(value) for value in column.to_list()], dtype=pl.Float64)
        elif dtype == pl.Boolean:
            labels[name], measures[name] = {0: "false", 1: "true"}, "nominal"
            column = column.cast(pl.Float64)
        elif dtype == pl.Datetime:
            column = column.dt.replace_time_zone(None).cast(pl.Datetime("us"))
        elif dtype == pl.Duration:
            column = column.dt.to_string("iso")
        elif dtype.is_numeric():
            if dtype.is_integer() and _largest(column) >= 2**53:
                raise WriteError(f"column {name!r} has integers too long for a .{kind} file; make them text")
            column = column.cast(pl.Float64)  # the formats' own number, which has room for "missing"
        elif dtype == pl.Null:
            column = column.cast(pl.Float64)
        elif dtype not in (pl.String, pl.Date, pl.Time):
            raise WriteError(
                f"column {name!r} holds {dtype.base_type().__name__} values, which no .{kind} file takes"
            )
        columns.append(column)
    plain = pl.DataFrame(columns)
    if kind == "sav":
        library.write_sav(plain, str(path), variable_value_labels=labels, variable_measure=measures)
    else:
        library.write_dta(plain, str(path), variable_value_labels=labels)
