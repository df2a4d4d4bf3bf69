"""The examples in the docstrings of every module run."""

from __future__ import annotations

import doctest
import importlib
import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import voronym

SOURCE = Path(voronym.__file__).parent


def module_name(path: Path) -> str:
    parts = ("voronym", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(  # migrations are scripts that Alembic runs
    module_name(path) for path in SOURCE.rglob("*.py") if "migrations" not in path.parts
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    report = io.StringIO()
    with redirect_stdout(report):
        found = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0, report.getvalue()


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = sum(
        len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name))
    )
    assert examples > 40
