"""Convert columns of two tables to one type, so that their values can be compared."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.table.classes import check_columns, equivalence_classes
from voronym.table.clean import polars_column
from voronym.table.frame import Frame, Series, is_object

Ints = NDArray[np.int64]


def plain(series: Series) -> pl.Series:
    """Return a column as a Polars series, NaN as null; objects that Polars cannot hold become text."""
    try:
        column = polars_column(series) if is_object(series) else series.to_polars()
    except Exception:  # Arrow and Polars have no common error for "mixed types"
        column = None
    if column is None or type(column.dtype).__name__ in {"Object", "Extension", "Unknown"}:
        missing = series.is_null().to_list()
        values = [None if gone else str(v) for v, gone in zip(series.to_list(), missing, strict=True)]
        return pl.Series(series.name, values, dtype=pl.String)
    if column.dtype.is_float():
        column = column.cast(pl.Float64).fill_nan(None) + 0.0
    return column.alias(series.name)


def common(a: pl.Series, b: pl.Series) -> tuple[pl.Series, pl.Series, bool]:
    """Return both columns with a common type, and whether neither changed its type."""
    if a.dtype == b.dtype and a.dtype != pl.Categorical and a.dtype != pl.Enum:
        return a, b, True
    text = (pl.String, pl.Categorical, pl.Enum)
    if a.dtype in text and b.dtype in text:
        return a.cast(pl.String), b.cast(pl.String), True
    for x, y in ((a, b), (b, a)):
        if x.dtype == pl.Null:  # nothing but missing values: it takes the other's type
            same = y.cast(pl.String) if y.dtype in text else y
            gone = pl.Series(x.name, [None] * len(x), dtype=same.dtype)
            return (gone, same, True) if x is a else (same, gone, True)
    if a.dtype.is_numeric() and b.dtype.is_numeric():
        return a.cast(pl.Float64), b.cast(pl.Float64), True
    moments = (pl.Date, pl.Datetime)
    if a.dtype in moments and b.dtype in moments:
        return moment(a), moment(b), True
    return a.cast(pl.String), b.cast(pl.String), False


def moment(column: pl.Series) -> pl.Series:
    """Return dates or times without a time zone; zoned ones are converted to UTC."""
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return column.cast(pl.Datetime("us"))


def population_sizes(table: Frame, people: Frame, keys: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the number of records in the table, and in the population, with the keys of each record.

    Examples
    --------
    >>> frames = [pl.DataFrame({"age": ages}) for ages in ([30, 40], [30.0, 30.0, 50.0])]
    >>> here, there = population_sizes(*(nw.from_native(one, eager_only=True) for one in frames), ["age"])
    >>> here.tolist(), there.tolist()
    ([1, 1], [2, 0])
    """
    check_columns(people, keys, "key of the population")
    n = len(table)
    joint = equivalence_classes(_stack(table, people, keys), keys)
    m = len(joint.sizes)
    own, theirs = (np.bincount(part, minlength=m) for part in (joint.labels[:n], joint.labels[n:]))
    mine = joint.labels[:n]
    return own[mine].astype(np.int64), theirs[mine].astype(np.int64)


def _stack(table: Frame, people: Frame, keys: Sequence[str]) -> Frame:
    """Stack the keys of both tables, brought to the same types."""
    columns = []
    for name in keys:
        ours, theirs, alike = common(plain(table[name]), plain(people[name]))
        if not alike:
            raise InputError(
                f"column {name!r} is {table.schema[name]} in the table and {people.schema[name]} in the "
                "population; give both the same type"
            )
        columns.append(pl.concat([ours, theirs.alias(name)]))
    return nw.from_native(pl.DataFrame(columns), eager_only=True)
