"""The nearest records by mixed distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import mixed as kernels
from voronym.core.context import Context
from voronym.space.mixed import Mixed


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest rows: their cost, the first one, their number, and whether the wanted row is among them."""

    cost: NDArray[np.float64]
    index: NDArray[np.int64]
    ties: NDArray[np.int64]
    hit: NDArray[np.int64]


def nearest(
    space: Mixed,
    X: NDArray[np.int64],
    Y: NDArray[np.int64],
    *,
    ctx: Context,
    wanted: NDArray[np.int64] | None = None,
    whole: bool = True,
) -> Nearest:
    """Find for each row of X the rows of Y at the least cost; O(len(X) len(Y)) at worst, in little memory.

    If the search need not be ``whole``, a request to finish ends it, and fewer rows are returned.
    """
    n = len(X)
    cost, index, ties = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    hit = np.full(n, -1, np.int64) if wanted is None else wanted.copy()
    # Columns in which values differ most often come first: sums are left sooner.
    order = np.argsort([_equal(field.codes, field.levels) for field in space.fields], kind="stable")
    parts = [np.unique(Y[:, k], return_inverse=True) for k in order]
    start = np.cumsum([0, *(len(levels) for levels, _ in parts)])
    places = np.stack(
        [back.reshape(-1) + at for (_, back), at in zip(parts, start[:-1], strict=True)], axis=1
    )
    values = np.concatenate([levels for levels, _ in parts])
    column = np.repeat(order, np.diff(start))
    row = np.empty(len(values))
    step = max(1, 5_000_000 // (len(Y) + 20 * len(values)))
    for first in range(0, n, step):
        at = slice(first, first + step)
        part = np.ascontiguousarray(X[at])
        kernels.nearest(
            space.tables, part, places, values, column, row, 1e-9, cost[at], index[at], ties[at], hit[at]
        )
        n = min(first + step, len(X))
        ctx.tell(n / len(X), whole=whole)
        if ctx.finishing:
            break
    return Nearest(cost[:n], index[:n], ties[:n], hit[:n])


def _equal(codes: NDArray[np.int64], levels: int) -> float:
    """Return the share of pairs with equal values: columns with few of them are compared first."""
    share = np.bincount(codes, minlength=levels) / len(codes)
    return float(np.square(share).sum())
