"""The clock of all deadlines: it stands still while kernels are compiled.

The first run on a machine compiles its kernels, which takes as long as ten seconds and has nothing to do with
the table. A time limit is about the table: so that time is not counted, neither in limits nor in figures.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from numba.core import event

__all__ = ["now", "on_compiling"]


class _Compiling(event.Listener):  # type: ignore[misc]
    """Adds up the time between the outermost beginning and end of a compilation; one goes on at a time."""

    def __init__(self) -> None:
        self._seconds, self._since, self._depth = 0.0, 0.0, 0
        self.tell: Callable[[bool], None] | None = None

    def on_start(self, _: Any) -> None:
        """Stop the clock."""
        if self._depth == 0:
            self._since = perf_counter()
        self._depth += 1
        if self._depth == 1 and self.tell is not None:
            self.tell(True)

    def on_end(self, _: Any) -> None:
        """Let it go on."""
        self._depth -= 1
        if self._depth == 0:
            self._seconds += perf_counter() - self._since
            if self.tell is not None:
                self.tell(False)

    def spent(self, at: float) -> float:
        """Return the seconds spent compiling until a moment."""
        return self._seconds + (at - self._since if self._depth else 0.0)


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def now() -> float:
    """Return seconds, from any origin, without those in which kernels were compiled."""
    at = perf_counter()
    return at - _compiling.spent(at)


def on_compiling(tell: Callable[[bool], None] | None) -> None:
    """Have a function called with True when compiling begins and with False when it ends; None ends that."""
    _compiling.tell = tell
