"""Import slow libraries on first use.

Write ``cKDTree = called("scipy.spatial", "cKDTree")`` and ``linalg = module("scipy.linalg")`` instead of
imports. So `import voronym` and a small release load none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import Thread
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


def ahead(name: str) -> Thread:
    """Import a module in the background, while kernels and solvers work; if it is lacking, do nothing.

    Examples
    --------
    >>> ahead("math").join()
    """

    def load() -> None:
        with suppress(ImportError):
            import_module(name)

    thread = Thread(target=load, name=f"importing {name}", daemon=True)
    thread.start()
    return thread
