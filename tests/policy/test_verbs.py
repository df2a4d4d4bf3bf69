"""`voronym check`, `policies`, `inspect --policy` and `anonymize --policy`, as they are typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import voronym as vr
from policy.tables import zips
from voronym.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    vr.datasets.hospital(200, seed=4).write_csv(tmp_path / "patients.csv")
    zips(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def call(*words: str) -> int:
    kept, sys.argv = sys.argv, ["voronym", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = kept
    return 0


SAFE = ("--policy", "hipaa-safe-harbor", "--facts", "zip-populations=zips.csv")


def test_from_a_table_to_a_release_and_its_checklist(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("anonymize", "patients.csv", "-o", "release.csv", *SAFE, "--report", "report.html") == 0
    message = capsys.readouterr().err
    assert "chosen by the policy" in message
    assert "a person must decide" in message
    assert "What the policy demands" in (folder / "report.html").read_text(encoding="utf-8")
    outputs = ("-o", "list.html", "-o", "list.json", "-o", "list.txt")
    assert call("check", "release.csv", *SAFE, *outputs) == 0
    result = json.loads((folder / "list.json").read_text(encoding="utf-8"))
    assert result["passes"]
    assert {"says", "source", "figure", "verdict", "evidence", "decide"} <= set(result["items"][0])
    page = (folder / "list.html").read_text(encoding="utf-8")
    assert "Name, date and signature" in page
    assert "no legal advice" in page
    assert "45 CFR 164.514(b)(2)(i)(A)" in page
    assert "http-equiv" in page
    assert (folder / "list.txt").read_text(encoding="utf-8").startswith("HIPAA Safe Harbor")


def test_a_demand_that_fails_is_exit_code_3(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("check", "patients.csv", "--policy", "ema-0070") == 3
    assert "change: leave it out: --identifier name" in capsys.readouterr().out
    words = ("--policy", "ema-0070", "-k", "5", "--key", "age", "--drop-undeclared")
    assert call("anonymize", "patients.csv", "-o", "release.csv", *words) == 3
    assert "-k 12, or leave out -k" in capsys.readouterr().err
    assert not (folder / "release.csv").exists()


def test_words_that_are_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("check", "patients.csv") == 2
    assert "name the policy" in capsys.readouterr().err
    assert call("check", "patients.csv", "--policy", "ema") == 2
    assert "there is no policy 'ema'" in capsys.readouterr().err
    assert call("check", "patients.csv", "--policy", "ema-0070", "-o", "list.pdf") == 2
    assert ".html, .json, .txt" in capsys.readouterr().err
    assert call("check", "patients.csv", "--policy", "ema-0070", "--holds", "shoe=zip") == 2
    assert "no column 'shoe'" in capsys.readouterr().err
    (folder / "bad.toml").write_text("format = 1\nname = 3\n", encoding="utf-8")
    assert call("check", "patients.csv", "--policy", "bad.toml", "-o", "list.html") == 2
    assert "policy bad.toml, line" in capsys.readouterr().err
    assert not (folder / "list.html").exists()


def test_a_policy_of_an_office(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("policies", "ema-0070") == 0
    text = capsys.readouterr().out
    (folder / "ours.toml").write_text(text.replace("most = 0.09", "most = 0.091"), encoding="utf-8")
    words = ("--policy", "ours.toml", "--key", "age,sex", "--confidential", "diagnosis", "--drop-undeclared")
    assert call("anonymize", "patients.csv", "-o", "release.csv", *words) == 0
    assert "-k 11" in capsys.readouterr().err
    assert call("check", "release.csv", "--policy", "ours.toml", "--key", "age,sex") == 0
    capsys.readouterr()
    assert call("policies") == 0
    assert "hipaa-safe-harbor" in capsys.readouterr().out
    assert call("policies", "--json") == 0
    assert {load["name"] for load in json.loads(capsys.readouterr().out)} == set(vr_policies())


def vr_policies() -> list[str]:
    from voronym.policy import shipped

    return list(shipped())


def test_inspect_proposes_what_satisfies_a_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("inspect", "patients.csv", *SAFE, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert any(item["value"] == "top age=89" for item in result["chosen"])
    import shlex

    words = shlex.split(result["command"])
    assert words[0] == "voronym"
    assert call(*words[1:]) == 0
    assert call("check", "release.csv", *SAFE) == 0
    capsys.readouterr()
    assert call("inspect", "patients.csv", *SAFE) == 0
    assert "The policy demands:" in capsys.readouterr().out


def test_a_recipe_and_a_folder_of_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("anonymize", "patients.csv", "-o", "release.csv", *SAFE, "--save-recipe", "r.toml")
    assert call(*words) == 0
    assert call("check", "release.csv", *SAFE, "--recipe", "r.toml", "--original", "patients.csv") == 0
    import polars as pl

    table = pl.read_csv("release.csv", schema_overrides={"zip": pl.String})
    (folder / "parts").mkdir()
    table.head(100).write_csv("parts/a.csv")
    table.tail(100).write_csv("parts/b.csv")
    capsys.readouterr()
    assert call("check", "parts", *SAFE, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 200
    table.select(reversed(table.columns)).tail(100).write_csv("parts/b.csv")  # columns go by name
    capsys.readouterr()
    assert call("check", "parts", *SAFE, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 200
    table.head(9).drop("age").write_csv("parts/c.csv")
    assert call("check", "parts", *SAFE) == 2
    assert "'c.csv' lacks 'age': all files need the columns of 'a.csv'" in " ".join(
        capsys.readouterr().err.split()
    )
    for part, year in enumerate((2023, 2024)):
        (folder / f"hive/year={year}").mkdir(parents=True)
        table[100 * part : 100 * part + 100].write_parquet(f"hive/year={year}/p.parquet")
    assert call("check", "hive", *SAFE, "--json") == 0
    assert "year" in json.loads(capsys.readouterr().out)["columns"]
