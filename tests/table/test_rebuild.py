"""What a release is made of in memory: its own values in its own order, and nothing of the original."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voronym as vr
from table.samples import LIBRARIES, everything
from voronym.table import as_frame, tidy

SECRET = "SECRET RARE VILLAGE OF ONE"  # noqa: S105 - a place
PLACES = ["a common place name"] * 99 + [SECRET]
NUMBER = 0x4142434445464748  # the bytes HGFEDCBA
KINDS: dict[str, Callable[[list[Any]], Any]] = {
    "polars String": lambda v: pl.Series(v),
    "polars Binary": lambda v: pl.Series([x.encode() for x in v]),
    "polars Categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
    "polars Enum": lambda v: pl.Series(v, dtype=pl.Enum(sorted(set(v)))),
    "polars List": lambda v: pl.Series([[x] for x in v]),
    "polars Struct": lambda v: pl.Series([{"a": x} for x in v]),
    "pandas str": lambda v: pd.Series(v, dtype="str"),
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas string": lambda v: pd.Series(v, dtype="string[pyarrow]"),
    "pandas Arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "pandas ordered": lambda v: pd.Series(pd.Categorical(v, categories=sorted(set(v)), ordered=True)),
    "pandas Arrow dictionary": lambda v: pd.Series(
        v, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "pyarrow string": lambda v: pa.chunked_array([v]),
    "pyarrow chunks": lambda v: pa.chunked_array([v[:3], v[3:]]),
    "pyarrow large_string": lambda v: pa.chunked_array([v], type=pa.large_string()),
    "pyarrow string_view": lambda v: pa.chunked_array([v], type=pa.string_view()),
    "pyarrow binary": lambda v: pa.chunked_array([[x.encode() for x in v]]),
    "pyarrow binary_view": lambda v: pa.chunked_array(
        [pa.array([x.encode() for x in v], type=pa.binary_view())]
    ),
    "pyarrow dictionary": lambda v: pa.chunked_array([pa.array(v).dictionary_encode()]),
}


def frame(column: Any) -> Any:
    if isinstance(column, pl.Series):
        return column.alias("x").to_frame()
    return column.to_frame("x") if isinstance(column, pd.Series) else pa.table({"x": column})


def saved(table: Any) -> dict[str, bytes]:
    """Return the bytes that leave the house by the library's own means."""
    out = {"pickle": pickle.dumps(table, protocol=5)}
    file, other = io.BytesIO(), io.BytesIO()
    if isinstance(table, pl.DataFrame):
        table.write_ipc(file)
        table.write_parquet(other, compression="uncompressed")
    else:
        arrow = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
        with pa.ipc.new_file(file, arrow.schema) as sink:
            sink.write_table(arrow)
        pq.write_table(arrow, other, compression="none")
    return {**out, "ipc": file.getvalue(), "parquet": other.getvalue()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["slice", "gather"])
def test_values_that_are_gone_are_gone_from_the_bytes(kind: str, how: str) -> None:
    table = as_frame(frame(KINDS[kind](PLACES)))
    picked = table[:99] if how == "slice" else table[np.arange(98, -1, -1)]
    clean = tidy(picked)
    assert [str(v) for v in clean["x"].to_list()] == [str(v) for v in picked["x"].to_list()]
    for what, raw in saved(clean.to_native()).items():
        assert b"common" in raw, what
        assert b"SECRET" not in raw, what


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "ordered" not in kind and "Enum" not in kind])
def test_the_original_order_is_gone_from_the_bytes(kind: str) -> None:
    rng = np.random.default_rng(0)
    values = [f"a rather long value {i:02}" for i in rng.permutation(60)]
    order = rng.permutation(60)
    released = tidy(as_frame(frame(KINDS[kind](values)))[order]).to_native()
    ends = (min(values), max(values))  # Parquet writes these first
    expected = [values[i] for i in order if values[i] not in ends]
    for what, raw in saved(released).items():
        result = sorted(expected, key=lambda value: raw.index(value.encode()))
        assert result in (expected, sorted(expected)), what


def hidden() -> dict[str, Any]:
    """Columns whose last value is missing, but still there below."""
    gone = [False, False, True]
    bits = pa.py_buffer(b"\x03")
    numbers, words = pa.array([1, 2, NUMBER]), pa.array(["a", "b", SECRET])
    return {
        "polars Int64": pl.Series([1, 2, NUMBER]).set(pl.Series(gone), None),
        "polars Datetime": pl.Series([1, 2, NUMBER]).set(pl.Series(gone), None).cast(pl.Datetime("ns")),
        "polars Float64": pl.Series(np.array([1, 2, NUMBER]).view(np.float64)).set(pl.Series(gone), None),
        "polars String": pl.Series(["a", "b", SECRET]).set(pl.Series(gone), None),
        "polars Categorical": pl.Series(["a", "b", SECRET], dtype=pl.Categorical).set(pl.Series(gone), None),
        "pandas Int64": pd.Series([1, 2, NUMBER], dtype="Int64").mask(pd.Series(gone)),
        "pandas Float64": pd.Series(np.array([1, 2, NUMBER]).view(np.float64), dtype="Float64").mask(
            pd.Series(gone)
        ),
        "pandas boolean": pd.Series([True, False, True], dtype="boolean").mask(pd.Series(gone)),
        "pandas Arrow": pd.Series(
            pd.arrays.ArrowExtensionArray(
                pa.Array.from_buffers(pa.int64(), 3, [bits, numbers.buffers()[1]], null_count=1)
            )
        ),
        "pyarrow int64": pa.Array.from_buffers(pa.int64(), 3, [bits, numbers.buffers()[1]], null_count=1),
        "pyarrow double": pa.Array.from_buffers(pa.float64(), 3, [bits, numbers.buffers()[1]], null_count=1),
        "pyarrow string": pa.Array.from_buffers(pa.string(), 3, [bits, *words.buffers()[1:]], null_count=1),
    }


@pytest.mark.parametrize("kind", sorted(hidden()))
def test_nothing_hides_below_a_missing_value(kind: str) -> None:
    table = frame(hidden()[kind])
    clean = tidy(table).to_native()
    assert as_frame(clean)["x"].is_null().to_list() == [False, False, True]
    for what, raw in saved(clean).items():
        assert b"HGFEDCBA" not in raw, what
        assert b"SECRET" not in raw, what
    if kind == "polars Int64":
        assert b"HGFEDCBA" in saved(table)["ipc"]  # the test can fail


@pytest.mark.parametrize("library", LIBRARIES)
def test_tidy_keeps_values_and_dtypes(library: str) -> None:
    table = as_frame(everything(library))
    clean = tidy(table)
    for name in table.columns:
        assert str(clean[name].to_list()) == str(table[name].to_list()), name
        if name not in ("ordered", "category"):  # these lose what no row has
            assert clean[name].dtype == table[name].dtype, name


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_release_holds_nothing_of_the_original(library: str) -> None:
    columns = {
        "city": PLACES,
        "age": list(range(100)),
        "kept": [f"a note that is long enough {i}" for i in range(100)],
    }
    make: Any = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}[library]
    with pytest.warns(UserWarning, match="single people out|free text"):
        release = vr.anonymize(
            make(columns),
            keys=["city", "age"],
            other=["kept"],
            k=5,
            method="mdav",
            allow_near_unique=["city"],
            allow_loss=["city"],
        )
    order = as_frame(release.table)["kept"].to_list()
    for what, raw in saved(release.table).items():
        assert b"SECRET" not in raw, what
        assert sorted(order, key=lambda value: raw.index(value.encode())) != columns["kept"], what
