"""Copy columns value by value, so that their memory holds nothing else.

Libraries share memory where they can. A Polars column of strings that was gathered from another one still
points into the other's buffers, with every original value in the original order. A slice of an Arrow array
keeps the whole array. A null may hide a value. Pickling or saving such a table writes all of it. A column
made by `rebuild` holds only its own values, in its own order, and zeros under nulls.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.table.frame import Series

_CHUNK = 1 << 18  # values that are Python objects at a time


def rebuild(series: Series) -> Series:
    """Return the same column in fresh memory with only its values.

    Examples
    --------
    >>> import pickle
    >>> import polars as pl
    >>> towns = pl.Series("town", ["a common place name", "the only one of this village"] * 2)
    >>> picked = nw.from_native(towns.gather([0, 2, 2]), series_only=True)
    >>> b"village" in pickle.dumps(rebuild(picked).to_native().to_frame())
    False
    """
    if series.implementation.is_polars():
        made = _polars(series.to_native())
    elif series.implementation.is_pyarrow():
        import pyarrow as pa

        column = series.to_native()
        made = pa.chunked_array([_arrow(chunk) for chunk in column.chunks], type=column.type)
        fresh: Series = nw.from_native(pa.table({series.name: made}), eager_only=True)[series.name]
        return fresh
    elif series.implementation.is_pandas_like():
        made = _pandas(series.to_native())
    else:
        return series
    return nw.from_native(made, series_only=True)


def _polars(column: Any) -> Any:
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return _polars(column.cast(pl.String)).cast(dtype)
    if dtype.is_nested() or dtype in (pl.String, pl.Binary):
        parts = [
            pl.Series(column.name, column[start : start + _CHUNK].to_list(), dtype=dtype)
            for start in range(0, len(column), _CHUNK)
        ]
        return pl.concat(parts).rechunk() if parts else pl.Series(column.name, [], dtype=dtype)
    if column.null_count() and dtype not in (pl.Null, pl.Object):
        return column.gather(np.arange(len(column)))  # zeros under the nulls
    return column


def _arrow(chunk: Any) -> Any:
    import pyarrow as pa

    return chunk.take(pa.array(np.arange(len(chunk))))


def _pandas(column: Any) -> Any:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = dtype.categories
        return column.cat.rename_categories(levels.take(np.arange(len(levels))))
    if isinstance(dtype, (pd.ArrowDtype, pd.StringDtype)):
        array = column.array.take(np.arange(len(column)))
        return pd.Series(array, index=column.index, name=column.name)
    gone = column.isna()
    if gone.any() and hasattr(column.array, "_mask"):  # nullable: old values stay below the mask
        return column.fillna(0 if dtype.kind in "iuf" else False).mask(gone)
    return column
