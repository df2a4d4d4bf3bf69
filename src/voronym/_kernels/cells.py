"""Cells that records move between: membership, undoing moves, and the interface of every cost model.

Membership is the same whatever a cell costs. The cost is that of a *model*, a named tuple of arrays, to which
the operations below belong: `refresh`, `change` and `cost` every model must have, the others have defaults
that use these. A cost is a sum over records of what the record loses when its cell's centroid is published
for it, the centroid being the best one; so taking a record out of a cell never adds to its cost.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel, operation

LOGGED, FREE, HELD = 0, 1, 2  # the counters in Cells.count


class Cells(NamedTuple):
    """A partition under change. A cell of size 0 is a free number. Made by `make`."""

    labels: NDArray[np.int64]  # (n,)
    slot: NDArray[np.int64]  # (n,) where the record stands among its cell's members
    start: NDArray[np.int64]  # (room,) where a cell's members begin
    capacity: NDArray[
        np.int64
    ]  # (room,) how many it may have; there is a place more, for the middle of a swap
    sizes: NDArray[np.int64]  # (room,)
    members: NDArray[np.int64]  # (all places,)
    log: NDArray[np.int64]  # (some, 3) moves that can be taken back: record, from, to
    free: NDArray[np.int64]  # (2 room,) a stack of free numbers
    count: NDArray[np.int64]  # moves in the log, numbers on the stack, and the same when the log began


def make(labels: NDArray[np.int64], room: int, capacity: int | NDArray[np.int64], log: int = 0) -> Cells:
    """Return the cells of a partition, with ``room`` numbers for cells; `refresh` the model afterwards.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The cell of each record, below ``room``.
    room : int
        The most cells there can be.
    capacity : int or array, shape (room,)
        The most records that a cell may have.
    log : int
        The most moves that can be taken back.
    """
    most = np.broadcast_to(np.asarray(capacity, np.int64), (room,)).copy()
    start = np.cumsum(most + 1) - (most + 1)
    n = len(labels)
    cells = Cells(
        labels.astype(np.int64),
        np.empty(n, np.int64),
        start,
        most,
        np.zeros(room, np.int64),
        np.zeros(int((most + 1).sum()), np.int64),
        np.empty((log, 3), np.int64),
        np.empty(2 * room, np.int64),
        np.zeros(3, np.int64),
    )
    fill(cells)
    return cells


@inner
def put(cells, i, p):
    """Add a record, which is in no cell, to a cell."""
    cells.members[cells.start[p] + cells.sizes[p]] = i
    cells.slot[i] = cells.sizes[p]
    cells.labels[i] = p
    cells.sizes[p] += 1


@kernel
def move(cells, i, q):
    """Move a record to cell q; call `refresh` or `update` for both cells afterwards."""
    p = cells.labels[i]
    cells.sizes[p] -= 1
    last = cells.members[cells.start[p] + cells.sizes[p]]
    cells.members[cells.start[p] + cells.slot[i]] = last
    cells.slot[last] = cells.slot[i]
    put(cells, i, q)


@kernel
def fill(cells):
    """Set members, sizes and free numbers from the labels, and begin a log."""
    cells.sizes[:] = 0
    for i in range(len(cells.labels)):
        put(cells, i, cells.labels[i])
    cells.count[FREE] = 0
    for p in range(len(cells.sizes)):
        if cells.sizes[p] == 0:
            cells.free[cells.count[FREE]] = p
            cells.count[FREE] += 1
    begin(cells)


@kernel
def begin(cells):
    """Begin a log; earlier moves can no longer be undone."""
    cells.count[LOGGED] = 0
    cells.count[HELD] = cells.count[FREE]


@inner
def move_logged(cells, i, q):
    """Move a record, and log it."""
    at = cells.count[LOGGED]
    cells.log[at, 0], cells.log[at, 1], cells.log[at, 2] = i, cells.labels[i], q
    cells.count[LOGGED] = at + 1
    move(cells, i, q)


@partial(inner, inline=True)
def take_back(model, cells, seen, stamp):
    """Undo the moves in the log, and refresh the cells that they touched.

    ``seen[p]`` is set to the stamp, which is a new one, for these cells.
    """
    moves = cells.count[LOGGED]
    for at in range(moves - 1, -1, -1):
        move(cells, cells.log[at, 0], cells.log[at, 1])
    for at in range(moves):
        for side in range(1, 3):
            p = cells.log[at, side]
            if seen[p] != stamp:
                seen[p] = stamp
                refresh(model, cells, p)
    cells.count[LOGGED] = 0
    cells.count[FREE] = cells.count[HELD]


@inner
def release(cells, p):
    """Put the number of a cell that is empty now on the stack."""
    cells.free[cells.count[FREE]] = p
    cells.count[FREE] += 1


@kernel
def refresh_all(model, cells, first, last):
    """Refresh the cells first..last-1; return their cost."""
    total = 0.0
    for p in range(first, last):
        refresh(model, cells, p)
        total += cost(model, cells, p)
    return total


@kernel
def costs(model, cells, out):
    """Write the cost of each cell."""
    for p in range(len(cells.sizes)):
        out[p] = cost(model, cells, p)


# -- what a model offers -----------------------------------------------------------------------------------


@operation
def refresh(model: Any, cells: Cells, p: int) -> None:
    """Recompute the model's sums for a cell, so that rounding errors do not add up."""
    raise NotImplementedError


@operation
def cost(model: Any, cells: Cells, p: int) -> float:
    """Return the cost of a cell; 0 for an empty one."""
    raise NotImplementedError


@operation(inline=True)
def change(model: Any, cells: Cells, p: int, out: int, new: int, limit: float) -> float:
    """Return the change of the cost of cell p if ``out`` leaves it and ``new`` joins it; -1 is nobody.

    It may be infinity where it is ``limit`` or more.
    """
    raise NotImplementedError


@operation(inline=True)
def update(model, cells, p, out, new):
    """Tell the model that ``out`` has left cell p and ``new`` has joined it; -1 is nobody.

    What is known by updates may drift: `refresh` now and then. It may leave what only `approach`, `shift`
    and `swap` use as it was.
    """
    refresh(model, cells, p)


@operation(inline=True)
def saving(model, cells, i):
    """Return a quick upper bound on how much the cost of its cell falls if record i leaves."""
    return math.inf


@operation(inline=True)
def approach(model, cells, i, q):
    """Return the values that `shift` and `swap` of record i with members of cell q both need."""
    return 0.0


@operation(inline=True)
def shift(model, cells, i, q, shared, limit):
    """Return the change of the cost if record i goes to cell q; ``shared`` comes from `approach`."""
    p = cells.labels[i]
    away = change(model, cells, p, i, min(-1, p), math.inf)
    return away + change(model, cells, q, min(-1, p), i, limit - away)


@operation(inline=True)
def swap(model, cells, i, j, shared, limit):
    """Return the change of the cost if records i and j change places; infinity if it is ``limit`` or more.

    ``shared`` is what `approach` returned for i and the cell of j.
    """
    here = change(model, cells, cells.labels[i], i, j, math.inf)
    return here + change(model, cells, cells.labels[j], j, i, limit - here)


@operation(inline=True)
def least_swap(model, cells, i, j, shared):
    """Return a lower bound on `swap`: neither cell can save more than by losing a record."""
    p, q = cells.labels[i], cells.labels[j]
    none = min(-1, p)
    return change(model, cells, p, i, none, math.inf) + change(model, cells, q, j, none, math.inf)
