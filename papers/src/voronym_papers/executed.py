"""The modules that a run executes; a change of any other module leaves its result valid.

Python sees function calls, but neither loops in machine code nor constants. So it counts the modules whose
functions were called, the modules that these import, and everything that imported loops import.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

ROOTS = ("voronym", "voronym_papers")
LOOPS = ("voronym._kernels", "voronym_papers.solvers.kernels")
"""Modules that make machine code from Python: their calls are not seen."""


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collect the names of modules whose functions are called, in this thread and in threads started here.

    The set stays empty if this cannot be known: with another tracer, or in another process.
    """
    names: set[str] = set()
    if sys.gettrace() is not None:
        yield names
        return

    def call(frame: FrameType, *_: object) -> None:
        if frame.f_code.co_flags & CO_OPTIMIZED:  # a function: not the body of a module that is imported
            names.add(frame.f_globals.get("__name__", ""))

    children = os.times().children_user
    threading.settrace(call)
    sys.settrace(call)
    try:
        yield names
    finally:
        sys.settrace(None)
        threading.settrace(None)
    if os.times().children_user > children:
        names.clear()


def used(called: Iterable[str], within: Iterable[str]) -> list[str]:
    """Return the modules that a result depends on, restricted to ``within`` (modules and packages).

    Parameters
    ----------
    called : iterable of str
        Modules whose functions were called.
    within : iterable of str
        Modules and packages that count.

    Examples
    --------
    >>> used(["voronym_papers.marks"], ["voronym_papers"])
    ['voronym_papers.marks']
    """
    near = {name for name in called if name.split(".")[0] in ROOTS and path_of(name)}
    waiting = list(near)
    while waiting:
        name = waiting.pop()
        new = imports(name) - near
        near |= new
        waiting += [other for other in new if inside(other, LOOPS)]
    return sorted(name for name in near if inside(name, tuple(within)))


def inside(name: str, packages: Iterable[str]) -> bool:
    """Return whether a module is in the list, or in a listed package."""
    return any(name == other or name.startswith(f"{other}.") for other in packages)


def path_of(name: str) -> Path | None:
    """Return the file of a module, the ``__init__`` of a package; None without one."""
    root, *rest = name.split(".")
    spec = find_spec(root)
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin).parent.joinpath(*rest)
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.exists():
            return path
    return None


@cache
def imports(name: str) -> set[str]:
    """Return the modules that a module imports; names that a package re-exports lead further."""
    result: set[str] = set()
    for module, own in _statements(name):
        if path_of(f"{module}.{own}") is not None:
            result.add(f"{module}.{own}")
        elif path_of(module) is not None:
            result.add(module)
            path = path_of(module)
            if module != name and path is not None and path.name == "__init__.py":
                result |= {other for other, passed in _statements(module) if passed == own and path_of(other)}
    return result


@cache
def _statements(name: str) -> list[tuple[str, str]]:
    """Return (module, name) of every import of our own code in a module's source."""
    path = path_of(name)
    tree = ast.parse(path.read_text(encoding="utf-8")) if path is not None else ast.Module([], [])
    result = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOTS:
            result += [(str(node.module), alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            result += [(alias.name, "") for alias in node.names if alias.name.split(".")[0] in ROOTS]
    return result
