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
    """

    stage: str
    done: float
    loss: float | None = None


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore progress: the default callback."""
