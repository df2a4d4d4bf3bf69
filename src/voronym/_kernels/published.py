"""The cost model of published values: means, rounded means and medians of numbers, modes of categories.

The cost of a cell is ``sum of squares about the published number + weight * (members without the published
category)``. A mean that is rounded to a grid adds ``m * shift²``. A cell keeps how often it has each
category, the largest of these counts, and how many categories have it: so a move is priced in O(1) for each
column of categories, however many there are.

Columns of numbers stand in this order: those with plain means, rounded ones, and those with medians.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as operations
from voronym._kernels import implement, inner


class Published(NamedTuple):
    """The published values of the cells."""

    points: NDArray[np.float64]  # (n, d) the numbers
    rounded: int  # the first column whose mean is rounded
    medians: int  # the first column that publishes its median
    origin: NDArray[np.float64]  # (d,) a value of the grid
    step: NDArray[np.float64]  # (d,) its width; 1 where nothing is rounded
    codes: NDArray[np.int64]  # (n, c) places in a row of ``counts``
    weights: NDArray[np.float64]  # (c,) what a wrong category costs
    centroids: NDArray[np.float64]  # (room, d) the means
    counts: NDArray[np.int64]  # (room, categories of all columns)
    top: NDArray[np.int64]  # (room, c) how often the most frequent category occurs
    ties: NDArray[np.int64]  # (room, c) how many categories occur as often
    middle: NDArray[np.float64]  # (n + 1,) scratch: the values of a cell in order


def make(
    points: NDArray[np.float64],
    ends: tuple[int, int],
    grid: NDArray[np.float64],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    room: int,
) -> Published:
    """Return a model with this number of cells; refresh them before use.

    ``ends`` are the first column that is rounded and the first that publishes medians; ``grid`` has the
    origins and the steps of all.
    """
    width = int(codes.max()) + 1 if codes.size else 0
    columns = codes.shape[1]
    return Published(
        points,
        ends[0],
        ends[1],
        np.ascontiguousarray(grid[0]),
        np.ascontiguousarray(grid[1]),
        codes,
        weights,
        np.zeros((room, points.shape[1])),
        np.zeros((room, width), np.int64),
        np.zeros((room, columns), np.int64),
        np.zeros((room, columns), np.int64),
        np.zeros(len(points) + 1),
    )


@inner
def shift(model, j, mean):
    """Return the squared distance between a mean and its published value."""
    at = (mean - model.origin[j]) / model.step[j]
    away = (at - math.floor(at + 0.5)) * model.step[j]
    return away * away


@inner
def about_median(model, cells, p, j, out, new):
    """Return the squares of a column about its median if one record leaves and another joins (-1: none)."""
    row = model.middle
    size = min(0, p)
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p] + 1):
        last = t == cells.start[p] + cells.sizes[p]
        i = new if last else cells.members[t]
        if i < 0 or (i == out and not last):
            continue
        value = model.points[i, j]
        place = size
        while place > 0 and row[place - 1] > value:
            row[place] = row[place - 1]
            place -= 1
        row[place] = value
        size += 1
    total = 0.0
    if size > 0:
        middle = 0.5 * (row[(size - 1) // 2] + row[size // 2])
        for t in range(size):
            total += (row[t] - middle) * (row[t] - middle)
    return total


@inner
def count_ties(model, cells, p, c):
    """Return how many categories of a column occur as often as the most frequent one."""
    result, top = min(0, p), model.top[p, c]
    for t in range(cells.start[p], cells.start[p] + cells.sizes[p]):
        if model.counts[p, model.codes[cells.members[t], c]] == top:
            result += 1
    return result // top if top > 0 else result


@implement(operations.refresh, Published)
def _refresh(model, cells, p):
    begin, size = cells.start[p], cells.sizes[p]
    for j in range(model.points.shape[1]):
        total = 0.0
        for t in range(begin, begin + size):
            total += model.points[cells.members[t], j]
        model.centroids[p, j] = total / size if size > 0 else 0.0
    for v in range(model.counts.shape[1]):
        model.counts[p, v] = 0
    for c in range(model.codes.shape[1]):
        top = min(0, p)
        for t in range(begin, begin + size):
            v = model.codes[cells.members[t], c]
            model.counts[p, v] += 1
            top = max(top, model.counts[p, v])
        model.top[p, c] = top
        model.ties[p, c] = count_ties(model, cells, p, c)


@implement(operations.update, Published)
def _update(model, cells, p, out, new):
    size = cells.sizes[p]
    for j in range(model.points.shape[1]):
        mean = model.centroids[p, j]
        if size == 0:
            model.centroids[p, j] = 0.0
        elif new < 0:
            model.centroids[p, j] = mean + (mean - model.points[out, j]) / size
        elif out < 0:
            model.centroids[p, j] = mean + (model.points[new, j] - mean) / size
        else:
            model.centroids[p, j] = mean + (model.points[new, j] - model.points[out, j]) / size
    for c in range(model.codes.shape[1]):
        a = model.codes[out, c] if out >= 0 else min(-1, p)
        b = model.codes[new, c] if new >= 0 else min(-1, p)
        if a == b:
            continue
        if a >= 0:
            model.counts[p, a] -= 1
            if model.counts[p, a] + 1 == model.top[p, c]:
                model.ties[p, c] -= 1
        if b >= 0:
            model.counts[p, b] += 1
            if model.counts[p, b] == model.top[p, c]:
                model.ties[p, c] += 1
            elif model.counts[p, b] > model.top[p, c]:
                model.top[p, c] = model.counts[p, b]
                model.ties[p, c] = 1
        if model.ties[p, c] == 0:  # the only most frequent one has left
            model.top[p, c] -= 1
            model.ties[p, c] = count_ties(model, cells, p, c)


@implement(operations.cost, Published)
def _cost(model, cells, p):
    begin, size = cells.start[p], cells.sizes[p]
    none = min(-1, p)
    total = 0.0
    for j in range(model.points.shape[1]):
        if j >= model.medians:
            total += about_median(model, cells, p, j, none, none)
            continue
        mean = model.centroids[p, j]
        for t in range(begin, begin + size):
            apart = model.points[cells.members[t], j] - mean
            total += apart * apart
        if j >= model.rounded:
            total += size * shift(model, j, mean)
    for c in range(model.codes.shape[1]):
        total += model.weights[c] * (size - model.top[p, c])
    return total


@implement(operations.change, Published)
def _change(model, cells, p, out, new, limit):
    X, size = model.points, cells.sizes[p]
    after = size
    if out >= 0:
        after -= 1
    if new >= 0:
        after += 1
    total = 0.0
    for c in range(model.codes.shape[1]):
        a = model.codes[out, c] if out >= 0 else min(-1, p)
        b = model.codes[new, c] if new >= 0 else min(-1, p)
        if a == b:
            continue
        top = model.top[p, c]
        if a >= 0 and model.counts[p, a] == top and model.ties[p, c] == 1:
            top -= 1
        if b >= 0 and model.counts[p, b] >= top:
            top = model.counts[p, b] + 1
        total += model.weights[c] * (after - top - size + model.top[p, c])
    if out >= 0 and new >= 0:
        share = (size - 1.0) / size
        for j in range(model.rounded):
            step = X[new, j] - X[out, j]
            total += step * (2.0 * (X[out, j] - model.centroids[p, j]) + step * share)
        for j in range(model.rounded, model.medians):
            mean = model.centroids[p, j]
            step = X[new, j] - X[out, j]
            total += step * (2.0 * (X[out, j] - mean) + step * share)
            total += size * (shift(model, j, mean + step / size) - shift(model, j, mean))
    elif new >= 0:
        share = size / (size + 1.0)
        for j in range(model.rounded):
            apart = X[new, j] - model.centroids[p, j]
            total += share * apart * apart
        for j in range(model.rounded, model.medians):
            mean = model.centroids[p, j]
            apart = X[new, j] - mean
            total += share * apart * apart
            total += after * shift(model, j, mean + apart / after) - size * shift(model, j, mean)
    elif after > 0:
        share = size / (size - 1.0)
        for j in range(model.rounded):
            apart = X[out, j] - model.centroids[p, j]
            total -= share * apart * apart
        for j in range(model.rounded, model.medians):
            mean = model.centroids[p, j]
            apart = X[out, j] - mean
            total -= share * apart * apart
            total += after * shift(model, j, mean - apart / after) - size * shift(model, j, mean)
    else:
        for j in range(model.rounded, model.medians):
            total -= size * shift(model, j, model.centroids[p, j])
    if model.medians < X.shape[1] and total < limit:
        none = min(-1, p)
        for j in range(model.medians, X.shape[1]):
            before = about_median(model, cells, p, j, none, none)
            total += about_median(model, cells, p, j, out, new) - before
    return total
