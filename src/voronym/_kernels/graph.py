"""Spanning trees and forests of records."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance


@kernel
def prim(X, outside, state, joined, parent, length, budget):
    """Grow the minimum spanning tree from ``state`` (records in it) for ``budget`` distances.

    ``joined`` has the records in the order they join, ``parent`` and ``length`` the edge each joins by;
    ``outside`` those not in the tree, in any order. O(n²) distances, memory O(n). The next record is the one
    nearest to the tree, of equals the lowest index; of equal edges to it, the one seen first.
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
