"""Every command in the documentation has verbs and options that exist, whether or not it is run."""

from __future__ import annotations

import re
import shlex
from functools import cache

import pytest
import typer.main

from docs.pages import EVERY_OPTION, PAGES, ROOT, blocks
from voronym.cli import app
from voronym.cli.chosen import options_of
from voronym.method import METHODS

OF_METHODS = {"--" + option.replace("_", "-") for name in METHODS for option in options_of(name)}
SHELL = ("bash", "sh", "shell", "console", "text", "")


@cache
def verbs() -> dict[str, set[str]]:
    """Return the options of every verb."""
    group = typer.main.get_command(app)
    out: dict[str, set[str]] = {}

    def walk(command, path):
        known = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
        out[" ".join(path)] = known | {"--help", "-h"}
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name))

    walk(group, ())
    return out


def commands(page):
    """Return the lines of a page that call voronym, with lines that go on joined."""
    for block in blocks(page, *SHELL):
        for line in block.body.replace("\\\n", " ").split("\n"):
            bare = re.sub(r"^\s*(\$ )?", "", line)
            if bare.startswith("voronym ") and "…" not in bare:
                yield block.line, bare


def strange(line: str) -> list[str]:
    """Return the options of a command that its verb does not have."""
    try:
        words = shlex.split(line, comments=True)[1:]
    except ValueError:
        return []
    words = words[: next((i for i, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))]
    path: tuple[str, ...] = ()
    while words and " ".join((*path, words[0])) in verbs():
        path, words = (*path, words[0]), words[1:]
    known = verbs()[" ".join(path)] | (OF_METHODS if path in (("anonymize",), ("compare",)) else set())
    flags = [word.split("=", 1)[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    return [flag for flag in flags if flag not in known and flag[:2] not in known]


ALL = [
    page for page in (*PAGES, EVERY_OPTION) if page.name != "plugins.md"
]  # which has options of a method that it installs


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_of_the_documentation_exist(page):
    results = {f"{page.name}:{line}: {call}": bad for line, call in commands(page) if (bad := strange(call))}
    assert not results


def test_the_checker_finds_what_does_not_exist():
    assert strange("voronym anonymize big.parquet --keys age --k 10 --out x.parquet") == [
        "--keys",
        "--k",
        "--out",
    ]
