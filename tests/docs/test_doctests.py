"""The examples in the docstrings of every module run."""

from __future__ import annotations

import doctest
import importlib
import io
import linecache
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import voronym
import voronym_location
import voronym_papers
import voronym_papers._public

PACKAGES = [Path(str(package.__file__)).parent for package in (voronym, voronym_location, voronym_papers)]


def module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {  # migrations are scripts that Alembic runs
    module_name(package, path): path
    for package in PACKAGES
    for path in sorted(package.rglob("*.py"))
    if "migrations" not in path.parts
}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_docstring_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Before each docstring the debugger asks of every file of the process whether it has changed.
    monkeypatch.setattr(linecache, "checkcache", lambda *_: None)
    module = importlib.import_module(name)
    if ">>>" not in MODULES[name].read_text(encoding="utf-8"):  # looking for examples takes longer than most
        return
    report = io.StringIO()
    with redirect_stdout(report):
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0, report.getvalue()


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = sum(
        len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name))
    )
    assert examples > 40
