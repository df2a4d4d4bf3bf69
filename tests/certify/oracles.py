"""Slow and obvious versions of what the certificates compute, without a line of the library's own."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def cell_sse(X, cell):
    members = X[list(cell)]
    return float(((members - members.mean(axis=0)) ** 2).sum())


def groups(X, k):
    """Every group of k to 2k-1 records and its SSE."""
    n = len(X)
    for size in range(k, min(2 * k - 1, n) + 1):
        for group in combinations(range(n), size):
            yield group, cell_sse(X, group)


def meets(cut, group):
    """Whether a group has enough of the records of a cut to pay its penalty."""
    return len({*cut.records} & {*group}) >= cut.least


def random_partition(rng, n, k):
    """Labels of a random partition into cells of k or more."""
    cells = int(rng.integers(1, n // k + 1))
    extra = np.sort(rng.integers(0, n - cells * k + 1, cells - 1))
    sizes = k + np.diff(np.concatenate([[0], extra, [n - cells * k]]))
    return rng.permutation(np.repeat(np.arange(cells), sizes))


def neighbour_bound(X, k):
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(D2, np.inf)
    return float(np.sort(D2, axis=1)[:, : k - 1].sum()) / (2 * k)
