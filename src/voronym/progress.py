"""Progress of long work: one small message type, passed to one callback.

A callback may raise to stop the work (Ctrl-C raises ``KeyboardInterrupt`` by itself): algorithms call it
between short kernel runs and hold no state that an exception could leave half-made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """Where a piece of work stands.

    Parameters
    ----------
    stage : str
        What is being done, in a word or two ("partition", "measure").
    done : float
        Share of the stage that is done, from 0 to 1.
    loss : float, optional
        Information loss so far, in percent, where the method knows it.
    bound : float, optional
        Information loss, in percent, below which no partition can get, where it is proven already.
    """

    stage: str
    done: float
    loss: float | None = None
    bound: float | None = None


class Stop(Exception):  # noqa: N818 - not an error: a wish
    """Raised by a progress callback to end anytime work early, with the best found so far.

    Work that has nothing to show before its end lets it pass, like any other exception.
    """


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore progress: the default callback."""
