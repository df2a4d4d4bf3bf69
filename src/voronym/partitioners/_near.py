"""The nearest records of every record: where the methods that weigh neighbourhoods begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import density as kernels
from voronym._kernels import tree as trees
from voronym.context import Context


class Neighbourhoods(NamedTuple):
    """A tree of the records and what is known of each one's k nearest, itself included."""

    tree: trees.Tree
    near: NDArray[np.int64]  # (n, k) by distance, then index
    centers: NDArray[np.float64]  # (n, d) their mean
    squares: NDArray[np.float64]  # (n,) their sum of squares


def neighbourhoods(X: NDArray[np.float64], k: int, ctx: Context) -> Neighbourhoods:
    """Look around every record.

    Among more than k equal records one may be missing from its own list. O(n) searches in the tree; memory
    O(n (k + d)).
    """
    n, d = len(X), X.shape[1]
    tree = trees.grow(X, X.mean(axis=0))
    near, centers, squares = np.empty((n, k), np.int64), np.empty((n, d)), np.empty(n)
    distances, members = np.empty(k), np.empty(k, np.int64)
    done = 0

    def work(budget: int) -> float:
        nonlocal done
        stop = min(n, done + budget)
        kernels.look_all(X, tree, near, centers, squares, distances, members, done, stop)
        done = stop
        return done / n

    ctx.pieces(work, budget=2_000)
    return Neighbourhoods(tree, near, centers, squares)
