"""What can be called, typed or chosen is in the documentation, and the decisions are short."""

from __future__ import annotations

import re
import shlex
import sys

import pytest
import typer.main

import voronym
from docs.pages import DOCS, EVERY_OPTION, PAGES, ROOT
from voronym.cli import app
from voronym.cli.chosen import options_of
from voronym.cli.files import READING
from voronym.method import METHODS

sys.path.insert(0, str(DOCS / "_ext"))
import pictures

CLI = typer.main.get_command(app)
VERBS = sorted(CLI.commands)
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))


def section(verb: str) -> str:
    """Return the part of the command-line page under the verb's heading."""
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    match = re.search(rf"^## `voronym {verb}`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"docs/command-line.md has no section about voronym {verb}"
    return match[1]


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_documented(verb: str) -> None:
    """The tables are made from the command line when the pages are built; none may be forgotten."""
    assert re.findall(r"^```\{options-of\} (.*)$", section(verb), re.MULTILINE) == [verb]


def test_every_option_has_a_help_text() -> None:
    for verb, command in CLI.commands.items():
        for part in (command, *getattr(command, "commands", {}).values()):
            for parameter in part.params:
                if parameter.param_type_name == "option" and not parameter.hidden:
                    assert parameter.help, f"voronym {verb} {parameter.opts[0]}"


def examples() -> dict[str, set[str]]:
    """Return the options that commands on any page, or in the list of every option, use, by verb."""
    used: dict[str, set[str]] = {}
    for page in (*PAGES, EVERY_OPTION):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\S* ?.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = line.strip().removeprefix("$ ")
                if words.startswith("voronym "):
                    _, verb, *rest = shlex.split(words, comments=True)
                    used.setdefault(verb, set()).update(w.partition("=")[0] for w in rest if w[0:1] == "-")
    return used


def test_every_option_of_a_verb_has_an_example() -> None:
    used = examples()
    anywhere = set().union(*used.values())
    shared = {"--" + name.replace("_", "-") for name in READING}
    shared |= {name.replace("--", f"--{what}-", 1) for name in shared for what in ("original", "places")}
    lacking = []
    for verb, command in CLI.commands.items():
        for part in (command, *getattr(command, "commands", {}).values()):
            for param in part.params:
                names = {*param.opts, *param.secondary_opts} if param.param_type_name == "option" else set()
                known = anywhere if names & shared else used.get(verb, set())
                if names and not names & known:
                    lacking.append(f"voronym {verb} {param.opts[0]}")
    assert not lacking, "use these in a command of tests/docs/every_option.md"


def test_there_are_no_sections_about_verbs_that_are_not_there() -> None:
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## `voronym (\S+)`$", text, re.MULTILINE)) == VERBS


def test_the_options_of_the_program_itself_are_documented() -> None:
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for option in (opt for parameter in CLI.params for opt in parameter.opts):
        assert f"`{option}`" in text


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_does_and_what_its_options_mean(name: str) -> None:
    """The tables of methods are made from the registry, so a gap in it would be a gap in them."""
    method, texts = METHODS[name], METHODS[name].options.texts()
    assert method.summary
    assert method.guarantee
    assert method.cost
    assert not [option for option in options_of(name) if not texts.get(option)]


def test_the_page_of_methods_has_both_tables() -> None:
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{methods-table\} ?(.*)$", text, re.MULTILINE) == ["", "tables"]


@pytest.mark.parametrize("name", voronym.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    pages = (DOCS / "reference").glob("python-*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert re.search(rf"^\.\. auto(function|class|exception|module):: voronym\.{name}$", text, re.MULTILINE)


def test_decisions_are_few_pages_by_theme() -> None:
    assert len(DECISIONS) <= 21  # twenty, and their index
    for page in DECISIONS:
        assert page.read_text(encoding="utf-8").startswith("# "), page.name


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_the_readme_names_the_two_commands_and_its_picture_is_current() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    assert "docs/_static/readme.svg" in text
    drawn = pictures.README.read_text(encoding="utf-8")
    assert drawn == pictures.readme(), "docs/_static/readme.svg is stale: make pictures"
    assert text == pictures.with_rows(text), "the table of the README is stale: make pictures"
    assert pictures.README.stat().st_size < 30_000
    screen = text[: text.index("## ")]
    assert screen.count("→") == 4  # four rows, one picture and one command come first
    assert screen.count("![") == 1
    assert screen.count("$ voronym") == 1


def test_the_changelog_has_this_version() -> None:
    assert f"## [{voronym.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
