"""Dissolve cells whose records cost less elsewhere, and split cells that grow too large."""

from __future__ import annotations

import math

from voronym._kernels import inner, kernel
from voronym._kernels.cells import FREE, LOGGED, begin, cost, move, move_logged, refresh, release, update
from voronym._kernels.plain import squared_distance
from voronym._kernels.scan import CELLS, LEFT, add, clear, mdav


@inner
def sort_members(cells, p):
    """Sort the members of a cell by index."""
    first = cells.start[p]
    for t in range(first + 1, first + cells.sizes[p]):
        i, at = cells.members[t], t
        while at > first and cells.members[at - 1] > i:
            cells.members[at] = cells.members[at - 1]
            at -= 1
        cells.members[at] = i
    for t in range(cells.sizes[p]):
        cells.slot[cells.members[first + t]] = t


@inner
def nearest_cell(model, cells, i, p):
    """Return the cell other than p with the nearest centroid to record i, and the squared distance to it."""
    best, chosen = math.inf, -1
    for q in range(len(cells.sizes)):
        if cells.sizes[q] > 0:
            distance = squared_distance(model.points, i, model.centroids[q])
            if distance < best and q != p:
                best, chosen = distance, q
    return chosen, best


@inner
def split(model, cells, scan, work, k, p):
    """Split a cell of 2k to 4k-2 records by MDAV; the first part keeps its number, others take free ones."""
    sort_members(cells, p)
    first, size = cells.start[p], cells.sizes[p]
    clear(scan)
    for t in range(size):
        i = cells.members[first + t]
        work.alive[t] = i
        work.labels[i] = -1
        add(scan, i, 1.0)
    work.state[LEFT], work.state[CELLS] = size, 0
    while work.state[LEFT] > 0:
        mdav(scan, work, k, 4 * size)
    for part in range(work.state[CELLS], 0, -1):
        cells.count[FREE] -= 1
        place = cells.free[cells.count[FREE]]
        sort_members(cells, p)
        for t in range(size):
            work.alive[t] = cells.members[first + t]
        for t in range(size):
            if work.labels[work.alive[t]] == part:
                move(cells, work.alive[t], place)
        size = cells.sizes[p]
        refresh(model, cells, place)
    sort_members(cells, p)
    refresh(model, cells, p)


@kernel
def dissolve(model, cells, scan, work, order, before, k, budget):
    """Visit the cells ``order[work.state[2]:]``; dissolve each one if that lowers the sum of squares.

    The members move one by one to the cell with the nearest mean, which moves with them. If the sum of
    squares falls the cell is gone, and those that reached 2k records are split; if not, all is put back.
    ``before`` has room for 2k means.
    """
    none = min(-1, k)
    while work.state[2] < len(order) and budget > 0:
        p = order[work.state[2]]
        work.state[2] += 1
        sort_members(cells, p)
        size, lost, added = cells.sizes[p], cost(model, cells, p), 0.0
        for t in range(size):
            work.alive[t] = cells.members[cells.start[p] + t]
        begin(cells)
        while cells.count[LOGGED] < size and added < lost:
            moved = cells.count[LOGGED]
            i = work.alive[moved]
            q, distance = nearest_cell(model, cells, i, p)
            budget -= len(cells.sizes)
            if q < 0:
                added = math.inf
                break
            added += distance * cells.sizes[q] / (cells.sizes[q] + 1)
            for j in range(before.shape[1]):
                before[moved, j] = model.centroids[q, j]
            move_logged(cells, i, q)
            update(model, cells, q, none, i)
        moved = cells.count[LOGGED]
        if added < lost:
            release(cells, p)
            for t in range(moved):
                if cells.sizes[cells.log[t, 2]] >= 2 * k:
                    split(model, cells, scan, work, k, cells.log[t, 2])
        else:
            for t in range(moved - 1, -1, -1):
                q = cells.log[t, 2]
                move(cells, cells.log[t, 0], p)
                for j in range(before.shape[1]):
                    model.centroids[q, j] = before[t, j]
