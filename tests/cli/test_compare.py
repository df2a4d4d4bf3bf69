"""`compare` and `measure` beside a recipe; rows that are kept when somebody stops."""

from __future__ import annotations

import json
import signal

import pytest

import voronym as vr
from cli.test_cli import ROLES
from voronym.comparison import _row


def test_fast_methods_come_first_and_the_late_ones_are_named(monkeypatch):
    seen = []
    result = vr.compare(
        vr.datasets.hospital(60), keys=["age"], k=[3], methods=["icsm", "mdav", "anneal"], each=seen.append
    )
    assert [row.method for row in seen] == ["mdav", "anneal", "icsm"]
    assert [row.method for row in result.rows] == ["icsm", "mdav", "anneal"]  # as they were named
    ticks = iter(range(100))
    monkeypatch.setattr(
        "voronym.comparison._row", lambda *given: (next(ticks), given[3].check(), _row(*given))[2]
    )
    late = vr.compare(vr.datasets.hospital(60), keys=["age"], k=[3], methods=["mdav", "icsm"], time_limit=0.0)
    assert late.rows == ()
    assert late.skipped == dict.fromkeys(["mdav, k=3", "icsm, k=3"], "there was not enough time for it")


def test_a_search_is_not_cut_short(monkeypatch):
    """Its figure would be one that the method can beat."""
    people = vr.datasets.hospital(1500, seed=1)
    result = vr.compare(people, keys=["age", "weight"], k=[3], methods=["mdav", "anneal"], time_limit=0.3)
    whole = {row.method: row.loss for row in vr.compare(
        people, keys=["age", "weight"], k=[3], methods=["mdav", "anneal"]
    ).rows}  # fmt: skip
    assert all(row.loss == whole[row.method] for row in result.rows)


@pytest.mark.parametrize("style", ["", "--json"])
def test_rows_are_kept_on_ctrl_c(voronym, monkeypatch, style):
    def stop(name, *given):
        if name == "md":
            signal.raise_signal(signal.SIGINT)
        return _row(name, *given)

    monkeypatch.setattr("voronym.comparison._row", stop)
    words = [
        "compare",
        "patients.csv",
        "--key",
        "age,weight",
        "-k",
        "3",
        "--method",
        "mdav",
        "--method",
        "md",
    ]
    code, out, err = voronym(*words, *([style] if style else []))
    assert code == 130
    assert err == "stopped: nothing was written\n"
    assert [row["method"] for row in json.loads(out)["rows"]] == ["mdav"] if style else "mdav" in out


def test_a_recipe_says_what_columns_are(voronym):
    kinds = ["--kind", "zip=nominal", "--kind", "age=numeric"]
    assert (
        voronym("anonymize", "patients.csv", "-o", "o.csv", *ROLES, *kinds, "--save-recipe", "r.toml")[0] == 0
    )
    messages = ["--key", "age,sex,zip", "--confidential", "diagnosis,days,cost", *kinds, "-k", "5"]
    output = voronym("measure", "o.csv", *messages, "--original", "patients.csv", "--json")
    short = voronym("measure", "o.csv", "--recipe", "r.toml", "--original", "patients.csv", "--json")
    assert (output[0], short[0]) == (0, 0), short[2]
    assert json.loads(output[1]) == json.loads(short[1])
    look = ["compare", "patients.csv", "-k", "3", "--method", "mdav", "--json"]
    output = json.loads(voronym(*look, "--key", "age,sex,zip", *kinds)[1])["rows"][0]
    short = json.loads(voronym(*look, "--recipe", "r.toml")[1])["rows"][0]
    assert (output["loss"], output["linkage"]) == (short["loss"], short["linkage"])
    assert voronym("measure", "o.csv", "--recipe", "r.toml", "--key", "age")[0] == 2
    code, _, err = voronym("compare", "o.csv", "--recipe", "r.toml", "--kind", "age=nominal")
    assert (code, "options about kinds" in err) == (2, True)


def test_columns_without_a_role_may_be_dropped_by_name(voronym):
    words = ("compare", "patients.csv", "--key", "age,weight", "-k", "3", "--method", "mdav", "--json")
    (code, out, err), (same, again, _) = voronym(*words), voronym(*words, "--drop-undeclared")
    assert (code, same) == (0, 0), err
    first, second = ([row["loss"] for row in json.loads(text)["rows"]] for text in (out, again))
    assert first == second
