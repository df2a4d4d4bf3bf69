"""Dissolve cells whose records are better off in others, and split those that grow too large."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import add_exactly, mdav_plain, squared_distance


@kernel
def fit_mean(X, table, sizes, means, c):
    """Set the mean of a cell from its members."""
    for j in range(X.shape[1]):
        total = 0.0
        for q in range(sizes[c]):
            total += X[table[c, q], j]
        means[c, j] = total / sizes[c]


@kernel
def sort_members(table, sizes, c):
    """Sort the members of a cell: those that joined came last."""
    for q in range(1, sizes[c]):
        i = table[c, q]
        while q > 0 and table[c, q - 1] > i:
            table[c, q] = table[c, q - 1]
            q -= 1
        table[c, q] = i


@kernel
def spread(X, table, sizes, means, c):
    """Return the sum of squares of a cell."""
    total = 0.0
    for q in range(sizes[c]):
        total += squared_distance(X, table[c, q], means[c])
    return total


@kernel
def nearest_cell(means, point, own):
    """Return the cell other than ``own`` with the nearest mean, and the squared distance to it.

    Empty places have means at infinity.
    """
    best = math.inf
    chosen = -1
    for c in range(means.shape[0]):
        distance = squared_distance(means, c, point)
        if distance < best and c != own:
            best = distance
            chosen = c
    return chosen, best


@kernel
def split(X, k, c, table, sizes, means, free, state, labels, alive, counts, high, low, point, near, members):
    """Split a cell of 2k to 4k-2 records by MDAV; the first part keeps its place, others take free ones."""
    size = sizes[c]
    sort_members(table, sizes, c)
    high[:] = 0.0
    low[:] = 0.0
    for q in range(size):
        alive[q] = table[c, q]
        labels[alive[q]] = -1
        for j in range(X.shape[1]):
            high[j], low[j] = add_exactly(high[j], low[j], X[alive[q], j])
    counts[0], counts[1] = size, 0
    while counts[0] > 0:
        mdav_plain(X, k, labels, alive, counts, high, low, point, near, members, 4 * size)
    for part in range(counts[1], -1, -1):
        place = c
        if part > 0:
            state[1] -= 1
            place = free[state[1]]
        filled = 0
        for q in range(size):
            if labels[table[c, q]] == part:
                table[place, filled] = table[c, q]
                filled += 1
        sizes[place] = filled
        fit_mean(X, table, sizes, means, place)


@kernel
def dissolve(
    X, k, order, table, sizes, means, free, state, target, before, labels, alive, counts, high, low, point,
    near, members, budget,
):  # fmt: skip
    """Visit cells from ``state`` (position in order, free places); dissolve each where that lowers the loss.

    The members move one by one to the cell with the nearest mean, which moves with them. If the sum of
    squares falls the cell is gone, and those that reached 2k records are split; if not, all is put back.
    """
    d = X.shape[1]
    while state[0] < len(order) and budget > 0:
        g = order[state[0]]
        state[0] += 1
        sort_members(table, sizes, g)
        own = spread(X, table, sizes, means, g)
        added = 0.0
        moved = 0
        size = sizes[g]
        while moved < size and added < own:
            i = table[g, moved]
            c, distance = nearest_cell(means, X[i], g)
            budget -= means.shape[0]
            if c < 0:
                added = math.inf
                break
            added += distance * sizes[c] / (sizes[c] + 1)
            target[moved] = c
            table[c, sizes[c]] = i
            sizes[c] += 1
            for j in range(d):
                before[moved, j] = means[c, j]
                means[c, j] += (X[i, j] - means[c, j]) / sizes[c]
            moved += 1
        if added < own:
            sizes[g] = 0
            means[g, :] = math.inf
            free[state[1]] = g
            state[1] += 1
            for q in range(moved):
                c = target[q]
                if sizes[c] >= 2 * k:
                    split(
                        X, k, c, table, sizes, means, free, state, labels, alive, counts, high, low, point,
                        near, members,
                    )  # fmt: skip
        else:
            for q in range(moved - 1, -1, -1):
                c = target[q]
                sizes[c] -= 1
                for j in range(d):
                    means[c, j] = before[q, j]
