"""Blind: groups that an intruder learns nothing from who knows how they were made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voronym.core.context import Context
from voronym.errors import GuaranteeError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem

RATIO = 1.5
"""Ratio of one size of the grid to the one before."""

FEWEST = 20
"""Groups from which on it may be told that one of them, who knows which, was refused."""

WORLDS, SURE = 400, 0.99
"""Random worlds that are tried where there are fewer groups, and the share of them that must pass."""


def blind(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Enlarge all groups alike, by keys alone, until every judge accepts them.

    The groups of each size of a public grid (`grid`) are a function of the keys. With `FEWEST` groups or
    more, the first size is published at which all judges accept all groups; where none is, all records are
    one group. With fewer groups, the size is chosen before the confidential values are looked at: the first
    at which nearly all worlds pass that have these values in another order. If the table itself does not, it
    is refused.

    Guarantee: every judge accepts every group, and every group has at least k records.

    **Claim.** Let r be what is published, and two worlds be two orders of the confidential values that agree
    with its counts. With fewer than `FEWEST` groups both give r, or neither does: the size depends on
    what both share, and whether it passes on the counts in r. So an intruder who knows the method learns what
    the counts say and nothing else. With more groups r says besides that, one size below, a group was
    refused. Were all m groups alike and independent, each refused with probability p, the chance of one of
    them rises from p to p / (1 - (1 - p)^m): by 1/m at most.

    Cost: that of MDAV for some ten sizes.

    References
    ----------
    R. Wong, A. Fu, K. Wang and J. Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007:
    what methods give away that look at confidential values group by group.
    """
    tried = 0
    for size in grid(problem.k, problem.n):
        groups = _by_keys(problem, part, size, ctx)
        if groups.n_cells == 1:
            break
        if groups.n_cells >= FEWEST:
            tried += 1
            if asked.hold(groups.labels):
                return Partition(groups.labels, k=problem.k)
        elif tried:
            break
        elif chance(groups, asked) >= SURE:
            if asked.hold(groups.labels):
                return Partition(groups.labels, k=problem.k)
            failing = len(asked.failing(groups.labels))
            raise GuaranteeError(
                f"{failing} of {groups.n_cells} groups of {size} or more records do not pass, and no other "
                "size may be tried: an intruder who knows the method would learn why. Ask for a larger k "
                "or for less, or choose --intruder keys"
            )
    return problem.one_group()


def grid(k: int, n: int) -> list[int]:
    """Return the sizes that are tried, from k on; the last is a single group.

    Examples
    --------
    >>> grid(5, 100)
    [5, 8, 12, 17, 26, 38, 100]
    """
    sizes, size = [k], float(k)
    while (size := size * RATIO) <= n / 2:
        sizes.append(int(np.ceil(size)))
    return [*sizes, n] if sizes[-1] < n else sizes


def _by_keys(problem: Problem, part: Partition, size: int, ctx: Context) -> Partition:
    """Return groups of a size that depend on the keys alone; the smallest are those given."""
    if size <= problem.k:
        return part
    return METHODS["mdav"].partition(problem.with_k(size), ctx.quiet())


def chance(part: Partition, asked: Requirements) -> float:
    """Return the share of worlds that pass: the same values in random order, in groups of these sizes.

    It is a function of the sizes and of the values as a whole, never of who has which: worlds begin with the
    values in their own order.
    """
    rng = np.random.default_rng(0)
    labels, n = np.sort(part.labels), part.n
    worlds = np.empty((WORLDS, n), np.int64)
    for number in range(WORLDS):
        worlds[number, asked.order] = rng.permutation(labels) + number * part.n_cells
    passed = np.ones(WORLDS, bool)
    for judge in asked.judges:  # all worlds at once: a table of copies, whose values are as frequent
        copies = replace(judge.levels, codes=np.tile(judge.levels.codes, WORLDS))
        values = replace(judge, levels=copies).values(worlds.reshape(-1), WORLDS * part.n_cells)
        cells = values.reshape(WORLDS, part.n_cells)
        if judge.additive:  # shares of all copies' records
            passed &= [bool(judge.holds(world)) for world in cells * WORLDS]
        else:
            passed &= np.asarray(judge.holds(cells)).all(axis=1)
    return float(passed.mean())
