"""Seconds of the processor rather than of the wall: what other programs do meanwhile makes no test fail."""

from __future__ import annotations

from collections.abc import Callable
from threading import Timer
from time import perf_counter, process_time

from voronym.core import clock


def spent() -> float:
    """Return the processor's seconds of all threads of this process, but for those spent compiling."""
    return process_time() - (perf_counter() - clock.now())


class After:
    """A wish after some seconds, and the work that was done since."""

    def __init__(self, seconds: float, wish: Callable[[], None]) -> None:
        self._wish, self._asked = wish, 0.0
        self._timer = Timer(seconds, self._ask)
        self._timer.start()

    def _ask(self) -> None:
        self._asked = spent()
        self._wish()

    def work(self) -> float:
        """Return the processor's seconds since the wish, which a busy machine may make later than asked."""
        self._timer.join()
        return spent() - self._asked
