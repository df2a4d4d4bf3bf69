"""The cheap bound: the members of a group are at least as far apart as the nearest records."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import Bound, percent, shave
from voronym.core.context import Context

BLOCK = 1024
"""Rows per block, so that memory stays O(n d)."""


def nearest_sums(X: NDArray[np.float64], count: int, ctx: Context) -> NDArray[np.float64]:
    """Return the sum of squared distances of each record to its ``count`` nearest others, shape (n,)."""
    from scipy.spatial import cKDTree  # takes a while to load

    tree = cKDTree(X)
    sums = np.empty(len(X))

    step = max(4, BLOCK // max(1, X.shape[1] - 4) ** 2)  # in many columns a tree takes long to answer

    def block(first: int) -> None:
        for start in range(first, min(first + BLOCK, len(X)), step):
            ctx.check()
            rows = slice(start, min(start + step, first + BLOCK))
            # The record itself, or an equal one, is the first of the count + 1 nearest: its distance is 0.
            distances = tree.query(X[rows], k=np.arange(1, count + 2))[0]
            sums[rows] = np.square(distances).sum(axis=1)

    ctx.map(block, range(0, len(X), BLOCK))
    return sums


def neighbours(X: NDArray[np.float64], k: int, ctx: Context) -> Bound:
    """Prove ``SSE >= sum_i N_i / (2k)``, N_i the squared distances of record i to its k-1 nearest, summed.

    Proof. A cell G of m records has ``SSE(G) = sum_{i in G} sum_{j in G} |x_i - x_j|^2 / (2m)``. The
    inner sum is over m-1 others, so it is at least N_i(m-1), the sum over the m-1 nearest. The r-th
    nearest is no nearer than the ones before it, so N_i(m-1)/(m-1) does not fall with m. (m-1)/m does not
    fall either, so neither does their product N_i(m-1)/m: it is least for m = k. Sum over all cells.

    Guarantee: true for every partition into cells of at least k. Some 60 to 80 % of the optimum on the
    field's reference files. Cost: O(n log n) distances in few columns, memory O(n d).

    Parameters
    ----------
    X : array, shape (n, d)
        The records.
    k : int
        Least size of a cell, at most n.
    ctx : Context
        Gets the share done; the bound must be whole.

    Examples
    --------
    >>> bound = neighbours(np.array([[0.0], [1.0], [5.0], [6.0]]), 2, Context())
    >>> round(bound.sse, 9), bound.kind
    (1.0, 'neighbours')
    """
    sums = nearest_sums(X, k - 1, ctx)
    sse = shave(math.fsum(sums) / (2 * k), operations=k + 4 * X.shape[1])
    return Bound(sse, percent(X, sse), k, len(X), "neighbours", seconds=ctx.spent)
