"""Design a whole town: first by a search over pairs of groups, later starting from the old places."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from voronym.core.context import Context
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.quantize.costs.base import Bounds
from voronym.quantize.pcl import alternate
from voronym.quantize.settings import Settings as Lloyd
from voronym.refiners.registry import REFINERS
from voronym.space import Euclidean
from voronym_location.population import Floats, Ints

WARM = 6_000
"""Up to this number of addresses a redesign starts from the old places; above it, that takes too long."""


def design(X: Floats, k: int, old: Floats, ctx: Context, grouping: str = "pairs") -> Ints:
    """Return groups of k addresses or more.

    Parameters
    ----------
    X : array, shape (n, 3)
        The addresses, metres.
    k : int
        The least number in a group.
    old : array, shape (m, 3)
        The places of the earlier groups; empty for a first design. Probability-constrained Lloyd starts from
        them, with the number of cells for the present addresses.
    ctx : Context
        Context of the work, which must be completed.
    grouping : str
        ``pairs``: a search over pairs of groups, after a warm start by PCL if there are old places. ``pcl``:
        only probability-constrained Lloyd, as in the paper.
    """
    problem = Problem.of(X, k)
    cells = len(X) // k
    if grouping == "pcl" and cells > 1:
        sizes = Bounds(np.full(cells, k), np.full(cells, 2 * k - 1))
        begin = carried(X, old, cells, ctx.rng) if len(old) else "mdav"
        return alternate(X, sizes, begin, Euclidean(), Lloyd(tolerance=1e-5), ctx).labels
    if not len(old) or not cells > 1 or len(X) > WARM:
        return METHODS["pairs"].partition(problem, ctx).labels
    bounds = Bounds(np.full(cells, k), np.full(cells, 2 * k - 1))
    begin = carried(X, old, cells, ctx.rng)
    settings = Lloyd(tolerance=1e-4, iterations=60)
    warm = alternate(X, bounds, begin, Euclidean(), settings, ctx.part(0.0, 0.5)).labels
    result = REFINERS["pairs"].improve(problem, Partition(warm, k=k), ctx.part(0.5, 1.0))
    return result.labels


def carried(X: Floats, old: Floats, cells: int, rng: np.random.Generator) -> Floats:
    """Return starting places for a redesign: the old ones, without sparse ones, or with homes added.

    Examples
    --------
    >>> homes, rng = np.array([[0.0], [0.1], [9.0]]), np.random.default_rng(0)
    >>> carried(homes, np.array([[0.0], [5.0], [9.0]]), 2, rng).tolist()
    [[0.0], [9.0]]
    >>> len(carried(homes, np.array([[0.0]]), 2, rng))
    2
    """
    near = cKDTree(old).query(X)[1]
    if len(old) > cells:
        many = np.bincount(near, minlength=len(old))
        return np.asarray(old[np.sort(np.argsort(-many, kind="stable")[:cells])])
    apart = np.square(X - old[near]).sum(axis=1)  # new places are drawn where homes are far from any
    total = apart.sum()
    share = apart / total if total > 0.0 else None
    some = rng.choice(len(X), cells - len(old), replace=False, p=None if np.sum(apart > 0) < cells else share)
    return np.concatenate([old, X[some]])
