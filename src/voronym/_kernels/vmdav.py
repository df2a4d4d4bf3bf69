"""V-MDAV by scans over all remaining records: O(n²) distances."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import nearest_to, squared_distance
from voronym._kernels.search import nearest
from voronym._kernels.tree import ROOM, remove


@kernel
def vmdav_plain(X, k, gamma, order, labels, alive, state, point, distances, members, near, budget):
    """Run V-MDAV from ``state`` (remaining, cells, position in ``order``) for ``budget`` distances.

    ``order`` has the records by falling distance to the overall mean; ``near`` is scratch for the distance of
    each remaining record to the cell being built.
    """
    d = X.shape[1]
    left, cell, head = state[0], state[1], state[2]
    while left >= k and budget > 0:
        budget -= (k + 2) * left
        while labels[order[head]] >= 0:
            head += 1
        for j in range(d):
            point[j] = X[order[head], j]
        nearest_to(X, alive, left, point, k, distances, members)
        for q in range(k):
            labels[members[q]] = cell
        kept = 0
        for t in range(left):
            if labels[alive[t]] < 0:
                alive[kept] = alive[t]
                kept += 1
        left = kept
        for t in range(left):
            near[t] = math.inf
        for q in range(2 * k - 1):
            if q < k:
                new = members[q]
            else:
                best = -1
                for t in range(left):
                    if best < 0 or near[t] < near[best]:
                        best = t
                if best < 0:
                    break
                new = alive[best]
                for j in range(d):
                    point[j] = X[new, j]
                outside = math.inf
                for t in range(left):
                    if t != best:
                        outside = min(outside, squared_distance(X, alive[t], point))
                if not near[best] < gamma * gamma * outside:
                    break
                labels[new] = cell
                left -= 1
                for t in range(best, left):
                    alive[t] = alive[t + 1]
                    near[t] = near[t + 1]
            if gamma > 0.0:
                for j in range(d):
                    point[j] = X[new, j]
                for t in range(left):
                    distance = squared_distance(X, alive[t], point)
                    if distance < near[t]:
                        near[t] = distance
            elif q == k - 1:
                break
        cell += 1
    state[0], state[1], state[2] = left, cell, head


@kernel
def next_to(X, tree, i, size, distances, found):
    """Fill the ``size`` living records nearest to record i, which itself may have left."""
    for j in range(X.shape[1]):
        tree.query[j] = X[i, j]
    return nearest(tree, tree.where[i] // ROOM, size, distances, found)


@kernel
def vmdav_fast(X, tree, k, gamma, order, labels, state, distances, members, near, next_one, pair, budget):
    """Run V-MDAV as `vmdav_plain` does, on a tree, for ``budget`` records.

    Each member knows its nearest living record, ``next_one`` at ``near``; when that leaves, it looks again.
    """
    one, two = min(1, k), min(2, k)  # literals would be types of their own, and numba compile all for each
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
        while gamma > 0.0 and size < 2 * k - 1 and state[0] > 0:
            best = -1
            for q in range(size):
                if next_one[q] < 0 or labels[next_one[q]] >= 0:
                    next_to(X, tree, members[q], one, distances, pair)
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
            if not near[best] < gamma * gamma * outside:
                break
            pair[0] = new
            remove(tree, pair, one)
            labels[new] = cell
            members[size] = new
            next_one[size] = -1
            size += 1
            state[0] -= 1
        budget -= size


@kernel
def attach(X, labels, centroids, alive, left):
    """Put each of the remaining records into the cell whose centroid is nearest."""
    for t in range(left):
        i = alive[t]
        best = math.inf
        for c in range(centroids.shape[0]):
            distance = squared_distance(centroids, c, X[i])
            if distance < best:
                best = distance
                labels[i] = c


@kernel
def distances_to(X, point, out):
    """Fill the squared distances of all records to a point."""
    for i in range(X.shape[0]):
        out[i] = squared_distance(X, i, point)
