"""Import slow libraries on first use.

Write ``cKDTree = called("scipy.spatial", "cKDTree")`` and ``linalg = module("scipy.linalg")`` instead of
imports. So `import voronym` and a small release load none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def called(name: str, what: str) -> Callable[..., Any]:
    """Return a function that calls a function or class of a module; the first call loads the module.

    Examples
    --------
    >>> called("math", "sqrt")(9.0)
    3.0
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(name), what)(*args, **options)

    return call


class Later:
    """A module that is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        return getattr(import_module(self._name), what)


def module(name: str) -> Any:
    """Return a module that is imported on first use.

    Examples
    --------
    >>> module("math").pi > 3
    True
    """
    return Later(name)
