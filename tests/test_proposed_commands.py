"""Every command that we propose says all that was said before: nothing is lost on the way.

A release is made on the command line. Then every command that its report, the page or `voronym inspect`
proposes is read by the command line's own parser, and compared with what was given.
"""

from __future__ import annotations

import datetime as dt
import html
import random
import re
import shlex
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import click
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from voronym.cli import app, common, declared
from voronym.cli.chosen import method_options
from voronym.report.sections import known
from voronym.request.choices import ColumnChoices
from voronym.request.command import ROLES, anonymize_words
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.request.wording import DECLARED
from voronym.table.schema import Schema
from voronym.web.settings import Settings

COLUMNS = ["patient", "home", "age", "day", "size", "zip", "lat", "lon", "ill", "cost, EUR", "note"]
OUTPUTS = ("output", "report", "save_recipe", "overwrite", "source")
BASE = """
    --key age,day,size,zip,lat,lon --confidential ill --confidential 'cost, EUR' --other note
    --kind zip=nominal --order 'size=small<mid<large' --location lat,lon
    --delimiter ';' --decimal , --missing -999
"""
CASES = {
    "people": """
        --person patient --identifier home --pseudonyms -k 4 --method mdav --model p-sensitive=2,column=ill
        --step 'top age=85' --step 'bottom age=18' --seed 3 --suppress 2%
        --importance age=2 --importance zip=3
    """,
    "households": """
        --person patient --household home -k 3 --intruder method --method mdav --allow-near-unique day
        --publish median --publish age=mean
    """,
    "ledger": "--person patient --identifier home --ledger LEDGER --method mdav",
    "mixed": """
        --identifier patient,home --space mixed --method mdav --metrics zip=nominal --allow-loss zip
    """,
    "strata": """
        --identifier patient,home --strata size --model p-sensitive=2,column=ill
        --enforce merge -k 2 --method anneal --time-limit 0.5
    """,
    "records": """
        --identifier patient,home --method records --m 2 --despite-loss true --shuffle age,zip --seed 5
    """,
}
MORE = {
    "--model": "models",
    "--time-limit": "time_limit",
    "--ledger": "ledger",
    "--shuffle": "option shuffle",
}
COMPARED = ("keys", "kinds", "orders", "locations", "person", "delimiter", "decimal", "missing", "seed")
SLOW = ("mixed", "ledger")


def table(path):
    """Make up visits of people in households, in a file that has to be told how to read it."""
    rng = random.Random(3)
    rows = []
    for person in range(40):
        lat, lon, size = 41 + rng.random(), 1 + rng.random(), rng.choice(["small", "mid", "large"])
        for _ in range(rng.randrange(1, 4)):
            day = dt.date(2024, 1, 1) + dt.timedelta(days=rng.randrange(40))
            age, postcode = rng.choice([20, 30, 40, -999]), rng.choice(["08001", "08002", "43001"])
            ill, cost = rng.choice(["flu", "cold", "gout"]), rng.randrange(10, 90) * 10
            row = (
                f"p{person}",
                f"h{person // 2}",
                age,
                day.isoformat(),
                size,
                postcode,
                lat,
                lon,
                ill,
                cost,
                "-",
            )
            rows.append(row)
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    path.write_text(frame.write_csv(separator=";", decimal_comma=True), encoding="utf-8")
    return path


def parsed(words: list[str]) -> tuple[str, dict]:
    """Read a command line as our own program does; return the verb, and what was said, said in one way."""
    assert words[0] == "voronym"
    group = typer.main.get_command(app)
    # A command keeps the help options that it is first asked for: they are the program's own.
    above = click.Context(group, **group.context_settings)
    command = group.get_command(above, words[1])
    context = command.make_context(words[1], words[2:], parent=above)
    text = {name: value for name, value in context.params.items() if value not in (None, False, (), [])}
    of_choices = DECLARED if words[1] == "anonymize" else ColumnChoices.names()
    choices = declared.choices_of({name: text.pop(name) for name in [*text] if name in of_choices}, COLUMNS)
    if words[1] == "anonymize":
        flags = [flag for param in command.params for flag in param.opts]
        text["source"], own = common.words([text["source"], *context.args], flags)
        method = choices.get("method", "auto")
        given = method_options(method, choices.pop("options", {}), own, COLUMNS, flags)
        text |= {f"option {name}": value for name, value in given.items()}
        choices.setdefault("k", 5 if method != "records" else None)
    checked = Request.of(choices).given
    assert not {*choices} - {*checked, "k", "seed"}, "a default was typed"
    text |= {name: sorted(value) if name in ROLES.values() else value for name, value in checked.items()}
    return words[1], text


PARAMS = [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in CASES]


@pytest.fixture(scope="module", params=PARAMS)
def asked(request, tmp_path_factory) -> tuple[str, dict, str, Recipe]:
    """Make a release; return what was said, its report with all that it could propose, and its recipe."""
    case, folder = request.param, tmp_path_factory.mktemp("asked")
    given = shlex.split(BASE + CASES[case])
    words = ["voronym", "anonymize", str(table(folder / "in.csv")), "-o", str(folder / "out.csv"), *given]
    words = [str(folder / "l.ledger") if word == "LEDGER" else word for word in words]
    more = ["--report", str(folder / "r.html"), "--save-recipe", str(folder / "r.toml")]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in (
            ("MOST_PROPOSALS", 9),
            ("_MANY_CERTAIN", 0.0),
            ("_LOSSY", 0.0),
            ("_FAR_FROM_OPTIMUM", 0.0),
        ):
            patch.setattr(known, name, value)
        answer = CliRunner().invoke(app, words[1:] + more)
    assert answer.exit_code == 0, answer.exception
    _, text = parsed(words)
    return case, text, (folder / "r.html").read_text("utf-8"), Recipe.load(folder / "r.toml")


def proposals(page: str) -> list[list[str]]:
    codes = [
        html.unescape(re.sub(r"<[^>]+>", "", item)) for item in re.findall(r"<code>(.*?)</code>", page, re.S)
    ]
    results = [shlex.split(item.replace("\\\n", " ")) for item in codes if item.startswith("voronym ")]
    return [words for words in results if "--recipe" not in words]  # which has all in its file


def same(proposed: dict, message: dict, *, added: set[str] = frozenset()) -> None:
    left = {
        name
        for name in (*proposed, *message)
        if name not in OUTPUTS and proposed.get(name) != message.get(name)
    }
    assert left <= added, {name: (message.get(name), proposed.get(name)) for name in left}


def test_a_report_proposes_what_was_said_and_one_thing_more(asked):
    case, text, page, _ = asked
    verbs = set()
    for words in proposals(page):
        verb, proposed = parsed(words)
        verbs.add(verb)
        if "ledger" in proposed and "ledger" in text:
            proposed["ledger"] = text["ledger"]  # its name is not known
        if verb == "compare":
            wanted = {name: text[name] for name in COMPARED if name in text}
            same(proposed, wanted, added={"k", "risk"} | ({"seed"} if "seed" not in text else set()))
        elif "--method" not in words:  # groups instead
            assert words[-2:] == ["-k", "5"]
            own = {name for name in text if name.startswith("option ")}
            same(proposed, text, added={"k", "method", "seed", *own})
        else:
            same(proposed, text, added={MORE[words[-2]]})
            before = text.get("models") or ()
            assert (proposed.get("models") or ())[: len(before)] == before
    assert "anonymize" in verbs
    assert "compare" in verbs or case not in ("people", "households")


def test_the_page_says_the_same_on_the_command_line(asked):
    case, text, _, recipe = asked
    if case == "ledger":  # the page keeps none
        return
    _, proposed = parsed(shlex.split(Settings.of_recipe(recipe).command("INPUT", recipe.reading, "OUTPUT")))
    same(proposed, text, added={"seed"} if "seed" not in text else set())


def test_inspect_proposes_how_the_table_was_read(tmp_path):
    path = table(tmp_path / "in.csv")
    words = ["--delimiter", ";", "--decimal", ",", "--missing", "-999"]
    answer = CliRunner().invoke(app, ["inspect", str(path), *words])
    command = answer.stdout.partition("The command for this proposal:")[2].replace("\\\n", " ")
    _, proposed = parsed(shlex.split(command))
    assert {name: proposed[name] for name in ("delimiter", "decimal", "missing")} == {
        "delimiter": ";", "decimal": ",", "missing": ["-999"],
    }  # fmt: skip
    assert proposed["person"] == "patient"


def test_inspect_proposes_the_query(tmp_path):
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as database, database:
        database.execute("create table people (age integer, ill text)")
        database.executemany("insert into people values (?, ?)", [(20 + i, "flu") for i in range(30)])
    query = "select age from people where age > 25 and " + " and ".join(f"age <> {i}" for i in range(9))
    answer = CliRunner().invoke(
        app, ["inspect", str(tmp_path / "d.sqlite"), "--query", query], env={"COLUMNS": "80"}
    )
    assert answer.exit_code == 0, answer.output
    command = answer.stdout.partition("The command for this proposal:")[2].replace("\\\n", " ")
    assert parsed(shlex.split(command))[1]["query"] == query


def test_groups_that_are_kept_stay_kept():
    schema = Schema.build(pl.DataFrame({"id": ["a", "b"], "age": [31, 32]}), keys=["age"], identifiers=["id"])
    words = anonymize_words(Recipe(schema, k=2, keep_groups=True, headroom=2), ledger=True)
    _, text = parsed(words)
    assert (text["keep_groups"], Path(text["ledger"]).name, text["headroom"]) == (True, "LEDGER", 2)
