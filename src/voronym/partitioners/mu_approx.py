"""μ-Approx: a loss within a constant factor of the least possible, for a given k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import graph as kernels
from voronym._kernels.md import make_heap
from voronym.core.context import Context
from voronym.method import split_large
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.partitioners._near import neighbourhoods
from voronym.problem import Problem


@classic(
    "mu-approx",
    more="a loss of O(k³) times the least possible at most",
    cost="O(n) searches in a k-d tree, then O(n k log n); memory O(n (k + d))",
    reference="Domingo-Ferrer, Sebé, Solanas: A polynomial-time approximation to optimal multivariate "
    "microaggregation, 2008",
)
def mu_approx(problem: Problem, ctx: Context) -> Partition:
    """Join near records to trees of at least k, and cut trees that are too large.

    A component of fewer than k records is joined, from its root, to the nearest record outside, which is one
    of the root's k-1 nearest; the shortest such edge of all components comes first. Trees of more than
    ``max(2k-1, 3k-5)`` records are cut, from the leaves, wherever k records hang together; what is left at
    the root stays with the part at its shortest edge. Parts of 2k records or more are split by MDAV.

    The loss is at most ``2 (2k-1) max(2k-2, 3k-6)²`` times the least possible. Let e(u) be the edge that
    starts from u. It is no longer than the distance to u's (k-1)-th nearest record, so none longer than that
    to the farthest record w of u's cell in a best partition, and |u - w|² is at most twice the sum of squares
    of that cell, which has at most 2k-1 records: the squares of all edges sum to ``2 (2k-1) OPT`` at most. A
    tree of s records has a sum of squares of at most (s-1)² times that of its edges' squares: a path has
    at most s-1 edges, and at most s-1 paths to the root use an edge. A part that hangs from a record by
    branches of fewer than k records each, with or without what is left at the root, has at most k (k-1) times
    that of its edges' squares, likewise. Splitting a cell never adds to the loss.

    Notes
    -----
    Readings chosen where the description leaves room: components are joined by the shortest edge first,
    rather than in the order of the records, which lost more in six of nine trials; a tree is cut from its
    leaves, and a part of many branches split by MDAV, rather than branch after branch.

    References
    ----------
    J. Domingo-Ferrer, F. Sebé and A. Solanas, "A polynomial-time approximation to optimal multivariate
    microaggregation", Computers & Mathematics with Applications 55 (2008), 714-732.
    """
    X, k = problem.points, problem.k
    labels = parts(X, k, ctx.part(0.0, 0.9))
    return split_large(problem, labels, ctx.part(0.9, 1.0))


def parts(X: NDArray[np.float64], k: int, ctx: Context) -> NDArray[np.int64]:
    """Return the parts of the trees after the cuts, each with k records or more."""
    n = len(X)
    near = neighbourhoods(X, k, ctx.part(0.0, 0.5)).near
    leader, sizes, at = np.arange(n), np.ones(n, np.int64), np.zeros(n, np.int64)
    heap, key, parent = np.arange(n), np.empty(n), np.full(n, -1, np.int64)
    kernels.start_forest(X, near, leader, at, key)
    make_heap(heap, key)
    state = np.array([n])

    def work(budget: int) -> float:
        kernels.grow_forest(X, k, near, leader, sizes, at, key, heap, state, parent, budget)
        return 1.0 - float(state[0]) / n

    ctx.part(0.5, 1.0).pieces(work, budget=50_000)
    first, following, order, labels = (np.empty(n, np.int64) for _ in range(4))
    below, top, link, cut = (
        np.zeros(n, np.int64),
        np.empty(n, np.int64),
        np.full(n, -1),
        np.zeros(n, np.bool_),
    )
    kernels.roots_first(parent, first, following, order)
    most = max(2 * k - 1, 3 * k - 5)
    kernels.cut_forest(k, most, order, parent, key, leader, sizes, below, top, link, cut)
    kernels.name_components(order, parent, cut, labels)
    return labels
