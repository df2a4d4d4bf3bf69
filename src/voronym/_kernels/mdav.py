"""MDAV on a tree."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.scan import CELLS, LEFT, add, aim_at_centroid
from voronym._kernels.search import SLACK, TINY, ask, farthest, nearest
from voronym._kernels.tree import remove


class Shell(NamedTuple):
    """The records farthest from an earlier mean, in runs of equal records, by falling distance."""

    mean: NDArray[np.float64]  # (d,) the earlier mean
    distance: NDArray[np.float64]  # (runs,) distance to it
    points: NDArray[np.float64]  # (runs, d)
    start: NDArray[np.int64]  # (runs + 1,) where a run begins in record
    place: NDArray[np.int64]  # (runs,) where its first record begins that may remain
    record: NDArray[np.int64]  # ascending in a run


@kernel
def outermost(shell, labels, mean, complete, state):
    """Return the remaining record farthest from the mean; -1 if the shell cannot decide.

    The shell has the records that were farthest from an earlier mean, by falling distance. The mean has moved
    by ``drift`` since, so no distance has grown by more: the search ends where the earlier distance and drift
    fall short of the best. Equal records form a run, and only the first of a run that remains can be chosen.
    """
    d = len(mean)
    drift = 0.0
    for j in range(d):
        drift += (mean[j] - shell.mean[j]) ** 2
    drift = math.sqrt(drift) * SLACK
    best = -1.0
    chosen = -1
    runs = len(shell.distance)
    head = state[2]
    for run in range(state[2], runs):
        bound = shell.distance[run] + drift
        if bound * bound * SLACK + TINY < best:
            return chosen
        place = shell.place[run]
        while place < shell.start[run + 1] and labels[shell.record[place]] >= 0:
            place += 1
        shell.place[run] = place
        if place == shell.start[run + 1]:
            if run == head:
                head += 1
                state[2] = head
            continue
        distance = 0.0
        for j in range(d):
            difference = shell.points[run, j] - mean[j]
            distance += difference * difference
        index = shell.record[place]
        if distance > best or (distance == best and index < chosen):
            best = distance
            chosen = index
    if complete or runs == 0:
        return chosen
    bound = shell.distance[runs - 1] + drift
    return chosen if bound * bound * SLACK + TINY < best else -1


@kernel
def mdav_fast(scan, tree, shell, complete, work, k, budget):
    """Run MDAV for ``budget`` pairs of cells; ``work.state[2]`` is the head of the shell.

    Returns what is left of the budget: something, where the shell does not tell the outermost record any
    more. Same steps, in the same order, as `voronym._kernels.scan.mdav`.
    """
    state, members = work.state, work.members
    while state[LEFT] >= 2 * k and budget > 0:
        left = state[LEFT]
        aim_at_centroid(scan, left)
        r = outermost(shell, work.labels, scan.point, complete, state)
        if r < 0:
            return budget
        budget -= 1
        for turn in range(2 if left >= 3 * k else 1):
            if turn == 1:
                r, _ = farthest(tree)  # from r, which is still the point asked about
            nearest(tree, ask(tree, r), k, work.distances, members)
            for q in range(k):
                work.labels[members[q]] = state[CELLS]
                add(scan, members[q], -1.0)
            remove(tree, members, k)
            state[LEFT] -= k
            state[CELLS] += 1
    return budget
