"""The proof of a release without a time limit: how long it may take."""

from __future__ import annotations

from voronym.certify import Bound
from voronym.certify.front import BRIEF, COLUMNS, priceable, prove_briefly
from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.partition import Partition
from voronym.problem import Problem


def prove_release(problem: Problem, part: Partition, searched: float, ctx: Context) -> Bound | None:
    """Prove a bound in at most three seconds, or, for many records, in as many as the search took.

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
    if problem.n <= COLUMNS and priceable(problem):
        return prove_briefly(problem, part, ctx)
    limited = ctx.limited(max(BRIEF, searched)).unhurried(strict=True)
    try:
        return prove_briefly(problem, part, limited)
    except Unfinished:
        if ctx.finishing:
            raise
        return None
