"""Numba loops, and nothing else.

Rules of the room: plain scalar loops over float64/int64 C-order arrays, buffers passed in by the caller, no
closures, no global state, no ``fastmath`` and no ``parallel=True``. Kernels release the GIL; threads come
from the caller, over row blocks, so that a result never depends on their number. Each has a NumPy twin in
the tests.

`cells` has the one state that searches change: who is in which cell. What a cell costs is known to a *cost
model* beside it, a named tuple of arrays (`squares`, `levels`); `operation` and `implement` let one loop
serve all of them, at no cost at run time.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.typing.templates import AbstractTemplate, infer_global


def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Return what changes when any kernel's source does."""
    with contextlib.suppress(OSError):
        files = sorted(Path(__file__).parent.glob("*.py"))
        return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return ()


_STAMP = _stamp()

_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
"""Kernels own no memory, so nothing is to be counted: counting the references to each array of a tuple took
twenty times as long as the work in the innermost functions. Nobody calls them from C: a way in from there
would be a tenth of the time that compiling takes."""


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, for the models of this folder only.

    Numba asks only whether the kernel's own file is unchanged; kernels call each other across files, so the
    stamp here is that of the whole folder. A model from elsewhere is compiled in each process: its source has
    no part in the stamp, and whoever reads the cache later may not be able to import it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = (self._cache_file._source_stamp, _STAMP)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not _own(sig):
            return None
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            # Numba reads the file before it compares stamps: another version wrote names that are gone.
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if _own(sig):
            super().save_overload(sig, data)


def _own(signature: Any) -> bool:
    """Whether all named tuples among the arguments belong to this folder."""
    kinds = (getattr(item, "instance_class", None) for item in getattr(signature, "args", signature))
    return all(kind is None or kind.__module__.startswith(__name__ + ".") for kind in kinds)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop on its first call, and keep the machine code where there is a place to keep it.

    Numba raises when the package lies in a folder it cannot write to (a read-only container, a zip file); the
    kernel then compiles once per process, rather than making ``import voronym`` fail.
    """
    compiled: Any = numba.njit(function, **_OPTIONS)
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    return compiled  # type: ignore[no-any-return]


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Paste a loop into the kernels that call it.

    For inner loops that take tuples of arrays: a call would copy the tuples and count their references.
    """
    return numba.njit(function, inline="always")  # type: ignore[no-any-return]


def inner(function: Callable[..., Any], *, inline: bool = False) -> Callable[..., Any]:
    """Compile a function that only kernels call: without the way in from Python, which takes long to make.

    With ``inline`` it becomes a part of every caller: for inner loops, as a call that is not inlined copies
    the tuple of many arrays that a model is.
    """
    return numba.njit(  # type: ignore[no-any-return]
        function, forceinline=inline, no_cpython_wrapper=True, **_OPTIONS
    )


def operation(default: Callable[..., Any] | None = None, *, inline: bool = False) -> Callable[..., Any]:
    """Make a function of a model, its first argument, one that every kind of model may do in its own way.

    Which way is chosen by the model's class when a kernel is compiled. The decorated function is the default,
    for models that have no way of their own (see `implement`); ``inline`` is for all of them. It does what
    `numba.extending.overload` does, but compiles each way once, and not once for each kind of caller.
    """
    if default is None:
        return functools.partial(operation, inline=inline)
    ways: dict[Any, Any] = {}
    compiled: dict[Any, Any] = {}
    fallback = inner(default, inline=inline)

    class Way(AbstractTemplate):  # type: ignore[misc]
        key = default

        def generic(self, args: Any, kws: Any) -> Any:
            way = types.Dispatcher(ways.get(getattr(args[0], "instance_class", None), fallback))
            signature = way.get_call_type(self.context, args, kws)
            compiled[signature.args] = way.get_overload(signature)
            return signature

        def get_impl_key(self, sig: Any) -> Any:
            return compiled[sig.args]

    infer_global(default, types.Function(Way))
    default.ways, default.inline = ways, inline  # type: ignore[attr-defined]
    return default


def implement(what: Any, model: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how a kind of model does an operation."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        what.ways[model] = inner(function, inline=what.inline)
        return function

    return register
