"""Soft assignment: every point divided among the cells by a temperature."""

from __future__ import annotations

import math

from voronym._kernels import kernel

FAR = 36.0  # exp(-36) is below what the sum of shares can tell


@kernel
def shares(D, c, heat, p, R, row, members):
    """Add to ``p`` the shares of the cells in points with distances D, and to R the products of shares.

    The share of cell q in a point is proportional to ``exp(-(d_q + c_q) / heat)``. Returns the sum of the
    soft minima ``-heat log sum_q exp(-(d_q + c_q) / heat)``.
    """
    m = len(c)
    total = 0.0
    for i in range(len(D)):
        least = math.inf
        for q in range(m):
            row[q] = D[i, q] + c[q]
            least = min(least, row[q])
        result = 0
        weight = 0.0
        for q in range(m):
            away = (row[q] - least) / heat
            if away < FAR:
                row[result] = math.exp(-away)
                members[result] = q
                weight += row[result]
                result += 1
        for s in range(result):
            row[s] /= weight
        for s in range(result):
            q = members[s]
            p[q] += row[s]
            for t in range(result):
                R[q, members[t]] += row[s] * row[t]
        total += least - heat * math.log(weight)
    return total
