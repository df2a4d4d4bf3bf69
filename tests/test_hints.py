"""Errors carry hints, and each surface words them from the one declaration."""

from __future__ import annotations

import ast
import pickle
import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import voronym as vr
from sources import nodes
from voronym.errors import Hint, InputError, SchemaError, hint, hints_in, speaking, worded
from voronym.request.wording import DECLARED, ELSEWHERE, READING

ROOT = Path(vr.__file__).parent
FLAG = re.compile(r"(?<![\w'\"-])--[a-z][a-z-]+|in Python\)")
SPEAK_FLAGS = ("cli/", "request/choices.py", "request/checks.py", "_kernels/warm.py")
"""Who writes commands: the command line, the declarations, and the warming up that runs commands."""
COMMANDS = {
    "history/notes.py": 1,
    "history/refusal.py": 1,
    "report/sections/closing.py": 1,
    "report/sections/known.py": 1,
    "web/looks.py": 1,
}
"""Whole commands of another verb, or of a recipe, that are proposed as they stand."""


@cache
def sentences() -> dict[str, list[ast.Constant]]:
    """Return the texts of every module that are no docstrings."""
    return {
        path: [node for node in texts if id(node) not in alone]
        for path, (texts, alone, _) in syntax().items()
    }


@cache
def syntax() -> dict[str, tuple[list[ast.Constant], set[int], list[ast.Call]]]:
    """Return of every module its texts, the numbers of those that stand alone, and its hints."""
    made: dict[str, tuple[list[ast.Constant], set[int], list[ast.Call]]] = {}
    for path in ROOT.rglob("*.py"):
        texts, alone, hints = made[path.relative_to(ROOT).as_posix()] = ([], set(), [])
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                alone.add(id(node.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hint":
                hints.append(node)
    return made


def test_nothing_below_the_command_line_names_a_flag() -> None:
    results: dict[str, int] = {}
    for room, texts in sentences().items():
        named = [node for node in texts if FLAG.search(node.value)]
        if named and not room.startswith(SPEAK_FLAGS):
            results[room] = len(named)
    assert results == COMMANDS


def test_hints_name_choices_that_there_are() -> None:
    known = {*DECLARED, *READING, *ELSEWHERE}
    first = [node.args[0] for _, _, hints in syntax().values() for node in hints]
    named = {node.value for node in first if isinstance(node, ast.Constant)}
    assert len(named) > 40
    assert named <= known
    assert set(ELSEWHERE) - {"report"} <= named, "an argument that no hint names"


def test_flags_of_hints_are_flags_of_the_command_line() -> None:
    from typer.main import get_command

    from voronym.cli import app

    verbs = get_command(app).commands  # type: ignore[attr-defined]
    flags = {
        name
        for verb in verbs.values()
        for option in verb.params
        for name in (*option.opts, *option.secondary_opts)
    }
    options = {"grouping", "despite_loss", "max_risk"}  # of methods, which take any flag
    for name in {*DECLARED, *READING, *ELSEWHERE} - options:
        assert worded(hint(name), "command") in flags, name


ODD = "a (b), =c"


@pytest.mark.parametrize(
    ("choice", "value", "command", "python", "page"),
    [
        ("allow_loss", ["income"], "--allow-loss income", "allow_loss=['income']",
         "check “it may lose nearly all its detail”"),
        ("allow_loss", [ODD], f"--allow-loss '{ODD}'", f"allow_loss=[{ODD!r}]",
         "check “it may lose nearly all its detail”"),
        ("kinds", {"zip": "nominal"}, "--kind zip=nominal", "kinds={'zip': 'nominal'}", "the kind nominal"),
        ("intruder", "keys", "--intruder keys", "intruder='keys'", "the intruder who knows the keys"),
        ("keep_groups", None, "--keep-groups", "keep_groups", "--keep-groups of voronym anonymize"),
        ("steps", "round age=10", "--step 'round age=10'", "steps=['round age=10']",
         "“Steps, one a line” round age=10"),
        ("no_header", None, "--no-header", "header=False", "“First line: is a record”"),
        ("header", None, "--header", "header=True", "“First line: holds the names”"),
        ("missing", "-9,-8", "--missing -9,-8", "missing='-9,-8'", "“Codes that mean ‘no value’” -9,-8"),
        ("person", "patient", "--person patient", "person='patient'", "“Rows of one person share” patient"),
        ("blocks", ["a: mdav", "b: auto"], "--part 'a: mdav' --part 'b: auto'",
         "blocks=['a: mdav', 'b: auto']", "--part 'a: mdav' --part 'b: auto' of voronym anonymize"),
    ],
)  # fmt: skip
def test_each_surface_has_its_words(choice, value, command, python, page) -> None:
    sentence = f"say {hint(choice, value)}."
    assert worded(sentence, "command") == f"say {command}."
    assert worded(sentence, "python") == worded(sentence) == f"say {python}."
    assert worded(sentence, "page") == f"say {page}."
    assert hints_in(sentence) == (Hint(choice, value),)


def test_an_error_carries_its_hints_through_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError(f"allow it: {hint('allow_loss', ['pay'])}")))  # noqa: S301
    assert error.hints == (Hint("allow_loss", ["pay"]),)
    assert str(error) == "allow it: allow_loss=['pay']"
    with speaking("command"):
        assert str(error) == "allow it: --allow-loss pay"
    assert error.worded("page") == "allow it: check “it may lose nearly all its detail”"


def test_a_refusal_says_what_would_help_and_it_does() -> None:
    table = pl.DataFrame({"code": [f"x{i}" for i in range(40)], "age": [20 + i % 9 for i in range(40)]})
    with pytest.raises(SchemaError) as refused:
        vr.anonymize(table, keys=["code", "age"], k=4)
    helps = {item.choice: item.value for item in refused.value.hints}
    assert helps["allow_near_unique"] == ["code"]
    assert "\ue000" not in str(refused.value)
    vr.anonymize(table, keys=["age"], identifiers=helps["identifiers"], k=4)


def test_values_with_marks_of_their_own_change_nothing() -> None:
    odd = "\ue000keys=1\ue001"
    assert worded(f"{hint('person', odd)}") == f"person={odd!r}"


def test_no_hint_is_written_out_instead_of_made() -> None:
    """A text without its f in front would show the call."""
    plain = [
        (room, node.lineno) for room, texts in sentences().items() for node in texts if "{hint(" in node.value
    ]
    assert not plain
