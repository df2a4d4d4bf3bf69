"""Numba loops, and nothing else.

Rules of the room: plain scalar loops over float64/int64 C-order arrays, buffers passed in by the caller, no
closures, no global state, no ``fastmath`` and no ``parallel=True``. Kernels release the GIL; threads come
from the caller, over row blocks, so that a result never depends on their number. Each has a NumPy twin in
the tests.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Return what changes when any kernel's source does."""
    with contextlib.suppress(OSError):
        files = sorted(Path(__file__).parent.glob("*.py"))
        return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return ()


_STAMP = _stamp()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop on its first call, and keep the machine code where there is a place to keep it.

    Numba raises at decoration when the package lies in a folder it cannot write to (a read-only container,
    a zip file); the kernel then compiles once per process, rather than making ``import voronym`` fail.

    Numba asks of its cache only whether the kernel's own file is unchanged; kernels call each other across
    files, so the stamp here is that of the whole folder.
    """
    try:
        compiled: Any = numba.njit(function, nogil=True, cache=True)
    except RuntimeError:
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return]
    stored = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(stored, "_source_stamp"):
        stored._source_stamp = (stored._source_stamp, _STAMP)
    return compiled  # type: ignore[no-any-return]


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Paste a loop into the kernels that call it.

    For inner loops that take tuples of arrays: a call would copy the tuples and count their references.
    """
    return numba.njit(function, inline="always")  # type: ignore[no-any-return]
