"""One table of every dtype that a key may have, in every library, and small random tables."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

LIBRARIES = ["polars", "pandas", "pyarrow"]


def plain(n: int = 40, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    day, moment = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)
    columns: dict[str, list[Any]] = {
        "int": rng.integers(-5, 90, n).tolist(),
        "float": rng.normal(size=n).tolist(),
        "word": [["a", "b", "ç", "漢字"][i] for i in rng.integers(0, 4, n)],
        "bool": [bool(i) for i in rng.integers(0, 2, n)],
        "date": [day + dt.timedelta(days=int(i)) for i in rng.integers(0, 900, n)],
        "time": [moment + dt.timedelta(seconds=int(i)) for i in rng.integers(0, 10**8, n)],
        "decimal": [Decimal(int(i)).scaleb(-2) for i in rng.integers(0, 9000, n)],
    }
    for name in list(columns):
        columns[f"{name}?"] = [None if i % 4 == 1 else v for i, v in enumerate(columns[name])]
    columns["lat"] = rng.uniform(40, 42, n).tolist()
    columns["lon"] = rng.uniform(1, 3, n).tolist()
    return columns


def everything(library: str, n: int = 40) -> Any:
    """Return a native table with a column per dtype of the library."""
    columns = plain(n)
    table = pl.DataFrame(columns).with_columns(
        pl.col("time?").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Madrid").alias("zoned"),
        pl.col("word?").cast(pl.Categorical).alias("category"),
        pl.col("word?").cast(pl.Enum(["ç", "b", "unused", "漢字", "a"])).alias("ordered"),
        pl.col("time?").cast(pl.Datetime("ns")).alias("nanoseconds"),
        pl.col("time").cast(pl.Datetime("ms")).alias("milliseconds"),
        pl.col("int").cast(pl.Int8).alias("int8"),
        (pl.col("int") + 10).cast(pl.UInt64).alias("uint64"),
        pl.col("float").cast(pl.Float32).alias("float32"),
        pl.lit(None).alias("nothing"),
    )
    if library == "polars":
        return table
    if library == "pyarrow":
        arrow = table.to_arrow()
        return pa.concat_tables([arrow.slice(0, n // 3), arrow.slice(n // 3)])  # chunks
    index = [i % 7 for i in range(n)]  # labels that are neither unique nor positions
    frame = pd.DataFrame(columns, index=index)

    def typed(name: str, dtype: Any) -> Any:
        return pd.Series(columns[name], dtype=dtype, index=index)

    arrow_types = {"date": pa.date32(), "decimal": pa.decimal128(10, 2), "time": pa.timestamp("us", "UTC")}
    extra = {
        "Int64": typed("int?", "Int64"),
        "Float64": typed("float?", "Float64"),
        "boolean": typed("bool?", "boolean"),
        "string": typed("word?", "string"),
        "object": typed("word?", object),
        "category": typed("word?", "category"),
        "ordered": typed("word?", pd.CategoricalDtype(["ç", "b", "unused", "漢字", "a"], ordered=True)),
        "int64[pyarrow]": typed("int?", "int64[pyarrow]"),
        "string[pyarrow]": typed("word?", pd.ArrowDtype(pa.string())),
        "seconds": frame["time?"].astype("datetime64[s]"),
        "zoned": frame["time?"].dt.tz_localize("UTC").dt.tz_convert("Europe/Madrid"),
        "nothing": pd.Series([None] * n, dtype=object, index=index),
        **{f"{name}[pyarrow]": typed(f"{name}?", pd.ArrowDtype(kind)) for name, kind in arrow_types.items()},
    }
    return pd.concat([frame, pd.DataFrame(extra)], axis=1)


def native(columns: dict[str, list[Any]], library: str) -> Any:
    if library == "pandas":
        return pd.DataFrame(columns, index=[i % 3 for i in range(len(next(iter(columns.values()))))])
    return pl.DataFrame(columns) if library == "polars" else pa.table(columns)


_VALUES = {
    "int": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    "float": st.floats(allow_infinity=False, min_value=-1e150, max_value=1e150)
    | st.sampled_from([0.0, -0.0]),
    "word": st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4)
    | st.sampled_from(["=1+1", "+x", "-x", "@x", "\tx", "\rx", "'", 'q"', "a,b", "a;b", "\n", "", " "]),
    "bool": st.booleans(),
    "date": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "time": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
}


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 12) -> dict[str, list[Any]]:
    """Draw a small table of any kinds, with missing values."""
    n = draw(st.integers(1, max_rows))
    kinds = draw(st.lists(st.sampled_from(sorted(_VALUES)), min_size=1, max_size=4))
    columns = {}
    for i, kind in enumerate(kinds):
        values = st.none() | _VALUES[kind] if draw(st.booleans()) else _VALUES[kind]
        drawn = draw(st.lists(values, min_size=n, max_size=n))
        columns[f"{kind} {i}"] = drawn if any(v is not None for v in drawn) else [draw(_VALUES[kind])] * n
    return columns
