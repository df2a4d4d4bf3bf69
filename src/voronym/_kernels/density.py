"""Cells around records chosen by their neighbourhoods: the densest, or the one farthest out."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import add_exactly, squared_distance
from voronym._kernels.tree import remove
from voronym._kernels.vmdav import next_to


@kernel
def look(X, tree, near, centers, i, distances, members):
    """Fill ``near[i]``, the remaining records nearest to record i, and ``centers[i]``, their mean.

    Record i itself is one of them, unless as many equal records have lower indices. Returns their sum of
    squares.
    """
    k = near.shape[1]
    next_to(X, tree, i, k, distances, members)
    for j in range(X.shape[1]):
        total = 0.0
        for q in range(k):
            total += X[members[q], j] - X[i, j]
        centers[i, j] = X[i, j] + total / k
    squares = 0.0
    for q in range(k):
        near[i, q] = members[q]
        squares += squared_distance(X, members[q], centers[i])
    return squares


@kernel
def look_all(X, tree, near, centers, squares, distances, members, start, stop):
    """Look around the records from ``start`` to ``stop``."""
    for i in range(start, stop):
        squares[i] = look(X, tree, near, centers, i, distances, members)


@kernel
def is_stale(near, i, labels):
    """Say whether one of the nearest of record i has a cell by now."""
    q = 0
    while q < near.shape[1] and labels[near[i, q]] < 0:
        q += 1
    return q < near.shape[1]


@kernel
def take_near(tree, near, i, labels, state, members):
    """Make a cell of the nearest of record i; ``state`` begins with (remaining, cells)."""
    k = near.shape[1]
    for q in range(k):
        members[q] = near[i, q]
        labels[members[q]] = state[1]
    remove(tree, members, k)
    state[0] -= k
    state[1] += 1


@kernel
def drop_taken(alive, left, labels):
    """Keep the records without a cell."""
    kept = 0
    for t in range(left):
        if labels[alive[t]] < 0:
            alive[kept] = alive[t]
            kept += 1


@kernel
def sparsest(X, tree, near, centers, order, alive, labels, state, distances, members, cells):
    """Make cells around the first remaining records of an order: ``cells`` of them, while k remain."""
    k = near.shape[1]
    at = 0
    left = state[0]
    while state[0] >= k and state[1] < cells:
        while labels[order[at]] >= 0:
            at += 1
        look(X, tree, near, centers, order[at], distances, members)
        take_near(tree, near, order[at], labels, state, members)
    drop_taken(alive, left, labels)


@kernel
def densest(X, tree, near, centers, squares, alive, labels, state, distances, members, budget):
    """Make cells around the densest remaining records, from ``state`` (remaining, cells).

    ``squares[i]`` is the sum of squares of i and its nearest. It may fall as well as rise when one of them
    leaves, so those are all looked at again: bounds would not do.
    """
    k = near.shape[1]
    while state[0] >= k and budget > 0:
        left = state[0]
        budget -= left
        best = math.inf
        chosen = -1
        for t in range(left):
            i = alive[t]
            if is_stale(near, i, labels):
                squares[i] = look(X, tree, near, centers, i, distances, members)
            if squares[i] < best:
                best = squares[i]
                chosen = i
        take_near(tree, near, chosen, labels, state, members)
        drop_taken(alive, left, labels)


@kernel
def farthest_out(
    X, tree, near, centers, alive, labels, state, high, low, mean, distances, members, budget
):  # fmt: skip
    """Make cells of the nearest of the record whose group has its mean farthest from that of the remaining.

    ``state`` is (remaining, cells); ``alive`` has the remaining records, ascending.
    """
    d = X.shape[1]
    k = near.shape[1]
    while state[0] >= k and budget > 0:
        left = state[0]
        budget -= left
        for j in range(d):
            mean[j] = high[j] / left
        best = -1.0
        chosen = -1
        for t in range(left):
            i = alive[t]
            if is_stale(near, i, labels):
                look(X, tree, near, centers, i, distances, members)
            distance = squared_distance(centers, i, mean)
            if distance > best:
                best = distance
                chosen = i
        take_near(tree, near, chosen, labels, state, members)
        for q in range(k):
            for j in range(d):
                high[j], low[j] = add_exactly(high[j], low[j], -X[members[q], j])
        drop_taken(alive, left, labels)
