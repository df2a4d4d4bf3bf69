"""Tables at the border: any dataframe in, a clean one of the same library out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from voronym.errors import InputError, SchemaError


def as_frame(data: Any) -> nw.DataFrame[Any]:
    """Return a dataframe, or the file that a path names, as a narwhals DataFrame.

    Raises
    ------
    InputError
        The object is not a table that voronym reads, or the table is empty.
    SchemaError
        Two columns have the same name.
    """
    if isinstance(data, nw.DataFrame):
        frame = data
    elif isinstance(data, (str, Path)):
        from voronym.table.read import read

        frame = read(data)
    else:
        names = [str(name) for name in getattr(data, "columns", ())] if _is_pandas(data) else []
        _refuse_repeated(names or list(getattr(data, "column_names", ())))
        if _is_pandas(data) and not all(isinstance(name, str) for name in data.columns):
            raise SchemaError("column names must be text; rename the numbered columns first")
        try:
            frame = nw.from_native(data, eager_only=True)
        except TypeError:
            raise InputError(
                f"expected a pandas, Polars or PyArrow table or a file name, not {type(data).__name__}; "
                "collect a lazy frame first"
            ) from None
    if not frame.columns:
        raise InputError("the table has no columns")
    if len(frame) == 0:
        raise InputError(f"the table has {len(frame.columns)} columns and no records")
    return frame


def tidy(columns: Sequence[nw.Series[Any]]) -> nw.DataFrame[Any]:
    """Put series together as a frame that carries nothing but their values.

    No index, no categories that no longer occur, no Arrow dictionaries or metadata of the original, and
    one zero: ``-0.0`` becomes ``0.0``.
    """
    cleaned = {}
    for series in columns:
        native = series.to_native()
        if series.implementation.is_pandas_like():
            native = native.reset_index(drop=True)
            native.attrs = {}
            native.name = series.name
            if str(native.dtype) == "category":
                native = native.cat.remove_unused_categories()
        elif series.implementation.is_pyarrow():
            import pyarrow as pa

            if pa.types.is_dictionary(native.type):
                native = native.cast(native.type.value_type).dictionary_encode()
        elif series.dtype in (nw.Enum, nw.Categorical):
            import polars as pl

            native = _used_levels(native, pl)
        out = nw.from_native(native, series_only=True).alias(series.name)
        if out.dtype.is_float():
            out = out + 0.0  # IEEE 754: -0.0 + 0.0 is 0.0, and nothing else changes
        cleaned[series.name] = out
    first = columns[0]
    if first.implementation.is_pyarrow():
        import pyarrow as pa

        table = pa.table({name: series.to_native() for name, series in cleaned.items()})
        return nw.from_native(table.combine_chunks(), eager_only=True)
    return nw.from_dict(cleaned, backend=first.implementation)


def _used_levels(native: Any, pl: Any) -> Any:
    """Rebuild a Polars Enum or Categorical from the levels that still occur, in their order."""
    text = native.cast(pl.String)
    if native.dtype == pl.Categorical:
        return text.cast(pl.Categorical)
    present = set(text.drop_nulls().unique().to_list())
    return text.cast(pl.Enum([level for level in native.dtype.categories.to_list() if level in present]))


def _is_pandas(data: Any) -> bool:
    return nw.dependencies.is_pandas_dataframe(data)


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise SchemaError(f"column names must be unique; these occur more than once: {', '.join(repeated)}")


def gather(frame: nw.DataFrame[Any], rows: np.ndarray[Any, np.dtype[np.int64]]) -> nw.DataFrame[Any]:
    """Return the frame's rows by position, never by index label."""
    return frame[rows.tolist()] if frame.implementation.is_pyarrow() else frame[rows]
