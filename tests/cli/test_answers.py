"""Answers of the command line to mistakes and to questions: true, and in its own words."""

from __future__ import annotations

import json

import pytest

import voronym as vr
from voronym.attacks import Exposure, Outcome


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
