from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from table.samples import LIBRARIES, native
from voronym.errors import SchemaError
from voronym.evaluate import utility
from voronym.table import Codec, Schema, as_frame, check_kinds, conform
from voronym.table.frame import form, missing


def ages(odd: str, n: int = 9) -> list[str]:
    return [str(20 + i) for i in range(60 - n)] + [odd] * n


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_odd_cell_is_named(library: str) -> None:
    table = native(
        {"age": ages("abc"), "zip": ["08001", "43001"] * 30, "town": ["Reus", "Salou"] * 30}, library
    )
    schema = Schema.build(table, keys=["age", "zip", "town"])
    (warning,) = check_kinds(table, schema)
    assert warning.startswith(
        "51 of 60 values of 'age' read as numbers; the other 9 do not, so it is nominal"
    )
    proposal = Schema.infer(table)
    assert warning in proposal.reasons["age"]
    assert warning in proposal.warnings
    assert not check_kinds(table, Schema.build(table, keys=["age", "zip", "town"], kinds={"age": "nominal"}))
    assert not check_kinds(table, Schema.build(table, keys=["town"], other=["age"], drop_undeclared=True))


@pytest.mark.parametrize(
    ("values", "start"),
    [
        (["2020-01-31"] * 9 + ["soon"], "9 of 10 values of 'x' read as dates; the other 1 do not"),
        (["31/01/2020"] * 9 + ["soon"], "9 of 10 values of 'x' read as dates; the other 1 do not"),
        (["01/02/2020", "02/03/2020"] * 5, "the values of 'x' look like dates, but not in one way"),
        (
            ["31.01.2020"] * 9 + ["00.00.0000"],
            "9 of 10 values of 'x' read as dates; 1 look like dates and are",
        ),
        (["1", "2", "?"] * 5, "the values of 'x' read as numbers but are texts, so it is nominal; declare"),
        (["1", "2", "a", "b", "c"] * 5, None),
        (["00101", "101"] * 5, None),
        (["?", "-"] * 5, None),
        ([None] * 5, None),
    ],
)
def test_what_is_said_and_what_is_not(values: list[Any], start: str | None) -> None:
    table = pl.DataFrame({"x": values}, schema={"x": pl.String})
    result = check_kinds(table, Schema.build(table, keys=["x"]))
    assert result == () if start is None else result[0].startswith(start)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("category", [False, True])
def test_texts_declared_numeric_are_numbers(library: str, category: bool) -> None:
    texts = ["00101", "43001", None, "n/a", "08001"]
    table = native({"zip": texts, "w": ["1.5", "2", "3", "4", "5"]}, library)
    if category:
        table = as_frame(table).with_columns(nw.col("zip").cast(nw.Categorical)).to_native()
    schema = Schema.build(table, keys=["zip", "w"], kinds={"zip": "numeric", "w": "numeric"})
    frame = conform(table, schema)
    assert form(frame["zip"]) == "integer"
    assert form(frame["w"]) == "float"
    assert missing(frame["zip"]).tolist() == [False, False, True, True, False]
    assert [v for v, no in zip(frame["zip"].to_list(), missing(frame["zip"]), strict=True) if not no] == [
        101,
        43001,
        8001,
    ]
    codec = Codec.fit(table, schema)  # the codec does the same by itself
    X = codec.encode(table)
    np.testing.assert_array_equal(X, codec.encode(frame))
    assert codec.decode(X)["w"].to_list() == [1.5, 2.0, 3.0, 4.0, 5.0]
    assert type(codec.decode(X).to_native()) is type(table)


@pytest.mark.parametrize("library", LIBRARIES)
def test_texts_declared_datetime_are_times(library: str) -> None:
    table = native({"d": ["31/01/2020", "01/02/2020", None], "t": ["2020-01-31T10:20Z"] * 2 + ["?"]}, library)
    schema = Schema.build(table, keys=["d", "t"], kinds={"d": "datetime", "t": "datetime"})
    frame = conform(table, schema)
    assert form(frame["d"]) in ("date", "datetime")
    assert form(frame["t"]) == "datetime"
    first = frame["d"].to_list()[1]
    assert (first.year, first.month, first.day) == (2020, 2, 1)
    assert frame["t"].to_list()[0].utcoffset() == dt.timedelta(0)
    assert missing(frame["t"]).tolist() == [False, False, True]
    assert Codec.fit(table, schema).encode(table).shape == (3, 4)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["1", "2", "x"], "numeric", "1 of its 3 values do not read as numbers; correct or empty those"),
        (["99999999999999999999", "1"], "numeric", "its 2 texts are not numbers of a size that can be used"),
        (["?", "-"], "numeric", "its 2 texts are not numbers of a size"),
        (["01/02/2020", "02/03/2020"], "datetime", "do not all read as dates in one certain way"),
        ([True, False], "numeric", "holds true and false"),
    ],
)
def test_texts_that_are_not_what_is_declared(values: list[Any], kind: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.build(pl.DataFrame({"x": values}), keys=["x"], kinds={"x": kind})


def test_a_mostly_numeric_column_of_too_many_categories_says_why() -> None:
    table = pl.DataFrame({"x": [str(i) for i in range(10_001)] + ["abc"]})
    with pytest.raises(SchemaError, match="10001 of 10002 values of 'x' read as numbers; the other 1 do not"):
        Schema.build(table, keys=["x"])


def test_original_texts_and_released_numbers_can_be_compared() -> None:
    original = pl.DataFrame({"zip": ["00101", "00103", "43001", "43003"]})
    released = pd.DataFrame({"zip": [102, 102, 43002, 43002]})
    schema = Schema.build(original, keys=["zip"], kinds={"zip": "numeric"})
    result = utility(original, released, schema, aligned=np.arange(4))
    assert result.columns[0].mean_after == result.columns[0].mean_before
    assert result.information_loss is not None
    assert result.information_loss < 1
