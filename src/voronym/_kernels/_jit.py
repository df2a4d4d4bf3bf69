"""Everything that needs Numba; loaded when a loop without shipped machine code is called."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types
from numba.core.caching import FunctionCache
from numba.core.typing.templates import AbstractTemplate, infer_global

from voronym.core.clock import compiling

ROOM = __name__.rpartition(".")[0]


class _Listener(event.Listener):  # type: ignore[misc]
    """Stops the clock of all deadlines while Numba compiles."""

    def on_start(self, _: Any) -> None:
        compiling.on_start()

    def on_end(self, _: Any) -> None:
        compiling.on_end()


event.register("numba:compile", _Listener())


def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and times of the kernels' sources: a stamp that changes with any of them."""
    with contextlib.suppress(OSError):
        files = [Path(__file__), *sorted(Path(__file__).parent.glob("[!_]*.py"))]
        return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return ()


_STAMP = _stamp()

OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
"""Kernels own no memory, so references are not counted: counting them for each array of a tuple took twenty
times as long as the work in the innermost functions. Nothing calls kernels from C, and an entry point for C
would take a tenth of the compile time."""


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, for the models of this folder only.

    Numba asks only whether the kernel's own file is unchanged; kernels call each other across files, so the
    stamp here is that of the whole folder. A model from elsewhere is compiled in each process: its source has
    no part in the stamp, and a later reader of the cache may not be able to import it.
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
    return all(kind is None or kind.__module__.startswith(ROOM + ".") for kind in kinds)


def compiled(function: Callable[..., Any], options: dict[str, Any], *, kept: bool) -> Any:
    """Return Numba's dispatcher of a loop; ``kept`` is whether machine code is written to disk.

    Numba raises when the package lies in a folder it cannot write to (a read-only container, a zip file); the
    kernel then compiles once per process.
    """
    dispatcher: Any = numba.njit(function, **options)
    if kept:
        with contextlib.suppress(RuntimeError):
            dispatcher._cache = _Cache(function)
    return dispatcher


def kind_of(dispatcher: Any) -> Any:
    """Return Numba's type of a loop that another loop calls."""
    return types.Dispatcher(dispatcher)


def register(default: Any) -> None:
    """Register an operation with Numba; the model's class selects the implementation."""
    chosen: dict[Any, Any] = {}

    class Way(AbstractTemplate):  # type: ignore[misc]
        key = default

        def generic(self, args: Any, kws: Any) -> Any:
            loop = default.ways.get(getattr(args[0], "instance_class", None), default.fallback)
            way = types.Dispatcher(loop.dispatcher)
            signature = way.get_call_type(self.context, args, kws)
            chosen[signature.args] = way.get_overload(signature)
            return signature

        def get_impl_key(self, sig: Any) -> Any:
            return chosen[sig.args]

    infer_global(default, types.Function(Way))
