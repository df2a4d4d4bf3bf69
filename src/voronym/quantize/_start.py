"""The start of a design: the sizes of cells, and the first centroids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.quantize.costs.base import (
    Bounds,
    Floats,
    Integers,
    check_cells,
    check_centroids,
    check_sizes,
    equal_sizes,
    round_sizes,
)
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space

Init = str | Partition | Quantizer | ArrayLike
"""A method's name or "random", a partition, an earlier quantizer, or centroids."""


SHAKEN = (0.4, 0.8)
"""Range of the distance by which centroids move when a design is shaken, as a share of the distance to the
nearest centroid.
"""


@dataclass(frozen=True, eq=False)
class Start:
    """Centroids and costs to start from, and labels if there are any."""

    centroids: Floats
    costs: Floats
    labels: Integers | None = None


def bounds(n: int, cells: int | None, probabilities: Any, sizes: Any, init: Any) -> Bounds:
    """Return the bounds on the sizes of the cells, from whichever argument gives them."""
    if probabilities is not None and sizes is not None:
        raise InputError("give probabilities or sizes, not both")
    if sizes is not None:
        pair = isinstance(sizes, tuple) and len(sizes) == 2 and np.ndim(sizes[0]) == 1
        m = len(sizes[0]) if pair else len(np.atleast_1d(sizes))
        low, high = check_sizes(sizes, n, m)
    elif probabilities is not None:
        low = high = round_sizes(probabilities, n)
    elif cells is not None:
        low = high = equal_sizes(n, check_cells(cells, n))
    elif isinstance(init, Partition):
        low = high = init.sizes.copy()
    elif isinstance(init, Quantizer):
        low = high = equal_sizes(n, check_cells(init.n_cells, n))
    elif not isinstance(init, str):
        if np.ndim(init) == 0:
            raise InputError("init must be a method's name, a partition, centroids or a quantizer")
        low = high = equal_sizes(n, check_cells(len(init), n))
    else:
        raise InputError("give the number of cells, or their probabilities or sizes")
    check_cells(len(low), n)
    if cells is not None and len(low) != check_cells(cells, n):
        raise InputError(f"cells is {cells}, but sizes are given for {len(low)}")
    if isinstance(init, Partition) and init.n != n:
        raise InputError(f"the partition is of {init.n} points, X has {n}")
    return Bounds(low, high)


def start(X: Floats, limits: Bounds, init: Init, space: Space, ctx: Context) -> Start:
    """Return centroids and costs to start from, one per cell."""
    m = len(limits.low)
    if isinstance(init, Quantizer):
        C = check_centroids(init.centroids, X.shape[1])
        return resized(X, Start(C.copy(), np.array(init.costs)), m, space)
    if isinstance(init, Partition):
        C = space.centroids(X, init.labels, init.n_cells)
        return Start(count(C, m, "partition"), np.zeros(m), init.labels)
    if not isinstance(init, str):
        return Start(count(check_centroids(init, X.shape[1]), m, "init"), np.zeros(m))
    if init == "random" or len(X) // m < 2:
        chosen = np.sort(ctx.rng.choice(len(X), m, replace=False))
        return Start(X[chosen].copy(), np.zeros(m))
    part = METHODS[init].partition(Problem.of(X, len(X) // m), ctx)
    C = space.centroids(X, part.labels, part.n_cells)
    if len(C) < m:  # the rest are points far from all of these
        C = np.concatenate([C, X[farthest(X, C, m - len(C), space)]])
    return Start(C[:m].copy(), np.zeros(m), part.labels if part.n_cells == m else None)


def shake(
    X: Floats,
    best: Quantizer,
    distortion: float,
    linear: bool,
    rng: np.random.Generator,
    *,
    reach: float | None = None,
) -> Start:
    """Return the centroids of a design, each moved about half the distance to its nearest neighbour.

    This is better than a new start, because most of the design stays. With ``reach``, all centroids move
    by that share of the mean distance of points. In a space without points between two centroids, one in
    five is replaced by a random point.
    """
    C = np.array(best.centroids)
    m, d = C.shape
    if linear:
        far = _apart(C) if reach is None else reach * np.sqrt(distortion)
        share = rng.uniform(*SHAKEN) if reach is None else 1.0
        C += share / np.sqrt(d) * far * rng.standard_normal(C.shape)
    else:
        some = rng.choice(m, max(1, m // 5), replace=False)
        C[some] = X[rng.choice(len(X), len(some), replace=False)]
    return Start(C, np.array(best.costs))


def _apart(C: Floats) -> Floats:
    """Return the distance of each centroid from its nearest neighbour, shape (m, 1)."""
    from scipy.spatial import cKDTree  # takes a while to load

    if len(C) < 2:
        return np.ones((1, 1))
    return np.asarray(cKDTree(C).query(C, 2)[0][:, 1:])


def resized(X: Floats, begin: Start, m: int, space: Space) -> Start:
    """Return a start with another number of cells: join near centroids, add far points.

    When two centroids are joined, the one with fewer points near it is dropped. A new cell starts with
    the cost of the cell that its point was in.
    """
    C, costs = begin.centroids, begin.costs
    while len(C) > m:
        apart = space.cost(C, C)
        np.fill_diagonal(apart, np.inf)
        pair = np.array(np.unravel_index(int(apart.argmin()), apart.shape))
        near = np.bincount(space.cost(X, C[pair]).argmin(axis=1), minlength=2)
        C, costs = (np.delete(item, pair[int(near.argmin())], axis=0) for item in (C, costs))
    if len(C) < m:
        new = X[farthest(X, C, m - len(C), space)]
        beside = space.cost(new, C).argmin(axis=1)
        C, costs = np.concatenate([C, new]), np.concatenate([costs, costs[beside]])
    return Start(C, costs)


def farthest(X: Floats, C: Floats, number: int, space: Space) -> list[int]:
    """Return points one by one, each the farthest from all centroids and the earlier points."""
    least = np.min([space.cost(X, C[[q]])[:, 0] for q in range(len(C))], axis=0)
    chosen: list[int] = []
    for _ in range(number):
        chosen.append(int(np.argmax(least)))
        least = np.minimum(least, space.cost(X, X[[chosen[-1]]])[:, 0])
    return chosen


def count(C: Floats, m: int, what: str) -> Floats:
    """Refuse a number of centroids that differs from the number of cells."""
    if len(C) != m:
        raise InputError(f"the {what} has {len(C)} cells, but there are sizes for {m}")
    return C.copy()
