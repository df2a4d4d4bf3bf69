"""The command line as people type it: outcomes, exit codes, and what is left on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import voronym as vr
from tables import count_csv

ROLES = ["--key", "age,sex", "--key", "zip", "--confidential", "diagnosis,days,cost", "--drop-undeclared"]


def test_anonymize_writes_a_checked_file(voronym, tmp_path):
    code, _, err = voronym(
        "anonymize",
        "patients.csv",
        "-o",
        "out.csv",
        *ROLES,
        "-k",
        4,
        "--report",
        "r.html",
        "--save-recipe",
        "r.toml",
    )
    assert code == 0, err
    assert count_csv(tmp_path / "out.csv", ["age", "sex", "zip"]) >= 4
    assert "counted in the file" in err
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    code, _, err = voronym("anonymize", "patients.csv", "-o", "again.parquet", "--recipe", "r.toml")
    assert code == 0, err
    assert sorted(vr.read("again.parquet")["cost"]) == sorted(vr.read("out.csv")["cost"])
    code, _, err = voronym("anonymize", "patients.csv", "-o", "more.csv", "--recipe", "r.toml", "-k", 10)
    assert code == 2
    assert not (tmp_path / "more.csv").exists()


def test_json_is_json_and_nothing_else(voronym):
    code, out, _ = voronym("anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--json")
    assert code == 0
    output = json.loads(out)
    assert output["written"]["k_counted"] >= 5
    assert output["public"]["risk"]["k"] >= 5
    assert output["inside"]["linkage"]["value"] <= 0.2
    for words in (
        ["measure", "out.csv", "--key", "age,sex,zip"],
        ["compare", "patients.csv", "--key", "age,sex", "-k", "3", "--method", "mdav"],
        ["methods"],
        ["inspect", "patients.csv"],
    ):
        code, out, err = voronym(*words, "--json")
        assert code == 0, err
        json.loads(out)


def test_a_guarantee_that_cannot_be_met_is_exit_code_3_and_no_file(voronym, tmp_path):
    code, _, err = voronym("anonymize", "patients.csv", "-o", "out.csv", *ROLES, "-k", 121)
    assert code == 3
    assert "120 records" in err
    code, _, err = voronym(
        "anonymize", "patients.csv", "-o", "out.csv", *ROLES, "-k", 3, "--model", "k-anonymity=121"
    )
    assert code == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["anonymize", "none.csv", "-o", "out.csv", "--key", "age"], 1, "none.csv"),
        (["anonymize", "patients.csv", "-o", "out.csv", "--key", "age"], 2, "zip"),
        (["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "-k", "1"], 2, "hides nobody"),
        (
            ["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "-k", "2.5"],
            2,
            "k must be a whole number, 1 or more, not 2.5",
        ),
        (["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--key", "agee"], 2, "agee"),
        (["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--kind", "age"], 2, "age=numeric"),
        (["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--location", "lat"], 2, "LAT,LON"),
        (["anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--method", "magic"], 2, "mdav"),
        (["anonymize", "patients.csv", "-o", "no/such/folder/out.csv", *ROLES], 1, "folder"),
        (["anonymize", "patients.csv", "-o", "out.docx", *ROLES], 1, "docx"),
        (["anonymize", "patients.csv", "-o", "out.csv", "--recipe", "none.toml"], 2, "none.toml"),
        (["anonymize", "patients.csv", "-o", "x.csv", *ROLES, "--report", "x.csv"], 2, "same name"),
        (["anonymize", "patients.csv", "-o", "patients.csv", *ROLES, "--overwrite"], 2, "name of the source"),
        (["anonymize", "patients.csv", "-o", "x.csv", *ROLES, "--save-recipe", "no/r.toml"], 1, "folder"),
        (["anonymize", "patients.csv", "-o", "x.csv", *ROLES, "--report", "no/r.html"], 1, "folder"),
        (["anonymize", "patients.csv", "-o", "x.csv", *ROLES, "--seed", "-1"], 2, "seed"),
        (["demo", "--folder", "patients.csv/demo"], 1, "folder"),
        (["demo", "-k", "1"], 2, "hides nobody"),
        (["compare", "patients.csv", "--key", "age", "-k", ","], 2, "at least one k"),
        (["measure", "patients.csv"], 2, "key"),
        (["measure", "patients.csv", "--key", "age", "-k", "5"], 3, ""),
        (["compare", "patients.csv", "--key", "age", "-k", "a"], 2, "whole numbers"),
        (["compare", "patients.csv"], 2, "key"),
        (["magic"], 2, "magic"),
    ],
)
def test_wrong_uses(voronym, tmp_path, words, code, says):
    got, _, err = voronym(*words)
    assert (got, says in err) == (code, True), err
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


def test_an_output_that_exists_is_kept(voronym, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    code, _, err = voronym("anonymize", "patients.csv", "-o", "out.csv", *ROLES)
    assert code == 2
    assert "--overwrite" in err
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert voronym("anonymize", "patients.csv", "-o", "out.csv", *ROLES, "--overwrite")[0] == 0
    assert (tmp_path / "out.csv").read_text() != "mine"


def test_compare_prints_a_table_and_writes_a_plot(voronym, tmp_path):
    code, out, err = voronym(
        "compare", "patients.csv", "--key", "age,weight", "-k", "3,5", "--method", "mdav,md,vmdav",
        "--report", "c.html",
    )  # fmt: skip
    assert code == 0, err
    for name in ("mdav", "md", "vmdav"):
        assert name in out
    assert "<svg" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_measure_demands_models_of_confidential_columns(voronym):
    look = ("measure", "patients.csv", "--key", "sex", "--confidential", "diagnosis,days")
    code, out, err = voronym(
        *look, "--model", "t-closeness=0.9,column=days,p-sensitive=2", "--model", "l-diversity=2"
    )
    assert (code, err) == (0, "")
    assert "t-closeness: " in out
    assert "(days, ordered distance), required 0.9: holds" in out
    assert "mutual-information: " in out
    code, out, _ = voronym(*look, "--model", "t-closeness=0.0001", "--json")
    assert code == 3
    results = {load["model"]: load for load in json.loads(out)["findings"]}
    assert set(results["t-closeness"]["detail"]["columns"]) == {"diagnosis", "days"}
    assert not results["t-closeness"]["holds"]
    code, _, err = voronym(*look, "--model", "t-closeness=2")
    assert code == 2
    assert "never above 1" in err


def test_measure_against_the_original(voronym):
    voronym("anonymize", "patients.csv", "-o", "out.csv", *ROLES)
    code, out, err = voronym("measure", "out.csv", "--key", "age,sex,zip", "--original", "patients.csv")
    assert code == 0, err
    assert "linkage" in out.lower()


def test_demo(voronym, tmp_path):
    code, _, err = voronym("demo", "--records", 200)
    assert code == 0, err
    assert {p.name for p in (tmp_path / "voronym-demo").iterdir()} == {
        "patients.csv", "release.csv", "recipe.toml", "report.html", "report-public.html",
    }  # fmt: skip
    ages = vr.read(tmp_path / "voronym-demo" / "patients.csv")["age"]
    assert sum(age > 101 for age in ages) == 2  # it has outliers
    assert voronym("demo", "--records", 200)[0] == 0


def test_inspect_never_calls_a_column_harmless(voronym):
    code, out, _ = voronym("inspect", "patients.csv", "--json")
    assert code == 0
    assert all(column["role"] != "other" for column in json.loads(out)["schema"]["columns"])


def test_version_and_help(voronym):
    assert vr.__version__ in voronym("--version")[1]
    assert "Exit codes" in voronym("--help")[1]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    vr.datasets.hospital(60000, seed=4).write_csv(tmp_path / "patients.csv")
    command = [sys.executable, "-c", "from voronym.cli import main; print(flush=True); main()"]
    words = [
        "anonymize",
        "patients.csv",
        "-o",
        "out.csv",
        "--key",
        "age,zip,admitted,weight,cost",
        "--drop-undeclared",
        "--method",
        "md",
    ]
    with subprocess.Popen(
        [*command, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()  # imported: from here on Ctrl-C is ours to answer
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "nothing was written" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]
