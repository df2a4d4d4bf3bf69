"""The parts of ICSM: pairs of cells, the path and its best cuts, chains of replacements."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.cells import change, put, refresh
from voronym._kernels.plain import squared_distance
from voronym._kernels.squares import CLOSE


class Pairs(NamedTuple):
    """The best move that each cell takes part in."""

    change: NDArray[np.float64]  # (room,) of the sum of squares
    partner: NDArray[np.int64]  # (room,) the other cell
    left: NDArray[np.int64]  # (room,) the record that leaves the lower-numbered of the two cells, or -1
    right: NDArray[np.int64]  # (room,) the record that leaves the other, or -1
    across: NDArray[np.float64]  # (2, 2k) room for distances


@inner
def best_of_pair(model, cells, p, q, k, across):
    """Return the best shift or swap between two cells: (change, i of p or -1, j of q or -1); change <= 0.

    A swap changes the squares by ``|x_j - c_p|² - |x_j - c_q|² + |x_i - c_q|² - |x_i - c_p|²
    - |x_i - x_j|² (1/m_p + 1/m_q)``, so pairs need one distance each, and only where the triangle inequality
    leaves hope. Cells far apart for their radii have nothing to offer each other: with
    r = (1-1/m_p)(1-1/m_q), nothing gains where ``|c_p - c_q| > (radii) (1 + 1/√r)``.
    """
    X, square = model.points, model.square
    best, left, right = 0.0, -1, -1
    m_p, m_q = cells.sizes[p], cells.sizes[q]
    apart = math.sqrt(squared_distance(model.centroids, p, model.centroids[q]))
    reach = 1.0 + 1.0 / math.sqrt((1.0 - 1.0 / m_p) * (1.0 - 1.0 / m_q))
    if apart > CLOSE * reach * (model.radius[p] + model.radius[q]):
        return best, left, right
    for t in range(m_p):
        i = cells.members[cells.start[p] + t]
        across[0, t] = squared_distance(X, i, model.centroids[q])
        if m_p > k and m_q < 2 * k - 1:
            change = m_q / (m_q + 1.0) * across[0, t] + -m_p / (m_p - 1.0) * square[i]
            if change < best:
                best, left, right = change, i, -1
    for u in range(m_q):
        j = cells.members[cells.start[q] + u]
        across[1, u] = squared_distance(X, j, model.centroids[p])
        if m_q > k and m_p < 2 * k - 1:
            change = m_p / (m_p + 1.0) * across[1, u] + -m_q / (m_q - 1.0) * square[j]
            if change < best:
                best, left, right = change, -1, j
    weight = 1.0 / m_p + 1.0 / m_q
    for u in range(m_q):
        j = cells.members[cells.start[q] + u]
        here = across[1, u] - square[j]
        root = math.sqrt(across[1, u])
        for t in range(m_p):
            i = cells.members[cells.start[p] + t]
            change = here + across[0, t] - square[i]
            most = math.sqrt(square[i]) + root
            if change - CLOSE * weight * most * most >= best:
                continue
            change -= weight * squared_distance(X, i, X[j])
            if change < best:
                best, left, right = change, i, j
    return best, left, right


@kernel
def scan(model, cells, pairs, stale, rows, position, k, budget):
    """Find the best move of each stale cell with any other; return the number of cells done.

    ``rows`` are the cells where ``stale`` is set; the others are compared with these only, as nothing else
    about them is new.
    """
    change, partner, left, right = pairs.change, pairs.partner, pairs.left, pairs.right
    while position < len(rows) and budget > 0:
        p = rows[position]
        for q in range(len(cells.sizes)):
            if q == p or cells.sizes[q] == 0 or (stale[q] == 1 and q < p):
                continue
            low, high = min(p, q), max(p, q)
            gain, i, j = best_of_pair(model, cells, low, high, k, pairs.across)
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
            if cells.members[cells.start[p] + t] != order[end]:
                place += 1
                order[place] = cells.members[cells.start[p] + t]
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
def adopt(model, cells, order, first, last, kept, changed):
    """Cut a tour into cells. A run that was a cell already keeps its number and is not ``changed``.

    Flags are int64: LLVM 22 (llvmlite 0.50) vectorises the conditional stores to a bool array wrongly, and
    clears flags that were set.
    """
    n, room = len(cells.labels), len(cells.sizes)
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
                cells.members[cells.start[free] + t - end + size] = order[(first + t) % n]
            cells.sizes[free] = size
        end -= size
    for p in range(room):
        if kept[p] == 0:
            size = cells.sizes[p]
            cells.sizes[p] = 0
            for t in range(size):
                put(cells, cells.members[cells.start[p] + t], p)
            refresh(model, cells, p)


class Chains(NamedTuple):
    """The cheapest chains to every node; column t holds chains that begin with the source's t-th member.

    Node i < n is a record, node n + p the cell p itself. The last column is for chains that begin with the
    source itself.
    """

    cost: NDArray[np.float64]  # (n + room, columns)
    before: NDArray[np.int64]  # (n + room, columns) the node before; -1 for none
    low: NDArray[np.float64]  # (room, columns) the least cost of the records of a cell
    spare: NDArray[np.int64]  # (columns,) the cheapest node that is a cell, and so gives nobody
    near: NDArray[np.float64]  # (n + room,) distances to the centroid of the cell at hand
    known: NDArray[np.int64]  # (room,) for which cell at hand those of a cell's records were found


@kernel
def chains(model, cells, k, ranked, source, begin, end, chain):
    """Extend the cheapest chains from the cell ``source`` to the cells ``ranked[begin:end]``, in that order.

    A chain u, v means that u takes the place of v; a cell in u's place gives nobody, one in v's place takes u
    in addition. What cannot be better than what is known, by how far u is from v's cell, is passed by.
    """
    n, none = len(cells.labels), min(-1, k)
    starts, cost, low = cells.sizes[source] + 1, chain.cost, chain.low
    for at in range(begin, end):
        q = ranked[at]
        size = cells.sizes[q]
        for t in range(starts if at > 1 else 0):
            if cost[n + ranked[at - 1], t] < cost[chain.spare[t], t]:
                chain.spare[t] = n + ranked[at - 1]
        for lower in range(at):
            p = ranked[lower]
            apart = math.sqrt(squared_distance(model.centroids, p, model.centroids[q]))
            chain.near[n + p] = max(0.0, apart / CLOSE - CLOSE * model.radius[p])
        low[q, :starts] = math.inf
        for s in range(size + 1):
            alone = s == size  # the cell itself
            node = n + q if alone else cells.members[cells.start[q] + s]
            cost[node, :starts] = math.inf
            chain.before[node, :starts] = -1
            if alone and size >= 2 * k - 1:
                continue
            if not alone and size > k:
                weight = change(model, cells, q, node, none, math.inf)
                for t in range(starts):
                    cost[node, t] = cost[chain.spare[t], t] + weight
                    chain.before[node, t] = chain.spare[t]
            extend(model, cells, ranked, at, chain, node, alone, starts)
            for t in range(0 if alone else starts):
                low[q, t] = min(low[q, t], cost[node, t])


@inner
def extend(model, cells, ranked, at, chain, node, alone, starts):
    """Extend chains to a node of cell ``ranked[at]`` from the cells before it, if that is cheaper.

    With a and b the distances of who leaves and who comes, the change is ``(1-1/m) b² + 2/m <a, b> -
    (1+1/m) a²``, at least what -ab for the product gives; where nobody leaves, it is ``m/(m+1) b²``.
    """
    n, q, cost = len(cells.labels), ranked[at], chain.cost
    away = 0.0 if alone else math.sqrt(model.square[node])
    m = cells.sizes[q] * 1.0
    second = m / (m + 1.0) if alone else 1.0 - 1.0 / m
    first, constant = 2.0 / m * away, (1.0 + 1.0 / m) * away * away
    for lower in range(at):
        p = ranked[lower]
        b = max(chain.near[n + p], first / (2.0 * second))  # the least over all that are farther off
        if not cheaper(chain.low, p, cost, node, (second * b - first) * b - constant, starts):
            continue
        if chain.known[p] != q:
            chain.known[p] = q
            for u in range(cells.start[p], cells.start[p] + cells.sizes[p]):
                i = cells.members[u]
                chain.near[i] = math.sqrt(squared_distance(model.points, i, model.centroids[q])) / CLOSE
        for u in range(cells.start[p], cells.start[p] + cells.sizes[p]):
            i = cells.members[u]
            b = chain.near[i]
            if cheaper(cost, i, cost, node, (second * b - first) * b - constant, starts):
                weight = change(model, cells, q, min(-1, at) if alone else node, i, math.inf)
                relax(cost, chain.before, i, node, weight, starts)


@inner
def cheaper(low, u, cost, v, weight, starts):
    """Return whether the way to v through u is cheaper in any column."""
    result = False
    for t in range(starts):
        result = result or low[u, t] + weight < cost[v, t]
    return result


@inner
def relax(cost, before, u, v, weight, starts):
    """Update the chains to v that are cheaper through u."""
    for t in range(starts):
        if cost[u, t] + weight < cost[v, t]:
            cost[v, t] = cost[u, t] + weight
            before[v, t] = u


@kernel
def close(model, cells, k, ranked, source, cost):
    """Return the cheapest cycle: its cost (at most 0), its last node and the column of its first."""
    n, none = len(cells.labels), min(-1, k)
    best, last, column = 0.0, -1, -1
    size = cells.sizes[source]
    for at in range(1, len(ranked)):
        p = ranked[at]
        for s in range(cells.sizes[p] + 1):
            node = n + p if s == cells.sizes[p] else cells.members[cells.start[p] + s]
            for t in range(size + 1):
                if cost[node, t] == math.inf:
                    continue
                if node < n and t < size:
                    out = cells.members[cells.start[source] + t]
                    back = change(model, cells, source, out, node, math.inf)
                elif node < n and size < 2 * k - 1:
                    back = change(model, cells, source, none, node, math.inf)
                elif node >= n and t < size and size > k:
                    out = cells.members[cells.start[source] + t]
                    back = change(model, cells, source, out, none, math.inf)
                else:
                    continue
                if cost[node, t] + back < best:
                    best, last, column = cost[node, t] + back, node, t
    return best, last, column
