"""Cells that hold their share of every confidential level: diversity by design, as groups of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.partition import Partition, group_means
from voronym.problem import Problem
from voronym.quantize.costs.transport import transport

Ints = NDArray[np.int64]
ROUNDS = 60
"""Largest number of rounds: a dozen is usually enough."""


def levels_of(problem: Problem) -> Ints:
    """Return the confidential level of each record, of the first column that a model is about."""
    for judge in problem.demands:
        codes = np.asarray(judge.levels.codes, np.int64)
        if len(codes) == problem.n:
            return codes
    raise InputError(
        "diverse needs a model of a confidential column, such as t-closeness=0.3 or l-diversity=2; it "
        "does not work with strata, people, weights or an intruder who knows the method"
    )


def least_sizes(codes: Ints, k: int, share: float) -> tuple[int, Ints]:
    """Return the number of cells, and the smallest number of records of each level per cell.

    A cell gets ``floor(share n_c / m)`` records of level c. If these are fewer than k, common levels give
    more. The number of cells m is the largest that leaves at least k records in each.

    Examples
    --------
    >>> least_sizes(np.repeat([0, 1], [60, 40]), 5, 1.0)
    (20, array([3, 2]))
    >>> least_sizes(np.repeat([0, 1], [60, 40]), 5, 0.5)
    (20, array([3, 2]))
    """
    counts = np.bincount(codes)
    for m in range(max(1, len(codes) // k), 0, -1):
        low = np.floor(share * counts / m + 1e-9).astype(np.int64)
        if (lacking := k - int(low.sum())) > 0:  # from levels that have records to spare, the commonest first
            for level in np.argsort(-counts, kind="stable"):
                more = min(lacking, int(counts[level] // m - low[level]))
                low[level] += more
                lacking -= more
        if lacking <= 0:
            return m, low
    return 1, np.zeros(len(counts), np.int64)


def diverse(problem: Problem, share: float, ctx: Context) -> Partition:
    """Alternate centroids and exact assignments, for each level separately within its own least sizes.

    The problem: minimise ``sum_i |x_i - mean of its cell|²`` over cells that hold at least ``floor(share
    n_c / m)`` of the n_c records of every level c, and k in all. For given centroids, no limit couples
    the levels, so the best assignment is that of each level alone: a transport problem, solved exactly.
    So the loss never rises.
    """
    X, k = problem.points, problem.k
    codes = levels_of(problem)
    m, low = least_sizes(codes, k, share)
    if m == 1:
        return problem.one_group()
    first = METHODS["mdav"].partition(Problem.of(X, problem.n // m), ctx.quiet())
    centroids = group_means(X, first.labels, first.n_cells)[:m]
    rows = [np.flatnonzero(codes == level) for level in range(len(low))]
    costs: list[NDArray[np.float64] | None] = [None] * len(rows)
    labels, before = np.zeros(problem.n, np.int64), np.inf
    for step in range(ROUNDS):
        here = ctx.part(step / ROUNDS, (step + 1) / ROUNDS)
        total = 0.0
        for level, own in enumerate(rows):
            most = max(2 * -(-len(own) // m), int(low[level]))
            sizes = (np.full(m, low[level]), np.full(m, most))
            result = transport(X[own], centroids, sizes, start=costs[level], ctx=here)
            labels[own], costs[level] = result.labels, result.costs
            total += result.cost
        if total >= before * (1 - 1e-9) or ctx.over:
            break
        before = total
        centroids = group_means(X, labels, m)
    return Partition(labels, k=k)
