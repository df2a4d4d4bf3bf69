from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from table.samples import LIBRARIES, everything, native
from voronym.errors import SchemaError
from voronym.table import Column, Schema, as_frame

TABLE = pl.DataFrame({"name": ["Ann", "Bob"], "age": [30, 40], "sex": ["f", "m"], "ill": [True, False]})


@pytest.mark.parametrize("library", LIBRARIES)
def test_roles_and_kinds(library: str) -> None:
    table = native(TABLE.to_dict(as_series=False), library)
    schema = Schema.build(table, keys=["age", "sex"], confidential=["ill"], identifiers=["name"])
    assert schema.names == ("name", "age", "sex", "ill")
    assert (schema.keys, schema.confidential) == (("age", "sex"), ("ill",))
    assert (schema.identifiers, schema.other) == (("name",), ())
    assert [column.kind for column in schema][1:] == ["numeric", "nominal", "nominal"]
    assert "age" in schema
    assert "nope" not in schema


def test_a_single_name_may_be_a_string() -> None:
    assert Schema.build(TABLE, keys="age", drop_undeclared=True).keys == ("age",)


@pytest.mark.parametrize("library", LIBRARIES)
def test_kinds_of_every_dtype(library: str) -> None:
    schema = Schema.build(everything(library), keys=as_frame(everything(library)).columns)
    starts = {
        "int": "numeric",
        "float": "numeric",
        "decimal": "numeric",
        "date": "datetime",
        "time": "datetime",
    }
    starts |= {
        "word": "nominal",
        "bool": "nominal",
        "category": "nominal",
        "ordered": "ordinal",
        "nothing": "nominal",
    }
    starts |= {"zoned": "datetime", "string": "nominal", "object": "nominal", "Int64": "numeric"}
    for column in schema:
        for start, kind in starts.items():
            if column.name.startswith(start):
                assert column.kind == kind, column
    assert schema["ordered"].categories == ("ç", "b", "unused", "漢字", "a")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"keys": ["nope", "age"]}, r"no column 'nope'; its columns are: 'name', 'age', 'sex', 'ill'"),
        ({"keys": ["age"]}, r"3 of 4 columns have no role: 'name', 'sex', 'ill'"),
        ({"keys": []}, "4 of 4 columns have no role"),
        ({"keys": [], "drop_undeclared": True}, "no column has the role 'key'"),
        ({"keys": ["age"], "other": ["age"]}, "declared twice: 'age'"),
        ({"keys": ["age", "age"]}, "declared twice: 'age'"),
        (
            {"keys": ["age"], "drop_undeclared": True, "kinds": {"nope": "numeric"}},
            "kinds names columns .* 'nope'",
        ),
        ({"keys": ["age"], "drop_undeclared": True, "kinds": {"age": "number"}}, "'number' is no kind"),
        (
            {"keys": ["sex"], "drop_undeclared": True, "kinds": {"sex": "ordinal"}},
            "has no known order; give its levels",
        ),
        (
            {"keys": ["sex"], "drop_undeclared": True, "orders": {"sex": ["f"]}},
            r"1 level, in 1 row, that its order",
        ),
        ({"keys": ["sex"], "drop_undeclared": True, "orders": {"sex": ["f", "f", "m"]}}, "different levels"),
        (
            {
                "keys": ["sex"],
                "drop_undeclared": True,
                "orders": {"sex": ["f", "m"]},
                "kinds": {"sex": "nominal"},
            },
            "has an order but its kind is nominal",
        ),
        (
            {"keys": ["sex"], "drop_undeclared": True, "kinds": {"sex": "datetime"}},
            "declared datetime, but holds strings",
        ),
        ({"keys": ["ill"], "drop_undeclared": True, "kinds": {"ill": "numeric"}}, "holds true and false"),
        ({"keys": ["age"], "drop_undeclared": True, "kinds": {"age": "location"}}, "needs a pair"),
        ({"keys": ["age"], "drop_undeclared": True, "locations": [("age", "sex")]}, "'sex' must be a key"),
        ({"keys": ["age"], "drop_undeclared": True, "locations": ["age"]}, "pair of two columns"),
        (
            {"keys": ["age", "sex"], "drop_undeclared": True, "locations": [("age", "sex")]},
            "'sex' is declared location",
        ),
    ],
)
def test_what_is_refused(roles: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.build(TABLE, **roles)


def test_strings_where_numbers_are_expected() -> None:
    table = pl.DataFrame({"age": ["30", "forty", "50", None]})
    with pytest.raises(
        SchemaError, match=r"column 'age' is declared numeric, but 1 of its 3 values do not read"
    ):
        Schema.build(table, keys=["age"], kinds={"age": "numeric"})


def test_tables_that_are_none() -> None:
    with pytest.raises(SchemaError, match="no rows"):
        Schema.build(pl.DataFrame({"a": []}), keys=["a"])
    with pytest.raises(SchemaError, match=r"call .collect\(\)"):
        Schema.build(TABLE.lazy(), keys=["age"])
    with pytest.raises(SchemaError, match="got list"):
        Schema.build([1, 2], keys=["age"])
    with pytest.raises(SchemaError, match="repeated: 'a'"):
        Schema.build(pd.DataFrame([[1, 2]], columns=["a", "a"]), keys=["a"])
    with pytest.raises(SchemaError, match="repeated: 'a'"):
        Schema.build(pa.table([[1], [2]], names=["a", "a"]), keys=["a"])
    with pytest.raises(SchemaError, match="2 of 2 column names are not strings"):
        Schema.build(pd.DataFrame([[1, 2]]), keys=["0"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pl.Series([dt.timedelta(1)] * 3), "holds Duration values"),
        (pl.Series([dt.time(1)] * 3), "holds Time values"),
        (pl.Series([[1]] * 3), r"nested values \(List\)"),
        (pl.Series([{"a": 1}] * 3), r"nested values \(Struct\)"),
        (pl.Series([b"x"] * 3), "holds Binary values"),
        (pl.Series([object()] * 3, dtype=pl.Object), "holds Object values"),
        (pd.Series([1, "x", 2.5], dtype=object), r"mixes types \(1 int, 1 str, 1 float\)"),
        (pd.Series([[1], [2], [3]]), "Python objects of type list"),
        (pd.period_range("2020-01", periods=3, freq="M").to_series(), "unusual dtype"),
        (pd.Series([1j, 2j, 3j]), "unusual dtype"),
    ],
)
def test_columns_that_cannot_be_keys(values: Any, message: str) -> None:
    table = values.to_frame(name="x")
    table = table.rename({"": "x"}) if isinstance(table, pl.DataFrame) and "" in table.columns else table
    with pytest.raises(SchemaError, match=f"column 'x' .*{message}|column 'x' {message}"):
        Schema.build(table, keys=["x"])
    Schema.build(
        table.assign(k=1) if isinstance(table, pd.DataFrame) else table.with_columns(k=1),
        keys=["k"],
        identifiers=["x"],
    )


def test_mixed_and_nested_columns_cannot_be_released_either() -> None:
    mixed = pd.DataFrame({"k": [1, 1], "x": pd.Series([1, "a"], dtype=object)})
    with pytest.raises(SchemaError, match="mixes types"):
        Schema.build(mixed, keys=["k"], other=["x"])
    with pytest.raises(SchemaError, match="cannot be released as it is"):
        Schema.build(pl.DataFrame({"k": [1], "x": [[1]]}), keys=["k"], confidential=["x"])


def test_objects_of_one_type_are_fine() -> None:
    values = {"d": [dt.date(2020, 1, 1), None], "n": [Decimal("1.5"), None], "b": [True, None], "i": [1, 2.5]}
    table = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in values.items()})
    schema = Schema.build(table, keys=list(values))
    assert [column.kind for column in schema] == ["datetime", "numeric", "nominal", "numeric"]


def test_free_text_is_no_key() -> None:
    table = pl.DataFrame({"t": [f"the patient number {i} felt well" for i in range(10)]})
    with pytest.raises(SchemaError, match=r"'t' is free text \(10 distinct values in 10 rows\)"):
        Schema.build(table, keys=["t"])
    assert Schema.build(table, keys=["t"], kinds={"t": "nominal"})["t"].kind == "nominal"


def test_round_trip() -> None:
    table = pl.DataFrame({"g": ["lo", "hi"], "lat": [1.0, 2.0], "lon": [1.0, 2.0], "n": ["x", "y"]})
    schema = Schema.build(
        table,
        keys=["g", "lat", "lon"],
        orders={"g": ["lo", "hi"]},
        locations=[("lat", "lon")],
        identifiers=["n"],
    )
    import tomllib

    import tomli_w

    text = tomli_w.dumps(schema.to_dict())
    assert Schema.from_dict(tomllib.loads(text)) == schema
    assert schema["lat"].partner == "lon"
    assert schema["lon"].axis == "lon"
    for bad in (
        {"name": "a"},
        {"name": "a", "role": "x", "kind": "numeric"},
        {"name": "a", "role": "key", "kind": "?"},
    ):
        with pytest.raises(SchemaError):
            Schema.from_dict({"columns": [bad]})
    with pytest.raises(SchemaError, match="no column is called 'zz'"):
        schema["zz"]
    with pytest.raises(SchemaError, match="declared twice"):
        Schema((Column("a", "key", "numeric"), Column("a", "other", "numeric")))


def test_unicode_names() -> None:
    table = pl.DataFrame({"edat 🎂": [1, 2], "gènere": ["ñ", "漢"]})
    assert Schema.build(table, keys=["edat 🎂", "gènere"]).keys == ("edat 🎂", "gènere")
