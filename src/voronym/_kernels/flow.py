"""Cells of prescribed sizes by shortest augmenting paths over the graph of cells.

Units (points, or several equal ones) have arcs to the cells that matter to them; an arc knows its ``value``,
the distance, and its ``flow``, how much of the unit is in that cell. The arcs of unit u are
``ptr[u]..ptr[u+1]``. The arcs with flow of each cell form a linked list: ``head``, ``after``, ``before``.

Moving a unit from cell p to cell q is an arc of the graph of cells, of reduced length ``(value to q + c_q) -
(value to p + c_p)``. At the start every unit is in its best cell, so that no length is negative. A shortest
path from a cell with too much to one with too little moves one unit along each of its arcs; then ``c`` rises
by ``D - dist`` in every cell nearer than its end, which makes the path's arcs 0 and leaves no arc negative.
That is the invariant, and complementary slackness is what it says when all sizes are right.

With bounds ``low <= size <= high`` there is one more node, m, the reference, with cost ``c_m``: a cell that
may take more has an arc to it of length ``c_m - c_q``, and where a cell may give, there is an arc back.
``due`` is what a cell should have at present: ``high`` where its cost is above the reference's, ``low``
where below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

DONE, PAUSED, STUCK, CRAMPED = 0, 1, 2, 3
FEW = 8  # sources up to which a search ends at the first node that lacks something

# Few arrays with many rows compile in a quarter of the time that many arrays take.
# Rows of ``node``, one column per cell and one for the reference:
HEAD = 0  # first arc with flow into a cell, -1 for none
COUNT = 1  # how much a cell has
DUE = 2  # how much it should have, between
LOW = 3
HIGH = 4
OUT = 5  # the arc by which a path leaves the node before, -1 to or from the reference
INTO = 6  # the arc by which it enters
ORIGIN = 7  # the node it came from
SEEN = 8  # the search that saw a node last
PLACE = 9  # where it stands in the heap, -1 once it left
HEAP = 10  # scratch: the heap
VISITED = 11  # scratch: nodes in the order of their distance
STEPS = 12  # how many steps a cell has, NEW where they are to be computed
MARK = 13  # scratch: where in the list a neighbour stands, plus one
NEW = -1
# Rows of ``real``:
COST = 0
RAISED = 1  # how far the cost has risen
DIST = 2
# Rows of ``arc``, one column per arc, unit by unit:
UNIT = 0
CELL = 1
FLOW = 2
AFTER = 3
BEFORE = 4
# Entries of ``state``:
SEARCHES, PATHS, LACKS = 0, 1, 2  # LACKS is of the reference


class Flow(NamedTuple):
    """The state of a repair, made by `voronym.quantize.costs.repair`."""

    ptr: NDArray[np.int64]  # (units + 1,)
    arc: NDArray[np.int64]  # (5, arcs)
    value: NDArray[np.float64]  # (arcs,)
    node: NDArray[np.int64]  # (14, m + 1)
    real: NDArray[np.float64]  # (3, m + 1)
    step: NDArray[np.float64]  # (m, room) the least change in value from a cell to each neighbour
    by: NDArray[np.int64]  # (3, m, room) the neighbour, and the two arcs that have the change
    state: NDArray[np.int64]  # (3,)


@kernel
def link(f, a):
    """Put an arc at the front of its cell's list."""
    q = f.arc[CELL, a]
    f.arc[BEFORE, a] = -1
    f.arc[AFTER, a] = f.node[HEAD, q]
    if f.node[HEAD, q] >= 0:
        f.arc[BEFORE, f.node[HEAD, q]] = a
    f.node[HEAD, q] = a


@kernel
def unlink(f, a):
    """Take an arc out of its cell's list."""
    if f.arc[BEFORE, a] >= 0:
        f.arc[AFTER, f.arc[BEFORE, a]] = f.arc[AFTER, a]
    else:
        f.node[HEAD, f.arc[CELL, a]] = f.arc[AFTER, a]
    if f.arc[AFTER, a] >= 0:
        f.arc[BEFORE, f.arc[AFTER, a]] = f.arc[BEFORE, a]


@kernel
def link_all(f):
    """Build the lists from the flows."""
    for q in range(f.node.shape[1] - 1):
        f.node[HEAD, q] = -1
    for a in range(f.arc.shape[1] - 1, -1, -1):
        if f.arc[FLOW, a] > 0:
            link(f, a)


@kernel
def rise(f, node):
    """Move a node up in the heap; break ties by the lower node."""
    place = f.node[PLACE, node]
    while place > 0:
        parent = (place - 1) // 2
        other = f.node[HEAP, parent]
        if f.real[DIST, other] < f.real[DIST, node] or (
            f.real[DIST, other] == f.real[DIST, node] and other < node
        ):
            break
        f.node[HEAP, place] = other
        f.node[PLACE, other] = place
        place = parent
    f.node[HEAP, place] = node
    f.node[PLACE, node] = place


@kernel
def pop(f, size):
    """Take the nearest node off the heap."""
    top = f.node[HEAP, 0]
    node = f.node[HEAP, size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            x, y = f.node[HEAP, child], f.node[HEAP, child + 1]
            if f.real[DIST, y] < f.real[DIST, x] or (f.real[DIST, y] == f.real[DIST, x] and y < x):
                child += 1
        x = f.node[HEAP, child]
        if f.real[DIST, node] < f.real[DIST, x] or (f.real[DIST, node] == f.real[DIST, x] and node < x):
            break
        f.node[HEAP, place] = x
        f.node[PLACE, x] = place
        place = child
    if size > 0:
        f.node[HEAP, place] = node
        f.node[PLACE, node] = place
    f.node[PLACE, top] = -1
    return top


@kernel
def relax(f, size, node, distance, origin, out, into):
    """Record a shorter path to a node; return the size of the heap."""
    search = f.state[SEARCHES]
    if f.node[SEEN, node] != search:
        f.node[SEEN, node] = search
        f.node[PLACE, node] = size
        size += 1
    elif f.node[PLACE, node] < 0 or distance >= f.real[DIST, node]:
        return size
    f.real[DIST, node] = distance
    f.node[ORIGIN, node], f.node[OUT, node], f.node[INTO, node] = origin, out, into
    rise(f, node)
    return size


@kernel
def wanting(f, node):
    """Return how much a node lacks; negative if it has too much."""
    if node < f.node.shape[1] - 1:
        return f.node[DUE, node] - f.node[COUNT, node]
    return f.state[LACKS]


@kernel
def look(f, p):
    """List the cheapest exits from a cell: which unit leaves for which other cell.

    Costs do not matter to which it is; so steps are good until a unit comes or goes. Returns false where
    there is not enough room for them.
    """
    number = min(0, p)
    a = f.node[HEAD, p]
    enough = True
    while a >= 0 and enough:
        u = f.arc[UNIT, a]
        here = f.value[a]
        for b in range(f.ptr[u], f.ptr[u + 1]):
            q = f.arc[CELL, b]
            t = f.node[MARK, q] - 1
            if q == p:
                continue
            if t < 0:
                if number == f.step.shape[1]:
                    enough = False
                    break
                t = number
                number += 1
                f.node[MARK, q] = number
                f.step[p, t] = np.inf
                f.by[0, p, t] = q
            if f.value[b] - here < f.step[p, t]:
                f.step[p, t] = f.value[b] - here
                f.by[1, p, t], f.by[2, p, t] = a, b
        a = f.arc[AFTER, a]
    for t in range(number):
        f.node[MARK, f.by[0, p, t]] = 0
    f.node[STEPS, p] = number if enough else NEW
    return enough


@kernel
def expand(f, p, size, bound):
    """Follow the steps of a node to nodes nearer than a bound.

    Returns the size of the heap, and the bound, lowered to the nearest node found that lacks something.
    """
    m = f.node.shape[1] - 1
    distance = f.real[DIST, p]
    nearest = bound
    last = m - 1 if p == m else f.node[STEPS, p]
    for t in range(last + 1):
        out = into = -1
        if p == m:
            q = t
            length = f.real[COST, q] - f.real[COST, m] if f.node[DUE, q] > f.node[LOW, q] else np.inf
        elif t == last:
            q = m
            length = f.real[COST, m] - f.real[COST, p] if f.node[DUE, p] < f.node[HIGH, p] else np.inf
        else:
            q, out, into = f.by[0, p, t], f.by[1, p, t], f.by[2, p, t]
            length = f.step[p, t] + f.real[COST, q] - f.real[COST, p]
        far = distance + max(0.0, length)
        if far < bound:
            size = relax(f, size, q, far, p, out, into)
            if wanting(f, q) > 0:
                nearest = min(nearest, far)
    return size, nearest


@kernel
def lift(f, visited, distance, limit):
    """Raise the costs of visited nodes within a distance, none beyond a limit; return the distance."""
    for t in range(visited):
        v = f.node[VISITED, t]
        distance = min(distance, limit - f.real[RAISED, v] + f.real[DIST, v])
    for t in range(visited):
        v = f.node[VISITED, t]
        if f.real[DIST, v] < distance:
            f.real[COST, v] += distance - f.real[DIST, v]
            f.real[RAISED, v] += distance - f.real[DIST, v]
    return distance


@kernel
def send(f, source, target):
    """Move the largest possible amount along the path that was found."""
    m = f.node.shape[1] - 1
    amount = min(-wanting(f, source), wanting(f, target))
    q = target
    while q != source:
        p = f.node[ORIGIN, q]
        if f.node[OUT, q] >= 0:
            amount = min(amount, f.arc[FLOW, f.node[OUT, q]])
        elif q == m:
            amount = min(amount, f.node[HIGH, p] - f.node[DUE, p])
        else:
            amount = min(amount, f.node[DUE, q] - f.node[LOW, q])
        q = p
    q = target
    while q != source:
        p = f.node[ORIGIN, q]
        a, b = f.node[OUT, q], f.node[INTO, q]
        if a >= 0:
            f.arc[FLOW, a] -= amount
            if f.arc[FLOW, a] == 0:
                unlink(f, a)
            if f.arc[FLOW, b] == 0:
                link(f, b)
            f.arc[FLOW, b] += amount
            f.node[COUNT, p] -= amount
            f.node[COUNT, q] += amount
            f.node[STEPS, p] = NEW
            f.node[STEPS, q] = NEW
        elif q == m:
            f.node[DUE, p] += amount
        else:
            f.node[DUE, q] -= amount
        q = p
    if source == m:
        f.state[LACKS] += amount
    if target == m:
        f.state[LACKS] -= amount


@kernel
def usable(f, target):
    """Return the first node of the path to a target; -1 if another path used up something it needs."""
    q = target
    while f.node[ORIGIN, q] >= 0:
        p = f.node[ORIGIN, q]
        if f.node[OUT, q] >= 0:
            if f.arc[FLOW, f.node[OUT, q]] == 0:
                return -1
        elif q == f.node.shape[1] - 1:
            if f.node[DUE, p] == f.node[HIGH, p]:
                return -1
        elif f.node[DUE, q] == f.node[LOW, q]:
            return -1
        q = p
    return q if wanting(f, q) < 0 else -1


@kernel
def search(f):
    """Search from all nodes with a surplus; return their number, the visited nodes and the distance.

    With few sources the first node that lacks something is enough; with many, all are looked for. Returns -1
    for the sources where a cell has more neighbours than there is room for.
    """
    nodes = f.node.shape[1]
    f.state[SEARCHES] += 1
    size = min(0, nodes)  # a literal would be a type of its own, and numba compile everything twice
    none = min(-1, nodes)
    goal = min(0, nodes)
    for v in range(nodes):
        if wanting(f, v) < 0:
            size = relax(f, size, v, 0.0, none, none, none)
        elif wanting(f, v) > 0:
            goal += 1
    sources = size
    few = sources <= FEW
    bound = np.inf
    visited = min(0, nodes)
    while size > 0:
        p = pop(f, size)
        size -= 1
        f.node[VISITED, visited] = p
        visited += 1
        if wanting(f, p) > 0:
            goal = 0 if few else goal - 1
            if goal == 0:
                return sources, visited, f.real[DIST, p]
        if p + 1 < nodes and f.node[STEPS, p] == NEW and not look(f, p):
            return -1, 0, 0.0
        size, nearest = expand(f, p, size, bound)
        if few:
            bound = nearest
    return sources, visited, np.inf


@kernel
def repair(f, limit, budget):
    """Move surplus to cells that lack it, until sizes are right, the budget is spent or a limit is reached.

    Each round searches once and sends along every path found that does not cross another. Returns DONE,
    PAUSED, CRAMPED, or STUCK: the arcs do not lead on, or costs have risen by the limit.
    """
    while budget > 0:
        sources, visited, distance = search(f)
        if sources < 0:
            return CRAMPED
        if sources == 0:
            return DONE
        budget -= visited
        if distance == np.inf:  # not all that lack something were found: raise the rest no further than they
            for t in range(visited):
                v = f.node[VISITED, t]
                if wanting(f, v) > 0:
                    distance = f.real[DIST, v]
            if distance == np.inf and limit == np.inf:
                return STUCK
        reached = lift(f, visited, distance, limit)
        paths = 0
        for t in range(visited):
            target = f.node[VISITED, t]
            if wanting(f, target) > 0 and f.real[DIST, target] <= reached:
                source = usable(f, target)
                if source >= 0:
                    send(f, source, target)
                    paths += 1
        f.state[PATHS] += paths
        if reached < distance:
            return STUCK
    return PAUSED
