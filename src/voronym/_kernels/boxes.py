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

from voronym._kernels import inlined, kernel
from voronym._kernels.plain import arrange, insert, worst_of
from voronym._kernels.power import two_least
from voronym._kernels.tree import halve

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


class Cells(NamedTuple):
    """The cells, and which of them matter to a point: those within a margin of the best, or the nearest."""

    C: NDArray[np.float64]  # (m, d)
    c: NDArray[np.float64]  # (m,)
    margin: float
    many: int  # above 1: this number of nearest cells, instead of those within the margin
    tie: float  # values that differ by no more than this count as equal


class Scratch(NamedTuple):
    """Buffers of one search, made by `scratch`."""

    cells: NDArray[np.int64]  # lists of cells, one for each level on the way down
    values: NDArray[np.float64]
    stack: NDArray[np.int64]  # (levels, 3): node, and where its list begins and ends
    near: NDArray[np.float64]  # (many,)
    chosen: NDArray[np.int64]  # (many,)


class Arcs(NamedTuple):
    """Pairs of a point and a cell that matters to it, with their value: distance plus cost."""

    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    value: NDArray[np.float64]


def grow(X: NDArray[np.float64], mass: NDArray[np.int64], room: int) -> Boxes:
    """Return the tree of some points, with about ``room`` of them in a leaf."""
    n, d = X.shape
    leaves = 1
    while leaves * room < n:
        leaves *= 2
    points, order = X.copy(), np.arange(n)
    start, stop = np.zeros(2 * leaves, np.int64), np.full(2 * leaves, n)
    middle, half = np.zeros((2 * leaves, d)), np.zeros((2 * leaves, d))
    halve(points, np.zeros(d, np.bool_), order, start, stop)
    fit(points, start, stop, middle, half)
    return Boxes(points, order, mass[order], start, stop, middle, half)


def scratch(m: int, many: int, nodes: int = 1) -> Scratch:
    """Return buffers for searches among m cells in a tree with this number of nodes."""
    depth = nodes.bit_length() + 1
    size = m * (depth + 1)
    return Scratch(
        np.empty(size, np.int64),
        np.empty(size),
        np.empty((2 * depth, 3), np.int64),
        np.empty(many),
        np.empty(many, np.int64),
    )


@kernel
def fit(points, start, stop, middle, half):
    """Fit the boxes, from the leaves up; on the way they hold the lowest and highest coordinates."""
    nodes, d = middle.shape
    for node in range(nodes - 1, 0, -1):
        for j in range(d):
            if 2 * node < nodes:
                middle[node, j] = min(middle[2 * node, j], middle[2 * node + 1, j])
                half[node, j] = max(half[2 * node, j], half[2 * node + 1, j])
            else:
                low = high = points[start[node], j]
                for i in range(start[node], stop[node]):
                    low = min(low, points[i, j])
                    high = max(high, points[i, j])
                middle[node, j], half[node, j] = low, high
    for node in range(1, nodes):
        for j in range(d):
            low, high = middle[node, j], half[node, j]
            middle[node, j] = 0.5 * (low + high)
            half[node, j] = max(high - middle[node, j], middle[node, j] - low)


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


@inlined
def sieve(middle, half, to, work, begin, end):
    """Write those of the cells ``begin..end`` that may matter in a box behind them; return the new end."""
    C, c, many = to.C, to.c, to.many  # taken out of the tuples once: numba counts references each time
    cells, values = work.cells, work.values
    best = np.inf
    p = cells[begin]
    for t in range(begin, end):
        values[t] = value_at(middle, C, c, cells[t])
        if values[t] < best:
            best = values[t]
            p = cells[t]
    reach = to.margin
    if many > 1:
        if end - begin <= many:
            reach = np.inf
        else:
            near, chosen = work.near, work.chosen
            result = min(0, many)
            for t in range(begin, end):
                most = values[t] - best + spread_over(half, C, p, cells[t])
                result = insert(near, chosen, result, many, most, cells[t])
            reach = to.margin + near[worst_of(many)]
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


@inlined
def enter(root, to, work):
    """Begin a search below a node, with all cells; return how many nodes are on the stack."""
    for q in range(len(to.c)):
        work.cells[q] = q
    work.stack[0, 0], work.stack[0, 1], work.stack[0, 2] = root, 0, len(to.c)
    return 1


@inlined
def descend(boxes, to, work, top):
    """Go down to the next node that is a leaf or all in one cell.

    Returns how many nodes are left on the stack, the node, and where its list of cells begins and ends.
    """
    nodes, middle, half, stack = len(boxes.start), boxes.middle, boxes.half, work.stack
    while True:
        top -= 1
        node, begin, end = stack[top, 0], stack[top, 1], stack[top, 2]
        if end - begin > 1:
            kept = sieve(middle[node], half[node], to, work, begin, end)
            begin, end = end, kept
        if end - begin == 1 or 2 * node >= nodes:
            return top, node, begin, end
        for child in range(2):
            stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node + 1 - child, begin, end
            top += 1


@kernel
def scan(boxes, root, to, work, labels, second, gaps, counts):
    """Find the best cell of every point below a node, and the next best if it is within the margin.

    Writes ``labels``, ``second`` (-1 where no other cell is within the margin) and ``gaps`` in the order of
    the tree, and adds masses to ``counts``. Ties go to the lowest cell.
    """
    points, mass, start, stop = boxes.points, boxes.mass, boxes.start, boxes.stop
    C, c, cells, values = to.C, to.c, work.cells, work.values
    top = enter(root, to, work)
    while top > 0:
        top, node, begin, end = descend(boxes, to, work, top)
        q = cells[begin]
        if end - begin == 1:
            for i in range(start[node], stop[node]):
                labels[i] = q
                second[i] = -1
                gaps[i] = np.inf
                counts[q] += mass[i]
            continue
        for i in range(start[node], stop[node]):
            for t in range(begin, end):
                values[t] = value_at(points[i], C, c, cells[t])
            note(values, cells, begin, end, to.margin, i, labels, second, gaps)
            counts[labels[i]] += mass[i]


@inlined
def note(values, cells, begin, end, margin, i, labels, second, gaps):
    """Record the best of two or more cells for a point, and the next best if it is within the margin."""
    p, r, gap = two_least(values, begin, end)
    labels[i] = cells[p]
    second[i] = cells[r] if gap <= margin else -1
    gaps[i] = gap if gap <= margin else np.inf


@kernel
def scan_matrix(D, mass, to, work, labels, second, gaps, counts):
    """Scan points whose distances to all cells are the rows of a matrix, as `scan` does."""
    c, cells, values = to.c, work.cells, work.values
    enter(1, to, work)
    for i in range(len(D)):
        for q in range(len(c)):
            values[q] = D[i, q] + c[q]
        if len(c) == 1:
            labels[i], second[i], gaps[i] = 0, -1, np.inf
        else:
            note(values, cells, 0, len(c), to.margin, i, labels, second, gaps)
        counts[labels[i]] += mass[i]


@inlined
def write(out, used, unit, cell, value):
    """Write an arc if there is room; return the number of arcs, written or not."""
    if used < len(out.unit):
        out.unit[used], out.cell[used], out.value[used] = unit, cell, value
    return used + 1


@inlined
def emit(to, work, begin, end, keep, unit, out, used):
    """Write the arcs of a point to the cells that matter to it; return its label and the number of arcs.

    Candidates are the cells ``begin..end`` of the list, with their values. The label is the best, or ``keep``
    where that is worse by no more than rounding.
    """
    row, cells, size = work.values[begin:end], work.cells[begin:end], end - begin
    near, chosen, many = work.near, work.chosen, to.many
    at = min(0, size)
    best = row[0]
    for t in range(1, size):
        if row[t] < best:
            best = row[t]
            at = t
    for t in range(size):
        if cells[t] == keep and row[t] <= best + to.tie:
            at = t
    if many >= size > 1:
        for t in range(size):
            used = write(out, used, unit, cells[t], row[t])
    elif many > 1:
        result = min(0, size)
        for t in range(size):
            if result < many or row[t] <= near[worst_of(many)]:
                result = insert(near, chosen, result, many, row[t], t)
        arrange(near, chosen, result, many)
        there = False
        for s in range(result):
            there = there or chosen[s] == at
        if not there:  # one of many that are equally near
            near[result - 1], chosen[result - 1] = row[at], at
        for s in range(result):
            used = write(out, used, unit, cells[chosen[s]], near[s])
    else:
        inside = 0
        for t in range(size):
            if row[t] <= best + to.margin:
                inside += 1
        for t in range(size if inside > 1 else 0):
            if row[t] <= best + to.margin:
                used = write(out, used, unit, cells[t], row[t])
    return cells[at], used


@kernel
def arcs(boxes, root, to, work, keep, labels, out):
    """List, for the points below a node, the cells that matter to them.

    A point with one such cell only has a label and no arc. Returns how many arcs there are; if that is more
    than the buffers hold, they are incomplete and the caller comes back with larger ones.
    """
    used = min(0, root)  # a literal 0 would be a type of its own, and numba compile everything twice
    points, start, stop = boxes.points, boxes.start, boxes.stop
    C, c, cells, values = to.C, to.c, work.cells, work.values
    top = enter(root, to, work)
    while top > 0:
        top, node, begin, end = descend(boxes, to, work, top)
        for i in range(start[node], stop[node]):
            if end - begin == 1:
                labels[i] = cells[begin]
                continue
            for t in range(begin, end):
                values[t] = value_at(points[i], C, c, cells[t])
            labels[i], used = emit(to, work, begin, end, keep[i], i, out, used)
    return used


@kernel
def arcs_of_matrix(D, first, to, work, keep, labels, out):
    """List the arcs, as `arcs` does, for points whose distances to all cells are the rows of a matrix.

    The rows are those of the points from ``first`` on.
    """
    used = min(0, first)
    c, values = to.c, work.values
    enter(1, to, work)
    for i in range(len(D)):
        for q in range(len(c)):
            values[q] = D[i, q] + c[q]
        labels[i], used = emit(to, work, 0, len(c), keep[i], first + i, out, used)
    return used
