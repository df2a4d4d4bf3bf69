"""A table: conformed once, factorised once, never changed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from voronym.errors import SchemaError
from voronym.table import Codec, Schema, Table
from voronym.table import frame as frames

PEOPLE = {
    "name": ["Ann", "Bob", "Eve", "Joe"],
    "zip": ["00101", "n/a", "43001", "00101"],
    "age": [30, 40, None, 30],
    "ill": ["flu", None, "cold", "flu"],
}
ROLES = {
    "keys": ["zip", "age"],
    "confidential": ["ill"],
    "identifiers": ["name"],
    "kinds": {"zip": "numeric"},
}
LIBRARIES = [pl.DataFrame, pd.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()]


@pytest.mark.parametrize("make", LIBRARIES)
def test_identifiers_are_gone_and_texts_are_numbers(make):
    table = Table.build(make(PEOPLE), **ROLES)
    assert table.columns == ("zip", "age", "ill")
    assert table.numbers("zip").tolist() == [101, 43001, 101]
    assert table.missing("zip").tolist() == [False, True, False, False]
    assert table.codes("ill").tolist() == [1, -1, 0, 1]
    assert table.levels("ill") == ["cold", "flu"]
    assert table.classes.labels.tolist() == [0, 1, 2, 0]
    assert (table.keys, table.confidential, table.n) == (("zip", "age"), ("ill",), 4)


def test_a_schema_and_its_parts_give_the_same_table():
    schema = Schema.build(pl.DataFrame(PEOPLE), **ROLES)
    first, other = Table.of(pl.DataFrame(PEOPLE), schema), Table.build(pl.DataFrame(PEOPLE), **ROLES)
    assert first.frame.to_native().equals(other.frame.to_native())
    assert first.schema == other.schema == schema
    assert Table.of(first) is first
    assert Table.of(first, schema) is first
    assert Table.of(first, only=["age"]).columns == ("age",)


def test_columns_without_a_role_and_roles_without_a_column_are_refused():
    schema = Schema.build(pl.DataFrame(PEOPLE), **ROLES)
    with pytest.raises(SchemaError, match="no role: 'weight'"):
        Table.of(pl.DataFrame({**PEOPLE, "weight": [1, 2, 3, 4]}), schema)
    with pytest.raises(SchemaError, match="no column 'zip', which the schema calls a key"):
        Table.of(pl.DataFrame(PEOPLE).drop("zip"), schema)
    with pytest.raises(SchemaError, match="needs a schema"):
        Table.of(pl.DataFrame(PEOPLE))
    with pytest.raises(SchemaError, match="no column 'x'; it has"):
        Table.of(pl.DataFrame(PEOPLE), schema)["x"]
    assert Table.of(pl.DataFrame(PEOPLE).drop("name"), schema).columns == ("zip", "age", "ill")
    assert Table.of(pl.DataFrame({**PEOPLE, "weight": [1] * 4}), schema, only=["age"]).columns == ("age",)


def test_every_column_is_factorised_once(monkeypatch):
    seen = []
    plain = frames.factorize
    monkeypatch.setattr(frames, "factorize", lambda series: seen.append(series.name) or plain(series))
    table = Table.build(pl.DataFrame(PEOPLE), **{**ROLES, "kinds": {}})
    codec = Codec.fit(table)
    codec.encode(table)
    assert table.doubts == ()
    table.select(["ill"]).codes("ill")
    assert sorted(seen) == ["ill", "zip"]


def test_answers_cannot_be_changed_by_those_who_ask():
    table = Table.build(pl.DataFrame(PEOPLE), **ROLES)
    for given in (table.codes("ill"), table.missing("age"), table.numbers("age")):
        with pytest.raises(ValueError, match="read-only"):
            given[0] = 1


@pytest.mark.parametrize("make", LIBRARIES)
def test_rows_in_another_order(make):
    table = Table.build(make(PEOPLE), **ROLES)
    turned = table.rows(np.array([3, 0, 2]))
    assert turned.n == 3
    assert turned.levels("ill") == ["cold", "flu"]
    assert turned.codes("ill").tolist() == [1, 1, 0]
    assert table.codes("ill").tolist() == [1, -1, 0, 1]


def test_a_codec_reads_tables_and_frames_alike():
    table = Table.build(pl.DataFrame(PEOPLE), **ROLES)
    codec = Codec.fit(table)
    assert np.array_equal(codec.encode(table), codec.encode(pl.DataFrame(PEOPLE)))
    assert np.array_equal(Codec.fit(pl.DataFrame(PEOPLE), table.schema).encode(table), codec.encode(table))
    decoded = codec.decode(codec.encode(table))
    assert codec.encode(table.like(decoded)).shape == (4, codec.width)


def test_a_table_from_a_file(tmp_path):
    pl.DataFrame(PEOPLE).write_csv(tmp_path / "people.csv")
    assert Table.build(tmp_path / "people.csv", **ROLES).n == 4
