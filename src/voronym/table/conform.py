"""Texts that should be numbers or dates: declared in the schema, or suspected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.errors import hint
from voronym.table import spelling
from voronym.table.codebook import attach, labels_of
from voronym.table.frame import Frame, Series
from voronym.table.moments import DIGITS, Moment
from voronym.table.source import Source, source_of
from voronym.table.spelling import form_of
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.schema import Schema

MOSTLY = 0.8  # of the values being numbers, or dates: then the others look like mistakes


def conform(frame: Any, schema: Schema) -> Frame:
    """Return the table with texts converted: to numbers if declared numeric, to times if declared datetime.

    Only columns in which all texts can be read are converted, apart from gaps (see `spelling`); "00101"
    becomes 101.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Schema
    >>> table = pl.DataFrame({"zip": ["00101", "n/a", "43001"]})
    >>> schema = Schema.build(table, keys=["zip"], kinds={"zip": "numeric"})
    >>> conform(table, schema)["zip"].to_list()
    [101, None, 43001]
    """
    table = Columns.at_door(frame)
    return conformed(table, schema, source_of(table.frame))[0].frame


def conformed(table: Columns, schema: Schema, source: Source | None = None) -> tuple[Columns, Source | None]:
    """Convert the columns of a table; cached facts about unchanged columns are kept.

    With a source file, numbers declared nominal become the texts of the file: 47.10 and 47.1 are two
    codes. The facts about the file are updated.
    """
    made = {}
    for column in schema:
        if column.role != "identifier" and column.name in table:
            result = as_kind(table[column.name], column.kind)
            if result is None and column.kind == "nominal":
                result = as_codes(table[column.name], source)
            if result is not None:
                made[column.name] = result
    if not made:
        return table, source
    changed = nw.from_dict({name: made.get(name, table[name].series) for name in table.columns})
    attach(changed.to_native(), labels_of(table.frame))
    if source is not None:
        source = _followed(source, table, made, schema)
    return Columns(changed, {name: table[name] for name in table.columns if name not in made}), source


def as_codes(column: Values, source: Source | None) -> Series | None:
    """Return numbers or dates as the file's own texts; None if there is no text file."""
    if source is None or column.form not in ("integer", "float", "date", "datetime"):
        return None
    texts = source.texts(column.name, column.series.to_native())
    if texts is None:
        return None
    codes = texts.str.strip_chars().set(column.series.to_native().is_null(), None)
    return nw.from_native(codes.alias(column.name), series_only=True)


def _followed(source: Source, table: Columns, made: Mapping[str, Any], schema: Schema) -> Source:
    """Return the facts about the file after some columns changed."""
    spellings, raw = dict(source.spellings), dict(source.raw)
    for name in made:
        texts = source.texts(name, table[name].series.to_native())
        if texts is None:
            continue
        raw[name] = texts
        kind = schema[name].kind
        form = None if kind == "nominal" else form_of(texts)
        if kind == "datetime" and not isinstance(form, Moment):
            form = DIGITS
        spellings[name] = replace(spellings[name], form=form)
    return replace(source, spellings=spellings, raw=raw)


def as_kind(column: Values, kind: str) -> Series | None:
    """Return a column of texts as numbers or times if all can be read; otherwise None.

    Whole numbers such as 20251231 that are declared datetime become days.
    """
    days = kind == "datetime" and column.form in ("integer", "float")  # pandas: floats if there are gaps
    if not days and (
        kind not in ("numeric", "location", "datetime") or column.form not in ("string", "category")
    ):
        return None
    codes = column.codes
    result = _days(column) if days else spelling.typed(pl.Series(column.levels, dtype=pl.String), codes=True)
    if result is None or result.dtype == pl.Boolean or result.dtype.is_temporal() != (kind == "datetime"):
        return None
    levels = pl.concat([result, pl.Series([None], dtype=result.dtype)])
    made = levels.gather(np.where(codes < 0, len(result), codes)).alias(column.name)
    return _in_library(made, column.series)


def _days(column: Values) -> pl.Series | None:
    """Return whole numbers such as 20251231 as days; None if one is no day."""
    given = pl.Series(column.levels, dtype=pl.Float64 if column.form == "float" else pl.Int64)
    levels = given.cast(pl.Int64, strict=False)
    days = levels.cast(pl.String).str.to_date("%Y%m%d", strict=False)
    wrong = days.is_null() | (levels < 10_000_000) | (levels > 99_999_999) | (levels != given)
    return None if wrong.any() else days


def _in_library(column: pl.Series, like: Series) -> Series:
    """Return a Polars column of numbers or times in the library of another one."""
    if like.implementation.is_polars():
        return nw.from_native(column, series_only=True)
    gone = column.is_null().to_numpy()
    values: Any = column.to_physical().fill_null(0).to_numpy()
    if isinstance(column.dtype, pl.Datetime):
        values = values.astype("datetime64[us]")
    elif column.dtype == pl.Date:
        values = values.astype("datetime64[D]")
    if like.implementation.is_pyarrow():
        import pyarrow as pa

        made = pa.array(values, mask=gone)
        if getattr(column.dtype, "time_zone", None):
            made = made.cast(pa.timestamp("us", "UTC"))
        table: Frame = nw.from_native(pa.table({like.name: made}), eager_only=True)
        return table[like.name]
    import pandas as pd

    numbers = pd.Series(values, name=like.name)
    if column.dtype.is_temporal():
        numbers = numbers.astype("datetime64[us]")
        if getattr(column.dtype, "time_zone", None):
            numbers = numbers.dt.tz_localize("UTC")
    elif gone.any() and column.dtype.is_integer():
        numbers = numbers.astype("Int64")
    numbers = numbers.mask(gone) if gone.any() else numbers
    return nw.from_native(numbers, series_only=True)


def doubt(column: Values) -> str | None:
    """Return a sentence if a column of texts may hold numbers or dates; it has counts, no values."""
    if column.form not in ("string", "category"):
        return None
    codes, distinct = column.codes, column.levels
    if not distinct:
        return None
    often = np.bincount(codes[codes >= 0], minlength=len(distinct))
    plain = spelling.gaps(pl.Series(distinct, dtype=pl.String))
    total, empty = int(often.sum()), int(often[plain.is_null().to_numpy()].sum())
    if plain.str.contains(spelling.CODE).fill_null(False).any() and not _count(plain, often, _DATES):
        return None  # codes such as 08001
    for what, kind, patterns in (("numbers", "numeric", (spelling.NUMBER,)), ("dates", "datetime", _DATES)):
        good = _count(plain, often, patterns)
        if not good or good < MOSTLY * (total - empty):
            continue
        name = column.name
        if good + empty < total:
            return (
                f"{good} of {total} values of {name!r} read as {what}; the other {total - good} do not, so "
                "it is nominal; correct or empty those"
            )
        if kind == "datetime" and as_kind(column, kind) is None:
            days = _most_days(plain, often)
            if MOSTLY * (total - empty) <= days < total - empty:
                return (
                    f"{days} of {total} values of {name!r} read as dates; {total - empty - days} look like "
                    "dates and are no days, so it is nominal; correct or empty those, or declare them "
                    f"({hint('missing')}), if they mean 'missing'"
                )
            return (
                f"the values of {name!r} look like dates, but not in one way that is certain, so it is "
                f"nominal; write them as year-month-day, or say how they are written ({hint('date_format')})"
            )
        return f"the values of {name!r} read as {what} but are texts, so it is nominal; declare it {kind}"
    return None


_DATES = (spelling.DATE, spelling.MOMENT, spelling.YEAR_FIRST, spelling.YEAR_LAST)


def _count(plain: pl.Series, often: np.ndarray[Any, Any], patterns: tuple[str, ...]) -> int:
    fits = np.zeros(len(plain), dtype=bool)
    for pattern in patterns:
        fits |= plain.str.contains(pattern).fill_null(False).to_numpy()
    return int(often[fits].sum())


def _most_days(plain: pl.Series, often: np.ndarray[Any, Any]) -> int:
    """Return the number of texts that are days, in the order of day, month and year that fits most."""
    alike = plain.str.replace_all(r"[./]", "-")
    read = (alike.str.to_date(order, strict=False) for order in ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y"))
    return max(int(often[days.is_not_null().to_numpy()].sum()) for days in read)


def check_kinds(frame: Any, schema: Schema) -> tuple[str, ...]:
    """Return warnings about nominal columns whose values are mostly numbers or dates.

    Only keys and confidential columns without a declared kind are checked.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Schema
    >>> table = pl.DataFrame({"age": ["30", "40", "50", "60", "abc"]})
    >>> check_kinds(table, Schema.build(table, keys=["age"]))[0][:50]
    "4 of 5 values of 'age' read as numbers; the other "
    """
    table = Columns.at_door(frame)
    asked = [
        column.name
        for column in schema
        if column.role in ("key", "confidential")
        and column.kind in ("nominal", "text")
        and column.note != "declared"
        and not column.note.startswith("looks like codes")
        and column.name in table
    ]
    return tuple(result for name in asked if (result := doubt(table[name])) is not None)
