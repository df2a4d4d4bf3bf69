from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.methods.grouped import options_of

TABLE = vr.datasets.hospital(30)
SCHEMA = vr.Schema.build(
    TABLE,
    keys=["age", "sex", "zip", "admitted"],
    confidential=["diagnosis"],
    identifiers=["name", "patient_id"],
    other=["days"],
    kinds={"zip": "nominal", "sex": "ordinal"},
    orders={"sex": ["male", "female"]},
    drop_undeclared=True,
)
ONE_KEY = "[schema]\ncolumns = [{name='a', role='key', kind='numeric'}]"
values = st.one_of(
    st.integers(-(2**31), 2**31), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.booleans()
)


@given(
    k=st.integers(2, 100),
    seed=st.integers(0, 2**63 - 1),
    limit=st.none() | st.floats(0.1, 1e6),
    options=st.dictionaries(st.sampled_from(sorted(options_of("vmdav"))), values),
    models=st.lists(st.integers(2, 9).map(lambda k: f"k-anonymity={k}")).map(tuple),
)
def test_round_trip_through_toml(k, seed, limit, options, models):
    asked = {"k": k, "seed": seed, "time_limit": limit, "options": options, "models": models}
    recipe = vr.Recipe(SCHEMA, method="vmdav", **asked)
    assert vr.Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize("name", ["recipe.toml", "recipe.json"])
def test_round_trip_through_a_file(tmp_path, name):
    recipe = vr.Recipe(SCHEMA, k=4, method="vmdav", options={"gamma": 0.5})
    recipe.save(tmp_path / name)
    assert vr.Recipe.load(tmp_path / name) == recipe


def test_the_same_recipe_gives_the_same_release_but_for_row_order():
    first = vr.anonymize(TABLE, recipe=vr.Recipe(SCHEMA, k=3)).table
    again = vr.anonymize(TABLE, recipe=vr.Recipe.from_toml(vr.Recipe(SCHEMA, k=3).to_toml())).table
    assert sorted(first.rows()) == sorted(again.rows())
    assert first.rows() != again.rows()  # 30! orders: equal ones would mean the order is not drawn afresh


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("k = 5", "no \\[schema\\]"),
        ("k = ", "not valid TOML"),
        ("kk = 5\n[schema]", "does not know: kk"),
        ("format = 99\n[schema]", "format 99"),
        ("seed = 'x'\n" + ONE_KEY, "whole number"),
        ("models = [5]\n" + ONE_KEY, "list of texts"),
        (
            "models = 'k-anonymity=5'\n" + ONE_KEY,
            "list of texts",
        ),
        ("options = 5\n" + ONE_KEY, "table of names"),
        ("time_limit = -1\n" + ONE_KEY, "not negative"),
        ("schema = 5", "schema"),
        ("[schema]\ncolumns = [3]", "column"),
    ],
)
def test_a_bad_recipe_is_refused(text, says):
    with pytest.raises(vr.InputError, match=says):
        vr.Recipe.from_toml(text)


def test_a_missing_recipe_file(tmp_path):
    with pytest.raises(vr.InputError, match="cannot read the recipe"):
        vr.Recipe.load(tmp_path / "none.toml")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(vr.InputError, match="not valid JSON"):
        vr.Recipe.load(tmp_path / "bad.json")


def test_numpy_numbers_become_plain_and_generators_are_refused():
    recipe = vr.Recipe(SCHEMA, k=np.int64(4), method="vmdav", options={"gamma": np.float32(0.5)})
    assert vr.Recipe.from_toml(recipe.to_toml()) == recipe
    with pytest.raises(vr.InputError, match="seed must be a whole number"):
        vr.anonymize(TABLE, keys=["age"], drop_undeclared=True, seed=np.random.default_rng(0))


def test_a_recipe_that_cannot_be_written(tmp_path):
    with pytest.raises(vr.WriteError, match="cannot write the recipe"):
        vr.Recipe(SCHEMA).save(tmp_path / "none" / "r.toml")
