"""Slow and obvious versions of the methods, in plain NumPy, without a line of the library's own."""

from __future__ import annotations

import math

import numpy as np


def squared(X, point):
    """Squared distances, coordinate by coordinate in order."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        total += (X[:, j] - point[j]) ** 2
    return total


def mean(X):
    """Means from exactly rounded sums."""
    return np.array([math.fsum(column) / len(X) for column in X.T])


def farthest(X, rest, point):
    return rest[int(np.argmax(squared(X[rest], point)))]  # argmax: the first of equals, the lowest index


def nearest(X, rest, point, k):
    return rest[np.lexsort((rest, squared(X[rest], point)))[:k]]


def mdav(X, k):
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    while len(rest) >= 2 * k:
        both = len(rest) >= 3 * k
        r = farthest(X, rest, mean(X[rest]))
        for turn in range(1 + both):
            center = X[r] if turn == 0 else X[farthest(X, rest, X[r])]
            labels[nearest(X, rest, center, k)] = cell
            rest, cell = np.flatnonzero(labels < 0), cell + 1
    labels[rest] = cell
    return labels


def md(X, k):
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    while len(rest) >= 2 * k:
        both = len(rest) >= 3 * k
        table = np.array([squared(X[rest], X[i]) for i in rest])
        r, s = (rest[i] for i in np.unravel_index(int(np.argmax(table)), table.shape))
        for turn in range(1 + both):
            if turn == 1:
                s = s if labels[s] < 0 else farthest(X, rest, X[r])
            labels[nearest(X, rest, X[r if turn == 0 else s], k)] = cell
            rest, cell = np.flatnonzero(labels < 0), cell + 1
    labels[rest] = cell
    return labels


def vmdav(X, k, gamma):
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    center = mean(X)
    while len(rest) >= k:
        members = list(nearest(X, rest, X[farthest(X, rest, center)], k))
        rest = np.setdiff1d(rest, members)
        while len(members) < 2 * k - 1 and len(rest):
            inside = np.min([squared(X[rest], X[i]) for i in members], axis=0)
            u = rest[int(np.argmin(inside))]
            others = rest[rest != u]
            outside = squared(X[others], X[u]).min() if len(others) else np.inf
            if gamma == 0 or not inside.min() < gamma * gamma * outside:
                break
            members.append(u)
            rest = others
        labels[members] = cell
        cell += 1
    means = np.array([mean(X[labels == c]) for c in range(cell)])
    for i in rest:
        labels[i] = int(np.argmin(squared(means, X[i])))
    return labels


def sse(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels))


def best_contiguous(x, k):
    """Least sum of squares over partitions of sorted numbers into runs of k or more, of any length."""
    x = np.sort(x)
    best = [0.0] + [math.inf] * len(x)
    for end in range(k, len(x) + 1):
        best[end] = min(best[b] + ((x[b:end] - x[b:end].mean()) ** 2).sum() for b in range(end - k + 1))
    return best[-1]


def best_of_all(X, k):
    """Least sum of squares over all partitions into cells of k or more."""

    def extend(rest):
        if not rest:
            return 0.0
        head, tail = rest[0], rest[1:]
        best = math.inf
        for mask in range(1 << len(tail)):
            cell = [head] + [i for bit, i in enumerate(tail) if mask >> bit & 1]
            if len(cell) >= k and (len(rest) - len(cell) == 0 or len(rest) - len(cell) >= k):
                others = [i for bit, i in enumerate(tail) if not mask >> bit & 1]
                best = min(best, ((X[cell] - X[cell].mean(axis=0)) ** 2).sum() + extend(others))
        return best

    return extend(list(range(len(X))))
