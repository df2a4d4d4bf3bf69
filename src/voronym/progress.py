"""Progress as it was called from outside: see `voronym.context`."""

from __future__ import annotations

from voronym.context import Progress, Step, Stop

__all__ = ["Progress", "Step", "Stop", "silent"]


def silent(step: Step) -> None:
    """Ignore progress: the default callback."""
