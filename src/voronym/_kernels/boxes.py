"""Points in a tree of boxes, and the cells that a box may belong to: nearest cells with additive costs.

The tree is balanced and numbered like a heap: node 1 is the root, the children of ``v`` are ``2v`` and
``2v + 1``. On the way down, a box keeps only the cells that may still matter to a point in it. Cell q
leaves the list of a box with centre z and half-widths h when another cell p is better everywhere in it:
``f_q(x) - f_p(x)``, with ``f_q(x) = |x - C_q|^2 + c_q``, is an affine function of x, so its range over the
box is its value at z plus or minus ``2 sum_j h_j |C_qj - C_pj|``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel
from voronym._kernels.plain import arrange, insert, worst_of
from voronym._kernels.tree import select

SLACK = 1e-12  # a cell leaves a list only by more than rounding


class Boxes(NamedTuple):
    """The arrays of a tree, made by `grow`; points in the order of the leaves."""

    points: NDArray[np.float64]  # (n, d)
    order: NDArray[np.int64]  # (n,) the row that each point was
    mass: NDArray[np.int64]  # (n,) how many points stand in one place
    start: NDArray[np.int64]  # (nodes,) the points of a node are start..stop
    stop: NDArray[np.int64]
    middle: NDArray[np.float64]  # (nodes, d)
    half: NDArray[np.float64]  # (nodes, d)


def grow(X: NDArray[np.float64], mass: NDArray[np.int64], room: int) -> Boxes:
    """Return the tree of some points, with about ``room`` of them in a leaf."""
    n, d = X.shape
    leaves = 1
    while leaves * room < n:
        leaves *= 2
    points, order = X.copy(), np.arange(n)
    start, stop = np.zeros(2 * leaves, np.int64), np.full(2 * leaves, n)
    middle, half = np.zeros((2 * leaves, d)), np.zeros((2 * leaves, d))
    split(points, order, start, stop, middle, half)
    return Boxes(points, order, mass[order], start, stop, middle, half)


@kernel
def split(rows, order, start, stop, middle, half):
    """Split the points at the median of the widest column, down to the leaves, and fit the boxes."""
    d = rows.shape[1]
    nodes = len(start)
    for node in range(1, nodes):
        a, b = start[node], stop[node]
        axis = min(0, d)  # a literal 0 would be a type of its own, and numba compile everything twice
        widest = -1.0
        for j in range(d):
            low = high = rows[a, j]
            for i in range(a, b):
                low = min(low, rows[i, j])
                high = max(high, rows[i, j])
            middle[node, j] = 0.5 * (low + high)
            half[node, j] = max(high - middle[node, j], middle[node, j] - low)
            if high - low > widest:
                widest = high - low
                axis = j
        if 2 * node < nodes:
            cut = (a + b) // 2
            select(rows, order, a, b, cut, axis)
            start[2 * node], stop[2 * node] = a, cut
            start[2 * node + 1], stop[2 * node + 1] = cut, b


@kernel
def value_at(point, C, c, q):
    """Return the squared distance of a point to a centroid plus the cell's cost."""
    total = 0.0
    for j in range(C.shape[1]):
        difference = point[j] - C[q, j]
        total += difference * difference
    return total + c[q]


@kernel
def spread_over(half, C, p, q):
    """Return how far ``f_q - f_p`` departs from its value at the centre of a box."""
    total = 0.0
    for j in range(C.shape[1]):
        total += half[j] * abs(C[q, j] - C[p, j])
    return 2.0 * total


@kernel
def sieve(middle, half, C, c, cells, begin, end, margin, many, values, near, chosen):
    """Keep, behind a list, the cells that are within a margin of the best, or among the ``many`` nearest."""
    best = np.inf
    p = cells[begin]
    for t in range(begin, end):
        values[t] = value_at(middle, C, c, cells[t])
        if values[t] < best:
            best = values[t]
            p = cells[t]
    reach = margin
    if many > 1:
        if end - begin <= many:
            reach = np.inf
        else:
            found = min(0, many)
            for t in range(begin, end):
                most = values[t] - best + spread_over(half, C, p, cells[t])
                found = insert(near, chosen, found, many, most, cells[t])
            reach = margin + near[worst_of(many)]
    kept = end
    for t in range(begin, end):
        q = cells[t]
        least = values[t] - best
        if least > reach:
            least -= spread_over(half, C, p, q) + SLACK * (abs(values[t]) + abs(best))
        if least <= reach:
            cells[kept] = q
            kept += 1
    return kept


@kernel
def scan(boxes, root, C, c, margin, labels, second, gaps, counts, cells, values, stack):
    """Find the best cell of every point below a node and, where it is within a margin, the next best.

    Writes ``labels``, ``second`` (-1 where no other cell is within the margin) and ``gaps`` in the order of
    the tree, and adds masses to ``counts``. Ties go to the lowest cell.
    """
    nodes = len(boxes.start)
    none, nobody = np.empty(1), np.empty(1, np.int64)
    many = min(1, len(c))  # a literal 1 would be a type of its own, and numba compile everything twice
    for q in range(len(c)):
        cells[q] = q
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, len(c)
    top = 1
    while top > 0:
        top -= 1
        node, begin, end = stack[top, 0], stack[top, 1], stack[top, 2]
        kept = end
        if end - begin > 1:
            kept = sieve(
                boxes.middle[node],
                boxes.half[node],
                C,
                c,
                cells,
                begin,
                end,
                margin,
                many,
                values,
                none,
                nobody,
            )
            begin, end = end, kept
        a, b = boxes.start[node], boxes.stop[node]
        if end - begin == 1:
            q = cells[begin]
            for i in range(a, b):
                labels[i] = q
                second[i] = -1
                gaps[i] = np.inf
                counts[q] += boxes.mass[i]
        elif 2 * node < nodes:
            for child in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node + 1 - child, begin, end
                top += 1
        else:
            for i in range(a, b):
                p = -1
                r = -1
                best = np.inf
                next_best = np.inf
                for t in range(begin, end):
                    value = value_at(boxes.points[i], C, c, cells[t])
                    if value < best:
                        next_best, r = best, p
                        best, p = value, cells[t]
                    elif value < next_best:
                        next_best, r = value, cells[t]
                labels[i] = p
                counts[p] += boxes.mass[i]
                gap = next_best - best
                second[i] = r if gap <= margin else -1
                gaps[i] = gap if gap <= margin else np.inf


@kernel
def emit(row, zero, size, keep, tie, margin, many, near, chosen, entry, unit, cell, value, used):
    """Write the arcs of a point to the cells that matter to it; return its label and the number of arcs.

    ``row`` has the values of ``size`` candidate cells ``zero[:size]``. The label is the best cell, or
    ``keep`` where that is worse by no more than ``tie``, rounding. Without room, only the count goes on.
    """
    best = np.inf
    at = min(0, size)
    for t in range(size):
        if row[t] < best:
            best = row[t]
            at = t
    for t in range(size):
        if zero[t] == keep and row[t] <= best + tie:
            at = t
    label = zero[at]
    if many >= size > 1:
        for t in range(size):
            if used < len(unit):
                unit[used], cell[used], value[used] = entry, zero[t], row[t]
            used += 1
    elif many > 1:
        found = min(0, many)
        for t in range(size):
            if found < many or row[t] <= near[worst_of(many)]:
                found = insert(near, chosen, found, many, row[t], t)
        arrange(near, chosen, found, many)
        there = False
        for s in range(found):
            there = there or chosen[s] == at
        if not there:  # one of many that are equally near
            near[found - 1], chosen[found - 1] = row[at], at
        for s in range(found):
            if used < len(unit):
                unit[used], cell[used], value[used] = entry, zero[chosen[s]], near[s]
            used += 1
    else:
        inside = 0
        for t in range(size):
            if row[t] <= best + margin:
                inside += 1
        if inside > 1:
            for t in range(size):
                if row[t] <= best + margin:
                    if used < len(unit):
                        unit[used], cell[used], value[used] = entry, zero[t], row[t]
                    used += 1
    return label, used


@kernel
def arcs(
    boxes, root, C, c, margin, many, tie, keep, labels, unit, cell, value, cells, values, stack, near, chosen
):
    """List, for the points below a node, the cells within a margin of the best, or the ``many`` nearest.

    A point with one such cell only has a label and no arc. Returns how many arcs there are; if that is more
    than the buffers hold, they are incomplete and the caller comes back with larger ones.
    """
    nodes = len(boxes.start)
    used = min(0, root)
    for q in range(len(c)):
        cells[q] = q
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, len(c)
    top = 1
    while top > 0:
        top -= 1
        node, begin, end = stack[top, 0], stack[top, 1], stack[top, 2]
        if end - begin > 1:
            kept = sieve(
                boxes.middle[node],
                boxes.half[node],
                C,
                c,
                cells,
                begin,
                end,
                margin,
                many,
                values,
                near,
                chosen,
            )
            begin, end = end, kept
        a, b = boxes.start[node], boxes.stop[node]
        if end - begin == 1:
            for i in range(a, b):
                labels[i] = cells[begin]
        elif 2 * node < nodes:
            for child in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node + 1 - child, begin, end
                top += 1
        else:
            for i in range(a, b):
                for t in range(begin, end):
                    values[t] = value_at(boxes.points[i], C, c, cells[t])
                labels[i], used = emit(
                    values[begin:end], cells[begin:end], end - begin, keep[i], tie, margin, many, near,
                    chosen, i, unit, cell, value, used,
                )  # fmt: skip
    return used


@kernel
def arcs_of_matrix(
    D, c, first, margin, many, tie, keep, labels, unit, cell, value, cells, values, near, chosen
):
    """List the same arcs for points whose distances to all cells are the rows of a matrix.

    The rows are those of the points from ``first`` on.
    """
    used = min(0, many)
    for q in range(len(c)):
        cells[q] = q
    for i in range(len(D)):
        for q in range(len(c)):
            values[q] = D[i, q] + c[q]
        labels[i], used = emit(
            values,
            cells,
            len(c),
            keep[i],
            tie,
            margin,
            many,
            near,
            chosen,
            first + i,
            unit,
            cell,
            value,
            used,
        )
    return used


@kernel
def scan_matrix(D, c, mass, margin, labels, second, gaps, counts):
    """Find the best cell of every row of a matrix of distances and the next best, where it is near."""
    for i in range(len(D)):
        p = -1
        r = -1
        best = np.inf
        next_best = np.inf
        for q in range(len(c)):
            value = D[i, q] + c[q]
            if value < best:
                next_best, r = best, p
                best, p = value, q
            elif value < next_best:
                next_best, r = value, q
        labels[i] = p
        counts[p] += mass[i]
        gap = next_best - best
        second[i] = r if gap <= margin else -1
        gaps[i] = gap if gap <= margin else np.inf
