"""Classes of equal keys, against counting by hand in Python."""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.privacy import equivalence_classes


def wrap(native):
    return nw.from_native(native, eager_only=True)


def same(value):
    """One missing value, one zero: written without the library."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    return (type(value).__name__, value + 0.0 if isinstance(value, float) else value)


values = {
    "float": st.sampled_from([0.0, -0.0, 1.5, float("nan"), None, 1e300]),
    "int": st.sampled_from([0, 1, None, 2**60, 2**60 + 1]),
    "text": st.sampled_from(["", "a", "A", "ä", "a ", None]),
    "flag": st.sampled_from([True, False, None]),
    "day": st.sampled_from([dt.date(2020, 1, 1), dt.date(1900, 2, 28), None]),
}
types = {"float": pl.Float64, "int": pl.Int64, "text": pl.String, "flag": pl.Boolean, "day": pl.Date}


@st.composite
def tables(draw):
    n = draw(st.integers(1, 25))
    names = draw(st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=4, unique=True))
    return {name: draw(st.lists(values[name], min_size=n, max_size=n)) for name in names}


def libraries(table):
    polars = pl.DataFrame(table, schema={name: types[name] for name in table})
    index = [7] * len(polars)  # repeated labels: positions must be used
    return {
        "polars": polars,
        "pyarrow": polars.to_arrow(),
        "pandas on Arrow": polars.to_pandas(use_pyarrow_extension_array=True).set_axis(index),
        "pandas objects": pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in table.items()}).set_axis(
            index
        ),
    }


@given(tables())
def test_sizes_equal_a_count_in_python_for_every_library(table):
    rows = list(zip(*([same(v) for v in column] for column in table.values()), strict=True))
    expected = Counter(rows)
    for library, native in libraries(table).items():
        result = equivalence_classes(wrap(native), list(table))
        assert result.sizes.sum() == len(rows), library
        assert [int(result.sizes[c]) for c in result.labels] == [expected[row] for row in rows], library
        # equal rows share a class, and classes are numbered by first appearance
        order = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        assert result.labels.tolist() == [order[row] for row in rows], library
        assert [rows[i] for i in result.first] == list(order), library


def test_ordinary_pandas_columns_with_nan_count_as_missing():
    frame = pd.DataFrame({"a": [1.0, np.nan, np.nan, -0.0, 0.0], "b": ["x", None, None, "y", "y"]})
    assert equivalence_classes(wrap(frame), ["a", "b"]).sizes.tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pd.cut(pd.Series([1.0, 2.0, 9.0]), 2), [0, 0, 1]),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M").repeat([2, 1])), [0, 0, 1]),
        (pd.Series([1, "1", None], dtype=object), [0, 1, 2]),
        (pd.Series([1, True, 1.0], dtype=object), [0, 1, 0]),
        (pd.Series(["a", "b", "a"], dtype="category"), [0, 1, 0]),
        (pd.Series([None, None, None], dtype=object), [0, 0, 0]),
        (pd.Series(pd.to_datetime(["2020-01-01", None, None])), [0, 1, 1]),
        (pd.Series([Decimal("1.0"), Decimal("1.00"), None], dtype=object), [0, 0, 1]),
        (pd.Series([1j, 1j, 2j]), [0, 0, 1]),
    ],
)
def test_columns_of_unusual_types(column, labels):
    frame = wrap(pd.DataFrame({"v": column}))
    assert equivalence_classes(frame, ["v"]).labels.tolist() == labels


def test_arrow_dictionaries_and_chunks_change_nothing():
    table = pa.table(
        {
            "v": pa.chunked_array(
                [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", None]).dictionary_encode()]
            )
        }
    )
    assert equivalence_classes(wrap(table), ["v"]).labels.tolist() == [0, 1, 1, 2]


def test_names_of_columns_cannot_collide_with_the_row_counter():
    frame = pl.DataFrame({"row": [1, 1, 2], "k0": ["a", "a", "a"], "index": [0, 0, 0]})
    assert equivalence_classes(wrap(frame), ["row", "k0", "index"]).sizes.tolist() == [2, 1]


def test_values_that_cannot_be_compared_are_refused_by_column_and_type():
    frame = wrap(pd.DataFrame({"v": pd.Series([{1}, "secret"], dtype=object)}))
    with pytest.raises(InputError, match=r"column 'v'.*set"):
        equivalence_classes(frame, ["v"])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["b"], "no column 'b'"),
        ([], "no key column"),
        ("a", "list of names"),
        (["a", "a"], "more than once"),
    ],
)
def test_wrong_keys_are_refused(keys, message):
    with pytest.raises(InputError, match=message):
        equivalence_classes(wrap(pl.DataFrame({"a": [1]})), keys)


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="no rows"):
        equivalence_classes(wrap(pl.DataFrame({"a": []})), ["a"])


def test_unequal_rows_with_the_same_hash_stay_apart(monkeypatch):
    frame = pl.DataFrame({"age": [3.0, 1.0, None, 3.0, -0.0, 0.0], "sex": ["f", "f", None, "f", "m", "m"]})
    expected = equivalence_classes(wrap(frame), ["age", "sex"]).labels.tolist()
    monkeypatch.setattr(pl.DataFrame, "hash_rows", lambda self, seed: pl.Series([seed] * len(self)))
    assert equivalence_classes(wrap(frame), ["age", "sex"]).labels.tolist() == expected == [0, 1, 2, 0, 3, 3]
