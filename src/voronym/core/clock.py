"""The clock of all deadlines: it stands still while kernels are compiled.

Kernels that did not come compiled take as long as ten seconds to compile, once, which has nothing to do with
the table. A time limit is about the table: so that time is not counted, neither in limits nor in figures.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

__all__ = ["compiling", "now", "on_compiling"]


class _Compiling:
    """Adds up the time between the outermost beginning and end of a compilation; one goes on at a time."""

    def __init__(self) -> None:
        self._seconds, self._since, self._depth = 0.0, 0.0, 0
        self.tell: Callable[[bool], None] | None = None

    def on_start(self, _: Any = None) -> None:
        """Stop the clock."""
        if self._depth == 0:
            self._since = perf_counter()
        self._depth += 1
        if self._depth == 1 and self.tell is not None:
            self.tell(True)

    def on_end(self, _: Any = None) -> None:
        """Let it go on."""
        self._depth -= 1
        if self._depth == 0:
            self._seconds += perf_counter() - self._since
            if self.tell is not None:
                self.tell(False)

    def spent(self, at: float) -> float:
        """Return the seconds spent compiling until a moment."""
        return self._seconds + (at - self._since if self._depth else 0.0)


compiling = _Compiling()
"""What is told about the beginning and the end of compilations, by `voronym._kernels`."""


def now() -> float:
    """Return seconds, from any origin, without those in which kernels were compiled."""
    at = perf_counter()
    return at - compiling.spent(at)


def on_compiling(tell: Callable[[bool], None] | None) -> None:
    """Have a function called with True when compiling begins and with False when it ends; None ends that."""
    compiling.tell = tell
