"""How much room a class with gaps leaves to prices, where k counts households: part of a proof."""

from __future__ import annotations

import numpy as np

from voronym._kernels import kernel


@kernel
def household_rooms(ends, rows, over, counts, starts, homes, k, seen, left, out):
    """Fill, for each class, the least mean of ``over`` among all that could be in it with k households.

    The combinations of class c are ``rows[ends[c]:ends[c + 1]]``, sorted by ``over``: what a record of each
    costs there beyond its price. Combination r has the households ``homes[starts[r]:starts[r + 1]]``. A class
    needs one record of each of k households: the cheapest. Further records are in it where they are below
    the mean. Classes with fewer than k households have infinite room.
    """
    for c in range(len(ends) - 1):
        low, high = ends[c], ends[c + 1]
        total, heads = 0.0, 0
        for at in range(low, high):
            r = rows[at]
            new = 0
            for h in range(starts[r], starts[r + 1]):
                if heads + new == k:
                    break
                if seen[homes[h]] != c + 1:
                    seen[homes[h]] = c + 1
                    new += 1
            total += new * over[at]
            heads += new
            left[at] = counts[r] - new
        if heads < k:
            out[c] = np.inf
            continue
        mean, size = total / heads, heads
        for at in range(low, high):
            if over[at] >= mean:
                break
            total += left[at] * over[at]
            size += left[at]
            mean = total / size
        out[c] = mean
