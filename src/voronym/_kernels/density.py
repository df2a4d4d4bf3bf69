"""Cells around records chosen by their neighbourhoods: the densest, or the one farthest out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from voronym._kernels import kernel
from voronym._kernels.plain import add_exactly, squared_distance
from voronym._kernels.tree import Tree, remove
from voronym._kernels.vmdav import next_to


class Around(NamedTuple):
    """Records, and the known k nearest of each, itself included."""

    X: Any
    tree: Tree
    near: Any  # (n, k) by distance, then index
    centers: Any  # (n, d) their mean
    squares: Any  # (n,) their sum of squares
    distances: Any  # (k,) scratch
    members: Any  # (k,) scratch


class Rest(NamedTuple):
    """The records that have no group yet."""

    alive: Any  # ascending; the first ``state[0]`` of them
    labels: Any  # (n,) the group of a record, or -1
    state: Any  # (remaining, groups)


class Sums(NamedTuple):
    """Exact sums of the remaining records, and scratch for their mean."""

    high: Any
    low: Any
    mean: Any


@kernel
def look(around, i):
    """Fill ``near[i]``, the remaining records nearest to record i, and ``centers[i]``, their mean.

    Record i itself is one of them, unless as many equal records have lower indices. Returns their sum of
    squares.
    """
    X, near, centers, members = around.X, around.near, around.centers, around.members
    k = near.shape[1]
    next_to(X, around.tree, i, k, around.distances, members)
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
def look_all(around, start, stop):
    """Look around the records from ``start`` to ``stop``."""
    for i in range(start, stop):
        around.squares[i] = look(around, i)


@kernel
def is_stale(near, i, labels):
    """Return whether any of the nearest of record i has been assigned to a cell."""
    q = 0
    while q < near.shape[1] and labels[near[i, q]] < 0:
        q += 1
    return q < near.shape[1]


@kernel
def take_near(around, rest, i):
    """Make a group of the nearest of record i."""
    near, members = around.near, around.members
    k = near.shape[1]
    for q in range(k):
        members[q] = near[i, q]
        rest.labels[members[q]] = rest.state[1]
    remove(around.tree, members, k)
    rest.state[0] -= k
    rest.state[1] += 1


@kernel
def drop_taken(rest, left):
    """Keep those of the first ``left`` records that have no group."""
    kept = 0
    for t in range(left):
        if rest.labels[rest.alive[t]] < 0:
            rest.alive[kept] = rest.alive[t]
            kept += 1


@kernel
def sparsest(around, rest, order, groups):
    """Make groups around the first remaining records of an order: ``groups`` of them, while k remain."""
    k = around.near.shape[1]
    at = 0
    left = rest.state[0]
    while rest.state[0] >= k and rest.state[1] < groups:
        while rest.labels[order[at]] >= 0:
            at += 1
        look(around, order[at])
        take_near(around, rest, order[at])
    drop_taken(rest, left)


@kernel
def densest(around, rest, budget):
    """Make groups around the densest remaining records, for ``budget`` steps.

    ``squares[i]`` is the sum of squares of i and its nearest. It may fall as well as rise when one of them
    leaves, so those are all looked at again: bounds would not do.
    """
    near, squares, alive, labels = around.near, around.squares, rest.alive, rest.labels
    while rest.state[0] >= near.shape[1] and budget > 0:
        left = rest.state[0]
        budget -= left
        best = math.inf
        chosen = -1
        for t in range(left):
            i = alive[t]
            if is_stale(near, i, labels):
                squares[i] = look(around, i)
            if squares[i] < best:
                best = squares[i]
                chosen = i
        take_near(around, rest, chosen)
        drop_taken(rest, left)


@kernel
def farthest_out(around, rest, sums, budget):
    """Make groups, each around the record whose group has the mean farthest from the mean of all remaining.

    For ``budget`` steps.
    """
    X, near, centers, alive, labels = around.X, around.near, around.centers, rest.alive, rest.labels
    mean = sums.mean
    d = X.shape[1]
    k = near.shape[1]
    while rest.state[0] >= k and budget > 0:
        left = rest.state[0]
        budget -= left
        for j in range(d):
            mean[j] = sums.high[j] / left
        best = -1.0
        chosen = -1
        for t in range(left):
            i = alive[t]
            if is_stale(near, i, labels):
                look(around, i)
            distance = squared_distance(centers, i, mean)
            if distance > best:
                best = distance
                chosen = i
        take_near(around, rest, chosen)
        for q in range(k):
            for j in range(d):
                step = -X[around.members[q], j]
                sums.high[j], sums.low[j] = add_exactly(sums.high[j], sums.low[j], step)
        drop_taken(rest, left)
