"""A digest of the code behind a result; a kept result whose code has changed is stale."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from voronym.errors import InputError
from voronym_papers.executed import path_of, used

DIGITS = 16
"""Hexadecimal digits kept: enough for all versions of a program."""

COMMIT = "VORONYM_COMMIT"
"""Environment variable that names the commit if the files lie outside their repository."""


def fingerprint(modules: Iterable[str]) -> str:
    """Return a digest of the source of modules and packages, without lines that do not run (`code_lines`).

    Parameters
    ----------
    modules : iterable of str
        Names of modules; a package stands for all its modules, and "package.__init__" for itself alone.

    Returns
    -------
    str
        The digest; the same on every machine and version of Python.

    Examples
    --------
    >>> fingerprint(["voronym_papers.marks"]) == fingerprint(["voronym_papers.marks"])
    True
    """
    return _digest(tuple(sorted(set(modules))))


def made(packages: Iterable[str], called: Iterable[str] = ()) -> dict[str, str]:
    """Return the origin of a result: the version, the commit if known, and the fingerprint.

    ``called``: the modules whose functions the run called (`watched`). With it, ``modules`` and the
    fingerprint cover only the modules that the run depends on; otherwise the whole packages.
    """
    modules = used(called, packages)
    taken = fingerprint(_files(modules)) if modules else fingerprint(packages)
    result = {"version": version_of("voronym"), "fingerprint": taken}
    commit = os.environ.get(COMMIT, "") or _commit()
    return (
        result | ({"commit": commit} if commit else {}) | ({"modules": " ".join(modules)} if modules else {})
    )


def current(made: Mapping[str, str], packages: Iterable[str]) -> bool:
    """Return whether today's code made a result, given the result of `made`."""
    if "fingerprint" not in made:
        return False
    modules = made.get("modules", "").split()
    if any(path_of(name) is None for name in modules):
        return False
    return made["fingerprint"] == fingerprint(_files(modules) if modules else packages)


def _files(modules: Iterable[str]) -> list[str]:
    """Return names of modules; a package becomes its ``__init__`` only."""
    paths = ((name, path_of(name)) for name in modules)
    return [f"{name}.__init__" if path and path.name == "__init__.py" else name for name, path in paths]


def version_of(name: str) -> str:
    """Return the version of a distribution; of voronym even if it is only on the path."""
    try:
        return version(name)
    except PackageNotFoundError:
        spec = find_spec(name)
        for folder in () if spec is None or spec.origin is None else Path(spec.origin).parents:
            if (folder / "pyproject.toml").exists():
                text = (folder / "pyproject.toml").read_text(encoding="utf-8")
                return str(tomllib.loads(text)["project"]["version"])
        raise


@cache
def _digest(modules: tuple[str, ...]) -> str:
    total = hashlib.sha256()
    for module in modules:
        for name, path in _sources(module):
            total.update(f"\0{name}\0".encode())
            total.update(code_lines(path.read_text(encoding="utf-8")).encode())
    return total.hexdigest()[:DIGITS]


@cache  # most results depend on the same files
def code_lines(text: str) -> str:
    r"""Return a source text without docstrings, error messages, comment lines, blank lines and end spaces.

    The message of an error that is raised cannot change a result, because a run that raises it keeps none.

    Examples
    --------
    >>> code_lines("'What.'\n# why\nx = 1  \n\nraise ValueError('no')")
    'x = 1\nraise ValueError(...)'
    """
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                _cut(lines, node.value, "")
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            _cut(lines, node.exc, "(...)", node.exc.func)
    return "\n".join(line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _cut(lines: list[str], node: ast.expr, instead: str, after: ast.expr | None = None) -> None:
    """Replace an expression, or the text after a part of it, in the lines of its source.

    The number of lines stays: lines that only the expression filled become empty. Positions are in bytes.
    """
    first, start = (node.lineno, node.col_offset) if after is None else _end(after)
    last, end = _end(node)
    head = lines[first - 1].encode()[:start].decode()
    tail = lines[last - 1].encode()[end:].decode()
    lines[first - 1 : last] = [head + instead + tail] + [""] * (last - first)


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _sources(module: str) -> Iterator[tuple[str, Path]]:
    """Yield the source files of a module or package, by names that do not depend on the machine."""
    if module.endswith(".__init__") and (alone := path_of(module.removesuffix(".__init__"))):
        yield module, alone
        return
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"there is no module {module!r} to take a fingerprint of")
    if spec.submodule_search_locations is None:
        yield module, Path(spec.origin)
        return
    root = Path(spec.origin).parent
    for path in sorted(root.rglob("*.py"), key=lambda item: item.relative_to(root).as_posix()):
        yield f"{module}/{path.relative_to(root).as_posix()}", path


@cache
def _commit() -> str:
    """Return the commit of this file's checkout, with "+" if files were changed; "" without a commit."""
    here = Path(__file__).parent
    try:
        answer = subprocess.run(  # noqa: S603
            ["git", "-C", str(here), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"],  # noqa: S607
            capture_output=True, text=True, check=True, timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
