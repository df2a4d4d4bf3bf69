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
from voronym.table.codebook import Code, Labels, attach, book_of, dtype_of, make_book
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
    table = pl.DataFrame(columns)
    titles = {name: text for name, text in (meta.column_names_to_labels or {}).items() if text}
    attach(table, Labels(titles, dict(meta.variable_value_labels)))
    return table


def _label(column: pl.Series, labels: dict[Any, str], ordinal: bool) -> pl.Series | None:
    """Return the column as categories; None where some of its values have no label."""
    if column.dtype == pl.String:
        column = column.replace("", None)
    present = set(column.drop_nulls().unique().to_list())
    if not present <= set(labels):
        return None
    book = make_book(labels)
    names = {code: name for name, (code, _) in book.items()}
    kind = dtype_of(column.name, book, ordered=ordinal)
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


def write_file(frame: pl.DataFrame, path: Path, kind: str, known: Labels | None = None) -> None:
    """Write an SPSS ("sav") or Stata ("dta") file; categories and booleans become labelled codes.

    The codes are those of the file that the categories were read from, else numbers from 1. ``known`` are the
    labels of that file: of variables, and of single numbers. Labels of values that no row has are left out.
    """
    library = _pyreadstat()
    unfit = [name for name in frame.columns if not _NAME[kind].fullmatch(name)]
    if unfit:
        raise WriteError(f"a .{kind} file cannot have columns called {listing(unfit)}; rename them")
    labels: dict[str, dict[Code, str]] = {}
    measures: dict[str, str] = {}
    columns = []
    for column in frame.get_columns():
        name, dtype = column.name, column.dtype
        if isinstance(dtype, (pl.Enum, pl.Categorical)):
            measures[name] = "ordinal" if isinstance(dtype, pl.Enum) else "nominal"
            column, labels[name] = _coded(column, kind, known)
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
            spoken = {} if known is None else known.values.get(name, {})
            there = set(column.drop_nulls().unique().to_list())
            some = {
                int(code) if kind == "dta" else code: text
                for code, text in spoken.items()
                if code in there and not (kind == "dta" and _is_fraction(code))
            }
            if some:
                labels[name] = some
        elif dtype == pl.Null:
            column = column.cast(pl.Float64)
        elif dtype not in (pl.String, pl.Date, pl.Time):
            raise WriteError(
                f"column {name!r} holds {dtype.base_type().__name__} values, which no .{kind} file takes"
            )
        columns.append(column)
    plain = pl.DataFrame(columns)
    titles = {} if known is None else {n: t for n, t in known.variables.items() if n in frame.columns}
    if kind == "sav":
        library.write_sav(
            plain, str(path), variable_value_labels=labels, variable_measure=measures, column_labels=titles
        )
    else:
        library.write_dta(plain, str(path), variable_value_labels=labels, column_labels=titles)


def _is_fraction(code: Code) -> bool:
    return isinstance(code, float) and code != int(code)  # Stata has labels for whole numbers only


def _coded(column: pl.Series, kind: str, known: Labels | None) -> tuple[pl.Series, dict[Code, str]]:
    """Return a column of categories as codes, and the label of each."""
    used = set(column.drop_nulls().unique().to_list())
    book = book_of(column)
    if known is not None and column.name in known.values:  # surer: the very file
        stated = make_book(known.values[column.name])
        book = stated if used <= set(stated) else book
    if book is None or (kind == "dta" and any(_is_fraction(code) for code, _ in book.values())):
        levels = column.dtype.categories if isinstance(column.dtype, pl.Enum) else sorted(used)
        book = {level: (code, level) for code, level in enumerate((v for v in levels if v in used), start=1)}
    texts = any(isinstance(code, str) for code, _ in book.values())
    if texts and kind == "dta":  # Stata has no labels for texts
        return column.cast(pl.String), {}
    labels: dict[Code, str] = {
        int(code) if kind == "dta" else code: text for name, (code, text) in book.items() if name in used
    }
    codes = {name: code for name, (code, _) in book.items()}
    values = [None if value is None else codes[value] for value in column.to_list()]
    return pl.Series(column.name, values, dtype=pl.String if texts else pl.Float64), labels
