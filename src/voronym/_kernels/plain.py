"""Scans over all remaining records, and the textbook MDAV built of them: O(n²/k) distances.

``alive[:left]`` has the indices of the remaining records, ascending; a scan in that order gives ties to the
lowest index. Squared distances are summed coordinate by coordinate, in order, in every kernel of this
package: equal inputs give equal bits, whichever kernel asks.
"""

from __future__ import annotations

from voronym._kernels import kernel

LISTED = 64  # so many nearest records are kept in a sorted list, more in a heap


@kernel
def squared_distance(X, i, point):
    """Return the squared distance of record i to a point."""
    total = 0.0
    for j in range(X.shape[1]):
        difference = X[i, j] - point[j]
        total += difference * difference
    return total


@kernel
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


@kernel
def farthest_from(X, alive, left, point):
    """Return the remaining record farthest from a point, and its squared distance."""
    best = -1.0
    chosen = -1
    for t in range(left):
        distance = squared_distance(X, alive[t], point)
        if distance > best:
            best = distance
            chosen = alive[t]
    return chosen, best


@kernel
def sift(distances, indices, place, size):
    """Let an entry sink in a heap with the worst on top: the farthest, of equals the highest index."""
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


@kernel
def worst_of(size):
    """Return where a full list of the nearest has its worst: at its end, or on top where it is a heap."""
    return 0 if size > LISTED else size - 1


@kernel
def insert(distances, indices, found, size, distance, index):
    """Put a record among the ``size`` nearest, if it is one of them; return how many there are.

    Up to `LISTED` they are a list sorted by distance and index; more become a heap once they are all there.
    """
    if found == size:
        last = worst_of(size)
        if distance > distances[last] or (distance == distances[last] and index > indices[last]):
            return found
        if size > LISTED:
            distances[last], indices[last] = distance, index
            sift(distances, indices, last, size)
            return found
    else:
        last = found
        found += 1
        if size > LISTED:
            distances[last], indices[last] = distance, index
            if found == size:
                for place in range(size // 2 - 1, -1, -1):
                    sift(distances, indices, place, size)
            return found
    while last > 0 and (
        distances[last - 1] > distance or (distances[last - 1] == distance and indices[last - 1] > index)
    ):
        distances[last] = distances[last - 1]
        indices[last] = indices[last - 1]
        last -= 1
    distances[last] = distance
    indices[last] = index
    return found


@kernel
def arrange(distances, indices, found, size):
    """Sort the nearest by distance and index, where they are not sorted yet."""
    if size > LISTED:
        top = worst_of(size)
        for place in range(found // 2 - 1, -1, -1):
            sift(distances, indices, place, found)
        for last in range(found - 1, 0, -1):
            distances[top], distances[last] = distances[last], distances[top]
            indices[top], indices[last] = indices[last], indices[top]
            sift(distances, indices, top, last)


@kernel
def nearest_to(X, alive, left, point, size, distances, indices):
    """Fill the ``size`` remaining records nearest to a point, sorted by distance and index."""
    found = min(0, size)  # a literal 0 would be a type of its own, and numba compile everything twice
    worst = worst_of(size)
    for t in range(left):
        distance = squared_distance(X, alive[t], point)
        if found < size or distance < distances[worst]:
            found = insert(distances, indices, found, size, distance, alive[t])
    arrange(distances, indices, found, size)
    return found


@kernel
def take(X, k, cell, labels, alive, left, high, low, members):
    """Make a cell of k members: label them, take them out of the sums and of the list of the remaining."""
    for q in range(k):
        i = members[q]
        labels[i] = cell
        for j in range(X.shape[1]):
            high[j], low[j] = add_exactly(high[j], low[j], -X[i, j])
    kept = 0
    for t in range(left):
        if labels[alive[t]] < 0:
            alive[kept] = alive[t]
            kept += 1
    return kept


@kernel
def mdav_plain(X, k, labels, alive, state, high, low, point, distances, members, budget):
    """Run MDAV from ``state`` (remaining, cells) until it ends or ``budget`` distances are spent.

    One cell: the k records nearest to the one farthest from the mean. The next: the k nearest to the one
    farthest from that record among those left. With fewer than 3k left: one more cell, and the rest.
    """
    d = X.shape[1]
    left, cell = state[0], state[1]
    while left >= 2 * k and budget > 0:
        budget -= 4 * left
        for j in range(d):
            point[j] = high[j] / left
        r, _ = farthest_from(X, alive, left, point)
        for j in range(d):
            point[j] = X[r, j]
        nearest_to(X, alive, left, point, k, distances, members)
        both = left >= 3 * k
        left = take(X, k, cell, labels, alive, left, high, low, members)
        cell += 1
        if both:
            s, _ = farthest_from(X, alive, left, point)
            for j in range(d):
                point[j] = X[s, j]
            nearest_to(X, alive, left, point, k, distances, members)
            left = take(X, k, cell, labels, alive, left, high, low, members)
            cell += 1
    if left < 2 * k:
        for t in range(left):
            labels[alive[t]] = cell
        left = 0
    state[0], state[1] = left, cell
