"""MST: cells from the minimum spanning tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import graph as kernels
from voronym.core.context import Context
from voronym.method import split_large
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.problem import Problem


@classic(
    "mst",
    cost="O(n²) distances, O(n³/k) at worst where one component is left to be split; memory O(n d)",
    reference="Laszlo, Mukherjee: Minimum spanning tree partitioning algorithm for microaggregation, 2005",
)
def mst(problem: Problem, ctx: Context) -> Partition:
    """Cut the longest edges of the minimum spanning tree that leave k records on both sides.

    Edges are visited once, the longest first; an edge is cut if both sides then have at least k records.
    Remaining components of 2k or more records are partitioned by MD. This is the variant M-d.

    Notes
    -----
    Of the authors' variants (the tree alone, or with large components split by a centroid-based or a
    diameter-based method) this is the diameter-based one: the tree alone leaves cells far above 2k-1
    records. Equal edges are looked at in the order in which Prim's algorithm, from the first record, finds
    them.

    References
    ----------
    M. Laszlo and S. Mukherjee, "Minimum spanning tree partitioning algorithm for microaggregation", IEEE
    Transactions on Knowledge and Data Engineering 17 (2005), 902-911.
    """
    X, k = problem.points, problem.k
    labels = components(X, k, ctx.part(0.0, 0.7))
    return split_large(problem, labels, ctx.part(0.7, 1.0), method="md")


def components(X: NDArray[np.float64], k: int, ctx: Context) -> NDArray[np.int64]:
    """Return the components of the spanning tree after the cuts, each with k records or more."""
    n = len(X)
    joined, parent, outside = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.arange(1, n)
    length, state = np.full(n, np.inf), np.array([1])

    def work(budget: int) -> float:
        kernels.prim(X, outside, state, joined, parent, length, budget)
        return 1.0 - (1.0 - float(state[0]) / n) ** 2

    ctx.pieces(work, budget=5_000_000)
    edges = joined[1:]
    edges = edges[np.argsort(-length[edges], kind="stable")]
    cut, labels = np.zeros(n, np.bool_), np.empty(n, np.int64)
    kernels.cut_edges(k, joined, parent, edges, np.empty(n, np.int64), cut)
    kernels.name_components(joined, parent, cut, labels)
    return labels
