"""The nearest records of every record, and groups made of them, for methods based on neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import density as kernels
from voronym._kernels import tree as trees
from voronym._kernels.density import Around, Rest
from voronym.core.context import Context
from voronym.partitioners._cells import attach_leftovers
from voronym.problem import Problem


def neighbourhoods(X: NDArray[np.float64], k: int, ctx: Context) -> Around:
    """Find the neighbourhood of every record.

    Among more than k equal records, a record may be missing from its own list. O(n) searches in the tree;
    memory O(n (k + d)).
    """
    n, d = len(X), X.shape[1]
    near, centers, squares = np.empty((n, k), np.int64), np.empty((n, d)), np.empty(n)
    scratch = np.empty(k), np.empty(k, np.int64)
    around = Around(X, trees.grow(X, X.mean(axis=0)), near, centers, squares, *scratch)
    ctx.ranges(lambda start, stop: kernels.look_all(around, start, stop), n, budget=2_000)
    return around


def take_groups(
    problem: Problem,
    ctx: Context,
    choose: Callable[[Around, Rest, int], None],
    *,
    begin: Callable[[Around, Rest], None] | None = None,
) -> NDArray[np.int64]:
    """Form groups one by one, of a chosen record and its k-1 nearest; the last few join the nearest group.

    Parameters
    ----------
    problem, ctx
        The records and the size of the groups, and the context.
    choose : callable
        ``(around, rest, budget)``: a kernel that makes groups for ``budget`` steps.
    begin : callable, optional
        ``(around, rest)``: makes some groups before.

    Returns
    -------
    array of int, shape (n,)
        Labels in the order in which the groups were made.
    """
    n, k = problem.n, problem.k
    around = neighbourhoods(problem.points, k, ctx.part(0.0, 0.3))
    labels = np.full(n, -1, np.int64)
    rest = Rest(np.arange(n), labels, np.array([n, 0]))
    if begin is not None:
        begin(around, rest)

    def work(budget: int) -> float:
        choose(around, rest, budget)
        return 1.0 if rest.state[0] < k else 1.0 - (float(rest.state[0]) / n) ** 2

    ctx.part(0.3, 1.0).pieces(work, budget=2_000_000)
    attach_leftovers(problem.records, labels)
    return labels
