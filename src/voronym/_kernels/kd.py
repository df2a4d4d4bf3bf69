"""Cells by halving: records split at the quantiles of their widest column, down to cells of a given size.

Categories are columns of two values, of which none varies much but all together do: they are marked, and
split by the number of their combination, see `voronym._kernels.tree.sortable`.
"""

from __future__ import annotations

from voronym._kernels import inner, kernel
from voronym._kernels.tree import select


@inner
def widest(rows, marks, start, stop):
    """Return the column of the largest variance; marked columns count together, as one after the last."""
    d = len(marks)
    best = -1.0
    together = 0.0
    axis = min(0, d)
    for j in range(d):
        first = rows[start, j]
        total = square = 0.0
        for i in range(start, stop):
            apart = rows[i, j] - first
            total += apart
            square += apart * apart
        variance = square - total * total / (stop - start)
        if marks[j]:
            together += variance
        elif variance > best:
            best = variance
            axis = j
    return d if together > best else axis


@kernel
def halve(rows, marks, order, bounds, low, high):
    """Split the records of the cells low..high-1 in two; return the first cell of the second half."""
    middle = (low + high) // 2
    start, stop = bounds[low], bounds[high]
    select(rows, order, start, stop, bounds[middle], widest(rows, marks, start, stop))
    return middle


@kernel
def split(rows, marks, order, bounds, low, high, stack):
    """Split the records of the cells low..high-1 until each cell has its own."""
    stack[0, 0], stack[0, 1] = low, high
    top = 1
    while top > 0:
        top -= 1
        low, high = stack[top, 0], stack[top, 1]
        if high - low < 2:
            continue
        middle = halve(rows, marks, order, bounds, low, high)
        stack[top, 0], stack[top, 1] = low, middle
        stack[top + 1, 0], stack[top + 1, 1] = middle, high
        top += 2
