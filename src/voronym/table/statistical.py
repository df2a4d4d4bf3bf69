"""SPSS, Stata and SAS files through pyreadstat, with their value labels.

If all values of a column have labels, it is read as categories named by the labels; SPSS's measure "ordinal"
makes them ordered. If only some values have labels (99 = "refused" in an age), the numbers stay. Doubles that
are all whole become integers, because the formats have no integers.
"""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import MissingExtraError, ReadError, WriteError
from voronym.table.codebook import Code, Labels, attach, book_of, declared_labels, dtype_of, make_book
from voronym.table.dialect import Reading
from voronym.table.frame import listing
from voronym.table.source import Source, attach_source
from voronym.table.spelling import Hints, declared_missing

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_EPOCH = dt.datetime(1970, 1, 1)
_YEARS = tuple(
    (dt.datetime(year, 1, 1) - _EPOCH).total_seconds() + more for year, more in ((1, 0), (9999, 31_536_000))
)
_DAY = 1 / 86_400  # formats that count days: units per second, first day, whether there is a time of day
_SPSS_DATES = (
    (r"DATETIME|YMDHMS", 1.0, "1582-10-14", True),
    (r"[AEJS]?DATE|MOYR|QYR|WKYR", 1.0, "1582-10-14", False),
)
_STATA_DATES = ((r"%-?t[cC]", 1000.0, "1960-01-01", True), (r"%-?t?d", _DAY, "1960-01-01", False))
_SAS_DATES = (
    (r"DATETIME|E8601DT|DATEAMPM", 1.0, "1960-01-01", True),
    (r"DATE|(DD|MM|YY)(MM|DD|YY)|E8601DA|MONYY|WEEKDAT|WORDDAT", _DAY, "1960-01-01", False),
)
_NAME = {"sav": re.compile(r"[^\W\d][\w.@#$]{0,63}"), "dta": re.compile(r"[^\W\d]\w{0,31}|_\w{0,31}")}


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("this file needs pyreadstat: pip install 'voronym[stat]'") from None
    return pyreadstat


def read_file(path: Path, *, suffix: str, reading: Reading | None = None) -> pl.DataFrame:
    """Read a statistical file; labels become categories, and codes that mean "missing" become missing."""
    reading = Reading() if reading is None else reading
    frame, meta = _read(path, suffix, reading.encoding)
    measures = {name: item for name, item in (meta.variable_measure or {}).items() if item != "unknown"}
    ranges = (
        {name: entry for name, entry in (meta.missing_ranges or {}).items() if entry}
        if "av" in suffix
        else {}
    )
    columns, raw = [], {}
    for column in frame.get_columns():
        name = column.name
        column = _in_range(column)
        if name in ranges and (gone := _user_missing(column, ranges[name])).any():
            raw[name] = column
            column = pl.select(pl.when(~gone).then(column).alias(name)).to_series()
        labels = meta.variable_value_labels.get(name)
        labelled = _label(column, labels, measures.get(name) == "ordinal") if labels else None
        columns.append(whole(column) if labelled is None else labelled)
    table, coded = declared_missing(pl.DataFrame(columns), Hints(missing=reading.missing))
    titles = {name: text for name, text in (meta.column_names_to_labels or {}).items() if text}
    attach(table, Labels(titles, dict(meta.variable_value_labels), measures, ranges, meta.file_label or ""))
    attach_source(table, Source(suffix[1:], reading, raw={**coded, **raw}))
    return table


def _read(path: Path, suffix: str, encoding: str | None) -> tuple[pl.DataFrame, Any]:
    """Read with pyreadstat; if a date fails, read dates as numbers and convert them here."""
    library = _pyreadstat()
    reader = getattr(library, READERS[suffix])
    options: dict[str, Any] = {"output_format": "polars", "encoding": encoding}
    if suffix in (".sav", ".zsav"):
        options["user_missing"] = True
    try:
        try:
            frame, meta = reader(str(path), **options)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError):
            frame, meta = reader(str(path), disable_datetime_conversion=True, **options)
            formats = meta.original_variable_types
            frame = frame.select(
                _dated(get_column, formats.get(get_column.name, ""), suffix)
                for get_column in frame.get_columns()
            )
    except (MissingExtraError, MemoryError, KeyboardInterrupt):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # errors of the library on damaged files
        raise ReadError(
            f"{path.name!r} could not be read as {suffix} ({type(error).__name__}); it may be damaged, "
            "of another format, or in another encoding"
        ) from None
    return frame, meta


def _dated(column: pl.Series, code: str, suffix: str) -> pl.Series:
    """Return numbers as days or moments by their format; those outside the calendar are missing."""
    spss, stata = suffix in (".sav", ".zsav"), suffix == ".dta"
    tables: Any = _SPSS_DATES if spss else _STATA_DATES if stata else _SAS_DATES
    result = next(
        (how for pattern, *how in tables if re.match(pattern, code)),
        None,
    )
    if result is None or not column.dtype.is_numeric():
        return column
    per_second, start, timed = result
    seconds = (
        column.cast(pl.Float64) / per_second + (dt.datetime.fromisoformat(start) - _EPOCH).total_seconds()
    )
    fits = (seconds >= _YEARS[0]) & (seconds < _YEARS[1])
    kept: pl.Series = (seconds * 1e6).set(~fits.fill_null(False), None).cast(pl.Int64).cast(pl.Datetime("us"))
    _warn_of_dates(column.name, int((~fits).sum()))
    return (kept if timed else kept.dt.date()).alias(column.name)


def _in_range(column: pl.Series) -> pl.Series:
    """Return dates and moments without those outside the calendar, and count these."""
    if column.dtype not in (pl.Date, pl.Datetime) or column.null_count() == len(column):
        return column
    number = column.to_physical()
    per = 1 / 86_400 if column.dtype == pl.Date else {"ms": 1e3, "us": 1e6, "ns": 1e9}[column.dtype.time_unit]  # type: ignore[attr-defined]
    strange = ((number / per < _YEARS[0]) | (number / per >= _YEARS[1])).fill_null(False)
    _warn_of_dates(column.name, int(strange.sum()))
    return column.set(strange, None) if strange.any() else column


def _warn_of_dates(name: str, count: int) -> None:
    if count:
        warnings.warn(
            f"{count} dates of {name!r} lie outside the years 1 to 9999, and count as missing", stacklevel=6
        )


def _user_missing(column: pl.Series, ranges: list[dict[str, Any]]) -> pl.Series:
    """Return which values of a column are codes that the file declares missing."""
    out = pl.Series([False]).new_from_index(0, len(column))
    for item in ranges:
        low, high = item["lo"], item["hi"]
        if isinstance(low, str) != (column.dtype == pl.String) or column.dtype.is_temporal():
            continue
        out |= ((column >= low) & (column <= high)).fill_null(False)
    return out


def _label(column: pl.Series, labels: dict[Any, str], ordinal: bool) -> pl.Series | None:
    """Return the column as categories; None if some of its values have no label."""
    if column.dtype == pl.String:
        column = column.replace("", None)
    present = set(column.drop_nulls().unique().to_list())
    if not present <= set(labels):
        return None
    book = make_book(labels)
    names = {code: name for name, (code, _) in book.items()}
    kind = dtype_of(column.name, book, ordered=ordinal)
    return pl.Series(column.name, [None if v is None else names[v] for v in column.to_list()], dtype=kind)


def whole(column: pl.Series) -> pl.Series:
    """Return all-whole doubles as integers, and empty texts as missing."""
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


def write_file(
    frame: pl.DataFrame,
    path: Path,
    kind: str,
    known: Labels | None = None,
    raw: Mapping[str, pl.Series] | None = None,
) -> None:
    """Write an SPSS ("sav", "zsav") or Stata ("dta") file; categories and booleans become labelled codes.

    The codes are those of the file that the categories were read from, or numbers from 1. ``known`` has
    the labels of that file, for variables and single numbers. Labels of unused values are omitted.
    ``raw`` has the original codes of missing values.
    """
    library, known = _pyreadstat(), Labels() if known is None else known.only(frame.columns)
    spss = kind != "dta"
    unfit = [name for name in frame.columns if not _NAME["sav" if spss else "dta"].fullmatch(name)]
    if unfit:
        raise WriteError(f"a .{kind} file cannot have columns called {listing(unfit)}; rename them")
    labels: dict[str, dict[Code, str]] = {}
    measures: dict[str, str] = {}
    columns = []
    for column in frame.get_columns():
        made, own, measure = _writable(column, kind, known)
        if spss and raw and column.name in raw:
            made, own = _with_codes(made, own, raw[column.name], known.values.get(column.name, {}))
        columns.append(made)
        if spss and _same_sort(made, known.missing.get(column.name, [])):
            own = {**declared_labels(column.name, known), **own}
        labels |= {column.name: own} if own else {}
        measures |= {column.name: measure} if measure else {}
    plain = pl.DataFrame(columns)
    about = {
        "variable_value_labels": labels,
        "column_labels": dict(known.variables),
        "file_label": known.title,
    }
    if not spss:
        library.write_dta(plain, str(path), **about)
        return
    ranges = {name: item for name, item in known.missing.items() if _same_sort(plain[name], item)}
    measures |= known.measures
    library.write_sav(
        plain, str(path), variable_measure=measures, missing_ranges=ranges, compress=kind == "zsav", **about
    )


def _writable(column: pl.Series, kind: str, known: Labels) -> tuple[pl.Series, dict[Code, str], str | None]:
    """Return a column in a type of the format, the labels of its values, and its measure."""
    name, dtype = column.name, column.dtype
    if isinstance(dtype, (pl.Enum, pl.Categorical)):
        made, labels = _coded(column, kind, known)
        return made, labels, "ordinal" if isinstance(dtype, pl.Enum) else "nominal"
    if dtype == pl.Boolean:
        return column.cast(pl.Float64), {0: "false", 1: "true"}, "nominal"
    if dtype == pl.Datetime:
        return column.dt.replace_time_zone(None).cast(pl.Datetime("us")), {}, None
    if dtype == pl.Duration:
        return column.dt.to_string("iso"), {}, None
    if dtype.is_numeric():
        if dtype.is_integer() and _largest(column) >= 2**53:
            raise WriteError(f"column {name!r} has integers too long for a .{kind} file; make them text")
        column = column.cast(pl.Float64)  # the formats' own number, which has room for "missing"
        there = set(column.drop_nulls().unique().to_list())
        some = {
            int(code) if kind == "dta" else code: text
            for code, text in known.values.get(name, {}).items()
            if code in there and not (kind == "dta" and _is_fraction(code))
        }
        return column, some, None
    if dtype == pl.Null:
        return column.cast(pl.Float64), {}, None
    if dtype not in (pl.String, pl.Date, pl.Time):
        raise WriteError(
            f"column {name!r} holds {dtype.base_type().__name__} values, which no .{kind} file takes"
        )
    return column, {}, None


def _with_codes(
    column: pl.Series, labels: dict[Code, str], raw: pl.Series, spoken: Mapping[Code, str]
) -> tuple[pl.Series, dict[Code, str]]:
    """Return a column with its codes for "missing" restored, and their labels."""
    if (column.dtype == pl.String) != (raw.dtype == pl.String) or not (
        raw.dtype.is_numeric() or raw.dtype == pl.String
    ):
        return column, labels
    filled = raw.cast(column.dtype).zip_with(column.is_null(), column).alias(column.name)
    there = set(filled.drop_nulls().unique().to_list())
    return filled, {**labels, **{code: text for code, text in spoken.items() if code in there}}


def _same_sort(column: pl.Series, ranges: list[dict[str, Any]]) -> bool:
    texts = any(isinstance(item["lo"], str) for item in ranges)
    return texts == (column.dtype == pl.String) and not column.dtype.is_temporal()


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
