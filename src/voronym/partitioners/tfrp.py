"""TFRP: two fixed reference points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import tfrp as kernels
from voronym._kernels import tree as trees
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners._cells import attach_leftovers, by_falling_loss, dissolve_cells
from voronym.partitioners._classic import classic
from voronym.problem import Problem

REFERENCE = "Chang, Li, Huang: TFRP: an efficient microaggregation algorithm, 2007"


@classic(
    "tfrp-1",
    cost="O(n log n) and n/k searches in a k-d tree, O(n²/k) distances at worst; memory O(n d)",
    reference=REFERENCE,
)
def tfrp_1(problem: Problem, ctx: Context) -> Partition:
    """Build groups at the ends seen from two fixed points: the minima and the maxima of all columns.

    The record farthest from the point of minima, and the record farthest from the point of maxima,
    alternately form a group with their k-1 nearest, while k or more records remain. The others each join
    the group with the nearest mean, as it was before any of them joined. Ties go to the lowest index.

    References
    ----------
    C.-C. Chang, Y.-C. Li and W.-H. Huang, "TFRP: an efficient microaggregation algorithm for statistical
    disclosure control", Journal of Systems and Software 80 (2007), 1866-1878.
    """
    return Partition(phase_1(problem, ctx), k=problem.k)


@classic(
    "tfrp-2",
    more="never a larger loss than tfrp-1",
    cost="that of tfrp-1, then O(n²/k) distances; memory O(n d)",
    reference=REFERENCE,
)
def tfrp_2(problem: Problem, ctx: Context) -> Partition:
    """Build groups as "tfrp-1" does, then dissolve those whose records fit better elsewhere.

    The groups are visited once, the largest sum of squares first; see
    `voronym.partitioners._cells.dissolve_cells`.

    Notes
    -----
    Readings chosen where the description leaves room: a centroid moves with each record that joins; a group
    that reaches 2k records is split by MDAV at once; groups are visited by their loss after the first phase.
    """
    part = Partition(phase_1(problem, ctx.part(0.0, 0.5)), k=problem.k)
    return dissolve_cells(problem, part, by_falling_loss(problem, part), ctx.part(0.5, 1.0))


def phase_1(problem: Problem, ctx: Context) -> NDArray[np.int64]:
    """Return the labels of the first phase."""
    X, k, n = problem.points, problem.k, problem.n
    labels, state = np.full(n, -1, np.int64), np.array([n, 0, 0, 0])
    distances, members = np.empty(k), np.empty(k, np.int64)
    orders = np.array([_farthest_first(X, point) for point in (X.min(axis=0), X.max(axis=0))])
    tree = trees.grow(X, X.mean(axis=0))

    def work(budget: int) -> float:
        kernels.two_ends(tree, k, labels, orders, state, distances, members, budget)
        return 1.0 if state[0] < k else 1.0 - float(state[0]) / n

    ctx.pieces(work, budget=1_000)
    attach_leftovers(problem.records, labels)
    return labels


def _farthest_first(X: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(-np.square(X - point).sum(axis=1), kind="stable")
