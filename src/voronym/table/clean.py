"""Remove private remains from a release: indexes, metadata, unused categories, signs of zero, old memory."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.errors import WriteError
from voronym.table.frame import Frame, Series, as_frame, form, is_object, missing, numbers, time_unit
from voronym.table.rebuild import rebuild


def tidy(table: Any) -> Frame:
    """Return the same table, in the same library, without private remains.

    Dropped: the index, ``attrs`` and schema metadata (they may hold paths), categories and dictionary
    entries that no row uses, and the sign of negative zeros. Unordered categories are sorted, or numbered
    as they appear. Every column is copied value by value, because files and pickles contain its memory:
    afterwards it holds only the values of the table, in the table's order.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"grade": ["low", "low"]}, schema={"grade": pl.Enum(["low", "high"])})
    >>> tidy(table).to_native().schema["grade"].categories.to_list()
    ['low']
    """
    frame = as_frame(table)
    columns = {name: _tidy_column(frame[name]) for name in frame.columns}
    if not columns:
        return frame
    return nw.from_dict(columns)


def _tidy_column(series: Series) -> Series:
    if series.dtype.is_float():
        series = _unsigned_zero(series)
    if form(series) == "category":
        series = _used_categories(series)
    return rebuild(series)


def _used_categories(series: Series) -> Series:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        column = native if hasattr(native, "cat") else native.astype("category")  # an Arrow dictionary
        column = column.cat.remove_unused_categories()
        if not column.cat.ordered:  # they may stand in the order in which the original rows had them
            column = column.cat.set_categories(_sorted(column))
        return nw.from_native(column, series_only=True)
    if series.implementation.is_pyarrow():
        return _redictionary(series, native)
    if series.dtype == nw.Enum:
        used = set(series.unique().to_list())
        return series.cast(nw.Enum([level for level in series.dtype.categories if level in used]))  # type: ignore[attr-defined]
    return series


def _sorted(column: Any) -> Any:
    try:
        return column.cat.categories.sort_values()
    except TypeError:  # of types that do not compare
        codes = column.cat.codes.to_numpy()
        return column.cat.categories[np.unique(codes[codes >= 0], return_index=True)[1].argsort()]


def _unsigned_zero(series: Series) -> Series:
    """Turn -0.0 into 0.0. Adding 0.0 does it, except in Polars, which optimises it away."""
    if not series.implementation.is_polars():
        if (
            series.implementation.is_pyarrow() and str(series.to_native().type) == "halffloat"
        ):  # it has no sums
            return (series.cast(nw.Float32()) + 0.0).cast(nw.Float32())
        return (series + 0.0).cast(series.dtype)  # PyArrow would widen floats of 32 bits
    import polars as pl

    column = series.to_native()
    positive = pl.when(column == 0.0).then(pl.lit(0.0, dtype=column.dtype)).otherwise(column)
    return nw.from_native(pl.select(positive.alias(column.name)).to_series(), series_only=True)


def _redictionary(series: Series, native: Any) -> Series:
    """Encode an Arrow dictionary column again: only the values in use, as they appear unless ordered."""
    import pyarrow as pa

    kind = native.type
    flat = native.combine_chunks()
    flat = flat.combine_chunks() if hasattr(flat, "chunks") else flat
    present = flat.indices.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)
    used, first = np.unique(present, return_index=True)
    if not kind.ordered:
        used = used[first.argsort()]
    to = np.zeros(max(len(flat.dictionary), 1), np.int64)
    to[used] = np.arange(len(used))
    gone = flat.indices.is_null().to_numpy(zero_copy_only=False)
    codes = to[flat.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)]
    indices = pa.array(codes, mask=gone).cast(kind.index_type)
    made = pa.DictionaryArray.from_arrays(indices, flat.dictionary.take(pa.array(used)), ordered=kind.ordered)
    column: Series = nw.from_native(pa.table({series.name: made}), eager_only=True)[series.name]
    return column


def to_polars(frame: Frame) -> Any:
    """Return a tidy frame as Polars, with categories unchanged and NaN as null.

    PyArrow is not needed for a pandas frame: it is not among the requirements.
    """
    import polars as pl

    columns = []
    for name in frame.columns:
        column = polars_column(frame[name])
        if column.dtype.is_float():
            column = column.fill_nan(None)
        columns.append(column.alias(name))
    return pl.DataFrame(columns)


def polars_column(series: Series) -> Any:
    """Return one column as Polars; raise if it cannot be converted."""
    import polars as pl

    native = series.to_native()
    if series.implementation.is_polars():
        return native
    if series.implementation.is_pyarrow():
        return pl.from_arrow(native)
    held, gone = form(series), missing(series)
    if held in ("integer", "float", "date", "datetime") and not (held == "float" and is_object(series)):
        values = np.zeros(len(series), np.float64 if held == "float" else np.int64)
        present = numbers(series)
        values = values.astype(present.dtype)
        values[~gone] = present
        column = pl.Series(values)
        if held == "date":
            column = column.cast(pl.Date)
        elif held == "datetime":
            unit: Any = time_unit(series)
            column = column * 1000 if unit == "s" else column
            zone = series.dtype.time_zone  # type: ignore[attr-defined]
            try:
                column = column.cast(pl.Datetime("ms" if unit == "s" else unit, zone))
            except (
                pl.exceptions.PolarsError
            ):  # a bare offset such as +02:00 is no zone there: the same instants
                column = column.cast(pl.Datetime("ms" if unit == "s" else unit, "UTC"))
        return column.scatter(np.flatnonzero(gone), None) if gone.any() else column
    if held in ("mixed", "other"):
        if series.dtype == nw.Duration:
            return pl.Series(native.to_numpy().astype("timedelta64[us]"))
        raise WriteError(
            f"column {series.name!r} holds values that no file format takes; convert it to strings"
        )
    objects = [None if no else value for value, no in zip(series.to_list(), gone, strict=True)]
    if held == "category":
        ordered = series.dtype == nw.Enum
        kind: Any = pl.Enum([str(v) for v in native.cat.categories]) if ordered else pl.Categorical
        return pl.Series([None if value is None else str(value) for value in objects], dtype=kind)
    if held == "empty":
        return pl.Series([None] * len(series), dtype=pl.Null)
    return pl.Series(objects)
