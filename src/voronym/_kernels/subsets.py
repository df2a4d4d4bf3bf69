"""Dynamic programme over all subsets of at most about 16 records."""

from __future__ import annotations

import numpy as np

from voronym._kernels import kernel


@kernel
def spread(D2, pairs, sizes):
    """Fill the sum of squared distances over the pairs of each subset, and its size."""
    n = D2.shape[0]
    pairs[0] = 0.0
    sizes[0] = 0
    for i in range(n):
        for rest in range(1 << i):  # subsets whose highest record is i
            total = pairs[rest]
            for j in range(i):
                if rest >> j & 1:
                    total += D2[i, j]
            pairs[rest | 1 << i] = total
            sizes[rest | 1 << i] = sizes[rest] + 1


@kernel
def best_cells(pairs, sizes, k, best, choice, first, last):
    """Fill the least SSE of every subset first..last-1 of records, and the cell that its lowest is in.

    The cell of the lowest record of a subset is one of the 2^(size-1) that have it; the rest is a smaller
    subset, solved before. Cells of 2k or more need not be looked at.
    """
    for subset in range(first, last):
        best[subset] = np.inf
        choice[subset] = 0
        lowest = subset & -subset
        others = subset ^ lowest
        chosen = others
        while True:
            size = sizes[chosen] + 1
            if k <= size < 2 * k:
                value = pairs[chosen | lowest] / size + best[others ^ chosen]
                if value < best[subset]:
                    best[subset] = value
                    choice[subset] = chosen | lowest
            if chosen == 0:
                break
            chosen = (chosen - 1) & others
