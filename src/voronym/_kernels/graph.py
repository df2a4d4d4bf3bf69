"""Spanning trees and forests of records."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.md import sink
from voronym._kernels.plain import squared_distance


@kernel
def prim(X, outside, state, joined, parent, length, budget):
    """Grow the minimum spanning tree from ``state`` (records in it) for ``budget`` distances.

    ``joined`` has the records in the order they join, ``parent`` and ``length`` the edge each joins by;
    ``outside`` those not in the tree, in any order. O(n²) distances, memory O(n). The next record is the one
    nearest to the tree, the lowest index among ties; of equal edges to it, the one seen first.
    """
    n = X.shape[0]
    done = state[0]
    while done < n and budget > 0:
        last = joined[done - 1]
        left = n - done
        budget -= left
        best = math.inf
        place = -1
        for t in range(left):
            i = outside[t]
            distance = squared_distance(X, i, X[last])
            if distance < length[i]:
                length[i] = distance
                parent[i] = last
            if length[i] < best or (length[i] == best and i < outside[place]):
                best = length[i]
                place = t
        joined[done] = outside[place]
        outside[place] = outside[left - 1]
        done += 1
    state[0] = done


@kernel
def cut_edges(k, joined, parent, edges, below, cut):
    """Cut the edges of a rooted tree, in the order given, where both sides keep k records or more.

    An edge is named by its lower end; ``below`` is scratch for the number of records under each, in its own
    component. The walk to the root of a component costs its depth.
    """
    for t in range(len(joined)):
        below[joined[t]] = 1
    for t in range(len(joined) - 1, 0, -1):
        below[parent[joined[t]]] += below[joined[t]]
    for t in range(len(edges)):
        i = edges[t]
        if below[i] < k:
            continue
        root = parent[i]
        while parent[root] >= 0 and not cut[root]:
            root = parent[root]
        if below[root] - below[i] < k:
            continue
        cut[i] = True
        up = parent[i]
        while True:
            below[up] -= below[i]
            if up == root:
                break
            up = parent[up]


@kernel
def name_components(joined, parent, cut, labels):
    """Label the components that remain, parents before children."""
    cells = 0
    for t in range(len(joined)):
        i = joined[t]
        if parent[i] < 0 or cut[i]:
            labels[i] = cells
            cells += 1
        else:
            labels[i] = labels[parent[i]]


@kernel
def find(leader, i):
    """Return the root of the component of record i."""
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@kernel
def next_outside(X, near, leader, at, key, i):
    """Move ``at[i]`` on to the nearest record outside i's component; the key is minus its distance²."""
    own = find(leader, i)
    while find(leader, near[i, at[i]]) == own:
        at[i] += 1
    key[i] = -squared_distance(X, near[i, at[i]], X[i])


@kernel
def start_forest(X, near, leader, at, key):
    """Find the nearest other record of every record."""
    for i in range(X.shape[0]):
        next_outside(X, near, leader, at, key, i)


@kernel
def grow_forest(X, k, near, leader, sizes, at, key, heap, state, parent, budget):
    """Join components of fewer than k records to others, shortest edge first, for ``budget`` steps.

    The edge of a component goes from its root, the one record without a parent, to the nearest record
    outside, which is among the root's k-1 nearest. The heap has the roots by key: edges only grow as a
    component does, so an old one is a bound. ``state`` is (size of the heap,).
    """
    while state[0] > 0 and budget > 0:
        budget -= 1
        i = heap[0]
        own = find(leader, i)
        if sizes[own] < k:
            j = near[i, at[i]]
            other = find(leader, j)
            if other == own:
                next_outside(X, near, leader, at, key, i)
                sink(heap, state[0], 0, key)
                continue
            parent[i] = j
            leader[own] = other
            sizes[other] += sizes[own]
        state[0] -= 1
        heap[0] = heap[state[0]]
        sink(heap, state[0], 0, key)


@kernel
def roots_first(parent, first, following, order):
    """Fill the records of a forest, parents before children; ``first`` and ``following`` list children."""
    n = len(parent)
    filled = 0
    first[:] = -1
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            following[i] = first[parent[i]]
            first[parent[i]] = i
    for i in range(n):
        if parent[i] < 0:
            order[filled] = i
            filled += 1
    for t in range(n):
        child = first[order[t]]
        while child >= 0:
            order[filled] = child
            filled += 1
            child = following[child]


@kernel
def cut_forest(k, most, order, parent, key, leader, sizes, below, top, link, cut):
    """Cut trees of more than ``most`` records into parts of k or more, from the leaves to the root.

    A record's edge is cut as soon as k records hang together under it. What is left at a root, if fewer than
    k, stays with the part under its shortest cut edge. Scratch: ``below`` (zeros) counts what hangs together,
    ``top`` is the uppermost record of a part, ``link`` (-1) the shortest cut edge of a root.
    """
    for t in range(len(order) - 1, -1, -1):
        i = order[t]
        below[i] += 1
        if parent[i] >= 0 and sizes[find(leader, i)] > most:
            if below[i] >= k:
                cut[i] = True
            else:
                below[parent[i]] += below[i]
    for t in range(len(order)):
        i = order[t]
        top[i] = i if parent[i] < 0 or cut[i] else top[parent[i]]
        if cut[i]:
            root = top[parent[i]]
            if parent[root] < 0 and below[root] < k and (link[root] < 0 or key[i] > key[link[root]]):
                link[root] = i
    for i in range(len(link)):
        if link[i] >= 0:
            cut[link[i]] = False
