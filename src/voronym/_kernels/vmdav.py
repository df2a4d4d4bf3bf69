"""V-MDAV on a tree; by scans it is in `scan`."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.search import nearest
from voronym._kernels.tree import ROOM, remove


@kernel
def next_to(X, tree, i, size, distances, result):
    """Fill the ``size`` living records nearest to record i, which itself may have left."""
    for j in range(X.shape[1]):
        tree.query[j] = X[i, j]
    return nearest(tree, tree.where[i] // ROOM, size, distances, result)


@kernel
def vmdav_fast(X, tree, work, next_one, order, k, ratio, budget):
    """Run V-MDAV as `scan.vmdav` does, on a tree, for ``budget`` records.

    Each member knows its nearest living record, ``next_one`` at ``work.near``; when that leaves, it looks
    again.
    """
    labels, state, distances, members, near = work.labels, work.state, work.distances, work.members, work.near
    pair = work.alive
    result, two = min(1, k), min(2, k)  # literals would be types of their own, and numba compile all for each
    while state[0] >= k and budget > 0:
        while labels[order[state[2]]] >= 0:
            state[2] += 1
        cell = state[1]
        next_to(X, tree, order[state[2]], k, distances, members)
        remove(tree, members, k)
        for q in range(k):
            labels[members[q]] = cell
            next_one[q] = -1
        state[0] -= k
        state[1] += 1
        size = k
        while ratio > 0.0 and size < 2 * k - 1 and state[0] > 0:
            best = -1
            for q in range(size):
                if next_one[q] < 0 or labels[next_one[q]] >= 0:
                    next_to(X, tree, members[q], result, distances, pair)
                    near[q], next_one[q] = distances[0], pair[0]
                if (
                    best < 0
                    or near[q] < near[best]
                    or (near[q] == near[best] and next_one[q] < next_one[best])
                ):
                    best = q
            new = next_one[best]
            outside = math.inf
            if next_to(X, tree, new, two, distances, pair) == 2:
                outside = distances[1] if pair[0] == new else distances[0]
            if not near[best] < ratio * outside:
                break
            pair[0] = new
            remove(tree, pair, result)
            labels[new] = cell
            members[size] = new
            next_one[size] = -1
            size += 1
            state[0] -= 1
        budget -= size
