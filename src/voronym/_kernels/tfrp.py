"""Cells around the records farthest from two fixed points."""

from __future__ import annotations

from voronym._kernels import kernel
from voronym._kernels.search import ask, nearest
from voronym._kernels.tree import remove


@kernel
def two_ends(tree, k, labels, orders, state, distances, members, budget):
    """Make cells from ``state`` (remaining, cells, and a position in each of the two orders).

    ``orders`` has the records by falling distance to one point and to the other; in turns the first that
    remains forms a cell with its k-1 nearest, while k or more remain.
    """
    while state[0] >= k and budget > 0:
        budget -= 1
        turn = state[1] % 2
        while labels[orders[turn, state[2 + turn]]] >= 0:
            state[2 + turn] += 1
        nearest(tree, ask(tree, orders[turn, state[2 + turn]]), k, distances, members)
        for q in range(k):
            labels[members[q]] = state[1]
        remove(tree, members, k)
        state[0] -= k
        state[1] += 1
