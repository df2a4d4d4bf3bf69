"""Progress reports, and requests to finish early or to cancel: see `voronym.core.context`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, local

__all__ = ["FinishEarly", "Progress", "ProgressCallback"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a piece of work.

    Parameters
    ----------
    stage : str
        The current work, in words for a reader ("grouping", "proving", "writing").
    done : float
        Share of the whole work that is done, from 0 to 1; it never decreases.
    loss : float, optional
        Information loss so far, in percent, if the method knows it.
    bound : float, optional
        Proven lower bound on the information loss, in percent, if there is one yet.
    """

    stage: str
    done: float
    loss: float | None = None
    bound: float | None = None


ProgressCallback = Callable[[Progress], None]
"""A function that is called with a `Progress` now and then."""


class FinishEarly(Exception):  # noqa: N818 - control flow, not a failure
    """Raised by a progress callback to finish with the best result so far."""


class Whole:
    """The state that all parts of a context share: callback, requests, and the last display."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self.progress = progress
        self.finish, self.cancel = Event(), Event()
        self.halt = Event()  # a block failed: the others need not go on
        self.thread = local()  # whether this one works on a block
        self.shown, self.stage = 0.0, ""
        self.device, self.notes, self.stands_for = "cpu", list[str](), 0

    def mark(self) -> None:
        """Remember that the thread that calls this works on blocks."""
        self.thread.working = True
