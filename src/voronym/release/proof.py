"""The proof of a release without a time limit: how long it may take, and when it is enough."""

from __future__ import annotations

from voronym.certify import Bound
from voronym.certify.front import BRIEF, COLUMNS, WIDEST, prove_briefly
from voronym.core.context import Context
from voronym.core.progress import FinishEarly, Progress
from voronym.errors import Unfinished
from voronym.partition import Partition
from voronym.problem import Problem

SMALL = 0.05
"""Relative gap at which a proof ends."""


def prove_release(problem: Problem, part: Partition, searched: float, ctx: Context) -> Bound | None:
    """Prove a bound in about three seconds, or, for many records, in as many as the search took.

    Parameters
    ----------
    problem : Problem
        The records, and k.
    part : Partition
        The groups of the release.
    searched : float
        The seconds of the search.
    ctx : Context
        Hears how far the work is and may stop it.

    Returns
    -------
    Bound or None
        None if the time was too short, or there are too many records.
    """
    if problem.n <= COLUMNS and problem.k <= WIDEST:
        watch = Context(seed=ctx.rng, threads=ctx.threads, progress=Watch(ctx))
        return prove_briefly(problem, part, watch.part(0.0, 1.0, stage=ctx.stage))
    limited = ctx.limited(max(BRIEF, searched)).unhurried(strict=True)
    try:
        return prove_briefly(problem, part, limited)
    except Unfinished:
        if ctx.finishing:
            raise
        return None


class Watch:
    """Passes on the progress of a proof, and ends it when its gap is small.

    Examples
    --------
    >>> watch = Watch(Context())
    >>> watch(Progress("proving", 0.1, loss=9.0, bound=6.0))
    >>> watch(Progress("proving", 0.2, loss=9.0, bound=8.9))
    Traceback (most recent call last):
    ...
    voronym.core.progress.FinishEarly
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def __call__(self, step: Progress) -> None:
        """Look at a report of the proof."""
        self._ctx.tell(step.done, step.loss, step.bound)
        if self._ctx.over or (step.loss and step.bound and self.enough(step.loss / step.bound - 1.0)):
            raise FinishEarly

    def enough(self, gap: float) -> bool:
        """Return whether a proof may end with this relative gap."""
        return gap <= SMALL
