"""A bound for tables of any size: prices rise record by record, as far as the groups around it allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kd as cut
from voronym._kernels import local as kernels
from voronym._kernels import pricing
from voronym._kernels.tree import sortable
from voronym.certify.bound import UNIT, Bound, percent, shave
from voronym.certify.cuts import NONE
from voronym.certify.ladder import spread
from voronym.certify.pricing import cuts_of, without_group
from voronym.core.context import Context

Floats = NDArray[np.float64]

LEAF = 40
"""Number of records in a box."""

LIST = 128
"""Number of nearest records among which the groups around a record are sought."""

WIDEST = 24
"""Largest k for which prices are raised; above it the lists of neighbours are too short."""

BUDGET = 40
"""Search nodes per record in a round."""

ROUNDS = 3
"""Number of times that the prices for groups of k rise; once for smaller groups."""

BLOCK = 64
"""Number of records that a thread takes at a time."""


@dataclass(frozen=True)
class Table:
    """Records in the order of their boxes, their nearest, and the bounds for groups of each size."""

    leaves: kernels.Leaves
    home: NDArray[np.int64]
    lists: NDArray[np.int32]
    radius: Floats
    near: Floats


def local(X: Floats, k: int, ctx: Context) -> Bound:
    """Prove prices by examining the groups around each record.

    The first prices are those of the nearest records (`neighbours`). Suppose that every group with record
    i costs at least r_i more than the prices of its members. Then all prices may rise at once, each by
    r_i / k: those of a group of k rise by at most its reserve. Prices that are valid for k are valid for
    larger groups. A lower bound on r_i suffices, so the search around i may stop anywhere; records
    without enough time keep their price. Groups of 2, 3, ... records come first, because their prices
    shorten the search for larger ones.

    Guarantee: valid for every partition into groups of at least k, whenever it is stopped. Cost: nearest
    neighbours, and some tenths of a millisecond per record; memory 600 bytes per record.

    Parameters
    ----------
    X : array, shape (n, d)
        The records.
    k : int
        Least size of a group.
    ctx : Context
        Gets the share done; the deadline ends the rising, a request to finish before the nearest are known
        raises `voronym.errors.Unfinished`.

    Examples
    --------
    >>> from voronym import datasets
    >>> from voronym.certify.neighbours import neighbours
    >>> X = datasets.gaussian(500, 3)
    >>> local(X, 4, Context()).sse > 1.1 * neighbours(X, 4, Context()).sse
    True
    """
    table = listed(X, k, ctx.part(0.0, 0.3))
    sizes = [m for m in range(2, k + 1) if m <= 4 or m % 2 == k % 2] if k <= WIDEST else []
    steps = [m for m in sizes for _ in range(ROUNDS if m == k else 1)]
    for number, m in enumerate(steps):
        if ctx.over:
            break
        share = 0.3 + 0.7 * number / len(steps), 0.3 + 0.7 * (number + 1) / len(steps)
        _rise(table, m, ctx.part(*share))
    prices = table.near[:, k - 1] / (2 * k)
    sse = shave(math.fsum(prices), operations=16 * k + 4 * X.shape[1])
    return Bound(sse, percent(X, sse), k, len(X), "local", seconds=ctx.spent)


def listed(X: Floats, k: int, ctx: Context) -> Table:
    """Sort the records into boxes and find the nearest of each."""
    n = len(X)
    count = max(1, n // LEAF)
    bounds = (np.arange(count + 1) * n) // count
    (rows, marks), order = sortable(X), np.arange(n)
    cut.split(rows, marks, order, bounds, 0, count, np.empty((64, 2), np.int64))
    points = np.ascontiguousarray(X[order])
    low, high = np.minimum.reduceat(points, bounds[:-1]), np.maximum.reduceat(points, bounds[:-1])
    leaves = kernels.Leaves(points, bounds, low, high)
    length = min(n - 1, max(LIST, k) if k <= WIDEST else k)
    table = Table(
        leaves,
        np.repeat(np.arange(count), np.diff(bounds)),
        np.empty((n, length), np.int32),
        np.empty(n),
        np.empty((n, k)),
    )

    def block(first: int) -> None:
        ctx.check()
        last, room = min(first + BLOCK, n), np.empty(length)
        kernels.nearest(leaves, first, last, table.home, room, table.lists, table.radius, table.near)

    ctx.map(block, range(0, n, BLOCK))
    return table


def _rise(table: Table, m: int, ctx: Context) -> None:
    """Raise the prices for groups of m as far as the groups around each record allow."""
    (n, k), count = table.near.shape, table.lists.shape[1]
    d = table.leaves.X.shape[1]
    prices = table.near[:, m - 1] / (2 * m)
    worth = prices - table.near[:, m - 2] / (2 * m)
    best = np.maximum.reduceat(worth, table.leaves.starts[:-1])
    state = kernels.Round(prices, table.near, worth, best, table.lists, table.radius)
    error = 3.0 * (8 * m * m + 8 * d + 512) * UNIT * 4 * m * float(np.abs(prices).max(initial=0.0))
    more = np.zeros(n)

    def block(first: int) -> None:
        if ctx.over:
            return
        room, local, cuts = _room(count + 1, k)
        work = pricing.levels(m, count + 1)
        last = min(first + BLOCK, n)
        kernels.raised(table.leaves, state, local, cuts, work, room, first, last, m, BUDGET, error, more)

    ctx.map(block, range(0, n, BLOCK), whole=False)
    table.near[:, m - 1] = 2 * m * (prices + more)
    spread(table.near, m, prices + more)


def _room(size: int, k: int) -> tuple[kernels.Room, pricing.Prices, pricing.Cuts]:
    """Return the scratch memory of one block, in which a record and its neighbours form a small table."""
    room = kernels.Room(
        np.empty((size, size)),
        np.empty((size, k)),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(k + 1),
        np.empty(1),
        np.empty((1, 2 * k - 1), np.int64),
    )
    nobody = np.empty(0, np.int64)
    local = pricing.Prices(room.D2, room.near, room.prices, nobody, nobody, np.zeros(1, np.int64))
    return room, local, without_group(cuts_of(NONE, size), size)
