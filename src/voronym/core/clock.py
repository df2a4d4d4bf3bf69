"""The clock of all deadlines; it pauses while kernels are compiled.

Kernels without shipped machine code take up to 10 s to compile, once. A time limit is meant for the table, so
compile time counts neither in limits nor in figures.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

__all__ = ["compiling", "now", "on_compiling"]


class _Compiling:
    """Adds up the time of compilations, counted from the outermost begin to its end."""

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
        """Start the clock again."""
        self._depth -= 1
        if self._depth == 0:
            self._seconds += perf_counter() - self._since
            if self.tell is not None:
                self.tell(False)

    def spent(self, at: float) -> float:
        """Return the seconds spent compiling until a moment."""
        return self._seconds + (at - self._since if self._depth else 0.0)


compiling = _Compiling()
"""The listeners of `voronym._kernels` for the beginning and end of compilations."""


def now() -> float:
    """Return seconds from any origin, without the time spent compiling."""
    at = perf_counter()
    return at - compiling.spent(at)


def on_compiling(tell: Callable[[bool], None] | None) -> None:
    """Call a function with True when compiling begins and with False when it ends; None removes it."""
    compiling.tell = tell
