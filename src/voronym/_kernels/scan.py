"""MDAV, V-MDAV and MD by scans over all remaining records: O(n²/k) and O(n²) costs, in any space.

A *scan* is a named tuple of arrays that knows the costs between records and the centroid of what remains; the
first operations below belong to it. ``Remaining.alive[:left]`` has the remaining records, ascending: a scan
in that order gives ties to the lowest index.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import implement, inner, kernel, operation
from voronym._kernels.plain import add_exactly, arrange, insert, squared_distance, worst_of

LEFT, CELLS, PLACE = 0, 1, 2  # the counters in Remaining.state


class Remaining(NamedTuple):
    """The records that have no cell yet, and room to work. Made by `make_remaining`."""

    labels: NDArray[np.int64]  # (n,) -1: none yet
    alive: NDArray[np.int64]  # (n,)
    costs: NDArray[np.float64]  # (n,) of the remaining records, in their order, to where the scan aims
    near: NDArray[np.float64]  # (n,) to the nearest member of a cell that grows
    distances: NDArray[np.float64]  # (k,) of the nearest records
    members: NDArray[np.int64]  # (k,) and who they are
    state: NDArray[np.int64]  # how many remain, the cells made, how far an order was followed, who is asked


def make_remaining(n: int, k: int) -> Remaining:
    """Return n records, none of them in a cell."""
    state = np.array([n, 0, 0, 0])
    labels, alive = np.full(n, -1, np.int64), np.arange(n)
    return Remaining(labels, alive, np.empty(n), np.empty(n), np.empty(k), np.empty(k, np.int64), state)


# -- what a scan offers ------------------------------------------------------------------------------------


@operation
def clear(scan: Any) -> None:
    """Forget all records that were added."""
    raise NotImplementedError


@operation
def add(scan: Any, i: int, sign: float) -> None:
    """Add a record to the remaining ones (sign 1), or remove it (-1)."""
    raise NotImplementedError


@operation
def aim_at_centroid(scan: Any, left: int) -> None:
    """Measure costs to the centroid of the ``left`` records that were added."""
    raise NotImplementedError


@operation
def aim_at(scan: Any, i: int) -> None:
    """Measure costs to record i."""
    raise NotImplementedError


@operation
def fill_costs(scan: Any, alive: NDArray[np.int64], left: int, out: NDArray[np.float64]) -> None:
    """Fill the costs of the remaining records to the present target, in their order."""
    raise NotImplementedError


@operation
def near_one(scan, i, everyone, costs, size, distances, out):
    """Fill the ``size`` other records with the least costs to record i, lowest first."""
    aim_at(scan, i)
    fill_costs(scan, everyone, len(everyone), costs)
    result = min(0, size)
    worst = worst_of(size)
    for j in range(len(everyone)):
        if j != i and (result < size or costs[j] < distances[worst]):
            result = insert(distances, out, result, size, costs[j], everyone[j])
    arrange(distances, out, result, size)


# -- Euclidean records -------------------------------------------------------------------------------------


class PointScan(NamedTuple):
    """Squared distances, and the mean of the remaining records."""

    points: NDArray[np.float64]  # (n, d)
    high: NDArray[np.float64]  # (d,) sums of the remaining records, as double-doubles
    low: NDArray[np.float64]  # (d,)
    point: NDArray[np.float64]  # (d,) where the scan aims


def make_point_scan(points: NDArray[np.float64]) -> PointScan:
    """Return a scan without any record."""
    d = points.shape[1]
    return PointScan(points, np.zeros(d), np.zeros(d), np.zeros(d))


@implement(clear, PointScan)
def _clear(scan):
    scan.high[:] = 0.0
    scan.low[:] = 0.0


@implement(add, PointScan)
def _add(scan, i, sign):
    for j in range(scan.points.shape[1]):
        scan.high[j], scan.low[j] = add_exactly(scan.high[j], scan.low[j], sign * scan.points[i, j])


@implement(aim_at_centroid, PointScan)
def _aim_at_centroid(scan, left):
    for j in range(len(scan.point)):
        scan.point[j] = scan.high[j] / left


@implement(aim_at, PointScan)
def _aim_at(scan, i):
    for j in range(len(scan.point)):
        scan.point[j] = scan.points[i, j]


@implement(fill_costs, PointScan)
def _fill_costs(scan, alive, left, out):
    points, point = scan.points, scan.point
    for t in range(left):
        out[t] = squared_distance(points, alive[t], point)


# -- the loops ---------------------------------------------------------------------------------------------


@kernel
def add_range(scan, first, last):
    """Add the records first..last-1."""
    for i in range(first, last):
        add(scan, i, 1.0)


@kernel
def costs_to_centroid(scan, everyone, out):
    """Fill the costs of all records to their centroid."""
    aim_at_centroid(scan, len(everyone))
    fill_costs(scan, everyone, len(everyone), out)


@kernel
def near_records(scan, first, last, everyone, costs, size, distances, out):
    """Fill for the records first..last-1 the ``size`` others with the least costs, lowest first."""
    for i in range(first, last):
        near_one(scan, i, everyone, costs, size, distances, out[i - first])


@inner
def farthest(work, left):
    """Return the remaining record of the largest cost, the lowest index among equals, and the cost."""
    best = min(0, left)  # a literal 0 would be a type of its own, and numba compile everything twice
    for t in range(left):
        if work.costs[t] > work.costs[best]:
            best = t
    return work.alive[best], work.costs[best]


@inner
def nearest(work, left, size):
    """Fill the ``size`` remaining records with the least costs, sorted by cost and index."""
    result = min(0, size)
    worst = worst_of(size)
    distances, members, costs, alive = work.distances, work.members, work.costs, work.alive
    for t in range(left):
        if result < size or costs[t] < distances[worst]:
            result = insert(distances, members, result, size, costs[t], alive[t])
    arrange(distances, members, result, size)


@inner
def drop(work, left):
    """Drop the records that have a cell now, and their costs; return how many remain."""
    kept = 0
    for t in range(left):
        if work.labels[work.alive[t]] < 0:
            work.alive[kept] = work.alive[t]
            work.costs[kept] = work.costs[t]
            kept += 1
    return kept


@inner
def make_cell(scan, work, k, r):
    """Make a cell of record r and the k - 1 nearest that remain. Costs are to r afterwards."""
    left = work.state[LEFT]
    aim_at(scan, r)
    fill_costs(scan, work.alive, left, work.costs)
    nearest(work, left, k)
    for q in range(k):
        work.labels[work.members[q]] = work.state[CELLS]
        add(scan, work.members[q], -1.0)
    work.state[LEFT] = drop(work, left)
    work.state[CELLS] += 1


@inner
def rest(work):
    """Make the last cell of all that remain."""
    for t in range(work.state[LEFT]):
        work.labels[work.alive[t]] = work.state[CELLS]
    work.state[LEFT] = 0


@kernel
def mdav(scan, work, k, budget):
    """Run MDAV until it ends or ``budget`` costs are spent.

    One cell: the k records nearest to the one farthest from the centroid. The next: the k nearest to the one
    farthest from that record among those left. With fewer than 3k left: one more cell, and the rest.
    """
    while work.state[LEFT] >= 2 * k and budget > 0:
        left = work.state[LEFT]
        budget -= 3 * left
        aim_at_centroid(scan, left)
        fill_costs(scan, work.alive, left, work.costs)
        r, _ = farthest(work, left)
        make_cell(scan, work, k, r)
        if left >= 3 * k:
            s, _ = farthest(work, work.state[LEFT])
            make_cell(scan, work, k, s)
    if work.state[LEFT] < 2 * k:
        rest(work)


@kernel
def vmdav(scan, work, k, ratio, order, budget):
    """Run V-MDAV until it ends or ``budget`` costs are spent.

    ``order`` has the records by falling cost to the overall centroid. A cell grows while the next record is
    nearer to it than ``ratio`` times its cost to any other.
    """
    labels, alive, costs, near, state = work.labels, work.alive, work.costs, work.near, work.state
    while state[LEFT] >= k and budget > 0:
        budget -= (k + 2) * state[LEFT]
        while labels[order[state[PLACE]]] >= 0:
            state[PLACE] += 1
        cell = state[CELLS]
        make_cell(scan, work, k, order[state[PLACE]])
        left = state[LEFT]
        for t in range(left):
            near[t] = math.inf
        for q in range(2 * k - 1):
            if ratio <= 0.0:
                break
            if q < k:
                new = work.members[q]
            else:
                best = -1
                for t in range(left):
                    if best < 0 or near[t] < near[best]:
                        best = t
                if best < 0:
                    break
                new = alive[best]
                aim_at(scan, new)
                fill_costs(scan, alive, left, costs)
                outside = math.inf
                for t in range(left):
                    if t != best:
                        outside = min(outside, costs[t])
                if not near[best] < ratio * outside:
                    break
                labels[new] = cell
                left -= 1
                for t in range(best, left):
                    alive[t] = alive[t + 1]
                    near[t] = near[t + 1]
                    costs[t] = costs[t + 1]
            if q < k:
                aim_at(scan, new)
                fill_costs(scan, alive, left, costs)
            for t in range(left):
                if costs[t] < near[t]:
                    near[t] = costs[t]
        state[LEFT] = left


@kernel
def md(scan, work, reach, partner, k, budget):
    """Run MD until it ends or ``budget`` costs are spent: cells around the two most distant records left.

    ``reach[i]`` is at least the largest cost from i to a remaining record, and equal to it where
    ``partner[i]`` is one: what is largest only falls as records leave, so old values stay bounds, and only
    those that come first are computed again.
    """
    labels, alive, state = work.labels, work.alive, work.state
    while state[LEFT] >= 2 * k and budget > 0:
        left = state[LEFT]
        while True:
            budget -= left
            r = -1
            best = -1.0
            for t in range(left):
                if reach[alive[t]] > best:
                    best = reach[alive[t]]
                    r = alive[t]
            if partner[r] >= 0 and labels[partner[r]] < 0:
                break
            budget -= left
            aim_at(scan, r)
            fill_costs(scan, alive, left, work.costs)
            partner[r], reach[r] = farthest(work, left)
        s = partner[r]
        make_cell(scan, work, k, r)
        if left >= 3 * k:
            if labels[s] >= 0:  # only where at least k records are equally far from r
                s, _ = farthest(work, state[LEFT])
            make_cell(scan, work, k, s)
        budget -= 4 * left
    if state[LEFT] < 2 * k:
        rest(work)
