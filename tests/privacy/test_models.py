"""k-anonymity, findings and the registry of models."""

import json
from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError
from voronym.privacy import Finding, KAnonymity, Model, base, models, parse_model, register
from voronym.privacy.base import Needs
from voronym.table import Table

TABLE = {
    "age": [30, 30, 30, 40, 40, None, None],
    "sex": ["f", "f", "f", "m", "m", "m", "m"],
    "ill": list("abcdefg"),
}


def look(model, native, keys=("age", "sex")):
    return model.measure(Table.build(native, keys=keys, drop_undeclared=True))


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, lambda t: pl.DataFrame(t).to_arrow()])
def test_k_is_the_smallest_class_and_missing_keys_are_a_class(make):
    # classes: (30, f) x 3, (40, m) x 2, (missing, m) x 2
    result = look(KAnonymity(3), make(TABLE))
    assert (result.value, result.required, result.holds) == (2.0, 3.0, False)
    assert result.worst == ({"size": 2, "classes": 2, "records": 4},)
    assert result.detail["classes_below"] == 2
    assert result.detail["records_below"] == 4
    assert look(KAnonymity(2), make(TABLE)).holds


def test_the_boundary_is_exact():
    frame = pl.DataFrame({"a": [1] * 5 + [2] * 6})
    assert look(KAnonymity(5), frame, ["a"]).holds
    assert look(KAnonymity(5), frame, ["a"]).worst == ()
    assert not look(KAnonymity(6), frame, ["a"]).holds


def test_without_k_it_measures_and_asks_for_nothing():
    result = look(KAnonymity(), pl.DataFrame(TABLE))
    assert (result.value, result.required, result.holds) == (2.0, None, True)
    assert str(result) == "k-anonymity: 2"


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True, "5", float("nan")])
def test_k_must_be_a_whole_number_of_two_or_more(k):
    with pytest.raises(InputError, match="2 or more"):
        KAnonymity(k)


def test_numpy_integers_are_integers():
    assert KAnonymity(np.int64(4)) == KAnonymity(4)


@pytest.mark.parametrize("text", ["k-anonymity=5", " k-anonymity = 5 ", "k-anonymity"])
def test_models_are_parsed_and_written_alike(text):
    model = parse_model(text)
    assert isinstance(model, Model)
    assert parse_model(str(model)) == model
    assert model.required == (5.0 if "=" in text else None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l-diversty=2", "there are: .*k-anonymity"),
        ("k-anonymity=", "nothing behind"),
        ("k-anonymity=2.5", "whole number"),
        ("k-anonymity=1", "whole number"),
        ("k-anonymity=five", "whole number"),
    ],
)
def test_bad_texts_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_model(text)


def test_every_model_says_what_the_house_asks():
    table = vr.datasets.hospital(40, seed=1).select("age", "diagnosis")
    seen = Table.build(table, keys=["age"], confidential=["diagnosis"])
    for name in models():
        model = parse_model(name)
        assert isinstance(model, Model)
        assert model.needs in get_args(Needs)
        assert bool(model.judges(seen)) == model.merging
        assert bool(model.row_judges(seen)) == model.confidential
    assert parse_model("k-anonymity=5").group_size == 5
    assert parse_model("mutual-information=0.1,joint=true").needs == "whole"
    findings = [Finding(name, 1.0, 1.0, True) for name in ("k-anonymity", "dp", "t-closeness")]
    assert [item.model for item in base.beyond_sizes(findings)] == ["t-closeness"]


def test_a_new_model_joins_and_a_name_is_taken_once(monkeypatch):
    monkeypatch.setattr(base.MODELS, "_entries", dict(base.MODELS._entries))

    @register("always")
    class Always:
        """Holds always."""

    assert models()["always"] is Always
    assert (Always.needs, Always.merging, Always.group_size, Always().judges(None)) == (
        "groups",
        False,
        None,
        (),
    )
    assert base.summary(Always) == "Holds always."
    with pytest.raises(InputError, match="registered already"):
        register("k-anonymity")(Always)


def test_a_finding_is_json_and_a_sentence():
    result = look(KAnonymity(3), pl.DataFrame(TABLE))
    assert json.loads(json.dumps(result.to_dict()))["worst"] == [{"size": 2, "classes": 2, "records": 4}]
    assert str(Finding("t-closeness", 0.123456, 0.2, True)) == "t-closeness: 0.123456, required 0.2: holds"


def test_findings_show_no_value_of_the_table():
    frame = pl.DataFrame({"age": ["secret-1", "secret-2"], "sex": ["f", "f"]})
    result = look(KAnonymity(2), frame)
    assert "secret" not in json.dumps(result.to_dict()) + str(result) + repr(result)
