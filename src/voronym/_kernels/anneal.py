"""Annealing by random moves between neighbouring cells: millions of proposals a second.

The SSE of a cell is ``sum |x|^2 - |S|^2 / m``, S the sum of its m records, so a move's gain needs the sums of
the cells it touches and nothing else: O(d). Moves: shift a record, swap two, rotate three, push a chain over
three cells, dissolve a cell into its neighbours, found a new one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voronym._kernels import kernel


class Cells(NamedTuple):
    """A partition in motion; every array belongs to the caller."""

    label: np.ndarray  # (n,) cell of each record
    place: np.ndarray  # (n,) where the record stands in its cell's list
    members: np.ndarray  # (m, 2k) records of each cell
    size: np.ndarray  # (m,)
    sums: np.ndarray  # (m, d)
    square: np.ndarray  # (m,) squared norm of the sums
    free: np.ndarray  # (m + 1,) empty cells; the last entry counts them


@kernel
def draw(state):
    """Return the next of 2^64 - 1 numbers (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x >> np.uint64(11)


@kernel
def below(state, bound):
    """Return a whole number from 0 to bound - 1."""
    return np.int64(draw(state) % np.uint64(bound))


@kernel
def uniform(state):
    """Return a number in [0, 1)."""
    return np.float64(draw(state)) * 1.1102230246251565e-16


@kernel
def accepts(delta, temperature, state):
    """Metropolis: downhill always, uphill by chance."""
    return delta <= 0.0 or (temperature > 0.0 and uniform(state) < np.exp(-delta / temperature))


@kernel
def fill(X, cells):
    """Set lists, sizes and sums from the labels; what accumulated as rounding is gone afterwards."""
    n, d = X.shape
    cells.size[:] = 0
    cells.sums[:] = 0.0
    for i in range(n):
        a = cells.label[i]
        cells.members[a, cells.size[a]] = i
        cells.place[i] = cells.size[a]
        cells.size[a] += 1
        for j in range(d):
            cells.sums[a, j] += X[i, j]
    empty = 0
    for a in range(cells.size.shape[0]):
        total = 0.0
        for j in range(d):
            total += cells.sums[a, j] * cells.sums[a, j]
        cells.square[a] = total
        if cells.size[a] == 0:
            cells.free[empty] = a
            empty += 1
    cells.free[-1] = empty


@kernel
def move(X, i, b, cells):
    """Put record i into cell b."""
    a = cells.label[i]
    last = cells.members[a, cells.size[a] - 1]
    spot = cells.place[i]
    cells.members[a, spot] = last
    cells.place[last] = spot
    cells.members[b, cells.size[b]] = i
    cells.place[i] = cells.size[b]
    cells.size[a] -= 1
    cells.size[b] += 1
    cells.label[i] = b
    left = 0.0
    joined = 0.0
    for j in range(X.shape[1]):
        u = cells.sums[a, j] - X[i, j]
        v = cells.sums[b, j] + X[i, j]
        cells.sums[a, j] = u
        cells.sums[b, j] = v
        left += u * u
        joined += v * v
    cells.square[a] = left
    cells.square[b] = joined


@kernel
def shift_cost(X, i, b, cells):
    """Return the change of the SSE when record i moves to cell b, which may be empty."""
    a = cells.label[i]
    xa = 0.0
    xb = 0.0
    xx = 0.0
    for j in range(X.shape[1]):
        x = X[i, j]
        xa += x * cells.sums[a, j]
        xb += x * cells.sums[b, j]
        xx += x * x
    m = cells.size[a]
    cost = cells.square[a] / m - (cells.square[b] + 2.0 * xb + xx) / (cells.size[b] + 1)
    if m > 1:
        cost -= (cells.square[a] - 2.0 * xa + xx) / (m - 1)
    if cells.size[b] > 0:
        cost += cells.square[b] / cells.size[b]
    return cost


@kernel
def swap(X, i, v, temperature, state, cells):
    """Swap two records of different cells, if accepted; return the change of the SSE."""
    a = cells.label[i]
    b = cells.label[v]
    ea = 0.0
    eb = 0.0
    ee = 0.0
    for j in range(X.shape[1]):
        e = X[v, j] - X[i, j]
        ea += e * cells.sums[a, j]
        eb += e * cells.sums[b, j]
        ee += e * e
    delta = (2.0 * eb - ee) / cells.size[b] - (2.0 * ea + ee) / cells.size[a]
    if not accepts(delta, temperature, state):
        return 0.0
    for j in range(X.shape[1]):
        e = X[v, j] - X[i, j]
        cells.sums[a, j] += e
        cells.sums[b, j] -= e
    cells.square[a] += 2.0 * ea + ee
    cells.square[b] += ee - 2.0 * eb
    pi = cells.place[i]
    pv = cells.place[v]
    cells.members[a, pi] = v
    cells.members[b, pv] = i
    cells.place[v] = pi
    cells.place[i] = pv
    cells.label[i] = b
    cells.label[v] = a
    return delta


@kernel
def rotate(X, i, v, w, temperature, state, cells):
    """Send i to the cell of v, v to that of w, w to that of i, if accepted; return the change of the SSE."""
    a = cells.label[i]
    b = cells.label[v]
    c = cells.label[w]
    ea = 0.0
    eb = 0.0
    ec = 0.0
    fa = 0.0
    fb = 0.0
    fc = 0.0
    for j in range(X.shape[1]):
        x = X[i, j]
        y = X[v, j]
        z = X[w, j]
        ea += (z - x) * cells.sums[a, j]
        fa += (z - x) * (z - x)
        eb += (x - y) * cells.sums[b, j]
        fb += (x - y) * (x - y)
        ec += (y - z) * cells.sums[c, j]
        fc += (y - z) * (y - z)
    delta = (
        -(2.0 * ea + fa) / cells.size[a] - (2.0 * eb + fb) / cells.size[b] - (2.0 * ec + fc) / cells.size[c]
    )
    if not accepts(delta, temperature, state):
        return 0.0
    for j in range(X.shape[1]):
        x = X[i, j]
        y = X[v, j]
        z = X[w, j]
        cells.sums[a, j] += z - x
        cells.sums[b, j] += x - y
        cells.sums[c, j] += y - z
    cells.square[a] += 2.0 * ea + fa
    cells.square[b] += 2.0 * eb + fb
    cells.square[c] += 2.0 * ec + fc
    pi = cells.place[i]
    pv = cells.place[v]
    pw = cells.place[w]
    cells.members[a, pi] = w
    cells.place[w] = pi
    cells.label[w] = a
    cells.members[b, pv] = i
    cells.place[i] = pv
    cells.label[i] = b
    cells.members[c, pw] = v
    cells.place[v] = pw
    cells.label[v] = c
    return delta


@kernel
def undo(X, moved, origin, count, cells):
    """Take back the last ``count`` moves."""
    for q in range(count - 1, -1, -1):
        move(X, moved[q], origin[q], cells)


@kernel
def dissolve(X, a, k, near, temperature, state, moved, origin, cells):
    """Send each record of cell a to the neighbouring cell it costs least in, if accepted as a whole."""
    count = 0
    delta = 0.0
    while cells.size[a] > 0:
        i = cells.members[a, 0]
        best = np.inf
        to = -1
        for q in range(near.shape[1]):
            b = cells.label[near[i, q]]
            if b != a and cells.size[b] < 2 * k - 1:
                cost = shift_cost(X, i, b, cells)
                if cost < best:
                    best = cost
                    to = b
        if to < 0:
            undo(X, moved, origin, count, cells)
            return 0.0
        move(X, i, to, cells)
        moved[count] = i
        origin[count] = a
        count += 1
        delta += best
    if not accepts(delta, temperature, state):
        undo(X, moved, origin, count, cells)
        return 0.0
    cells.free[cells.free[-1]] = a
    cells.free[-1] += 1
    return delta


@kernel
def found(X, i, k, near, temperature, state, moved, origin, cells):
    """Build a new cell from record i and its nearest whose cells can spare them, if accepted."""
    if cells.free[-1] == 0 or cells.size[cells.label[i]] <= k:
        return 0.0
    new = cells.free[cells.free[-1] - 1]
    count = 0
    delta = 0.0
    for q in range(-1, near.shape[1]):
        v = i if q < 0 else near[i, q]
        b = cells.label[v]
        if b != new and cells.size[b] > k:
            delta += shift_cost(X, v, new, cells)
            move(X, v, new, cells)
            moved[count] = v
            origin[count] = b
            count += 1
            if count == k:
                break
    if count < k or not accepts(delta, temperature, state):
        undo(X, moved, origin, count, cells)
        return 0.0
    cells.free[-1] -= 1
    return delta


@kernel
def chain(X, i, v, c, temperature, state, cells):
    """Send i to the cell of v and v to cell c, if accepted; return the change of the SSE."""
    a = cells.label[i]
    b = cells.label[v]
    delta = shift_cost(X, v, c, cells)
    move(X, v, c, cells)
    delta += shift_cost(X, i, b, cells)
    move(X, i, b, cells)
    if accepts(delta, temperature, state):
        return delta
    move(X, i, a, cells)
    move(X, v, b, cells)
    return 0.0


@kernel
def anneal(X, k, near, proposals, temperature, jumps, state, moved, origin, cells):
    """Make proposals at one temperature; return the change of the SSE.

    ``jumps`` is the share of proposals that would change the number of cells.
    """
    n = X.shape[0]
    width = near.shape[1]
    most = 2 * k - 1
    total = 0.0
    for _ in range(proposals):
        i = below(state, n)
        kind = uniform(state)
        if kind < jumps:
            if kind < 0.5 * jumps:
                total += dissolve(X, cells.label[i], k, near, temperature, state, moved, origin, cells)
            else:
                total += found(X, i, k, near, temperature, state, moved, origin, cells)
            continue
        a = cells.label[i]
        b = cells.label[near[i, below(state, width)]]
        if a == b:
            continue
        spare = cells.size[a] > k
        kind = uniform(state)
        if spare and cells.size[b] < most and kind < 0.5:
            cost = shift_cost(X, i, b, cells)
            if accepts(cost, temperature, state):
                move(X, i, b, cells)
                total += cost
            continue
        v = cells.members[b, below(state, cells.size[b])]
        if kind < 0.75:
            total += swap(X, i, v, temperature, state, cells)
            continue
        c = cells.label[near[v, below(state, width)]]
        if c == a or c == b:  # noqa: SIM109 - a tuple would be built in the loop
            continue
        if spare and cells.size[c] < most:
            total += chain(X, i, v, c, temperature, state, cells)
        else:
            w = cells.members[c, below(state, cells.size[c])]
            total += rotate(X, i, v, w, temperature, state, cells)
    return total
