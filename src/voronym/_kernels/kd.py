"""Cells by halving: records split at the quantiles of their widest column, down to cells of a given size."""

from __future__ import annotations

from voronym._kernels import inner, kernel
from voronym._kernels.tree import select


@inner
def widest(rows, start, stop):
    """Return the column of the largest variance."""
    d = rows.shape[1]
    best = -1.0
    axis = min(0, d)
    for j in range(d):
        first = rows[start, j]
        total = square = 0.0
        for i in range(start, stop):
            apart = rows[i, j] - first
            total += apart
            square += apart * apart
        variance = square - total * total / (stop - start)
        if variance > best:
            best = variance
            axis = j
    return axis


@kernel
def halve(rows, order, bounds, low, high):
    """Split the records of the cells low..high-1 in two; return the first cell of the second half."""
    middle = (low + high) // 2
    start, stop = bounds[low], bounds[high]
    select(rows, order, start, stop, bounds[middle], widest(rows, start, stop))
    return middle


@kernel
def split(rows, order, bounds, low, high, stack):
    """Split the records of the cells low..high-1 until each cell has its own."""
    stack[0, 0], stack[0, 1] = low, high
    top = 1
    while top > 0:
        top -= 1
        low, high = stack[top, 0], stack[top, 1]
        if high - low < 2:
            continue
        middle = halve(rows, order, bounds, low, high)
        stack[top, 0], stack[top, 1] = low, middle
        stack[top + 1, 0], stack[top + 1, 1] = middle, high
        top += 2
