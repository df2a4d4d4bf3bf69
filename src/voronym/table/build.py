"""Build columns with the library and dtype of another column, from plain numbers (see `frame.numbers`)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import Series, form, is_object, time_unit


def build(like: Series, values: NDArray[Any] | list[Any], mask: NDArray[np.bool_]) -> Series:
    """Return a column of the dtype of ``like``, missing where ``mask`` is set.

    Parameters
    ----------
    like : nw.Series
        Gives the library, the dtype and the name.
    values : array or list
        Whole numbers for integers and times (counts of the column's unit), `decimal.Decimal` for decimals,
        floats otherwise. Masked values are not read.
    mask : array of bool
        Whether the new value is missing.
    """
    kind = form(like)
    native = like.to_native()
    if is_object(like) or kind == "decimal" or (kind == "date" and like.implementation.is_pandas_like()):
        objects = _objects(kind, values, mask)
        return _from_objects(like, objects)
    if like.implementation.is_pandas_like():
        import pandas as pd

        numbers = np.asarray(values)
        if kind == "datetime":
            column = pd.Series(numbers.astype(f"datetime64[{time_unit(like)}]"))
            if like.dtype.time_zone is not None:  # type: ignore[attr-defined]
                column = column.dt.tz_localize("UTC")  # astype turns it into the column's own zone
        else:
            column = pd.Series(np.where(mask, 0, numbers) if kind == "integer" else numbers)
        column = column.astype(native.dtype)
        column = column.mask(mask) if mask.any() else column
        return nw.from_native(column.rename(like.name), series_only=True)
    if like.implementation.is_polars():
        import polars as pl

        column = pl.Series(like.name, np.where(mask, 0, values)).cast(native.dtype)
        if mask.any():
            column = column.scatter(np.flatnonzero(mask), None)
        return nw.from_native(column, series_only=True)
    if like.implementation.is_pyarrow():
        import pyarrow as pa

        numbers = np.where(mask, 0, values)
        if kind == "date":
            numbers = numbers.astype(np.int32)
            column = pa.array(numbers, mask=mask).cast(pa.date32()).cast(native.type)
        else:
            column = pa.array(numbers, mask=mask).cast(native.type)
        return _arrow(like.name, column)
    objects = [None if gone else value for value, gone in zip(np.asarray(values).tolist(), mask, strict=True)]
    return nw.new_series(like.name, objects, like.dtype, backend=like.implementation)


def _objects(kind: str, values: Any, mask: NDArray[np.bool_]) -> list[Any]:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    if kind == "date":
        plain = [dt.date.fromordinal(719_163 + int(value)) for value in plain]
    return [None if gone else value for value, gone in zip(plain, mask, strict=True)]


def _from_objects(like: Series, objects: list[Decimal | Any]) -> Series:
    native = like.to_native()
    if like.implementation.is_pandas_like():
        import pandas as pd

        return nw.from_native(pd.Series(objects, dtype=native.dtype, name=like.name), series_only=True)
    if like.implementation.is_pyarrow():
        import pyarrow as pa

        return _arrow(like.name, pa.array(objects, type=native.type))
    return nw.new_series(like.name, objects, like.dtype, backend=like.implementation)


def _arrow(name: str, array: Any) -> Series:
    """Wrap an Arrow array in a table, which gives the column a name."""
    import pyarrow as pa

    column: Series = nw.from_native(pa.table({name: array}), eager_only=True)[name]
    return column
