"""`voronym measure` for surveys: weights, sampling fraction, population, households, special uniques."""

import json
import sys
from unittest import mock

import numpy as np
import polars as pl
import pytest

from voronym.cli import main


@pytest.fixture
def survey(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    n = 4000
    region = rng.integers(0, 12, n)
    people = pl.DataFrame(
        {
            "hid": np.arange(n) // 2,
            "region": region,
            "age": rng.integers(18, 90, n) // 4,
            "job": region % 4 + rng.integers(0, 9, n),
        }
    )
    people.write_csv(tmp_path / "people.csv")
    people[::10].with_columns(weight=pl.lit(10.0)).write_csv(tmp_path / "survey.csv")
    monkeypatch.chdir(tmp_path)
    return people


def run(capsys, *words):
    """Return the exit code, and what was printed."""
    messages = ["voronym", "measure", "survey.csv", "--key", "region,age,job", *words]
    with mock.patch.object(sys, "argv", messages), pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, capsys.readouterr()


@pytest.mark.usefixtures("survey")
def test_each_basis_has_its_section(capsys):
    for words, text in (
        (["--weights", "weight"], "4,000 people (by the weights), 10 % of them"),
        (["--sampling-fraction", "0.1"], "4,000 people (by the sampling fraction), 10 % of them"),
        (["--population", "people.csv"], "4,000 people (counted), 10 % of them"),
    ):
        code, printed = run(capsys, *words)
        assert code == 0, printed.err
        section = printed.out.partition("Risk in the population")[2]
        assert text in section
        assert "correct matches to expect" in section
    assert "Risk in the population" not in run(capsys)[1].out


@pytest.mark.usefixtures("survey")
def test_json_has_figures_and_no_record(capsys):
    code, printed = run(capsys, "--weights", "weight", "--household", "hid", "--suda", "2", "--json")
    assert code == 0
    result = json.loads(printed.out)
    risk = result["population_risk"]
    assert risk["basis"] == "weights"
    assert risk["households"]["number"] == 400
    assert {item["model"] for item in risk["uniques"]} == {"pitman", "zayatz", "snb"}
    assert all(item["assumption"] for item in (*risk["uniques"], *risk["columns"]))
    assert "risks" not in risk
    assert result["suda"]["size"] == 2
    assert result["suda"]["fraction"] == pytest.approx(0.1)
    assert "scores" not in result["suda"]
    assert len(printed.out) < 40_000


@pytest.mark.usefixtures("survey")
def test_wrong_words_are_answered(capsys):
    for words, text in (
        (["--weights", "weight", "--sampling-fraction", "0.1"], "more than one are given"),
        (["--weights", "wieght"], "no column 'wieght'"),
        (["--weights", "region"], "named as key and as weights"),
        (["--sampling-fraction", "10"], "above 0 and at most 1"),
        (["--suda", "0"], "size must be a whole number of 1 or more"),
        (["--population", "nobody.csv"], "nobody.csv"),
    ):
        code, printed = run(capsys, *words)
        assert code in (1, 2)
        assert text in " ".join(printed.err.split())


@pytest.mark.usefixtures("survey")
def test_models_are_demanded(capsys):
    assert run(capsys, "--model", "k-map=2,population=people.csv")[0] == 3
    assert run(capsys, "--model", "k-map=9,weights=weight")[0] == 0
    assert run(capsys, "--model", "delta-presence=1,population=people.csv")[0] == 0
