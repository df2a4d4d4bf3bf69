"""Every declared choice is in Python, on the command line, in recipes and in proposed commands."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import voronym as vr
from voronym.cli import app, common, declared
from voronym.cli.chosen import method_options
from voronym.request.choices import PURPOSES, ColumnChoices, ReleaseChoices, RunChoices
from voronym.request.command import choices_of, words_of
from voronym.request.request import Request
from voronym.request.wording import DECLARED

RECIPES = Path(__file__).parent / "recipes"
"""Recipes of format 1, which version 0.1.0 wrote."""
FRAME = pl.DataFrame(
    {
        "name": ["a", "b", "c"], "age": [30, 40, 50], "zip": ["08001", "08002", "43001"],
        "region": ["n", "s", "n"], "pay": [1.5, 2.5, 3.5], "ill": ["flu", "cold", "flu"],
        "w": [1.0, 2.0, 3.0], "lat": [41.0, 41.1, 41.2], "lon": [2.0, 2.1, 2.2], "cost, EUR": [1, 2, 3],
    }
)  # fmt: skip
KEYS = ["age", "zip", "region", "pay"]
ROLES = {"keys": KEYS, "confidential": ["ill"], "identifiers": ["name"], "other": ["w"]}
TREE = {"08001": ["08***", "*"], "08002": ["08***", "*"], "43001": ["43***", "*"]}
EXAMPLES: dict[str, list[Any]] = {
    "keys": [["age"], ["zip", "age", "cost, EUR"]],
    "confidential": [["ill"], ["ill", "cost, EUR"]],
    "identifiers": [["name"]],
    "other": [["w", "pay"]],
    "drop_undeclared": [True],
    "kinds": [{"zip": "nominal", "cost, EUR": "numeric"}],
    "orders": [{"region": ["n", "s"], "ill": ["no", "a little", "yes"]}],
    "locations": [[("lat", "lon")]],
    "person": ["name"],
    "household": ["name"],
    "pseudonyms": [True],
    "k": [2, 500],
    "models": [["t-closeness=0.2"], ["p-sensitive=2,column=ill", "l-diversity=recursive:3:2"]],
    "bounds": [{"age": [0, 120], "region": ["n", "s"]}, {"pay": [0.5, 9.5]}],
    "intruder": ["method"],
    "policy": ["ema-0070", "ours.toml"],
    "facts": [{"zip-populations": "zips.csv"}],
    "enforce": ["merge", "blind"],
    "allow_near_unique": [["zip"], ["zip", "cost, EUR"]],
    "allow_loss": [["zip", "pay"]],
    "allow_unit_columns": [["pay"], ["pay", "cost, EUR"]],
    "like": ["sdcmicro", "arx"],
    "method": ["mdav", "records"],
    "blocks": [["age,region,pay: mdav", "zip: local-suppression exact=true"]],
    "options": [{"m": 3, "flatten": ["zip", "age"], "epsilon": {"age": 20, "pay": 1.5}, "blend": "noise"}],
    "space": ["mixed", "ranges"],
    "metrics": [{"zip": "edit", "age": "circular=24"}, {"zip": TREE}, {"zip": "taxonomy=5"}],
    "importance": [{"age": 2.0, "zip": 0.25}],
    "time_limit": [0.5, 60.0],
    "seed": [0, 2**62],
    "device": ["auto", "cuda"],
    "steps": [["top age=90"], ["recode zip level=1", 'after round "net pay"=100']],
    "publish": [{"*": "median"}, {"*": "interval", "zip": "hierarchy"}],
    "hierarchies": [{"zip": "zip.csv"}, {"zip": TREE}, {"zip": [["08001", "08***"], ["43001", "43***"]]}],
    "widths": [{"age": 5.0, "pay": 0.5}],
    "ends": ["exact"],
    "weights": ["w"],
    "publish_weights": ["own", "mean"],
    "strata": [["region"], ["region", "zip"]],
    "suppress": [0.05],
    "sampling_fraction": [0.125],
    "population": [str(RECIPES / "population.csv")],
    "keep_groups": [True],
    "headroom": [3],
    "dissolved": ["retire"],
    "waiting": [0.0, 0.5],
    "changed": ["publish"],
    "engine": ["dask"],
    "leaf": [20, 50_000],
    "rounds": [1],
    "ledger": ["people.ledger"],
    "strangers": [True],
    "address": ["tcp://scheduler:8786"],
    "workers": [2],
    "memory": ["16GB", 4_000_000_000],
    "work": ["/scratch/work"],
    "resume": [True],
    "log": ["run.log"],
    "log_level": ["debug", "error"],
    "prometheus": ["run.prom"],
}
BESIDE: dict[str, dict[str, Any]] = {
    "options": {"method": "records", "k": None},
    "bounds": {"models": ["dp=1"], "k": None},
    "metrics": {"space": "mixed"},
    "facts": {"policy": "hipaa-safe-harbor"},
    "publish_weights": {"weights": "w"},
    "enforce": {"models": ["t-closeness=0.2"]},
    "widths": {"publish": {"*": "interval"}},
    "ends": {"publish": {"age": "interval"}},
    **{name: {"keep_groups": True} for name in ("headroom", "waiting", "dissolved")},
}
"""What else must be chosen for a recipe with the choice."""
PROFILES = {"sdcmicro": {"method": "local-suppression"}, "arx": {"publish": {"*": "interval"}}}
"""The choices that each value of `like` stands for."""
CASES = [
    pytest.param(name, value, id=f"{name}-{i}")
    for name, many in EXAMPLES.items()
    for i, value in enumerate(many)
]


def checked(name: str, value: Any) -> Any:
    """Return a value as the check of the choice leaves it."""
    check = DECLARED[name].check
    return value if check is None else check(name, value)


def anonymize_command() -> tuple[Any, Any]:
    group = typer.main.get_command(app)
    above = click.Context(group, **group.context_settings)
    return group.get_command(above, "anonymize"), above


def typed_back(words: list[str]) -> dict[str, Any]:
    """Read words of a command line as `voronym anonymize` does."""
    command, above = anonymize_command()
    context = command.make_context("anonymize", ["in.csv", "-o", "out.csv", *words], parent=above)
    empty = (None, False, (), [])
    typed = {name: context.params[name] for name in DECLARED if context.params[name] not in empty}
    flags = [flag for parameter in command.params for flag in parameter.opts]
    _, own = common.words(["in.csv", *context.args], flags)
    given = declared.choices_of(typed, FRAME.columns)
    options = method_options(given.get("method", "auto"), given.pop("options", {}), own, FRAME.columns, flags)
    return {**given, **({"options": options} if options else {})}


def test_every_choice_has_examples_here():
    assert list(EXAMPLES) == list(DECLARED)
    for name, values in EXAMPLES.items():
        assert values
        for value in values:
            assert checked(name, value) != DECLARED[name].default


def test_choices_are_columns_release_and_run_and_no_name_is_twice():
    names = [*ColumnChoices.names(), *ReleaseChoices.names(), *RunChoices.names()]
    assert names == list(DECLARED)
    flags = [choice.flag for choice in DECLARED.values()]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("name", DECLARED)
def test_a_choice_is_a_documented_argument(name):
    choice = DECLARED[name]
    parameter = inspect.signature(vr.anonymize).parameters[name]
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert parameter.default == choice.default
    assert parameter.annotation == choice.accepts
    about = re.search(rf"^    {name} : (.*)\n((?:        .*\n)+)", vr.anonymize.__doc__ or "", re.MULTILINE)
    assert about is not None, f"{name} is not in the documentation of voronym.anonymize"
    assert about[1] == choice.accepts
    output = " ".join(about[2].split())
    assert output.startswith(choice.text)
    assert choice.usual in output
    assert choice.text[0].isupper()
    assert choice.text.endswith(".")


def test_no_other_argument_is_taken():
    own = {"data", "recipe", "reading", "output", "format", "style", "overwrite", "report", "progress"}
    assert set(inspect.signature(vr.anonymize).parameters) == own | set(DECLARED)
    with pytest.raises(TypeError, match="unexpected keyword argument 'supress'; did you mean 'suppress'"):
        vr.anonymize(FRAME, supress=0.1)
    with pytest.raises(TypeError, match="'qi'; it is called 'keys' here"):
        vr.anonymize(FRAME, qi=["age"])


@pytest.fixture(scope="module")
def page() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "110")
        answer = CliRunner().invoke(app, ["anonymize", "--help"])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.mark.parametrize("name", DECLARED)
def test_a_choice_is_a_flag_with_help(name, page):
    choice = DECLARED[name]
    head = re.search(
        rf"^  {re.escape(' '.join((choice.flag, choice.value)).strip())}(?= |$)", page, re.MULTILINE
    )
    assert head is not None, f"{choice.flag} is not in the help"
    below = page[head.end() :]
    output = " ".join(re.split(r"^  -|^\S", below, maxsplit=1, flags=re.MULTILINE)[0].split())
    assert output.startswith(choice.text)
    usual = choice.usual or ("" if choice.default in (None, (), False, 0, 0.0) else str(choice.default))
    assert f"Default: {usual}." in output if usual else "Default" not in output.removeprefix(choice.text)
    heads = re.findall(r"^\S.*$", page[: head.start()], re.MULTILINE)
    assert heads[-1] == choice.purpose
    assert choice.purpose in PURPOSES


@pytest.mark.parametrize(("name", "value"), CASES)
def test_words_of_a_choice_are_read_as_the_choice(name, value):
    more = {"method": "records"} if name == "options" else {}
    words = words_of({name: checked(name, value), **more})
    assert words
    given = typed_back(words)
    assert set(given) == {name, *more}
    assert checked(name, given[name]) == checked(name, value)
    whole = Request.of(given)
    stands_for = PROFILES[value] if name == "like" else {}
    assert whole.given == {name: checked(name, value), **more, **stands_for}
    assert set(whole.asked) == {name, *more}


def test_words_of_all_choices_at_once():
    every = {name: checked(name, values[-1]) for name, values in EXAMPLES.items()}
    assert Request.of(typed_back(words_of(every))).given == every
    assert words_of({name: choice.default for name, choice in DECLARED.items()}) == []


@pytest.mark.parametrize(
    ("name", "value"), [case for case in CASES if case.values[0] in ReleaseChoices.names()]
)
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_choice_is_an_entry_of_a_recipe(name, value, suffix, tmp_path):
    schema = vr.Schema.build(FRAME, **ROLES, drop_undeclared=True)
    value = ["top age=90"] if name == "steps" else value  # which must be about columns of the table
    recipe = vr.Recipe(schema, **{**BESIDE.get(name, {}), name: value})
    assert getattr(recipe, name) == checked(name, value)
    recipe.save(tmp_path / f"recipe{suffix}")
    again = vr.Recipe.load(tmp_path / f"recipe{suffix}")
    assert again == recipe
    assert getattr(again, name) == checked(name, value)
    assert name in recipe.to_dict()
    assert recipe.to_dict()["format"] == 2


def test_an_entry_at_its_default_is_not_written():
    schema = vr.Schema.build(FRAME, **ROLES, drop_undeclared=True)
    written = set(vr.Recipe(schema).to_dict())
    assert written == {"format", "method", "k", "seed", "versions", "schema"}


def test_a_schema_is_choices_about_columns():
    asked = {**ROLES, "kinds": {"zip": "nominal"}, "orders": {"region": ["n", "s"]}, "drop_undeclared": True}
    given = choices_of(vr.Schema.build(FRAME, **asked))
    assert given.keys() <= set(ColumnChoices.names())
    again = vr.Schema.build(FRAME, **{**given, "drop_undeclared": True})
    assert again == vr.Schema.build(FRAME, **asked)


def test_a_recipe_of_version_0_1_0_is_read_as_the_same_of_today(monkeypatch):
    monkeypatch.chdir(RECIPES)
    old = vr.Recipe.load("groups.toml")
    asked = {**ROLES, "kinds": {"zip": "nominal"}, "orders": {"region": ["n", "s"]}}
    table = FRAME.drop("lat", "lon", "cost, EUR")
    today = vr.Recipe(
        vr.Schema.build(table, **asked),
        k=4,
        method="vmdav",
        options={"gamma": 0.5},
        models=["p-sensitive=2,column=ill", "t-closeness=0.4"],
        seed=3,
        time_limit=2.5,
        suppress="1%",
        strata=["region"],
        weights="w",
        publish_weights="mean",
        importance={"age": 2},
        publish={"*": "interval", "zip": "hierarchy"},
        hierarchies={"zip": TREE},
        widths={"age": 5},
        ends="exact",
        enforce="swap",
        keep_groups=True,
        headroom=2,
        dissolved="retire",
        waiting=0.1,
        sampling_fraction="5%",
        population="population.csv",
        allow_near_unique=["zip"],
        allow_loss=["zip", "pay"],
        device="auto",
        engine="dask",
        leaf=50_000,
        rounds=2,
        steps=["top age=90", "after round age=5"],
        reading={"delimiter": ";", "decimal": ",", "missing": ["-9"]},
        versions=old.versions,
    )
    assert old == today
    assert old.versions["voronym"] == "0.1.0"
    moved = set(ReleaseChoices.names()) - {
        "allow_unit_columns",
        "intruder",
        "space",
        "metrics",
        "changed",
        "bounds",
        "policy",
        "facts",
        "blocks",
        "like",
    }  # which the other recipe has, or none
    assert moved <= set(old.given)
    assert vr.Recipe.from_toml(old.to_toml()) == today
    assert vr.Recipe.from_dict(today.to_dict()) == old
    assert old.to_dict()["format"] == 2


def test_a_recipe_of_records_of_version_0_1_0():
    old = vr.Recipe.load(RECIPES / "records.json")
    asked = {**ROLES, "kinds": {"zip": "nominal"}, "orders": {"region": ["n", "s"]}}
    today = vr.Recipe(
        vr.Schema.build(FRAME.drop("lat", "lon", "cost, EUR"), **asked),
        method="records",
        options={"m": 4, "blend": "centroid", "flatten": ["zip"], "despite_loss": True},
        metrics={"zip": "edit"},
        importance={"age": 2.0},
        versions=old.versions,
    )
    assert old == today
    assert (old.k, old.seed) == (None, None)
    assert old.method_options.metrics == {"zip": "edit"}
    assert vr.Recipe.from_toml(old.to_toml()) == today


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ({"intruder": "method", "strata": ["zip"]}, {"intruder": "method", "strata": ("zip",)}),
        ({"metrics": {"zip": "nominal"}}, {"metrics": {"zip": "nominal"}, "space": "mixed"}),
        ({}, {}),
    ],
)
def test_options_of_format_1_become_choices(given, moved):
    schema = vr.Schema.build(FRAME, **ROLES, drop_undeclared=True)
    space = {"space": moved["space"]} if "space" in moved else {}
    old = {"format": 1, "k": 3, "seed": 0, "models": [], "method": "auto", "options": given, **space}
    read = vr.Recipe.from_dict({**old, "schema": schema.to_dict()})
    assert read == vr.Recipe(schema, k=3, **moved)
    assert read.options is None


@pytest.mark.parametrize("number", [0, 3, "2", None])
def test_a_format_that_is_not_known_is_refused(number):
    schema = vr.Schema.build(FRAME, **ROLES, drop_undeclared=True)
    with pytest.raises(
        vr.InputError, match=r"the recipe (needs a format number|was made by a newer voronym)"
    ):
        vr.Recipe.from_dict({"format": number, "schema": schema.to_dict()})
