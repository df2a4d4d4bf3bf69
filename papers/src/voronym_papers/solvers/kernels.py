"""Loops of `levenberg_marquardt` and of ICSM to the letter.

The rules are those of `voronym._kernels`.
"""

from __future__ import annotations

import numpy as np

from voronym._kernels import kernel
from voronym._kernels.power import evaluate, two_least


@kernel
def two_best(X, columns, costs, values, labels, second, gaps, begin, end):
    """Label rows with their best and next best cells; ``gaps`` is the difference of the two."""
    for i in range(begin, end):
        evaluate(X, i, columns, costs, values)
        labels[i], second[i], gaps[i] = two_least(values, 0, len(costs))


@kernel
def gather(X, columns, costs, values, least, near, floors, labels, second, gaps, begin, end):
    """Compute `two_best`, and keep each row's cells of least value, by number.

    ``floors`` gets the least value of all other cells; ``least`` is scratch memory for one value more
    than cells kept.
    """
    count = near.shape[1]
    for i in range(begin, end):
        evaluate(X, i, columns, costs, values)
        labels[i], second[i], gaps[i] = two_least(values, 0, len(costs))
        for t in range(count + 1):
            least[t] = np.inf
        for q in range(len(costs)):
            value = values[q]
            if value < least[count]:
                t = count
                while t > 0 and least[t - 1] > value:
                    least[t] = least[t - 1]
                    t -= 1
                least[t] = value
        floor = least[count]
        t = 0
        for q in range(len(costs)):
            if values[q] < floor:
                near[i, t] = q
                t += 1
        for q in range(len(costs)):  # of values that equal the floor, as many as there is room for
            if t == count:
                break
            if values[q] == floor:
                near[i, t] = q
                t += 1
        floors[i] = floor


@kernel
def two_best_near(X, columns, costs, values, near, floors, top, labels, second, gaps, begin, end):
    """Compute `two_best` from the candidates if no other cell can be better; return the rows where one could.

    ``floors``: lower bounds on the values of all other cells. ``top``: the largest number in them and in
    the costs, which limits rounding errors.
    """
    d, count = len(columns), near.shape[1]
    slack = 1e-14 * top
    scanned = 0
    for i in range(begin, end):
        for t in range(count):
            q = near[i, t]
            total = 0.0
            for j in range(d):
                difference = X[i, j] - columns[j, q]
                total += difference * difference
            values[t] = total + costs[q]
        p, r, gap = two_least(values, 0, count)
        if values[r] < floors[i] - slack:
            labels[i], second[i], gaps[i] = near[i, p], near[i, r], gap
        else:
            scanned += 1
            evaluate(X, i, columns, costs, values)
            labels[i], second[i], gaps[i] = two_least(values, 0, len(costs))
    return scanned


@kernel
def lost(gaps, begin, end, step):
    """Return the share of a cell's points lost by a rise of its cost by ``step``.

    ``gaps[begin:end]`` are sorted. Between two of them the share is interpolated, so that it is continuous.
    """
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if gaps[middle] <= step:
            low = middle + 1
        else:
            high = middle
    size = end - begin
    if low == end:
        return 1.0
    left = gaps[low - 1] if low > begin else 0.0
    return (low - begin + (step - left) / (gaps[low] - left)) / size


@kernel
def brent(gaps, begin, end, share):
    """Return the rise of a cell's cost that removes a share of its points: Brent's root of `lost`.

    Inverse quadratic interpolation or the secant if they stay inside the bracket and shrink it fast
    enough; otherwise bisection.
    """
    a, b = 0.0, gaps[end - 1]
    fa, fb = lost(gaps, begin, end, a) - share, 1.0 - share
    if fa >= 0.0 or b <= 0.0:
        return b * 1e-9
    c, fc = a, fa
    width = last = b - a
    for _ in range(100):
        if (fb > 0.0) == (fc > 0.0):
            c, fc = a, fa
            width = last = b - a
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        small = 1e-12 * abs(b) + 1e-300
        half = 0.5 * (c - b)
        if abs(half) <= small or abs(fb) < 1e-12:
            break
        if abs(last) >= small and abs(fa) > abs(fb):
            s = fb / fa
            if a == c:
                p, q = 2.0 * half * s, 1.0 - s
            else:
                q, r = fa / fc, fb / fc
                p = s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0))
                q = (q - 1.0) * (r - 1.0) * (s - 1.0)
            if p > 0.0:
                q = -q
            p = abs(p)
            if 2.0 * p < min(3.0 * half * q - abs(small * q), abs(last * q)):
                last, width = width, p / q
            else:
                width = last = half
        else:
            width = last = half
        a, fa = b, fb
        b += width if abs(width) > small else (small if half > 0.0 else -small)
        fb = lost(gaps, begin, end, b) - share
    return b


@kernel
def rises(gaps, starts, share, out):
    """Fill each cell's rise of cost that removes a share of its points; 0 if it has none."""
    for q in range(len(out)):
        out[q] = 0.0
        if starts[q + 1] > starts[q]:
            out[q] = brent(gaps, starts[q], starts[q + 1], share)


@kernel
def squares_to(points, means, changed, away):
    """Fill ``away[q]`` with the squared distances of all points to mean q, if q has changed."""
    for q in range(len(means)):
        if changed[q]:
            for i in range(len(points)):
                total = 0.0
                for j in range(points.shape[1]):
                    step = points[i, j] - means[q, j]
                    total += step * step
                away[q, i] = total


@kernel
def first_moves(points, away, labels, sizes, k, tiny, near, change, left, right, target):
    """Fill the first moves that gain, in the order of pairs of nodes; return their number.

    A move is a record and a cell, with ``right`` -1; or two records that change places. ``away`` has the
    squared distances to the means. The change of an exchange, R1 + R1, is ``away[q, x] - away[p, x] +
    away[p, y] - away[q, y] - |x - y|² (1/m_p + 1/m_q)``. |x - y|² is at most twice ``away[q, x] + away[q,
    y]``, which mostly suffices to decide. The change of a migration is R2 + R3. ``near`` is scratch
    memory with a number per cell.
    """
    n, d = points.shape
    room, count = len(sizes), 0
    for v in range(n + room):
        if v < n:
            p = labels[v]
            for q in range(room):
                near[q] = away[q, v]
            for w in range(n):
                q = labels[w]
                if p == q:
                    continue
                if count == len(change):
                    return count
                first = near[q] - near[p] + away[p, w] - away[q, w]
                share = 1.0 / sizes[p] + 1.0 / sizes[q]
                if first >= 2.0 * share * (near[q] + away[q, w]):
                    continue
                square = 0.0
                for j in range(d):
                    step = points[v, j] - points[w, j]
                    square += step * step
                gain = first - square * share
                if gain < -tiny:
                    change[count], left[count], right[count], target[count] = gain, v, w, q
                    count += 1
        for w in range(n, n + room) if v < n else range(n):
            record, q = (v, w - n) if v < n else (w, v - n)
            p = labels[record]
            if p == q or sizes[q] == 0 or sizes[p] <= k or sizes[q] >= 2 * k - 1:
                continue
            if count == len(change):
                return count
            gain = away[q, record] * sizes[q] / (sizes[q] + 1.0)
            gain -= away[p, record] * sizes[p] / (sizes[p] - 1.0)
            if gain < -tiny:
                change[count], left[count], right[count], target[count] = gain, record, -1, q
                count += 1
    return count
