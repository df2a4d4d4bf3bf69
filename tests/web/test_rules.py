"""Steps, strata, weights and ways of publishing on the page: from the form to the house, and to a command."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.cli import main
from voronym.errors import InputError
from voronym.steps import parse_step
from voronym.table.table import Table
from voronym.web.bench import _wrong
from voronym.web.forms import RECIPE, protection_of
from voronym.web.screens import _rules
from voronym.web.settings import Settings, refuse_files
from voronym.web.words import on_page

ROLES = {"age": "key", "region": "key", "income": "confidential", "weight": "other"}
FORM = {
    "k": "3",
    "method": "mdav",
    "rules": "1",
    "steps": "top age=80\r\n\r\n  round income=1000 \r\n",
    "publish": "interval",
    "strata": "1",
    "weights": "0",
    "suppress": "2%",
}


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    n = 60
    made = pl.DataFrame(
        {
            "age": rng.integers(18, 95, n),
            "region": rng.choice(["north", "south"], n),
            "income": rng.integers(1, 90, n) * 500,
            "weight": rng.integers(10, 20, n).astype(float),
        }
    )
    monkeypatch.chdir(tmp_path)
    made.write_csv("survey.csv")
    return made


def test_a_form_is_what_its_command_does(survey: pl.DataFrame) -> None:
    chosen = protection_of(FORM, Settings(roles=ROLES))
    assert chosen.steps == ["top age=80", "round income=1000"]
    assert chosen.options == {
        "publish": {"*": "interval"},
        "strata": ["region"],
        "weights": "weight",
        "suppress": "2%",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        release = vr.anonymize(survey, **chosen.arguments())
    assert [one.step for one in release.effects] == chosen.steps
    words = [*shlex.split(chosen.command("survey.csv", {})), "--save-recipe", "recipe.toml"]
    with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    typed = vr.Recipe.load("recipe.toml")
    assert (typed.steps, typed.options) == (release.recipe.steps, release.recipe.options)
    again = Settings.of_recipe(typed)
    assert (again.steps, again.options) == (chosen.steps, chosen.options)


def test_a_recipe_that_says_more_than_the_fields_stays() -> None:
    options = {"publish": {"age": "interval"}, "strata": ["age", "region"], "headroom": 1}
    before = Settings(roles=ROLES, method="mdav", options=options)
    shown = _rules(before)
    assert (shown["publish"], shown["strata"], shown["weights"]) == (RECIPE, RECIPE, "")
    form = {"k": "3", "method": "mdav", "rules": "1", "publish": RECIPE, "strata": RECIPE, "weights": ""}
    assert protection_of(form, before).options == options
    assert protection_of({**form, "method": "kd"}, before).options == {}
    assert protection_of({**form, "publish": "", "strata": ""}, before).options == {"headroom": 1}
    assert protection_of({"k": "3", "method": "mdav"}, before).options == options  # a form without the fields


def _refused(text: str) -> bool:
    """Say whether a text is refused for its file, or is no step at all."""
    try:
        refuse_files({}, (), ["round age=5", text])
        parse_step(text)
    except InputError:
        return True
    return False


def test_no_step_opens_a_file() -> None:
    assert not _refused("recode region level=1")
    for text in (
        "recode region level=1 hierarchy=/etc/passwd",
        "after recode region level=1 hierarchy=/etc/passwd",
        'recode region level=1 hierarchy="/etc/passwd"',
        "recode region hierarchy=/etc/passwd level=1",
        "recode region level=1 hierarchy = /etc/passwd",
        "recode region level=1 HIERARCHY=/etc/passwd",
    ):
        assert _refused(text), text
    with pytest.raises(InputError, match="opens no files by their names"):
        refuse_files({"population": "/etc/passwd"}, ())
    refuse_files({}, (), ["round age=5", "what is this"])


def test_what_is_wrong_is_said_as_on_the_command_line(survey: pl.DataFrame) -> None:
    table = vr.table.Table.build(survey, keys=["age", "region"], confidential=["income"], other=["weight"])
    for name, value, part in (
        ("steps", ["tpo age=80"], "tpo"),
        ("steps", ["top agee=80"], "agee"),
        ("options", {"suppress": "many"}, "suppress must be a share of the records below a half"),
        ("options", {"publish": {"*": "everything"}}, "publish must be one of mean, median"),
    ):
        assert part in _wrong(table, name, value)
    assert _wrong(table, "steps", ["top age=80"]) == ""
    assert _wrong(table, "options", {"strata": ["region"], "suppress": "1%"}) == ""


def test_a_recipe_of_a_gpu_says_so_until_the_form_says_otherwise(survey: pl.DataFrame) -> None:
    schema = vr.Schema.build(survey, keys=["age", "region"], confidential=["income"], other=["weight"])
    chosen = Settings.of_recipe(vr.Recipe(schema, k=3, method="pairs", device="cuda"))
    assert chosen.arguments()["device"] == "cuda"
    assert chosen.command("survey.csv", {}).endswith("--device cuda")
    form = {"k": "3", "method": "pairs"}
    assert protection_of(form, chosen).device == "cuda"
    assert protection_of({**form, "device": ""}, chosen).device is None
    assert Settings.of_recipe(vr.Recipe(schema, k=3)).device is None
    table = Table.of(survey, schema)
    with mock.patch("voronym._cuda.device.missing", return_value="there is none"):
        sentence = on_page(_wrong(table, "device", "cuda"))
    assert "there is none. “Groups are made on: the processor” needs none" in sentence
    assert not _wrong(table, "device", None)
