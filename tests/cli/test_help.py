"""The help pages, suggestions, completion and `voronym doctor`, as people at a terminal see them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import voronym as vr
from commands import runner
from voronym import cli
from voronym.cli.chosen import options_of
from voronym.cli.complete import columns, heading, methods, models
from voronym.cli.help import ORDER
from voronym.cli.verbs import PROGRAM, VERBS, by_purpose
from voronym.request.wording import DECLARED

CLI = typer.main.get_command(cli.app)


def all_of(command, typed=()):
    yield typed, command
    for name, below in getattr(command, "commands", {}).items():
        yield from all_of(below, (*typed, name))


PAGES = dict(all_of(CLI))


@pytest.fixture
def voronym(monkeypatch, capsys, tmp_path):
    """Run a command in a fresh folder; give back (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)

    def run(*words, wide=80):
        monkeypatch.setenv("COLUMNS", str(wide))
        return runner(monkeypatch, capsys)(*words)

    return run


def words_of(text):
    return set(re.findall(r"[\w=<>,./'()\[\]-]+", text))


def test_every_help_begins_with_a_verb_or_the_thing_it_sets():
    begins = {
        (*typed, parameter.name): (getattr(parameter, "help", None) or "Nothing").split()[0]
        for typed, command in PAGES.items()
        for parameter in command.params
    }
    riddles = {"How", "Where", "What", "Which", "Who", "Whether", "Of", "If", "Also", "Nothing"}
    assert not {place: word for place, word in begins.items() if word in riddles}


@pytest.mark.parametrize("wide", [60, 80, 140])
@pytest.mark.parametrize("typed", PAGES, ids=lambda typed: " ".join(typed) or "voronym")
def test_help_has_every_word_whole_at_any_width(voronym, typed, wide):
    code, out, _ = voronym(*typed, "-h", wide=wide)
    assert code == 0
    assert voronym(*typed, "--help", wide=wide)[1] == out
    assert all(len(line) <= wide for line in out.splitlines())
    shown = words_of(out)
    for item in PAGES[typed].params:
        for name in item.opts if item.param_type_name == "option" else ():
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", out), f"{name} is not shown"
        text = getattr(item, "help", None) or ""
        form, result, rest = text.partition(":")
        output = rest if result and " " not in form else text
        assert words_of(output) <= shown, f"of {item.name} the help lacks {words_of(output) - shown}"


def test_defaults_are_told_and_options_stand_by_purpose(voronym):
    _, out, _ = voronym("anonymize", "-h")
    plain = " ".join(out.split())
    for text in (
        "keys. Default: 5; none for channel",
        "lists them. Default: auto.",
        "Default: euclidean.",
        "Default: as read.",
    ):
        assert text in plain
    heads = [line for line in out.splitlines() if line in {*ORDER, "Options", "Arguments"}]
    others = {"Compared with"}  # which are of other verbs
    assert heads == ["Arguments", *(name for name in ORDER if name not in others), "Options"]
    places = [out.index(f"\n{word}") for word in ("Columns", "  --key", "Protection", "  --model", "Method")]
    assert places == sorted(places)
    _, out, _ = voronym("compare", "-h")
    assert "Default: 3,5,10." in " ".join(out.split())


def test_every_verb_stands_by_what_it_is_for(voronym):
    _, out, _ = voronym("-h")
    purposes = by_purpose()
    listed = [name for names in purposes.values() for name in names]
    assert sorted(listed) == sorted(CLI.commands)
    assert "\nVerbs\n" not in out
    shown = [line.split()[0] for line in out.splitlines() if re.match(r"  [a-z]+  ", line)]
    assert shown == listed
    heads = [line for line in out.splitlines() if line in purposes]
    assert heads == list(purposes)


def test_a_method_tells_the_options_of_all_groups_too(voronym):
    """What can be typed is found by who asks: every option is in one of the two pages."""
    asked = voronym("anonymize", "-h")[1]
    assert "voronym methods" in asked
    for choice in DECLARED.values():
        assert re.search(rf"(?<![\w-]){choice.flag}(?![\w-])", asked), f"{choice.flag} is told nowhere"
    for method in ("mdav", "vmdav", "anneal", "records"):
        output = voronym("methods", method)[1]
        for name in options_of(method):
            flag = f"--{name.replace('_', '-')}"
            assert re.search(rf"(?<![\w-]){flag}(?![\w-])", output), f"{flag} is told nowhere"
    assert options_of("vmdav") == {"gamma": "value"}
    assert "--suppress" in voronym("methods", "mdav")[1]
    assert "--suppress" not in voronym("methods", "channel")[1]
    assert json.loads(voronym("methods", "--json")[1])[0]["shared"]["suppress"]


def test_every_verb_has_an_example_that_can_be_typed(voronym):
    examples = {"": PROGRAM}
    for verb in VERBS.values():
        examples |= {f"{verb.name} {below}".strip(): shown for below, shown in verb.examples.items()}
    for name, shown in examples.items():
        for item in shown:
            typed = item.split()[1:]
            verb = tuple(name.split()) if name else tuple(typed[:1])
            assert tuple(typed[: len(verb)]) == verb
            command = PAGES[verb]
            known = {opt for param in command.params for opt in param.opts}
            assert {word for word in typed if word.startswith("-")} <= known, item
    for typed, command in PAGES.items():
        if not hasattr(command, "commands") and typed[0] != "location":
            assert examples.get(" ".join(typed)), f"voronym {' '.join(typed)} -h has no example"
            assert "Example" in voronym(*typed, "-h")[1]


MAKE = ["anonymize", "patients.csv", "-o", "o.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["compare", "patients.csv", "--metod", "mdav"],
            "there is no option --metod; did you mean --method?",
        ),
        (["anonimize"], "Did you mean 'anonymize'?"),
        (["compare"], "See voronym compare -h"),
        (["measure", "--json=yes"], "does not take a value. See voronym -h"),
        (["compare", "patients.csv", "--key", "age,sxe"], "Did you mean 'sex'?"),
        (["compare", "patients.csv", "--key", "age", "--method", "mdva"], "Did you mean 'mdav'?"),
        (
            ["anonymize", "patients.csv", "-o", "o.csv", "--key", "aeg", "--drop-undeclared"],
            "Did you mean 'age'?",
        ),
        (["measure", "patients.csv", "--key", "Age"], "Did you mean 'age'?"),
        (["measure", "patients.csv", "--key", "age", "--model", "t-closenes=0.2"], "'t-closeness'"),
        ([*MAKE, "-k=5"], "error: k must be a whole number, 1 or more, not '=5'"),
        (
            [*MAKE, "--time-limit", "soon"],
            "error: time_limit must be a number of seconds, 0 or more, not 'soon'",
        ),
        ([*MAKE, "--keys", "age"], "error: there is no option --keys. Did you mean --key?\n"),
        ([*MAKE, "--key", "age", "zip"], "several columns are written with commas, --key age,zip"),
        (MAKE, "--identifier or --other"),
    ],
)
def test_what_is_misspelt_is_asked_about(voronym, tmp_path, words, message):
    vr.datasets.hospital(60, seed=4).write_csv(tmp_path / "patients.csv")
    code, out, err = voronym(*words)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("error: ")


def test_repeated_k_is_k_with_commas(voronym, tmp_path):
    vr.datasets.hospital(60, seed=4).write_csv(tmp_path / "patients.csv")
    results = []
    for sizes in (["-k", "5,20"], ["-k", "5", "-k", "20"]):
        _, out, _ = voronym("compare", "patients.csv", "--key", "age", "--method", "mdav", *sizes, "--json")
        results.append([(row["k"], row["loss"]) for row in json.loads(out)["rows"]])
    assert results[0] == results[1]
    assert [k for k, _ in results[0]] == [5, 20]
    assert voronym("compare", "patients.csv", "--key", "age", "-k", "five")[0] == 2


def test_inspect_counts_wraps_and_ends_with_a_command(voronym, tmp_path):
    vr.datasets.hospital(200, seed=4).write_csv(tmp_path / "patients.csv")
    _, out, _ = voronym("inspect", "patients.csv", wide=60)
    assert max(map(len, out.splitlines())) <= 66  # a path may be longer than a line, a table may not
    assert re.search(r"^sex +key +nominal +2 ", out, re.MULTILINE)
    assert "missing" in out
    assert "voronym anonymize patients.csv" in out
    _, out, _ = voronym("inspect", "patients.csv", "--json")
    assert json.loads(out)["distinct"]["sex"] == 2


def test_the_shell_is_told_columns_methods_and_models(tmp_path):
    class Typed:
        params = {"source": tmp_path / "t.csv"}  # noqa: RUF012

    (tmp_path / "t.csv").write_text('age;sex;"zip code"\n1;m;3\n', encoding="utf-8")
    assert heading(tmp_path / "t.csv") == ["age", "sex", "zip code"]
    assert columns(Typed, "a") == ["age"]
    assert columns(Typed, "age,") == ["age,sex", "age,zip code"]
    assert "mdav" in methods("md")
    assert models("t-") == ["t-closeness="]
    (tmp_path / "t.csv").write_bytes(b"\xff\x00PAR1")
    assert columns(Typed, "") == []


@pytest.mark.parametrize(
    ("words", "proposals"), [("voronym meas", ["measure"]), ("voronym methods mda", ["mdav", "mdav-mhm"])]
)
def test_completion_answers_the_shell(words, proposals):
    asked = {"_VORONYM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv[0] = 'voronym'; from voronym.cli import main; main()"
    program = [Path(sys.executable).with_name("voronym")]
    for command in ([sys.executable, "-c", code], program) if "meas" in words else (program,):
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, **asked},
            timeout=240,
            check=False,
        )
        assert process.stdout.split() == proposals, process.stderr


def test_the_doctor_tells_and_tries(voronym, monkeypatch):
    code, out, err = voronym("doctor")
    assert code == 0, err
    for word in ("Versions", "threads", "GPU", "Caches", "Extras", "works:", "numpy"):
        assert word in out
    code, out, _ = voronym("doctor", "--json")
    output = json.loads(out)
    assert output["versions"]["voronym"] == vr.__version__
    assert output["trial"]["works"] is True
    assert set(output["extras"]) >= {"frames", "sql", "gpu"}
    monkeypatch.setattr(vr, "anonymize", lambda *_, **__: 1 / 0)
    code, out, _ = voronym("doctor")
    assert code == 1
    assert "FAILS: ZeroDivisionError" in out
