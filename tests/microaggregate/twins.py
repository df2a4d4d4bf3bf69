"""Slow and obvious versions of the classical methods, in plain NumPy, without a line of the library's own."""

from __future__ import annotations

import numpy as np

from microaggregate.oracles import farthest, mean, nearest, sse


def nearest_next(X, first):
    order, rest = [first], np.delete(np.arange(len(X)), first)
    while len(rest):
        order.append(nearest(X, rest, X[order[-1]], 1)[0])
        rest = rest[rest != order[-1]]
    return np.array(order)


def chain(X, labels):
    """Cells by nearest centroid, from that of the outermost record; records inside a cell by nearest next."""
    cells = np.unique(labels)
    means = np.array([mean(X[labels == c]) for c in cells])
    last = farthest(X, np.arange(len(X)), mean(X))
    order = []
    for c in nearest_next(means, int(np.flatnonzero(cells == labels[last])[0])):
        rest = np.flatnonzero(labels == cells[c])
        while len(rest):
            last = nearest(X, rest, X[last], 1)[0]
            rest = rest[rest != last]
            order.append(last)
    return np.array(order)


def cuts(n, k):
    """All ways to cut a row of n into runs of k to 2k-1."""
    if n == 0:
        yield []
    for size in range(k, min(2 * k, n + 1)):
        for rest in cuts(n - size, k):
            yield [size, *rest]


def best_cut(X, order, k):
    """Least loss over all cuts of an order, one by one."""
    return min(sse(X[order], np.repeat(np.arange(len(sizes)), sizes)) for sizes in cuts(len(X), k))
