"""The parts of ICSM: pairs of cells, the path and its best cuts, chains of replacements."""

from __future__ import annotations

import math

from voronym._kernels import kernel
from voronym._kernels.moves import best_of_pair, joining, leaving, put, refresh, replacing
from voronym._kernels.plain import squared_distance


@kernel
def scan(X, cells, k, stale, rows, count, position, change, partner, left, right, across, budget):
    """Find, for the stale cells, the best move with any other; return how many of them are done.

    ``change[p]``, ``partner[p]``, ``left[p]`` (the record that leaves the lower-numbered of the two cells,
    or -1) and ``right[p]`` (that of the other) describe the best move that cell p takes part in.
    ``rows[:count]`` are the cells where ``stale`` is set; the others are compared with these only, as
    nothing else about them is new.
    """
    while position < count and budget > 0:
        p = rows[position]
        for q in range(len(cells.sizes)):
            if q == p or cells.sizes[q] == 0 or (stale[q] == 1 and q < p):
                continue
            low, high = min(p, q), max(p, q)
            gain, i, j = best_of_pair(X, cells, low, high, k, across)
            if gain < change[p]:
                change[p], partner[p], left[p], right[p] = gain, q, i, j
            if gain < change[q]:
                change[q], partner[q], left[q], right[q] = gain, p, i, j
        budget -= len(cells.sizes)
        position += 1
    return position


@kernel
def path(X, cells, alive, remaining, order, budget):
    """Put the cells on a path, from point to nearest point; return how many records remain.

    ``order[:n - remaining]`` is done and ``alive[:remaining]`` are the others, ascending. From the end of the
    path, the nearest remaining record is next, then its whole cell, always to the nearest member. The first
    record is in ``order[0]`` when nothing is done.
    """
    n = X.shape[0]
    while remaining > 0 and budget > 0:
        end = n - remaining
        if end > 0:
            nearest = math.inf
            for t in range(remaining):
                distance = squared_distance(X, alive[t], X[order[end - 1]])
                if distance < nearest:
                    nearest = distance
                    order[end] = alive[t]
        budget -= remaining
        p = cells.labels[order[end]]
        size = cells.sizes[p]
        place = end
        for t in range(size):
            if cells.members[p, t] != order[end]:
                place += 1
                order[place] = cells.members[p, t]
        for t in range(end + 1, end + size):
            chosen = t
            nearest = math.inf
            for u in range(t, end + size):
                distance = squared_distance(X, order[u], X[order[t - 1]])
                if distance < nearest or (distance == nearest and order[u] < order[chosen]):
                    nearest = distance
                    chosen = u
            order[t], order[chosen] = order[chosen], order[t]
        kept = 0
        for t in range(remaining):
            if cells.labels[alive[t]] != p:
                alive[kept] = alive[t]
                kept += 1
        remaining = kept
    return remaining


@kernel
def weigh(X, order, k, mean, weight, start, stop):
    """Fill ``weight[b, m - k]``, the squares of the m records from place b of the tour on, k <= m < 2k.

    A run grows by one record at a time, which keeps all digits; sliding runs would save half of the work and
    carry the rounding of an outlier along the whole tour.
    """
    n, d = X.shape
    for b in range(start, stop):
        mean[:] = 0.0
        squares = 0.0
        for size in range(1, 2 * k):
            i = order[(b + size - 1) % n]
            for a in range(d):
                step = (X[i, a] - mean[a]) / size
                squares += step * (X[i, a] - mean[a]) * (size - 1)
                mean[a] += step
            if size >= k:
                weight[b, size - k] = squares


@kernel
def cut(weight, k, first, cost, last):
    """Return the least cost of cutting the tour, opened before place ``first``, into runs of k to 2k-1.

    ``last[e]`` is the size of the run that ends after e records.
    """
    n = weight.shape[0]
    cost[0] = 0.0
    for e in range(1, n + 1):
        cost[e] = math.inf
        last[e] = 0
        for size in range(k, min(2 * k - 1, e) + 1):
            b = first + e - size
            if b >= n:
                b -= n
            if cost[e - size] + weight[b, size - k] < cost[e]:
                cost[e] = cost[e - size] + weight[b, size - k]
                last[e] = size
    return cost[n]


@kernel
def adopt(X, cells, order, first, last, kept, changed):
    """Make the cuts of a tour the cells. A run that was a cell stays that cell, and is not ``changed``.

    Flags are int64: LLVM 22 (llvmlite 0.50) vectorises the conditional stores to a bool array wrongly, and
    clears flags that were set.
    """
    n, room = X.shape[0], len(cells.sizes)
    kept[:] = 0
    end = n
    while end > 0:
        size = last[end]
        p = cells.labels[order[(first + end - 1) % n]]
        same = cells.sizes[p] == size
        for t in range(end - size, end):
            same = same and cells.labels[order[(first + t) % n]] == p
        if same:
            kept[p] = 1
        end -= size
    for p in range(room):
        if kept[p] == 0:
            changed[p] = 1
            cells.sizes[p] = 0
    end = n
    free = 0
    while end > 0:
        size = last[end]
        if kept[cells.labels[order[(first + end - 1) % n]]] == 0:
            while kept[free] == 1 or cells.sizes[free] > 0:
                free += 1
            for t in range(end - size, end):  # the labels are still needed: members only
                cells.members[free, t - end + size] = order[(first + t) % n]
            cells.sizes[free] = size
        end -= size
    for p in range(room):
        if kept[p] == 0:
            size = cells.sizes[p]
            cells.sizes[p] = 0
            for t in range(size):
                put(cells, cells.members[p, t], p)
            refresh(X, cells, p)


@kernel
def chains(X, cells, k, ranked, source, begin, end, cost, before):
    """Extend the cheapest chains from the cell ``source`` to the cells ``ranked[begin:end]``, in that order.

    Node i < n is a record, node n + p the cell p itself. A chain u, v means that u takes the place of v; a
    cell in u's place gives nobody, one in v's place takes u in addition. Column t of ``cost`` and
    ``before`` belongs to chains that begin with the t-th member of the source, the last column to the
    source itself.
    """
    n = X.shape[0]
    starts = cells.sizes[source] + 1
    for at in range(begin, end):
        q = ranked[at]
        for s in range(cells.sizes[q] + 1):
            alone = s == cells.sizes[q]  # the cell itself
            node = n + q if alone else cells.members[q, s]
            for t in range(starts):
                cost[node, t] = math.inf
                before[node, t] = -1
            if alone and cells.sizes[q] >= 2 * k - 1:
                continue
            for lower in range(at):
                p = ranked[lower]
                for u in range(cells.sizes[p]):
                    i = cells.members[p, u]
                    weight = joining(X, cells, i, q) if alone else replacing(X, cells, i, node)
                    relax(cost, before, i, node, weight, starts)
                if not alone and cells.sizes[q] > k:
                    relax(cost, before, n + p, node, leaving(cells, node), starts)


@kernel
def relax(cost, before, u, v, weight, starts):
    """Reach v by way of u where that is cheaper."""
    for t in range(starts):
        if cost[u, t] + weight < cost[v, t]:
            cost[v, t] = cost[u, t] + weight
            before[v, t] = u


@kernel
def close(X, cells, k, ranked, source, cost):
    """Return the cheapest cycle: its cost (at most 0), its last node and the column of its first."""
    n = X.shape[0]
    best, last, column = 0.0, -1, -1
    size = cells.sizes[source]
    for at in range(1, len(ranked)):
        p = ranked[at]
        for s in range(cells.sizes[p] + 1):
            node = n + p if s == cells.sizes[p] else cells.members[p, s]
            for t in range(size + 1):
                if cost[node, t] == math.inf:
                    continue
                if node < n and t < size:
                    back = replacing(X, cells, node, cells.members[source, t])
                elif node < n and size < 2 * k - 1:
                    back = joining(X, cells, node, source)
                elif node >= n and t < size and size > k:
                    back = leaving(cells, cells.members[source, t])
                else:
                    continue
                if cost[node, t] + back < best:
                    best, last, column = cost[node, t] + back, node, t
    return best, last, column
