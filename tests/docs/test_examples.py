"""Every example of the README and the documentation runs, and prints what the page says."""

from __future__ import annotations

import doctest
import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from docs.pages import EVERY_OPTION, PAGES, ROOT, Block, Command, blocks, commands, shows
from voronym import datasets
from voronym.cli import main
from voronym.method import METHODS

LANGUAGES = ("python", "pycon", "console")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a working folder with the files that the pages start from."""
    datasets.hospital(1000, seed=0).write_csv(tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))  # a page registers one of its own
    for colour in ("FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS"):
        monkeypatch.delenv(colour, raising=False)
    return tmp_path


LONG = {"location-simulate.md", "survey.md", "command-line.md", "records.md", "suppression.md"}
LONG |= {"from-sdcmicro.md", "quantize.md", "location.md", "monthly.md", "certificates.md"}
"""Pages whose examples take long, if only to compile what nothing else uses."""
RUN = [
    *(
        pytest.param(page, marks=pytest.mark.slow) if page.name in LONG else page
        for page in PAGES
        if blocks(page, *LANGUAGES)
    ),
    pytest.param(EVERY_OPTION, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("page", RUN, ids=name_of)
@pytest.mark.usefixtures("folder")
def test_the_examples_of_a_page_run(page: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page, *LANGUAGES):
        where = f"{name_of(page)}, line {block.line}"
        if block.language == "console":
            for command in commands(block):
                run_command(command, where)
        elif ">>>" in block.body:
            run_session(block, names, where)
        else:
            code = compile("\n" * block.line + block.body, str(page), "exec")
            with redirect_stdout(io.StringIO()):
                exec(code, names)  # noqa: S102 - the examples are our own


def run_command(command: Command, where: str) -> None:
    """Run one command of a page in this process, through the same door as the shell."""
    if command.words[0] != "voronym":
        return
    with pytest.MonkeyPatch.context() as patch:
        if "best possible" in command.shown:  # tests prove as little as they can otherwise
            patch.setattr("voronym.certify.front.BRIEF", 3.0)
        code, printed = call(command.words)
    assert code == command.code, f"{where}: {' '.join(command.words)} ended with {code}:\n{printed}"
    if command.shown:
        assert shows(command.shown, printed), f"{where}: {' '.join(command.words)} printed:\n{printed}"


def call(words: tuple[str, ...]) -> tuple[int, str]:
    """Return the exit code of a command and everything it printed."""
    printed = io.StringIO()
    kept, sys.argv = sys.argv, list(words)
    code: object = 0
    try:
        # The command line shows warnings rather than raising them; the hook it sets is undone here. "always",
        # because a warning that an earlier test has seen would be new to a new process.
        with warnings.catch_warnings(), redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("error", DeprecationWarning)
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = kept
    assert isinstance(code, int)
    return code, printed.getvalue()


def run_session(block: Block, names: dict[str, Any], where: str) -> None:
    """Run a block that shows an interactive session, and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(block.body, names, where, where, block.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    report = io.StringIO()
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, f"{where}:\n{report.getvalue()}"


def test_a_wrong_example_is_noticed(folder: Path) -> None:
    assert [path.name for path in folder.iterdir()] == ["patients.csv"]
    with pytest.raises(AssertionError, match="ended with 2"):
        run_command(
            Command(("voronym", "anonymize", "patients.csv", "-o", "x.csv", "--key", "age"), "", 0), "here"
        )
    with pytest.raises(AssertionError, match="printed"):
        run_command(Command(("voronym", "--version"), "voronym 999", 0), "here")
    with pytest.raises(AssertionError):
        run_session(Block("python", ">>> 1 + 1\n3\n", 1), {}, "here")
