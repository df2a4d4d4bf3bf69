"""Answers of the command line to mistakes and to questions: true, and in its own words."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import voronym as vr
from voronym.attacks import Exposure, Outcome
from voronym.errors import SchemaError
from voronym.evaluate.moved import KeyChange


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--key", "aeg,sex"), "has no column 'aeg' (named as key)"),
        (("--key", "age,sex", "--confidential", "diagnosi"), "has no column 'diagnosi' (named as confid"),
        (("--key", "age,sex,ziip", "--original", "patients.csv"), "has no column 'ziip' (named as key)"),
    ],
)
@pytest.mark.parametrize("verb", ["measure", "attack"])
def test_a_misspelt_column_is_the_user_s(voronym, verb, words, sentence):
    code, _, err = voronym(verb, "patients.csv", *words)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Did you mean" in err


@pytest.mark.parametrize("verb", ["measure", "attack"])
def test_keys_and_an_original_are_asked_for_by_their_flags(voronym, verb):
    code, _, err = voronym(verb, "patients.csv")
    assert (code, "--key" in err) == (2, True)
    if verb == "attack":
        code, _, err = voronym(verb, "patients.csv", "--key", "age,sex", "--only", "singling-out")
        assert code == 2
        assert "singling-out: it needs the original table" in " ".join(err.split())
        assert "--original FILE" in " ".join(err.split())


def test_attack_says_which_table_lacks_a_key(voronym):
    vr.read("patients.csv").drop("zip").write_csv("release.csv")
    code, _, err = voronym("attack", "release.csv", "--key", "age,zip", "--original", "patients.csv")
    assert code == 2
    assert "has no column 'zip' (named as key)" in " ".join(err.split())
    assert "lacks nothing" not in err


def test_what_was_not_tried_is_said_in_flags(voronym):
    roles = ["--key", "age,sex", "--confidential", "diagnosis", "--original", "patients.csv"]
    code, out, _ = voronym("attack", "patients.csv", *roles)
    text = " ".join(out.split())
    assert code == 0
    assert "give --earlier FILE" in text
    assert "give --recipe FILE and --original FILE" in text
    assert "\ue000" not in text
    code, out, _ = voronym("attack", "patients.csv", *roles, "--json")
    assert "give --earlier FILE" in json.loads(out)["skipped"]["intersection"]


def test_the_strongest_attack_is_ranked_as_the_sentence_says():
    def outcome(name, success, control, low):
        return Outcome(name, success, control, success - control, (low, 1.0), 100, "keys", "It is.")

    weak, strong = outcome("linkage", 0.24, 0.0, 0.18), outcome("group-guess", 0.47, 0.18, 0.21)
    unsure = outcome("extremes", 0.9, 0.5, 0.1)
    summary = Exposure((weak, strong, unsure)).summary
    assert "the strongest is group-guess, by its certain excess of 21 % or more" in summary


@pytest.fixture
def parts(voronym):
    """Return a folder with two parts, and the words of a run on a Dask worker in this process."""
    Path("parts").mkdir()
    people = vr.datasets.hospital(80, seed=4)
    for number in range(2):
        people[40 * number :][:40].write_csv(f"parts/{number}.csv")
    return "anonymize", "parts/*.csv", "-o", "out", "-k", "3", "--engine", "dask", "--workers", "1"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--key", "aeg,sex"), "has no column 'aeg'; its"),
        (("--key", "aeg,sex", "--drop-undeclared"), "has no column 'aeg'; its"),
        (("--key", "age,sex"), "9 of 11 columns have no role"),
    ],
)
def test_dask_prints_no_trace_of_a_mistake(voronym, parts, caplog, words, sentence):
    pytest.importorskip("distributed")
    code, _, err = voronym(*parts, *words)
    assert code == 2
    assert sentence in err
    assert ("Did you mean 'age'?" in err) == ("aeg,sex" in words)
    assert "Compute Failed" not in err + caplog.text
    assert "\ue000" not in err + caplog.text


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_dashboard_is_a_note_at_the_start(voronym, parts):
    pytest.importorskip("distributed")
    code, _, err = voronym(*parts, "--key", "age,sex", "--drop-undeclared")
    assert code == 0
    assert "note: Dask's dashboard is at http" in err
    assert "dashboard was" not in err
    assert err.index("dashboard is at") < err.index("counted in")


def test_bounds_of_a_misspelt_column(voronym):
    pytest.importorskip("opendp")
    words = ("--key", "age", "--drop-undeclared", "--model", "dp=1.0,scope=all", "--bounds", "aeg=0..120")
    code, _, err = voronym("anonymize", "patients.csv", "-o", "out.csv", *words)
    assert code == 2
    assert "no such column. Did you mean 'age'?" in err


def test_one_level_is_singular():
    frame = pl.DataFrame({"size": ["low", "mid", "top", "low", "mid", "top"]})
    with pytest.raises(SchemaError, match="has 1 level, in 2 rows, that its order of 2 levels lacks"):
        vr.Schema.build(frame, keys=["size"], orders={"size": ["low", "mid"]})
    change = KeyChange("size", "ordinal", 6, 4, moved=2, distance=1.0, farthest=1.0)
    assert "moved by 1 level on average" in str(change)


def test_a_long_setting_is_printed_in_full(voronym, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    cuts = ",".join(str(1900 + year) for year in range(40))
    roles = ("--key", "age,sex", "--drop-undeclared", "-k", "3")
    folder = "x" * 90
    Path(folder).mkdir()
    code, out, err = voronym("anonymize", "patients.csv", "-o", f"{folder}/{cuts[:60]}.csv", *roles)
    assert code == 0
    assert cuts[:60] in "".join((out + err).split())


def test_holds_is_empty_if_nothing_was_required(voronym):
    roles = ("--key", "sex", "--confidential", "diagnosis")
    _, out, _ = voronym("measure", "patients.csv", *roles, "-k", "2", "--json")
    findings = {item["model"]: item for item in json.loads(out)["findings"]}
    assert findings["k-anonymity"]["holds"] is True
    assert all(item["holds"] is None for item in findings.values() if item["required"] is None)
    assert any(item["required"] is None for item in findings.values())
