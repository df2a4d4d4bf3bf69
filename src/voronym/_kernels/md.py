"""MD on a tree; by scans it is in `scan`."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.plain import squared_distance
from voronym._kernels.search import SLACK, TINY, ask, farthest, nearest
from voronym._kernels.tree import remove


@kernel
def far_bounds(X, center, reach):
    """Set ``reach[i]`` to a bound, rounded up, on the squared distance from record i to any other."""
    n = X.shape[0]
    widest = 0.0
    for i in range(n):
        reach[i] = math.sqrt(squared_distance(X, i, center))
        widest = max(widest, reach[i])
    for i in range(n):
        reach[i] = (reach[i] + widest) ** 2 * SLACK + TINY


@kernel
def sink(heap, size, place, reach):
    """Move a record down the heap, below those of larger reach, or of equal reach and lower index."""
    moving = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            a, b = heap[child], heap[child + 1]
            if reach[b] > reach[a] or (reach[b] == reach[a] and b < a):
                child += 1
        other = heap[child]
        if reach[other] < reach[moving] or (reach[other] == reach[moving] and other > moving):
            break
        heap[place] = other
        place = child
    heap[place] = moving


@kernel
def make_heap(heap, reach):
    """Order all records as a heap."""
    for place in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, len(heap), place, reach)


@kernel
def md_fast(tree, k, labels, heap, state, distances, members, reach, partner, budget):
    """Run MD from ``state`` (remaining, cells, size of the heap) for ``budget`` looks.

    As `scan.md`, with a heap in place of the search for the largest bound, and a tree in place of the scans.
    """
    while state[0] >= 2 * k and budget > 0:
        budget -= 1
        r = heap[0]
        if labels[r] >= 0:
            state[2] -= 1
            heap[0] = heap[state[2]]
            sink(heap, state[2], 0, reach)
            continue
        leaf = ask(tree, r)
        s = partner[r]
        if s < 0 or labels[s] >= 0:
            partner[r], reach[r] = farthest(tree)
            sink(heap, state[2], 0, reach)
            continue
        both = state[0] >= 3 * k
        for turn in range(2 if both else 1):
            if turn == 1:
                if labels[s] >= 0:
                    s, _ = farthest(tree)
                leaf = ask(tree, s)
            nearest(tree, leaf, k, distances, members)
            for q in range(k):
                labels[members[q]] = state[1]
            remove(tree, members, k)
            state[0] -= k
            state[1] += 1
