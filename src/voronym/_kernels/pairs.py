"""Pair search: every swap and every shift between two neighbouring cells, priced at once.

Cells are worked on in *blocks* that fit a core's cache, in single precision about the middle of the block: a
block only decides who goes where, what that costs is summed again in double precision by the caller. The
coordinates of a cell lie column by column, so that a price for each of its records is a few vector
instructions.

For a swap of i in cell P with j in cell Q let w = c_P - c_Q and m the middle of the two centroids. Then it
changes the cost by ``2 (x_i - m).w - 2 (x_j - m).w - (1/|P| + 1/|Q|) |x_i - x_j|²``. As ``|x_i - x_j|²`` is
at most ``2 |x_i - m|² + 2 |x_j - m|²``, most records are seen not to be worth a row of prices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.pair_jumps import dissolve, found, recentre, shift
from voronym._kernels.random import below

LANES = 8
"""Records are padded to a multiple of this."""
QUANTILES = -np.log((np.arange(4096) + 0.5) / 4096).astype(np.float32)
"""Tolerances of moves in temperatures: each is equally likely."""
MOST = np.float32(-np.log(0.5 / 4096))

ZERO, ONE, TWO, HALF, QUARTER = (np.float32(item) for item in (0.0, 1.0, 2.0, 0.5, 0.25))


class Block(NamedTuple):
    """A block of cells with their records' coordinates and scratch memory. Made by `make`."""

    points: NDArray[np.float32]  # (cells, d, room)
    record: NDArray[np.int64]  # (cells, room)
    size: NDArray[np.int64]  # (cells,)
    centre: NDArray[np.float32]  # (cells, d)
    columns: NDArray[np.float32]  # (d, cells) the same, for the search of neighbours
    near: NDArray[np.int64]  # (cells, K) the nearest cells of each
    heat: NDArray[np.float32]  # (cells,) cost of a record in the neighbourhood
    own: NDArray[np.float32]  # (cells,) cost of a record in the cell
    toward: NDArray[np.float32]  # (2, room) how far a record is on the side of its own cell
    away: NDArray[np.float32]  # (2, room) squared distance to the middle between the cells
    row: NDArray[np.float32]  # (max(room, cells),) a row of squared distances
    quantiles: NDArray[np.float32]  # `QUANTILES`
    random: NDArray[np.uint64]  # (1,)
    moved: NDArray[np.int64]  # (room,) from which cell, or to which, a record was moved last
    spare: NDArray[np.int64]  # (1,) rows at the end that no cell has taken yet


def room(k: int) -> int:
    """Return how many more records a cell can take."""
    return -(-(2 * k - 1) // LANES) * LANES


def make(cells: int, d: int, k: int, width: int, seed: int) -> Block:
    """Return an empty block for m cells with ``width`` neighbours each, and room for new cells."""
    single, slots, width = np.float32, room(k), min(width, cells - 1)
    spare = cells // 8 + 1
    cells += spare
    return Block(
        np.zeros((cells, d, slots), single),
        np.zeros((cells, slots), np.int64),
        np.zeros(cells, np.int64),
        np.zeros((cells, d), single),
        np.zeros((d, cells), single),
        np.zeros((cells, width), np.int64),
        np.zeros(cells, single),
        np.zeros(cells, single),
        np.zeros((2, slots), single),
        np.zeros((2, slots), single),
        np.zeros(max(slots, cells), single),
        QUANTILES,
        np.array([seed | 1], np.uint64),
        np.zeros(slots, np.int64),
        np.array([spare]),
    )


@kernel
def load(block, X, cells, members, sizes, middle, scale):
    """Fill a block with the cells of a list, about a middle and divided by a scale; then find neighbours."""
    d = X.shape[1]
    for p in range(len(cells)):
        q = cells[p]
        block.size[p] = sizes[q]
        for t in range(sizes[q]):
            i = members[q, t]
            block.record[p, t] = i
            for c in range(d):
                block.points[p, c, t] = np.float32((X[i, c] - middle[c]) * scale)
        recentre(block, p)
        total = ZERO
        for c in range(d):
            for t in range(sizes[q]):
                apart = block.points[p, c, t] - block.centre[p, c]
                total += apart * apart
            block.columns[c, p] = block.centre[p, c]
        block.own[p] = total / np.float32(sizes[q])
    for p in range(len(cells)):
        neighbours(block, p, len(cells))


@inner
def neighbours(block, p, cells):
    """Find the nearest cells of a cell by their centroids, and the usual cost of a record there."""
    d = len(block.columns)
    width = block.near.shape[1]
    row, near = block.row, block.near
    for q in range(cells):
        row[q] = ZERO
    for c in range(d):
        value = block.columns[c, p]
        for q in range(cells):
            apart = block.columns[c, q] - value
            row[q] += apart * apart
    row[p] = np.float32(np.inf)
    result = min(0, p)
    for q in range(cells):
        value = row[q]
        if result == width and not value < row[near[p, width - 1]]:
            continue
        if q == p:
            continue
        at = result if result < width else width - 1
        while at > 0 and row[near[p, at - 1]] > value:
            near[p, at] = near[p, at - 1]
            at -= 1
        near[p, at] = q
        if result < width:
            result += 1
    total = block.own[p]
    for t in range(width):
        total += block.own[near[p, t]]
    block.heat[p] = total / np.float32(width + 1)


@kernel
def store(block, X, cells, members, sizes, centroids, costs):
    """Write the cells of a block back, with their centroids and costs in double precision."""
    d = X.shape[1]
    for p in range(len(cells)):
        q = cells[p]
        size = block.size[p]
        sizes[q] = size
        for t in range(size):
            members[q, t] = block.record[p, t]
        if size > 0:
            measure(X, members, q, size, d, centroids, costs)


@inner
def measure(X, members, q, size, d, centroids, costs):
    """Compute the centroid and the cost of a cell in double precision."""
    for c in range(d):
        centroids[q, c] = 0.0
    for t in range(size):
        for c in range(d):
            centroids[q, c] += X[members[q, t], c]
    total = 0.0
    for c in range(d):
        centroids[q, c] /= size
    for t in range(size):
        for c in range(d):
            apart = X[members[q, t], c] - centroids[q, c]
            total += apart * apart
    costs[q] = total


@kernel
def measure_all(X, members, sizes, first, last, centroids, costs):
    """Compute centroids and costs of the cells first..last-1."""
    for q in range(first, last):
        measure(X, members, q, sizes[q], X.shape[1], centroids, costs)


@inner
def project(block, p, q):
    """Fill how far the records of two cells are on their own side, and from the middle; return |w|²."""
    points, centre, toward, away = block.points, block.centre, block.toward, block.away
    room = points.shape[2]
    for t in range(room):
        toward[0, t] = ZERO
        toward[1, t] = ZERO
        away[0, t] = ZERO
        away[1, t] = ZERO
    square = ZERO
    for c in range(points.shape[1]):
        w = centre[p, c] - centre[q, c]
        m = HALF * (centre[p, c] + centre[q, c])
        square += w * w
        for t in range(room):
            x = points[p, c, t] - m
            toward[0, t] += x * w
            away[0, t] += x * x
        for t in range(room):
            x = points[q, c, t] - m
            toward[1, t] -= x * w
            away[1, t] += x * x
    return square


@inner
def best_shift(block, side, n1, n2, square, temperature, best):
    """Return the best move of a record from a cell of n1 records to one of n2, and its noisy price."""
    out = np.float32(n1) / np.float32(n1 - 1)
    into = np.float32(n2) / np.float32(n2 + 1)
    chosen = min(-1, n1)
    limit = best + temperature * MOST
    for t in range(n1):
        base = block.away[side, t] + QUARTER * square
        price = into * (base + block.toward[side, t]) - out * (base - block.toward[side, t])
        if price < limit:
            price -= temperature * block.quantiles[below(block.random, 4096)]
            if price < best:
                best = price
                chosen = t
                limit = best + temperature * MOST
    return chosen, best


@inner
def best_swap(block, p, q, temperature, best):
    """Return the best swap of two records of two cells, and its noisy price."""
    points, toward, away, row = block.points, block.toward, block.away, block.row
    d, room = points.shape[1], points.shape[2]
    n1, n2 = block.size[p], block.size[q]
    share = ONE / np.float32(n1) + ONE / np.float32(n2)
    least = np.float32(np.inf)
    for t in range(n2):
        least = min(least, toward[1, t] - share * away[1, t])
    result = two = min(-1, n1)
    limit = best + temperature * MOST
    for i in range(n1):
        if TWO * (toward[0, i] - share * away[0, i] + least) >= limit:
            continue
        for t in range(room):
            row[t] = ZERO
        for c in range(d):
            x = points[p, c, i]
            for t in range(room):
                apart = points[q, c, t] - x
                row[t] += apart * apart
        mine = TWO * toward[0, i]
        for t in range(n2):
            price = mine + TWO * toward[1, t] - share * row[t]
            if price < limit:
                price -= temperature * block.quantiles[below(block.random, 4096)]
                if price < best:
                    best = price
                    result = i
                    two = t
                    limit = best + temperature * MOST
    return result, two, best


@inner
def exchange(block, p, i, q, j):
    """Swap two records."""
    block.record[p, i], block.record[q, j] = block.record[q, j], block.record[p, i]
    for c in range(block.points.shape[1]):
        block.points[p, c, i], block.points[q, c, j] = block.points[q, c, j], block.points[p, c, i]


@inner
def visit(block, p, q, k, temperature, tiny):
    """Make the best move between two cells, each price less exponential noise; return whether there is one.

    Noise of the scale of the temperature makes it a draw among all moves and staying.
    """
    n1, n2 = block.size[p], block.size[q]
    square = project(block, p, q)
    best = -tiny
    i, j, best = best_swap(block, p, q, temperature, best)
    if n1 > k and n2 < 2 * k - 1:
        t, best = best_shift(block, 0, n1, n2, square, temperature, best)
        if t >= 0:
            i, j = t, min(-1, t)
    if n2 > k and n1 < 2 * k - 1:
        t, best = best_shift(block, 1, n2, n1, square, temperature, best)
        if t >= 0:
            i, j = min(-1, t), t
    if i >= 0 and j >= 0:
        exchange(block, p, i, q, j)
    elif i >= 0:
        shift(block, p, i, q)
    elif j >= 0:
        shift(block, q, j, p)
    else:
        return False
    recentre(block, p)
    recentre(block, q)
    return True


@kernel
def sweep(block, k, heat, visits, jumps):
    """Visit pairs of neighbours, the cells by turns; return how many moves were made.

    ``heat`` is the temperature in terms of what a record costs in the neighbourhood. In the share ``jumps``
    of the turns a cell may be dissolved, or founded, instead.
    """
    moves = min(0, k)
    rare = int(jumps * 2**20)
    for turn in range(visits):
        p = turn % (len(block.size) - block.spare[0])
        if block.size[p] == 0:
            continue
        q = block.near[p, below(block.random, block.near.shape[1])]
        local = HALF * (block.heat[p] + block.heat[q])
        temperature = np.float32(heat) * local
        tiny = np.float32(1e-5) * local
        if below(block.random, 2**20) < rare:
            limit = temperature * block.quantiles[below(block.random, 4096)] - tiny
            if below(block.random, 2) == 0:
                moves += dissolve(block, p, k, limit)
            else:
                moves += found(block, p, k, limit)
        elif block.size[q] > 0 and visit(block, p, q, k, temperature, tiny):
            moves += 1
    return moves
