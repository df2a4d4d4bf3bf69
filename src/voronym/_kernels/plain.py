"""Squared distances, exact sums, and lists of the nearest.

Squared distances are summed coordinate by coordinate, in order, in every kernel of this package: equal inputs
give equal bits, whichever kernel asks.
"""

from __future__ import annotations

from voronym._kernels import inner, kernel

LISTED = 64  # nearest records that are kept in a sorted list; more are kept in a heap


@inner
def squared_distance(X, i, point):
    """Return the squared distance of record i to a point."""
    total = 0.0
    for j in range(X.shape[1]):
        difference = X[i, j] - point[j]
        total += difference * difference
    return total


@inner
def between(X, i, Y, j):
    """Return the squared distance of row i of X and row j of Y without slicing rows."""
    total = 0.0
    for a in range(X.shape[1]):
        difference = X[i, a] - Y[j, a]
        total += difference * difference
    return total


@inner
def add_exactly(high, low, value):
    """Return the double-double ``high + low + value``, its high part rounded to nearest."""
    total = high + value
    virtual = total - high
    low += (high - (total - virtual)) + (value - virtual)
    high = total + low
    return high, low - (high - total)


@kernel
def start_sums(X, high, low):
    """Set the running sums of the columns, as double-doubles, to those of all records."""
    high[:] = 0.0
    low[:] = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            high[j], low[j] = add_exactly(high[j], low[j], X[i, j])


@inner
def sift(distances, indices, place, size):
    """Let an entry sink in a heap with the worst on top: the farthest, the highest index among ties."""
    distance, index = distances[place], indices[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and (
            distances[child + 1] > distances[child]
            or (distances[child + 1] == distances[child] and indices[child + 1] > indices[child])
        ):
            child += 1
        if distances[child] < distance or (distances[child] == distance and indices[child] < index):
            break
        distances[place], indices[place] = distances[child], indices[child]
        place = child
    distances[place], indices[place] = distance, index


@inner
def worst_of(size):
    """Return the place of the worst in a full list: its end, or its top if it is a heap."""
    return 0 if size > LISTED else size - 1


@inner
def insert(distances, indices, result, size, distance, index):
    """Insert a record into the ``size`` nearest if it belongs there; return their number.

    Up to `LISTED` they are a list sorted by distance and index; more become a heap once they are all there.
    """
    if result == size:
        last = worst_of(size)
        if distance > distances[last] or (distance == distances[last] and index > indices[last]):
            return result
        if size > LISTED:
            distances[last], indices[last] = distance, index
            sift(distances, indices, last, size)
            return result
    else:
        last = result
        result += 1
        if size > LISTED:
            distances[last], indices[last] = distance, index
            if result == size:
                for place in range(size // 2 - 1, -1, -1):
                    sift(distances, indices, place, size)
            return result
    while last > 0 and (
        distances[last - 1] > distance or (distances[last - 1] == distance and indices[last - 1] > index)
    ):
        distances[last] = distances[last - 1]
        indices[last] = indices[last - 1]
        last -= 1
    distances[last] = distance
    indices[last] = index
    return result


@inner
def arrange(distances, indices, result, size):
    """Sort the nearest by distance and index, if they are not sorted yet."""
    if size > LISTED:
        top = worst_of(size)
        for place in range(result // 2 - 1, -1, -1):
            sift(distances, indices, place, result)
        for last in range(result - 1, 0, -1):
            distances[top], distances[last] = distances[last], distances[top]
            indices[top], indices[last] = indices[last], indices[top]
            sift(distances, indices, top, last)
