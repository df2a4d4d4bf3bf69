"""Convert any eager data frame to narwhals, and answer common questions about columns.

The three libraries store the same column in many ways (NumPy, nullable and Arrow-backed pandas columns,
Python objects, dictionaries). The answers do not depend on that: the content type (`form`), missing values
(`missing`), numbers (`numbers`), distinct values (`factorize`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from voronym.errors import SchemaError

Frame = nw.DataFrame[Any]
"""A table of any library, as narwhals has it."""
Series = nw.Series[Any]
"""A column of a narwhals frame."""
Form = Literal[
    "integer",
    "float",
    "decimal",
    "boolean",
    "string",
    "category",
    "date",
    "datetime",
    "empty",
    "mixed",
    "other",
]
NUMBERS: tuple[Form, ...] = ("integer", "float", "decimal")
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_PYTHON: dict[type, Form] = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    dt.date: "date",
}


def as_frame(table: Any) -> Frame:
    """Return a pandas, Polars or PyArrow table as a narwhals frame with rows numbered 0, 1, 2, ...

    An index is dropped: labels are not positions, and libraries that align by label would mix up rows.

    Examples
    --------
    >>> import polars as pl
    >>> as_frame(pl.DataFrame({"age": [30, 40]})).shape
    (2, 1)
    """
    if isinstance(table, nw.LazyFrame) or type(table).__name__ == "LazyFrame":
        raise SchemaError("the table is lazy; call .collect() on it first")
    try:
        frame: Frame = nw.from_native(table, eager_only=True)
    except DuplicateError:
        names = _names(table)
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise SchemaError(f"column names must differ; repeated: {listing(repeated)}; rename them") from None
    except TypeError:
        raise SchemaError(f"expected a pandas, Polars or PyArrow table, got {type(table).__name__}") from None
    odd = sum(not isinstance(name, str) for name in frame.columns)
    if odd:
        raise SchemaError(f"{odd} of {len(frame.columns)} column names are not strings; rename them")
    if frame.implementation.is_pyarrow():
        return _usual_arrow(frame)
    if frame.implementation.is_pandas_like():
        frame = _usual_pandas(frame)
    return nw.maybe_reset_index(frame)


def _usual_arrow(frame: Frame) -> Frame:
    """Convert Arrow's rarer layouts to plain ones that PyArrow, Polars and narwhals all handle."""
    table = frame.to_native()
    made = [_usual_column(name, table.column(i)) for i, name in enumerate(table.schema.names)]
    changed = [i for i, column in enumerate(made) if column is not None]
    for i in changed:
        table = table.set_column(i, table.schema.names[i], made[i])
    return nw.from_native(table, eager_only=True) if changed else frame


def _usual_pandas(frame: Frame) -> Frame:
    """Convert the Arrow columns of a pandas table to plain layouts."""
    import pandas as pd

    table, made = frame.to_native(), {}
    for name, dtype in table.dtypes.items():
        if isinstance(dtype, pd.ArrowDtype):
            import pyarrow as pa

            array = table[name].array.__arrow_array__()
            column = _usual_column(name, array if hasattr(array, "chunks") else pa.chunked_array([array]))
            if column is not None:
                made[name] = pd.Series(column.to_numpy(), dtype=pd.ArrowDtype(column.type), index=table.index)
    return nw.from_native(table.assign(**made), eager_only=True) if made else frame


def _usual_column(name: str, column: Any) -> Any:
    """Return the column in a plain layout; None if it already has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        plain = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], type=kind.value_type)
        again = _usual_column(name, plain)
        return plain if again is None else again
    views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}  # no rows can be taken
    if str(kind) in views:
        return column.cast(views[str(kind)])
    if pa.types.is_decimal(kind) and kind.bit_width != 128:  # Polars knows no other
        try:
            return column.cast(pa.decimal128(min(max(kind.precision, 1), 38), kind.scale))
        except (pa.ArrowInvalid, ValueError):
            raise SchemaError(
                f"column {name!r} has decimals of more than 38 digits; convert it to floats or strings, "
                "or drop it"
            ) from None
    return None


def _names(table: object) -> list[str]:
    return [str(name) for name in getattr(table, "column_names", getattr(table, "columns", []))]


def listing(names: Any, limit: int = 12) -> str:
    """Return names in quotes, the tail of a long list as a count."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def is_object(series: Series) -> bool:
    """Whether the column is pandas' bag of Python objects."""
    return series.implementation.is_pandas_like() and bool(series.to_native().dtype == object)


def object_types(series: Series) -> Counter[type]:
    """Count the Python types of a column of objects, missing values aside."""
    values = series.to_native().to_numpy()
    return Counter(map(type, values[~missing(series)]))


def form(series: Series) -> Form:
    """Return the content type of a column, for any library and layout."""
    if is_object(series):
        types = set(object_types(series))
        if types & {int, Decimal} and not _fits(series):
            return "other"
        if types <= {int, float} and len(types) == 2:
            return "float"
        if len(types) > 1:
            return "mixed"
        return _PYTHON.get(types.pop(), "other") if types else "empty"
    dtype = series.dtype
    if dtype.is_integer():
        return "integer" if dtype not in (nw.Int128, nw.UInt128) else "other"
    if dtype.is_float():
        return "float"
    simple: dict[Any, Form] = {
        nw.Decimal: "decimal",
        nw.Boolean: "boolean",
        nw.String: "string",
        nw.Categorical: "category",
        nw.Enum: "category",
        nw.Date: "date",
        nw.Datetime: "datetime",
    }
    for known, name in simple.items():
        if dtype == known:
            return name
    if dtype == nw.Unknown and len(series) == int(series.is_null().sum()):
        return "empty"
    return "other"


def _fits(series: Series) -> bool:
    """Whether whole numbers among Python objects fit 64 bits, and decimals 38 digits."""
    values = series.to_native().to_numpy()[~missing(series)]
    whole = [value for value in values if type(value) is int]
    if whole and not (min(whole) >= -(2**63) and max(whole) < (2**63 if min(whole) < 0 else 2**64)):
        return False
    decimals = [value for value in values if type(value) is Decimal and value.is_finite()]
    left = max((value.adjusted() + 1 for value in decimals), default=0)
    right = max((-int(value.as_tuple().exponent) for value in decimals), default=0)
    return max(left, 0) + max(right, 0) <= 38


def missing(series: Series) -> NDArray[np.bool_]:
    """Return where values are missing: null, and NaN in a column of floats."""
    if is_object(series):
        return np.asarray(series.to_native().isna(), dtype=bool)
    mask = series.is_null().to_numpy().astype(bool)
    if series.dtype.is_float():
        mask = mask | series.is_nan().fill_null(True).to_numpy().astype(bool)
    return np.asarray(mask)


def time_unit(series: Series) -> str:
    """Return the unit of a column of times: a day for dates."""
    return "day" if form(series) == "date" else str(series.dtype.time_unit)  # type: ignore[attr-defined]


def numbers(series: Series) -> NDArray[Any]:
    """Return the observed (not missing) values: integers as they are, times as counts of their unit.

    Floats and decimals come as float64.
    """
    kind = form(series)
    if is_object(series):
        values = series.to_native().to_numpy()[~missing(series)]
        if kind == "date":
            return np.array([value.toordinal() - 719_163 for value in values], dtype=np.int64)
        if kind == "integer":
            return np.array(values, dtype=np.uint64 if max(values, default=0) >= 2**63 else np.int64)
        return np.array(values, dtype=np.float64)
    present = series.drop_nulls()
    if kind == "integer":
        return np.asarray(present.to_numpy())
    if kind == "date":
        return np.asarray(present.dt.timestamp("ms").to_numpy()) // 86_400_000
    if kind == "datetime":
        unit = time_unit(series)
        counts = np.asarray(present.dt.timestamp("ms" if unit == "s" else unit).to_numpy())  # type: ignore[arg-type]
        return counts // 1000 if unit == "s" else counts
    if kind == "decimal":  # by Python, which rounds correctly: the libraries' casts differ in the last bit
        return np.array([float(value) for value in present.to_list()], dtype=np.float64)
    floats = np.asarray(present.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    return floats[~np.isnan(floats)]


def sample(series: Series) -> Series:
    """Return a column of one row, an observed one if possible: enough for form, dtype and name."""
    first = int(np.argmin(missing(series)))
    return series[first : first + 1]


def factorize(series: Series) -> tuple[NDArray[np.int64], list[Any]]:
    """Return codes (-1 if missing) and the sorted distinct values; the order of rows does not matter.

    Categories and strings become ``str``, numbers and booleans stay, other values become their texts.
    """
    kind = form(series)
    codes = np.full(len(series), -1, np.int64)
    if kind == "empty":
        return codes, []
    present = ~missing(series)
    if kind in ("integer", "float", "boolean"):
        if kind == "boolean":
            values = np.array([bool(v) for v, here in zip(series.to_list(), present, strict=True) if here])
        else:
            values = numbers(series)
        levels, inverse = np.unique(values, return_inverse=True)
        codes[present] = inverse.reshape(-1)
        return codes, list(levels.tolist())
    raw, distinct = _distinct(series)
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    rank = np.empty(len(distinct), np.int64)
    rank[order] = np.arange(len(distinct))
    codes[present] = rank[raw[present]]
    return codes, [distinct[i] for i in order]


def _distinct(series: Series) -> tuple[NDArray[np.int64], list[str]]:
    """Return codes and distinct texts in the library's order, using its hash table."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, uniques = native.factorize()
        return np.asarray(codes, np.int64), [str(value) for value in uniques.tolist()]
    text = series if series.dtype == nw.String else series.cast(nw.String())
    if series.implementation.is_pyarrow():
        encoded = text.to_native().combine_chunks().dictionary_encode()
        encoded = encoded.combine_chunks() if hasattr(encoded, "chunks") else encoded
        return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_pylist()
    distinct = text.drop_nulls().unique().to_list()
    codes = text.replace_strict(distinct, list(range(len(distinct))), return_dtype=nw.Int64()).fill_null(-1)
    return np.asarray(codes.to_numpy(), np.int64), distinct
