"""Numba loops, and nothing else.

Rules of the room: plain scalar loops over float64/int64 C-order arrays, buffers passed in by the caller, no
closures, no global state, no ``fastmath`` and no ``parallel=True``. Kernels release the GIL; threads come
from the caller, over row blocks, so that a result never depends on their number. Each has a NumPy twin in
the tests.

`cells` has the one state that searches change: who is in which cell. A separate *cost model* knows the cost
of a cell, a named tuple of arrays (`squares`, `levels`); `operation` and `implement` let one loop serve all
of them, at no cost at run time.

The machine code of what everyday commands call comes with an installed package (`_native`, `_build`); Numba
is imported, and compiles, for the rest (`_jit`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from voronym.core.clock import compiling

_lock = threading.RLock()
_operations: list[Any] = []
"""Operations that are not registered with Numba yet."""


def _with_numba() -> Any:
    """Load Numba and register every operation; deadlines do not count this time."""
    with _lock:
        compiling.on_start()
        try:
            jit = import_module("._jit", __name__)
            while _operations:
                jit.register(_operations.pop())
        finally:
            compiling.on_end()
        return jit


class Loop:
    """A loop that runs as shipped machine code, or is compiled on its first call.

    To Numba it is the dispatcher that it would have made; everything else is asked of that, too.
    """

    def __init__(self, function: Callable[..., Any], *, called: bool, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._called, self._options = called, options
        self._dispatcher: Any = None
        self._codes: Any = None

    @property
    def dispatcher(self) -> Any:
        """Numba's own object."""
        if self._dispatcher is None:
            with _lock:
                jit = _with_numba()
                if self._dispatcher is None:
                    options = (
                        {**jit.OPTIONS, **self._options} if "inline" not in self._options else self._options
                    )
                    self._dispatcher = jit.compiled(self.py_func, options, kept=self._called)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        return _with_numba().kind_of(self.dispatcher)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __call__(self, *args: Any) -> Any:
        codes = self._codes
        if codes is None:
            codes = self._codes = import_module("._native", __name__).codes(self.py_func)
        return codes(self, args)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function into a loop that Python can call; cache its machine code if possible."""
    return Loop(function, called=True)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Paste a loop into the kernels that call it.

    For inner loops that take tuples of arrays: a call would copy the tuples and count their references.
    """
    return Loop(function, called=False, inline="always")


def inner(function: Callable[..., Any], *, inline: bool = False) -> Callable[..., Any]:
    """Compile a function for kernels only; skipping Python's entry point saves compile time.

    With ``inline`` it becomes a part of every caller: for inner loops, as a call that is not inlined copies
    the tuple of many arrays that a model is.
    """
    return Loop(function, called=False, forceinline=inline, no_cpython_wrapper=True)


def operation(default: Callable[..., Any] | None = None, *, inline: bool = False) -> Callable[..., Any]:
    """Declare an operation on a model, its first argument; each kind of model has its own implementation.

    Which way is chosen by the model's class when a kernel is compiled. The decorated function is the default,
    for models that have no way of their own (see `implement`); ``inline`` is for all of them. It does what
    `numba.extending.overload` does, but compiles each way once, and not once for each kind of caller.
    """
    if default is None:
        return functools.partial(operation, inline=inline)
    default.ways, default.inline = {}, inline  # type: ignore[attr-defined]
    default.fallback = inner(default, inline=inline)  # type: ignore[attr-defined]
    with _lock:
        _operations.append(default)
    return default


def implement(what: Any, model: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the implementation of an operation for one kind of model."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        what.ways[model] = inner(function, inline=what.inline)
        return function

    return register
