"""Steps, strata, weights and ways of publishing on the page: from the form to the house, and to a command."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.cli import main
from voronym.errors import InputError, speaking
from voronym.request.choices import ReleaseChoices
from voronym.steps import parse_step
from voronym.table.table import Table
from voronym.web import screens
from voronym.web.bench import PLACED, Bench, Wishes, _wrong
from voronym.web.forms import column_fields, columns_of, patched, protection_fields, protection_of
from voronym.web.settings import Settings, refuse_files

ROLES = {"keys": ["age", "region"], "confidential": ["income"], "other": ["weight"]}
NAMES = ["age", "region", "income", "weight"]
FORM = {
    "k": "3",
    "method": "mdav",
    "rules": "1",
    "steps": "top age=80\r\n\r\n  round income=1000 \r\n",
    "publish": "interval",
    "stratum-1": "1",
    "weights": "3",
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
    chosen = protection_of(FORM, Settings(ROLES), NAMES)
    assert chosen.roles == {"age": "key", "region": "key", "income": "confidential", "weight": "other"}
    rules = {
        "steps": ["top age=80", "round income=1000"],
        "publish": {"*": "interval"},
        "strata": ["region"],
        "weights": "weight",
        "suppress": "2%",
    }
    assert chosen.choices == {**ROLES, **rules, "k": 3, "method": "mdav"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        release = vr.anonymize(survey, **chosen.choices)
    assert [effect.step for effect in release.effects] == chosen.steps
    words = [*shlex.split(chosen.command("survey.csv", {})), "--save-recipe", "recipe.toml"]
    with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    typed = vr.Recipe.load("recipe.toml")
    assert typed.given == release.recipe.given
    again = Settings.of_recipe(typed)
    assert again.roles == chosen.roles
    assert ReleaseChoices(**release_choices(again)) == ReleaseChoices(**release_choices(chosen), seed=0)


def test_what_no_field_of_a_form_is_about_stays() -> None:
    more = {"publish": {"age": "interval"}, "strata": ["age", "region"], "headroom": 1}
    own = {"options": {"gamma": 0.5}}
    before = Settings({**ROLES, "k": 3, "method": "vmdav", **more, **own})
    asked = {"k": 3, "method": "vmdav"}
    bare = protection_of({"k": "3", "method": "vmdav"}, before, NAMES)  # a form without the fields
    assert release_choices(bare) == {**asked, **more, **own}
    columns = [{"name": name} for name in NAMES]
    shown = protection_fields(before, NAMES)
    assert release_choices(protection_of(shown, before, NAMES)) == {**asked, **more, **own}
    other = patched({"method": "kd"}, before, columns, "protect")  # options are of a method
    assert release_choices(other) == {"k": 3, "method": "kd", **more}
    fewer = patched({"stratum-0": ""}, before, columns, "protect")
    assert fewer.strata == ["region"]
    both = patched({"publish": "median"}, before, columns, "protect")
    assert both.publish == {"age": "interval", "*": "median"}


def test_forms_give_back_what_they_show() -> None:
    """The fields that a form shows of any choices are those choices again."""
    rng = np.random.default_rng(0)
    columns = [{"name": name} for name in NAMES]
    for _ in range(200):
        roles = dict(zip(NAMES, rng.choice(["key", "confidential", "other", "identifier"], 4), strict=True))
        chosen = Settings().having(
            **{
                choice: [name for name in NAMES if roles[name] == role]
                for role, choice in (
                    ("key", "keys"),
                    ("confidential", "confidential"),
                    ("other", "other"),
                    ("identifier", "identifiers"),
                )
            },
            k=int(rng.integers(1, 30)),
            models=[model for model in ("p-sensitive=2", "l-diversity=3") if rng.random() < 0.5],
            steps=[step for step in ("top age=80", "round income=100") if rng.random() < 0.5],
            publish={key: "median" for key in ("*", "age") if rng.random() < 0.5},
            importance={"age": 2} if rng.random() < 0.5 else None,
            bounds={"age": "0..120"} if rng.random() < 0.5 else None,
            widths={"income": 100} if rng.random() < 0.5 else None,
            kinds={"region": "nominal"} if rng.random() < 0.5 else None,
            strata=[name for name in NAMES if roles[name] == "key" and rng.random() < 0.3],
            suppress="1%" if rng.random() < 0.5 else None,
            enforce="swap" if rng.random() < 0.5 else None,
            blocks=["age: mdav", "region: kd"] if rng.random() < 0.3 else None,
            method="mdav",
            options={"gamma": 0.5} if rng.random() < 0.3 else None,
            headroom=2 if rng.random() < 0.3 else None,
        )
        again = columns_of(column_fields(chosen, NAMES), chosen, columns)
        assert again == chosen
        assert protection_of(protection_fields(chosen, NAMES), again, NAMES) == chosen
        assert patched({"k": "77"}, chosen, columns, "protect") == chosen.having(k=77)


def test_metrics_of_records_are_none_of_another_method() -> None:
    before = Settings({**ROLES, "method": "records", "metrics": {"region": "nominal"}})
    assert release_choices(protection_of({"k": "3", "method": "mdav"}, before, NAMES)) == {
        "k": 3,
        "method": "mdav",
    }
    mixed = before.having(method="mdav", space="mixed")
    assert protection_of({"k": "3", "method": "exchange"}, mixed, NAMES).metrics == {"region": "nominal"}


def release_choices(chosen: Settings) -> dict[str, Any]:
    """Return what settings say about the release."""
    return {name: value for name, value in chosen.choices.items() if name in ReleaseChoices.names()}


def _refused(text: str) -> bool:
    """Say whether a text is refused for its file, or is no step at all."""
    try:
        refuse_files(Settings({"steps": ["round age=5", text]}))
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
        refuse_files(Settings({"population": "/etc/passwd"}))
    refuse_files(Settings({"steps": ["round age=5", "what is this"]}))


def test_what_is_wrong_is_said_as_on_the_command_line(survey: pl.DataFrame) -> None:
    table = vr.table.Table.build(survey, keys=["age", "region"], confidential=["income"], other=["weight"])
    for name, value, part in (
        ("steps", ["tpo age=80"], "tpo"),
        ("steps", ["top agee=80"], "agee"),
        ("suppress", "many", "“Records that may be left out” must be a share of the records below a half"),
        (
            "publish",
            {"*": "everything"},
            "“Groups publish” must be 'hierarchy' or 'interval' or 'mean' or 'median'",
        ),
        ("k", "many", "k must be a whole number"),
    ):
        assert part in _wrong(table, name, value)
    assert _wrong(table, "steps", ["top age=80"]) == ""
    assert _wrong(table, "strata", ["region"]) == ""
    assert _wrong(table, "suppress", "1%") == ""
    assert _wrong(table, "models", ["dp=1,scope=all"]) == ""  # ε needs no k


def test_what_is_wrong_has_a_place_on_the_page(survey: pl.DataFrame) -> None:
    bench = Bench()
    bench._frame = survey
    asked = Settings({**ROLES, "k": 3})

    def wrong(**given: Any) -> dict[str, str]:
        return bench.check(Wishes(lambda _: None), settings=asked.having(**given).plain())["errors"]

    assert wrong() == {}
    assert wrong(space="mixed", metrics={"region": "nominal"}) == {}
    assert list(wrong(metrics={"region": "nominal"})) == ["options"]  # which has no field of its own
    assert list(wrong(suppress="many")) == ["suppress"]
    assert "how many people" in wrong(k=None)["k"]
    wrong_models = wrong(models=["p-sensitive=x", "no-such=1"])
    assert set(wrong_models) == {"secrets", "models"}
    assert "no-such" in wrong_models["models"]
    both = wrong(steps=["tpo age=80", "round wieght=5"])["steps"]
    assert "tpo" in both
    assert "wieght" in both
    page = Path(screens.__file__).parent.joinpath("templates", "fields.html").read_text(encoding="utf-8")
    for name in (*PLACED, "options", "secrets"):
        assert f'"{name}"' in page


def test_a_recipe_of_a_gpu_says_so_until_the_form_says_otherwise(survey: pl.DataFrame) -> None:
    schema = vr.Schema.build(survey, keys=["age", "region"], confidential=["income"], other=["weight"])
    chosen = Settings.of_recipe(vr.Recipe(schema, k=3, method="pairs", device="cuda"))
    assert chosen.choices["device"] == "cuda"
    assert chosen.command("survey.csv", {}).endswith("--device cuda")
    form = {"k": "3", "method": "pairs"}
    assert protection_of(form, chosen, NAMES).device == "cuda"
    assert protection_of({**form, "device": ""}, chosen, NAMES).device == "cpu"
    assert Settings.of_recipe(vr.Recipe(schema, k=3)).device == "cpu"
    table = Table.of(survey, schema)
    with mock.patch("voronym._cuda.device.missing", return_value="there is none"), speaking("page"):
        sentence = _wrong(table, "device", "cuda")
    assert "there is none. With “Groups are made on” cpu the run needs no GPU" in sentence
    assert not _wrong(table, "device", "cpu")
