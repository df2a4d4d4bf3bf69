"""Cells of prescribed sizes by shortest augmenting paths over the graph of cells.

Units (points, or several equal ones) have arcs to the cells that matter to them; an arc knows its ``value``, the
distance, and its ``flow``, how much of the unit is in that cell. The arcs of unit u are ``ptr[u]..ptr[u+1]``.
The arcs with flow of each cell form a linked list: ``head``, ``after``, ``before``.

Moving a unit from cell p to cell q is an arc of the graph of cells, of reduced length
``(value to q + c_q) - (value to p + c_p)``. At the start every unit is in its best cell, so that no length is
negative. A shortest path from a cell with too much to one with too little moves one unit along each of its
arcs; then ``c`` rises by ``D - dist`` in every cell nearer than its end, which makes the path's arcs 0 and leaves no
arc negative. That is the invariant, and complementary slackness is what it says when all sizes are right.

With bounds ``low <= size <= high`` there is one more node, m, the reference, with cost ``c_m``: a cell that may
take more has an arc to it of length ``c_m - c_q``, and where a cell may give, there is an arc back. ``due`` is
what a cell should have at present: ``high`` where its cost is above the reference's, ``low`` where below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel

DONE, PAUSED, STUCK = 0, 1, 2


class Flow(NamedTuple):
    """The state of a repair, made by `voronym.quantize.costs.repair`."""

    ptr: NDArray[np.int64]  # (units + 1,)
    unit: NDArray[np.int64]  # (arcs,)
    cell: NDArray[np.int64]  # (arcs,)
    value: NDArray[np.float64]  # (arcs,)
    flow: NDArray[np.int64]  # (arcs,)
    head: NDArray[np.int64]  # (m,) first arc with flow into a cell, -1 for none
    after: NDArray[np.int64]  # (arcs,)
    before: NDArray[np.int64]  # (arcs,)
    c: NDArray[np.float64]  # (m + 1,)
    raised: NDArray[np.float64]  # (m + 1,) how far c has risen
    count: NDArray[np.int64]  # (m,)
    due: NDArray[np.int64]  # (m,) how much a cell should have, between low and high
    low: NDArray[np.int64]  # (m,)
    high: NDArray[np.int64]  # (m,)
    dist: NDArray[np.float64]  # (m + 1,)
    out: NDArray[np.int64]  # (m + 1,) the arc by which a path leaves, -1 to or from the reference
    into: NDArray[np.int64]  # (m + 1,) the arc by which it enters
    origin: NDArray[np.int64]  # (m + 1,) the node it came from
    seen: NDArray[np.int64]  # (m + 1,) the search that saw a node last
    place: NDArray[np.int64]  # (m + 1,) where it stands in the heap, -1 once it left
    heap: NDArray[np.int64]  # (m + 1,)
    visited: NDArray[np.int64]  # (m + 1,)
    state: NDArray[np.int64]  # searches, next source, balance of the reference, paths


@kernel
def link(f, a):
    """Put an arc at the front of its cell's list."""
    q = f.cell[a]
    f.before[a] = -1
    f.after[a] = f.head[q]
    if f.head[q] >= 0:
        f.before[f.head[q]] = a
    f.head[q] = a


@kernel
def unlink(f, a):
    """Take an arc out of its cell's list."""
    if f.before[a] >= 0:
        f.after[f.before[a]] = f.after[a]
    else:
        f.head[f.cell[a]] = f.after[a]
    if f.after[a] >= 0:
        f.before[f.after[a]] = f.before[a]


@kernel
def link_all(f):
    """Build the lists from the flows."""
    for q in range(len(f.head)):
        f.head[q] = -1
    for a in range(len(f.cell) - 1, -1, -1):
        if f.flow[a] > 0:
            link(f, a)


@kernel
def rise(f, node):
    """Let a node rise in the heap to where it belongs; equal distances by the lower node."""
    place = f.place[node]
    while place > 0:
        parent = (place - 1) // 2
        other = f.heap[parent]
        if f.dist[other] < f.dist[node] or (f.dist[other] == f.dist[node] and other < node):
            break
        f.heap[place] = other
        f.place[other] = place
        place = parent
    f.heap[place] = node
    f.place[node] = place


@kernel
def pop(f, size):
    """Take the nearest node off the heap."""
    top = f.heap[0]
    node = f.heap[size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            x, y = f.heap[child], f.heap[child + 1]
            if f.dist[y] < f.dist[x] or (f.dist[y] == f.dist[x] and y < x):
                child += 1
        x = f.heap[child]
        if f.dist[node] < f.dist[x] or (f.dist[node] == f.dist[x] and node < x):
            break
        f.heap[place] = x
        f.place[x] = place
        place = child
    if size > 0:
        f.heap[place] = node
        f.place[node] = place
    f.place[top] = -1
    return top


@kernel
def relax(f, size, node, distance, origin, out, into):
    """Note a shorter way to a node; return the size of the heap."""
    search = f.state[0]
    if f.seen[node] != search:
        f.seen[node] = search
        f.place[node] = size
        size += 1
    elif f.place[node] < 0 or distance >= f.dist[node]:
        return size
    f.dist[node] = distance
    f.origin[node], f.out[node], f.into[node] = origin, out, into
    rise(f, node)
    return size


@kernel
def wanting(f, node):
    """Return how much a node lacks."""
    if node < len(f.count):
        return f.due[node] - f.count[node]
    return f.state[2]


@kernel
def search(f, source):
    """Find the nearest node that lacks something; return it, or -1, and how many nodes were visited."""
    m = len(f.count)
    f.state[0] += 1
    size = relax(f, 0, source, 0.0, -1, -1, -1)
    bound = np.inf
    visited = 0
    while size > 0:
        p = pop(f, size)
        size -= 1
        distance = f.dist[p]
        if p != source and wanting(f, p) > 0:
            return p, visited
        f.visited[visited] = p
        visited += 1
        if p == m:
            for q in range(m):
                if f.due[q] > f.low[q]:
                    far = distance + max(0.0, f.c[q] - f.c[m])
                    if far < bound:
                        size = relax(f, size, q, far, p, -1, -1)
                        if wanting(f, q) > 0:
                            bound = far
            continue
        a = f.head[p]
        while a >= 0:
            u = f.unit[a]
            here = f.value[a] + f.c[p]
            for b in range(f.ptr[u], f.ptr[u + 1]):
                q = f.cell[b]
                if q != p:
                    far = distance + max(0.0, f.value[b] + f.c[q] - here)
                    if far < bound:
                        size = relax(f, size, q, far, p, a, b)
                        if wanting(f, q) > 0:
                            bound = far
            a = f.after[a]
        if f.due[p] < f.high[p]:
            far = distance + max(0.0, f.c[m] - f.c[p])
            if far < bound:
                size = relax(f, size, m, far, p, -1, -1)
                if wanting(f, m) > 0:
                    bound = far
    return -1, visited


@kernel
def lift(f, visited, distance, limit):
    """Raise the costs of the visited nodes nearer than a distance, none beyond a limit; return the distance."""
    for t in range(visited):
        v = f.visited[t]
        distance = min(distance, limit - f.raised[v] + f.dist[v])
    for t in range(visited):
        v = f.visited[t]
        if f.dist[v] < distance:
            f.c[v] += distance - f.dist[v]
            f.raised[v] += distance - f.dist[v]
    return distance


@kernel
def surplus(f, node):
    """Return how much a node has too much."""
    if node < len(f.count):
        return f.count[node] - f.due[node]
    return -f.state[2]


@kernel
def send(f, source, target):
    """Move as much as all can bear along the path that was found."""
    m = len(f.count)
    amount = min(surplus(f, source), wanting(f, target))
    q = target
    while q != source:
        p = f.origin[q]
        if f.out[q] >= 0:
            amount = min(amount, f.flow[f.out[q]])
        elif q == m:
            amount = min(amount, f.high[p] - f.due[p])
        else:
            amount = min(amount, f.due[q] - f.low[q])
        q = p
    q = target
    while q != source:
        p = f.origin[q]
        a, b = f.out[q], f.into[q]
        if a >= 0:
            f.flow[a] -= amount
            if f.flow[a] == 0:
                unlink(f, a)
            if f.flow[b] == 0:
                link(f, b)
            f.flow[b] += amount
            f.count[p] -= amount
            f.count[q] += amount
        elif q == m:
            f.due[p] += amount
        else:
            f.due[q] -= amount
        q = p
    if source == m:
        f.state[2] += amount
    if target == m:
        f.state[2] -= amount


@kernel
def repair(f, limit, budget):
    """Send what is too much to where it lacks, until sizes are right, a budget is spent or a limit reached.

    ``state[2]`` is what the reference node lacks: all there is less all that is due. Returns DONE, PAUSED, or STUCK:
    the arcs do not lead on, or the costs have risen so far that arcs which were left out may matter.
    """
    m = len(f.count)
    while f.state[1] <= m:
        source = f.state[1]
        if surplus(f, source) <= 0:
            f.state[1] += 1
            continue
        if budget <= 0:
            return PAUSED
        target, visited = search(f, source)
        budget -= visited + 1
        if target < 0:
            if limit < np.inf:
                lift(f, visited, np.inf, limit)
            return STUCK
        distance = f.dist[target]
        if lift(f, visited, distance, limit) < distance:
            return STUCK
        send(f, source, target)
        f.state[3] += 1
    return DONE
