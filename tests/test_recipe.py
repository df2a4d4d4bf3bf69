from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.request.upgrade import upgraded

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
numbers = st.floats(0.0, allow_nan=False, allow_infinity=False)
CHOICES = {
    "k": st.integers(2, 100),
    "seed": st.integers(0, 2**63 - 1),
    "time_limit": st.none() | st.floats(0.1, 1e6),
    "options": st.none() | st.fixed_dictionaries({}, optional={"gamma": numbers}),
    "models": st.lists(st.integers(2, 9).map(lambda k: f"k-anonymity={k}")).map(tuple),
    "metrics": st.dictionaries(st.text(), st.text() | st.lists(st.text())),
    "hierarchies": st.dictionaries(st.text(), st.text() | st.dictionaries(st.text(), st.lists(st.text()))),
    "importance": st.dictionaries(st.text(), numbers),
    "widths": st.dictionaries(st.text(), numbers.filter(bool)),
    "publish": st.none() | st.sampled_from(["median", "interval"]) | st.just({"age": "hierarchy"}),
    "strata": st.lists(st.text()),
    "suppress": st.floats(0.0, 0.5, exclude_max=True),
    "keep_groups": st.booleans(),
    "headroom": st.integers(0, 2**63 - 1),
    "waiting": st.floats(0.0, 1.0),
}


@given(asked=st.fixed_dictionaries({}, optional=CHOICES))
def test_round_trip_through_toml(asked):
    kept = {"keep_groups": True} if {"headroom", "waiting"} & set(asked) else {}
    if asked.get("widths"):
        kept["publish"] = "interval"
    recipe = vr.Recipe(SCHEMA, method="vmdav", space="mixed", **{**asked, **kept})
    again = vr.Recipe.from_toml(recipe.to_toml())
    assert again == recipe
    for name, value in {**asked, **kept}.items():
        if not isinstance(value, (dict, list, str)) and value is not None:
            assert getattr(again, name) == value


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
        ("models = [5]\n" + ONE_KEY, "models must be a text such as 't-closeness=0.2', or a list of them"),
        ("options = 5\n" + ONE_KEY, "options must be a mapping from names of options"),
        ("versions = 5\n" + ONE_KEY, "versions must be a table of names and values"),
        ("format = 1\noptions = 5\n" + ONE_KEY, "options, allow and engine must be tables"),
        ("format = 2\n" + ONE_KEY + "\n[options]\nsuppress = 0.1", "suppress is no option of a method"),
        (
            "method = 'vmdav'\n" + ONE_KEY + "\n[options]\ngamma = 'x'",
            "gamma must be 'best' or a number that is not negative",
        ),
        ("time_limit = -1\n" + ONE_KEY, "0 or more"),
        ("schema = 5", "schema"),
        ("[schema]\ncolumns = [3]", "column"),
    ],
)
def test_a_bad_recipe_is_refused(text, says):
    with pytest.raises(vr.InputError, match=says):
        vr.Recipe.from_toml(text)


def test_a_single_model_needs_no_list_in_a_file():
    assert vr.Recipe.from_toml("models = 'k-anonymity=5'\n" + ONE_KEY).models == ("k-anonymity=5",)


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


def test_the_old_name_of_a_method_is_read():
    assert upgraded({"method": "hierarchy", "format": 2}) == {"method": "prepartition"}
