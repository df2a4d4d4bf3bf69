"""The optimal partition of sorted numbers, as a shortest path."""

from __future__ import annotations

import math

from voronym._kernels import kernel


@kernel
def shortest_path(x, k, cost, last, start, stop):
    """Fill, for ``start <= e < stop``, the optimal ``cost[e]`` of ``x[:e]`` and the size of its last cell.

    Edge (b, e) is the cell ``x[b:e]`` of k to 2k-1 numbers. Its sum of squares grows to the left, one number
    at a time, by the update of mean and squares: no differences of large prefix sums, no digits lost.
    """
    for e in range(start, stop):
        cost[e] = math.inf
        last[e] = 0
        mean = 0.0
        squares = 0.0
        for size in range(1, min(2 * k - 1, e) + 1):
            value = x[e - size]
            step = (value - mean) / size
            squares += step * (value - mean) * (size - 1)
            mean += step
            if size >= k and cost[e - size] + squares < cost[e]:
                cost[e] = cost[e - size] + squares
                last[e] = size
