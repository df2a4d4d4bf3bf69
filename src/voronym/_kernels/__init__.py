"""Numba loops, and nothing else.

Rules of the room: plain scalar loops over float64/int64 C-order arrays, buffers passed in by the caller, no
closures, no global state, no ``fastmath`` and no ``parallel=True``. Kernels release the GIL; threads come
from the caller, over row blocks, so that a result never depends on their number. Each has a NumPy twin in
the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop on its first call, and keep the machine code where there is a place to keep it.

    Numba raises at decoration when the package lies in a folder it cannot write to (a read-only container,
    a zip file); the kernel then compiles once per process, rather than making ``import voronym`` fail.
    """
    try:
        return numba.njit(function, nogil=True, cache=True)  # type: ignore[no-any-return]
    except RuntimeError:
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return]
