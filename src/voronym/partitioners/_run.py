"""What the partitioners share: the check of the space, and kernels run in short pieces."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from voronym.errors import InputError
from voronym.progress import Progress, Step
from voronym.registry import algorithms
from voronym.space import Space

PIECE = 0.1
"""Seconds that a piece of kernel work should take: short enough for Ctrl-C and a lively progress bar."""


def check_space(space: Space, method: str) -> None:
    """Refuse a space whose distance the kernels do not compute, and say which methods take it."""
    if space.name != "euclidean":
        able = [name for name, one in algorithms().items() if space.name in one.spaces]
        raise InputError(
            f"method {method!r} works in Euclidean space only, not in {space.name!r}"
            + (f"; these do: {', '.join(able)}" if able else "")
        )


def in_pieces(work: Callable[[int], float], progress: Progress, *, budget: int) -> None:
    """Call ``work(budget)`` until it returns 1.0, the share done; adapt the budget to `PIECE` seconds.

    The state lives in arrays that ``work`` owns, so the result does not depend on how it was cut.
    """
    done = 0.0
    while done < 1.0:
        start = perf_counter()
        done = work(budget)
        seconds = perf_counter() - start
        budget = int(budget * min(4.0, max(0.25, PIECE / max(seconds, 1e-6)))) + 1
        progress(Step("partition", done))


def share(progress: Progress, start: float, stop: float) -> Progress:
    """Return a callback that tells a stage as the share from ``start`` to ``stop`` of the whole."""

    def tell(step: Step) -> None:
        progress(Step(step.stage, start + step.done * (stop - start), step.loss, step.bound))

    return tell
