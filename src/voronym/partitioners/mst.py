"""MST: cells from the minimum spanning tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import graph as kernels
from voronym.partition import Partition
from voronym.partitioners import md
from voronym.partitioners._cells import split_large
from voronym.partitioners._run import check_space, in_pieces, share
from voronym.progress import Progress
from voronym.registry import algorithm
from voronym.space import Space


@algorithm(
    "mst",
    guarantee="every cell has k to 2k-1 records",
    cost="O(n²) distances, O(n³/k) at worst where one component is left to be split; memory O(n d)",
    reference="Laszlo, Mukherjee: Minimum spanning tree partitioning algorithm for microaggregation, 2005",
    max_size=lambda k: 2 * k - 1,
)
def mst(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
    progress: Progress,
) -> Partition:
    """Cut the longest edges of the minimum spanning tree that leave k records on both sides.

    Edges are looked at once, by falling length; one is cut if both its sides then have k records or more.
    Components of 2k records or more that remain are partitioned by MD. This is the variant called M-d.

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

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]]
    >>> vr.microaggregate(X, 2, method="mst").labels.tolist()
    [0, 0, 1, 1, 1, 2, 2]
    """
    check_space(space, "mst")
    labels = components(X, k, share(progress, 0.0, 0.7))
    return split_large(X, k, labels, _split, share(progress, 0.7, 1.0))


def components(X: NDArray[np.float64], k: int, progress: Progress) -> NDArray[np.int64]:
    """Return the components of the spanning tree after the cuts, each with k records or more."""
    n = len(X)
    joined, parent, outside = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.arange(1, n)
    length, state = np.full(n, np.inf), np.array([1])

    def work(budget: int) -> float:
        kernels.prim(X, outside, state, joined, parent, length, budget)
        return 1.0 - (1.0 - float(state[0]) / n) ** 2

    in_pieces(work, progress, budget=5_000_000)
    edges = joined[1:]
    edges = edges[np.argsort(-length[edges], kind="stable")]
    cut, labels = np.zeros(n, np.bool_), np.empty(n, np.int64)
    kernels.cut_edges(k, joined, parent, edges, np.empty(n, np.int64), cut)
    kernels.name_components(joined, parent, cut, labels)
    return labels


def _split(X: NDArray[np.float64], k: int, progress: Progress) -> NDArray[np.int64]:
    partition = md.partition_fast if len(X) >= md.FAST_FROM else md.partition_plain
    return partition(X, k, progress)
