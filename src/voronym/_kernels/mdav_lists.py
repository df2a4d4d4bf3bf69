"""MDAV from lists: the nearest and farthest records of those that will be queried soon.

Records only leave. So a sorted list of the nearest records, made at any time before, still begins with the
nearest of those that remain, as long as enough of it does; the same holds for the farthest. Lists can hence
be made ahead, many at a time and on all cores, and one thread walks. Where a list does not tell, the walk
asks the tree itself, so a poor guess of who will be asked costs time and nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.mdav import outermost
from voronym._kernels.mdav_near import copy_leaf
from voronym._kernels.plain import arrange, insert, squared_distance, worst_of
from voronym._kernels.scan import CELLS, LEFT, add, aim_at_centroid
from voronym._kernels.search import SLACK, TINY, ask, farthest, nearest
from voronym._kernels.tree import ROOM, remove

HEAD, ASKED = 2, 3  # further entries of Remaining.state: head of the shell, who needs a list
DONE, SHELL, LISTS = 0, 1, 2  # why a walk ended


class Lists(NamedTuple):
    """Lists of the nearest and of the farthest records. Made by `make`."""

    row: NDArray[np.int64]  # (n,) the row of a record's lists; -1: none
    near: NDArray[np.int64]  # (rows, M) by distance and index
    far: NDArray[np.int64]  # (rows, F) by falling distance and index; -1: none made
    taken: NDArray[np.int64]  # (n,) the last forecast by which a record was gone


class Pool(NamedTuple):
    """The records farthest from a middle, by falling distance: among them are the farthest from any other."""

    points: NDArray[np.float32]  # (d, size) about the middle
    record: NDArray[np.int64]  # (size,)
    distance: NDArray[np.float64]  # (size,) to the middle
    middle: NDArray[np.float64]  # (d,)
    complete: bool  # whether it has all records that remain


def make(n: int, rows: int, near: int, far: int) -> Lists:
    """Return empty lists."""
    return Lists(np.full(n, -1), np.full((rows, near), -1), np.full((rows, far), -1), np.zeros(n, np.int64))


@inner
def first_alive(labels, listed, size, out):
    """Fill the first ``size`` remaining records of a list; return how many there are."""
    result = min(0, size)
    for i in listed:
        if i < 0 or result == size:
            break
        if labels[i] < 0:
            out[result] = i
            result += 1
    return result


@kernel
def upcoming(shell, work, want, out):
    """Fill the outermost records that remain, ``want`` at most, as the shell has them; return how many."""
    result = min(0, want)
    for run in range(work.state[HEAD], len(shell.distance)):
        for place in range(shell.place[run], shell.start[run + 1]):
            if work.labels[shell.record[place]] < 0:
                out[result] = shell.record[place]
                result += 1
                break
        if result == want:
            break
    return result


@kernel
def lacking(ids, work, lists, k, out):
    """Fill the records whose list names fewer than k remaining records; return their number."""
    result = min(0, k)
    for i in ids:
        row = lists.row[i]
        if row < 0 or first_alive(work.labels, lists.near[row], k, work.members) < k:
            out[result] = i
            result += 1
    return result


@kernel
def forecast(ids, work, lists, k, stamp, out):
    """Walk ahead along the lists; fill the records to be queried as farthest; return their number."""
    result = min(0, k)
    labels, taken = work.labels, lists.taken
    for i in ids:
        row = lists.row[i]
        if taken[i] == stamp or row < 0:
            continue
        for turn in range(2):
            left = k
            for j in lists.near[row]:
                if j < 0 or left == 0:
                    break
                if labels[j] < 0 and taken[j] != stamp:
                    taken[j] = stamp
                    left -= 1
            if turn == 1:
                break
            s = min(-1, i)
            for j in lists.far[row]:
                if j >= 0 and labels[j] < 0 and taken[j] != stamp:
                    s = j
                    break
            if s < 0:
                break
            taken[s] = stamp
            out[result] = s
            result += 1
            row = lists.row[s]
            if row < 0:
                break
    return result


@inner
def far_from(X, i, pool, labels, row, distances, members):
    """Fill the records of the pool that are farthest from record i, as long as no other can be as far.

    Nobody at distance ρ from the middle is farther from i than ρ plus i's own. Single precision only says
    whom to look at: ``error`` is twice what it can be wrong by.
    """
    d, size, listed = len(X[0]), len(pool.record), len(members)
    last, step = worst_of(listed), len(row)
    own = math.sqrt(squared_distance(X, i, pool.middle)) * SLACK
    result = min(0, listed)
    best = cut = -1.0
    bound = math.inf
    first = 0
    while first < size:
        reach = (pool.distance[first] + own) * SLACK
        bound = reach * reach + TINY
        if result == listed and bound < best:
            break
        stop = min(size, first + step)
        block_distances(pool.points, first, stop - first, X, i, pool.middle, row)
        for t in range(stop - first):
            j = pool.record[first + t]
            if row[t] >= cut and labels[j] < 0:
                result = insert(distances, members, result, listed, -squared_distance(X, j, X[i]), j)
                if result == listed:
                    best = -distances[last]
                    error = 1e-6 * (math.sqrt(d * best) * (pool.distance[0] + own) + d * best)
                    cut = best - error
        first = stop
    arrange(distances, members, result, listed)
    if first >= size:
        bound = -1.0 if pool.complete else (pool.distance[size - 1] + own) ** 2 * SLACK + TINY
    for t in range(listed):
        if t >= result or -distances[t] <= bound:
            members[t] = -1


@inner
def block_distances(points, first, count, X, i, middle, row):
    """Fill the squared distances from record i to a block of the pool."""
    for t in range(count):
        row[t] = np.float32(0.0)
    for j in range(len(middle)):
        value = np.float32(X[i, j] - middle[j])
        column = points[j, first : first + count]
        for t in range(count):
            away = column[t] - value
            row[t] += away * away


@kernel
def far_lists(X, pool, labels, ids, distances, row, out):
    """Fill the farthest records by falling distance and index, as far as the pool can decide."""
    for t in range(len(ids)):
        far_from(X, ids[t], pool, labels, row, distances, out[t])


@kernel
def walk(scan, tree, single, shell, complete, work, lists, k, budget):
    """Run MDAV as far as shell and lists reach, for ``budget`` pairs of cells; return why it ended.

    Same steps, in the same order, as `voronym._kernels.scan.mdav`.
    """
    state, members, labels = work.state, work.members, work.labels
    while state[LEFT] >= 2 * k and budget > 0:
        left = state[LEFT]
        aim_at_centroid(scan, left)
        r = outermost(shell, labels, scan.point, complete, state)
        if r < 0:
            return SHELL
        row = lists.row[r]
        if row < 0 or first_alive(labels, lists.near[row], k, members) < k:
            state[ASKED] = r
            return LISTS
        budget -= 1
        for turn in range(2 if left >= 3 * k else 1):
            if turn == 1:
                result = first_alive(labels, lists.far[row], 1, members)
                s = members[0]
                if result < 1:
                    for j in range(len(tree.query)):  # r has left the tree
                        tree.query[j] = scan.points[r, j]
                    s, _ = farthest(tree)
                row = lists.row[s]
                if row < 0 or first_alive(labels, lists.near[row], k, members) < k:
                    nearest(tree, ask(tree, s), k, work.distances, members)
            for q in range(k):
                labels[members[q]] = state[CELLS]
                add(scan, members[q], -1.0)
            remove(tree, members, k)
            for q in range(k):
                copy_leaf(tree, tree.where[members[q]] // ROOM, single)
            state[LEFT] -= k
            state[CELLS] += 1
    return DONE
