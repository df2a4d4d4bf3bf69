"""Repair cells by exchanges with near cells, then lower the loss without a new violation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.enforce.search import Search
from voronym.privacy.enforce.split import split
from voronym.problem import Problem

ROUNDS = 10
"""Number of prices of a violation to try; each is three times the previous one."""

PASSES = 8
"""Largest number of visits to all records at the end."""


def swap(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Repair cells by exchanges and shifts between near cells, merge the remaining ones, and polish.

    The problem: minimise the cost over partitions into cells of at least k that all judges accept.
    Its relaxation charges a price for every unit of violation; shifts of a record to a near cell and swaps of
    two records are made while they lower cost plus price. The price doubles until nothing is violated, so
    what is cheap to repair is repaired cheaply. Cells that no exchange repairs are merged. Then `polish`.

    Guarantee: every judge accepts every cell, and every cell has at least k records.

    Takes O(n K s d) in a pass, with K near cells of s records; some twenty passes. Memory O(n (K + d)).
    """
    if not asked.hold(part.labels):
        labels = repair(problem, part.labels, asked, ctx)
        part = merge(problem, Partition(labels, k=problem.k), asked, ctx)
        part = split(problem, part, asked)  # cells merged for one violation may be large
    return polish(problem, part, asked, ctx)


def repair(
    problem: Problem, labels: NDArray[np.int64], asked: Requirements, ctx: Context
) -> NDArray[np.int64]:
    """Exchange records while that lowers cost plus the price of violations, at rising prices."""
    search = Search(problem, labels, asked, ctx)
    violated = float(search.watch.weight.sum())
    if violated <= 0.0:  # only judges that the kernels do not know, which merging serves
        return labels
    # The first price: all that is violated is worth a fiftieth of the cost of a single group.
    weight = 0.02 * search.records.total / max(violated, 1.0)
    for turn in range(ROUNDS):
        # The last rounds repair without breaking anything elsewhere.
        search.run(passes=1, weight=weight, hard=turn >= ROUNDS - 3, donors=True)
        if search.refused == 0 or ctx.over:
            break
        weight *= 3.0
    return search.cells.labels.copy()


def polish(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Lower the cost by swaps, shifts and splits that every judge accepts."""
    for _ in range(2):
        if ctx.over:
            break
        search = Search(problem, part.labels, asked, ctx)
        search.run(passes=PASSES)
        result = search.partition()
        if not asked.hold(result.labels):  # a verdict that hangs on the last bits
            result = merge(problem, result, asked, ctx)
        part = split(problem, result, asked)
        if part.n_cells == result.n_cells:
            break
    return part
