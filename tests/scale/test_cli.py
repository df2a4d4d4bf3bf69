"""Data sets of many files on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest
from typer.testing import CliRunner

import voronym as vr
from scale.conftest import people, rows, work_of, write
from voronym.cli import app

ROLES = ["--key", "age,income,sex,town", "--confidential", "ill", "--identifier", "name", "--drop-undeclared"]


def call(*words: object) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code if done.exception is None or isinstance(
        done.exception, SystemExit
    ) else 1, done.output


def test_a_folder_in_a_folder_out(data: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    code, text = call("anonymize", data, "-o", tmp_path / "out", *ROLES, "-k", 4, "--leaf", 1500, "--workers",
                      1, "--step", "top age=80", "--save-recipe", recipe, "--json")  # fmt: skip
    output = json.loads(text)
    assert (code, output["rows"], output["k_counted"]) == (0, 6000, 4)
    code, text = call(
        "anonymize", f"{data}/*.parquet", "-o", tmp_path / "again", "--recipe", recipe, "--workers", 1
    )
    assert code == 0
    assert "k-anonymity: 4, required 4" in text
    assert "required 4: holds" not in text  # it stands in front
    assert "sampled" not in text  # all were looked at
    assert "age: values above 80 are published as the limit" in " ".join(text.split())
    assert rows(tmp_path / "out").equals(rows(tmp_path / "again"))


def test_a_plan_changes_nothing(data: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    code, text = call("plan", data, *ROLES, "-k", 4, "--leaf", 1500, "--json")
    output = json.loads(text)
    assert code == 0
    assert (output["rows"], output["files"], output["leaves"], output["rounds"]) == (6000, 3, 4, 3)
    assert output["seconds"] > 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_texts_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    frame = people(1800)
    for number in range(2):
        frame[number * 900 : (number + 1) * 900].write_csv(
            tmp_path / "texts" / f"{number}.csv", separator=";"
        )
    write(frame, tmp_path / "columns", 2)
    for source in ("texts", "columns"):
        code, text = call("anonymize", tmp_path / source, "-o", tmp_path / f"out-{source}", *ROLES, "-k", 4,
                          "--leaf", 600, "--workers", 1, "--format", "parquet")  # fmt: skip
        assert code == 0, text
    assert rows(tmp_path / "out-texts").equals(rows(tmp_path / "out-columns"))


def answers(work: Path) -> dict[str, int]:
    """Return which tasks are done, and when each was."""
    return {path.name: path.stat().st_mtime_ns for path in work.glob("*.done")}


@pytest.mark.slow
def test_killed_by_force_and_resumed(tmp_path: Path) -> None:
    """Kill the process at several moments; what was done is not done again, and the rows are the same."""
    write(people(40_000), tmp_path / "data", 4)
    words = [sys.executable, "-m", "voronym.cli", "anonymize", str(tmp_path / "data"), *ROLES, "-k", "5",
             "--leaf", "2500", "--workers", "2"]  # fmt: skip
    subprocess.run([*words, "-o", str(tmp_path / "whole")], check=True, capture_output=True)
    again = [*words, "-o", str(tmp_path / "out"), "--resume"]
    done: dict[str, int] = {}
    for more in (1, 5, 9, 13):
        process = subprocess.Popen(again, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(answers(work_of(tmp_path / "out"))) < len(done) + more:
            sleep(0.02)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        before, done = done, answers(work_of(tmp_path / "out"))
        assert before.items() <= done.items()
    assert not (tmp_path / "out").exists()
    subprocess.run(again, check=True, capture_output=True)
    assert rows(tmp_path / "out").equals(rows(tmp_path / "whole"))
    assert {path.name for path in tmp_path.iterdir()} == {"data", "out", "whole"}


def test_an_option_about_parts_is_named_where_it_asks_for_a_folder(tmp_path: Path) -> None:
    people(60).write_csv(tmp_path / "people.csv")
    with pytest.raises(vr.InputError, match="or leave out prometheus, which is for many parts"):
        vr.anonymize(
            tmp_path / "people.csv", output=tmp_path / "out.csv", keys=["age"], prometheus=tmp_path / "m"
        )
    assert not (tmp_path / "out.csv").exists()
