"""The example plug-in, built and installed as anybody would; the command line uses every part of it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from voronym import datasets

EXAMPLE = Path(__file__).parents[2] / "examples" / "voronym-example"
KEYS = ["age", "sex", "nationality"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Install the package into a folder of its own; whoever has it on the path has the plug-in."""
    folder = tmp_path_factory.mktemp("site")
    command = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    subprocess.run([sys.executable, "-m", *command, folder, EXAMPLE], check=True, timeout=240)
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    datasets.hospital(300, seed=1).write_csv(folder / "patients.csv")
    return folder


@pytest.fixture
def run(place, work):
    """Run a program with the plug-in installed; return its stdout."""

    def call(*words, code=0):
        process = subprocess.run(
            [sys.executable, *words],
            cwd=work,
            env={
                **os.environ,
                "PYTHONPATH": f"{place}{os.pathsep}{os.environ['PYTHONPATH']}",
                "COLUMNS": "100",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert process.returncode == code, process.stderr
        return process.stdout

    return call


@pytest.fixture
def voronym(run):
    return lambda *words, code=0: run("-m", "voronym", *words, code=code)


@pytest.fixture
def release(voronym, work):
    """Return the rows of a release by the method, the model and the step of the plug-in."""
    if not (work / "release.csv").exists():
        roles = ["--key", ",".join(KEYS), "--confidential", "diagnosis,cost", "--drop-undeclared", "-k", "5"]
        chosen = ["--method", "shells", "--far", "true", "--model", "no-majority=0.6,column=diagnosis"]
        step = ["--step", "lower-case nationality", "--save-recipe", "recipe.toml"]
        voronym("anonymize", "patients.csv", "-o", "release.csv", *roles, *chosen, *step)
    with (work / "release.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_doctor_lists_it(voronym):
    plugins = {row["name"]: row for row in json.loads(voronym("doctor", "--json"))["plugins"]}
    example = plugins["example"]
    assert (example["distribution"], example["version"], example["problem"]) == (
        "voronym-example",
        "1.0",
        None,
    )
    assert example["entries"] == {
        "method": ["shells"],
        "privacy model": ["no-majority"],
        "step": ["lower-case"],
        "attack": ["first-key"],
    }
    assert plugins["example.verbs"]["entries"] == {"verb": ["rarest"]}


def test_method_model_and_step_make_a_release(release, work):
    classes = Counter(tuple(row[key] for key in KEYS) for row in release)
    assert len(release) == 300
    assert min(classes.values()) >= 5
    values = Counter((*(row[key] for key in KEYS), row["diagnosis"]) for row in release)
    assert max(count / classes[row[:-1]] for row, count in values.items()) <= 0.6 + 1e-9
    assert all(row["nationality"] == row["nationality"].lower() for row in release)
    with (work / "patients.csv").open(encoding="utf-8") as file:
        assert any(row["nationality"] != row["nationality"].lower() for row in csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.usefixtures("release")
def test_a_recipe_names_its_parts_and_does_it_again(voronym, work):
    text = (work / "recipe.toml").read_text(encoding="utf-8")
    assert all(word in text for word in ("shells", "no-majority=0.6", "lower-case nationality"))
    voronym("anonymize", "patients.csv", "-o", "again.csv", "--overwrite", "--recipe", "recipe.toml")
    first, second = (
        sorted((work / name).read_text(encoding="utf-8").splitlines())
        for name in ("release.csv", "again.csv")
    )
    assert first == second


@pytest.mark.usefixtures("release")
def test_the_model_is_measured_where_nobody_asked(voronym):
    output = voronym(
        "measure", "release.csv", "--key", ",".join(KEYS), "--confidential", "diagnosis", "--json"
    )
    values = {finding["model"]: finding["value"] for finding in json.loads(output)["findings"]}
    assert 0.0 < values["no-majority"] <= 0.6 + 1e-9


@pytest.mark.usefixtures("release")
def test_the_attack_is_made(voronym):
    roles = ["--key", ",".join(KEYS), "--confidential", "diagnosis,cost", "--original", "patients.csv"]
    output = json.loads(voronym("attack", "release.csv", *roles, "--only", "first-key", "--json"))
    (outcome,) = output["outcomes"]
    assert outcome["attack"] == "first-key"
    assert 0.0 <= outcome["success"] <= 0.2


def test_the_verb_runs_and_has_a_help_page(voronym, work):
    with (work / "patients.csv").open(encoding="utf-8") as file:
        fewest = min(Counter(row["sex"] for row in csv.DictReader(file)).values())
    output = voronym("rarest", "patients.csv", "--key", "sex")
    assert output == f"{fewest} share the rarest combination of sex\n"
    assert "voronym rarest patients.csv --key age,zip" in voronym("rarest", "-h")
    page = voronym("-h")
    assert page.index("Judge a release") < page.index("  rarest ") < page.index("Points and places")


@pytest.mark.slow
def test_its_parts_keep_the_contracts(run):
    code = (
        "from voronym import attacks, privacy, testing; from voronym.method import METHODS; "
        "model = privacy.models()['no-majority']; "
        "testing.check_method(METHODS['shells']); testing.check_model(model(0.7), at=model); "
        "testing.check_attack(attacks.ATTACKS['first-key'])"
    )
    run("-c", code)


def test_it_is_loaded_when_it_is_asked_for_and_not_before(run):
    code = """
import sys
import voronym as vr
from voronym.method import METHODS
def present():
    return "voronym_example.parts" in sys.modules
people = vr.datasets.hospital(60, seed=1)
vr.anonymize(people, keys=["age", "sex"], drop_undeclared=True, k=5, models=["k-anonymity=5"])
assert not present()
assert METHODS["shells"].name == "shells"
assert present()
assert "voronym_example.verbs" not in sys.modules
"""
    run("-c", code)


def test_help_pages_stay_quick(place):
    """The verb is listed without the numerical libraries, and without the other parts."""
    process = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "voronym", "--help"],
        env={**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{os.environ['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "rarest" in process.stdout
    modules = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines() if "|" in line}
    assert "typer" in modules
    assert modules.isdisjoint(["numpy", "polars", "narwhals", "voronym_example.parts"])
