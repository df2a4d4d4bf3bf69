"""Whatever public functions are given: a result, or an InputError in words, and nothing else."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest

import voronym as vr
from surface.calls import calls, patients

WRONG = {
    "none": None, "text": "no such thing", "number": 3.5, "big": 10**30, "minus": -1, "nan": float("nan"),
    "infinite": float("inf"), "list": [1, "a"], "empty": [], "mapping": {"a": 1}, "object": object(),
    "function": lambda *_: None, "bool": True, "bytes": b"x", "array": np.zeros((2, 3, 4)),
    "nans": np.full((40, 2), np.nan), "frame": pl.DataFrame({"a": [1]}), "buffer": io.StringIO("a,b"),
}  # fmt: skip
ENDLESS = {"time_limit", "iterations", "n", "restarts", "d", "samples", "outliers", "methods"}
"""What is right to take long, or much memory, where it is large, or not given."""
CALLS = calls()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Some values are taken for the name of an output."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(CALLS))
def test_a_wrong_argument_is_refused_in_words(name):
    function, right = CALLS[name]
    bad = []
    for argument in right:
        for sort, wrong in WRONG.items():
            if argument in ENDLESS and sort in ("big", "infinite", "number", "bool", "none"):
                continue
            try:
                function(**{**right, argument: wrong})
            except (vr.VoronymError, AssertionError) as error:
                assert str(error)  # noqa: PT017 - any of these is right
            except Exception as error:
                bad.append((argument, sort, repr(error)[:100]))
    assert bad == []


def test_models_by_name():
    """A mapping used to drop the threshold in silence."""
    asked = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True, "k": 3}
    release = vr.anonymize(patients(), models={"t-closeness": 0.6, "p-sensitive": 2}, **asked)
    required = {finding.model: finding.required for finding in release.findings}
    assert (required["t-closeness"], required["p-sensitive"]) == (0.6, 2)
    assert release.recipe.models == ("t-closeness=0.6", "p-sensitive=2")
    look = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "models": {"p-sensitive": 99}}
    assert not all(finding.holds for finding in vr.measure(release.table, **look).findings)
    for wrong in ({"t-closeness": [0.1]}, {5: 0.1}, {"nope": 1}, [("t-closeness", 0.15)], 0.15):
        with pytest.raises(vr.InputError):
            vr.anonymize(patients(), models=wrong, **asked)


def test_a_recipe_with_an_unknown_option_is_refused_at_once():
    recipe = vr.anonymize(patients(), keys=["age"], drop_undeclared=True, k=3, method="mdav").recipe
    plain = {**recipe.to_dict(), "options": {"gamma": 1.0}}
    with pytest.raises(vr.InputError, match="has no option 'gamma'"):
        vr.Recipe.from_dict(plain)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_table_that_was_changed_after_the_release_is_not_written(tmp_path, library):
    table = patients() if library == "polars" else patients().to_pandas()
    release = vr.anonymize(table, keys=["age", "sex"], confidential=["diagnosis"], drop_undeclared=True, k=3)
    release.write(tmp_path / "a.csv")
    if library == "polars":
        release.table[0, "diagnosis"] = "changed"
    else:
        release.table.loc[0, "diagnosis"] = "changed"
    with pytest.raises(vr.GuaranteeError, match="was changed after"):
        release.write(tmp_path / "b.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_buffers_are_refused_with_the_reason():
    release = vr.anonymize(patients(), keys=["age"], drop_undeclared=True, k=3, method="mdav")
    with pytest.raises(vr.InputError, match="checked in the file"):
        release.write(io.BytesIO())
    with pytest.raises(vr.InputError, match="source must be a text or a path"):
        vr.read(io.StringIO("a"))
    with pytest.raises(vr.InputError, match="4 of 4 columns have no role"):
        vr.anonymize(patients(), keys=None)
    with pytest.raises(vr.InputError, match="no column has the role 'key'"):
        vr.anonymize(patients(), keys=None, drop_undeclared=True)
