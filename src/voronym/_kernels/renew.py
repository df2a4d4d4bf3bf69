"""Regroup small areas by trial: the gain if their groups were dissolved and formed again.

An area is a few groups and some people who wait. Everybody has a ``cost``: squared metres to the place they
have now, or the price of going on to wait. Those who ``may`` be left out go on to wait. The gain is the sum
of the costs of all who are in, less their squared distances from the means of the new groups.

Work space is passed in: ``unit`` and ``slot`` for the people of the area and the group each is in (-1: left
out), ``X`` for their coordinates about the area's middle, ``size`` and ``total`` for the groups.
"""

from __future__ import annotations

from voronym._kernels import inner, kernel

FAR = 1e300


@inner
def _apart(X, total, size, i, q):
    """Return the squared distance of a person from the mean of a group."""
    out = 0.0
    for j in range(X.shape[1]):
        gap = X[i, j] - total[q, j] / size[q]
        out += gap * gap
    return out


@inner
def _enter(X, total, size, i, q):
    """Return the cost that a person adds to a group."""
    if size[q] == 0:
        return 0.0
    return _apart(X, total, size, i, q) * size[q] / (size[q] + 1)


@inner
def _leave(X, total, size, i, q):
    """Return the cost that a group saves without one of its people."""
    if size[q] <= 1:
        return 0.0
    return _apart(X, total, size, i, q) * size[q] / (size[q] - 1)


@inner
def _put(X, total, size, slot, i, q):
    """Put a person into a group, or out of all."""
    old = slot[i]
    if old >= 0:
        size[old] -= 1
        for j in range(X.shape[1]):
            total[old, j] -= X[i, j]
    slot[i] = q
    if q >= 0:
        size[q] += 1
        for j in range(X.shape[1]):
            total[q, j] += X[i, j]


@inner
def _exchange(X, total, size, a, i, b, j):
    """Return the change in cost when i of group a and j of group b change places."""
    change = 0.0
    for c in range(X.shape[1]):
        d = X[j, c] - X[i, c]
        # the squares of the two cancel: each stays inside
        change -= (2.0 * total[a, c] * d + d * d) / size[a]
        change -= (-2.0 * total[b, c] * d + d * d) / size[b]
    return change


@inner
def _replace(X, total, size, a, i, j):
    """Return the change in cost of group a when j replaces i."""
    change = 0.0
    for c in range(X.shape[1]):
        d = X[j, c] - X[i, c]
        change += X[j, c] * X[j, c] - X[i, c] * X[i, c] - (2.0 * total[a, c] * d + d * d) / size[a]
    return change


@inner
def _nearest(X, total, size, slots, i, but):
    """Return the group that a person enters at the least cost, and that cost."""
    best, where = FAR, -1
    for q in range(slots):
        if q != but and size[q] > 0:
            price = _enter(X, total, size, i, q)
            if price < best:
                best, where = price, q
    return where, best


@inner
def _settle(X, total, size, slot, cost, may, n, slots, k):
    """Bring every group to k people: take people from larger groups, or dissolve it."""
    while True:
        small = -1
        for q in range(slots):
            if 0 < size[q] < k and (small < 0 or size[q] > size[small]):
                small = q
        if small < 0:
            return
        while size[small] < k:  # take the cheapest from outside or from groups with more
            best, who = FAR, -1
            for i in range(n):
                q = slot[i]
                if q == small or (q >= 0 and size[q] <= k):
                    continue
                price = _enter(X, total, size, i, small)
                price -= cost[i] if q < 0 else _leave(X, total, size, i, q)
                if price < best:
                    best, who = price, i
            if who < 0:
                break
            _put(X, total, size, slot, who, small)
        if size[small] < k:  # dissolve it
            for i in range(n):
                if slot[i] == small:
                    where, price = _nearest(X, total, size, slots, i, small)
                    if where < 0 or (may[i] and price > cost[i]):
                        where = -1
                    if where < 0 and not may[i]:
                        return  # there is nowhere to go: the caller sees a group below k
                    _put(X, total, size, slot, i, where)


@inner
def _divide(X, total, size, slot, n, slots, k):
    """Divide groups of 2k people or more; return the number of slots in use."""
    for q in range(slots):
        while size[q] >= 2 * k and slots < len(size):
            far, who = -1.0, -1
            for i in range(n):
                if slot[i] == q:
                    gap = _apart(X, total, size, i, q)
                    if gap > far:
                        far, who = gap, i
            new = slots
            slots += 1
            size[new] = 0
            for j in range(X.shape[1]):
                total[new, j] = 0.0
            _put(X, total, size, slot, who, new)
            while size[new] < k:
                best, who = FAR, -1
                for i in range(n):
                    if slot[i] == q:
                        price = _enter(X, total, size, i, new) - _leave(X, total, size, i, q)
                        if price < best:
                            best, who = price, i
                _put(X, total, size, slot, who, new)
    return slots


@inner
def _visit(X, total, size, slot, cost, may, n, slots, k, i):
    """Make the best move of one person if it gains; return the gain."""
    a = slot[i]
    best, kind, other = -1e-6, 0, -1
    free = a < 0 or size[a] > k
    out = 0.0
    if free:
        out = -cost[i] if a < 0 else -_leave(X, total, size, i, a)
        for q in range(slots):
            if q != a and size[q] > 0:
                change = out + _enter(X, total, size, i, q)
                if change < best:
                    best, kind, other = change, 1, q
        if a >= 0 and may[i] and out + cost[i] < best:
            best, kind, other = out + cost[i], 1, -1
    if a >= 0:
        for j in range(n):
            b = slot[j]
            if b == a:
                continue
            if b >= 0:
                change = _exchange(X, total, size, a, i, b, j)
            elif may[i]:
                change = _replace(X, total, size, a, i, j) + cost[i] - cost[j]
            else:
                continue
            if change < best:
                best, kind, other = change, 2, j
    if kind == 1:
        _put(X, total, size, slot, i, other)
    elif kind == 2:
        b = slot[other]
        _put(X, total, size, slot, other, a)
        _put(X, total, size, slot, i, b)
    return -best if kind else 0.0


@inner
def regroup(X, total, size, slot, cost, may, n, slots, k, sweeps):
    """Regroup an area from the given start; return the gain, -1 if that is impossible."""
    for q in range(len(size)):
        size[q] = 0
        for j in range(X.shape[1]):
            total[q, j] = 0.0
    for i in range(n):
        q = slot[i]
        slot[i] = -1
        _put(X, total, size, slot, i, q)
    for i in range(n):  # waiting people join if that costs less than waiting
        if slot[i] < 0:
            where, price = _nearest(X, total, size, slots, i, -1)
            if where >= 0 and price < cost[i]:
                _put(X, total, size, slot, i, where)
    _settle(X, total, size, slot, cost, may, n, slots, k)
    slots = _divide(X, total, size, slot, n, slots, k)
    for _ in range(sweeps):
        gained = 0.0
        for i in range(n):
            gained += _visit(X, total, size, slot, cost, may, n, slots, k, i)
        if gained <= 0.0:
            break
        slots = _divide(X, total, size, slot, n, slots, k)
    gain, inside = 0.0, 0
    for i in range(n):
        q = slot[i]
        if q >= 0:
            if size[q] < k:
                return -1.0
            gain += cost[i] - _apart(X, total, size, i, q)
            inside += 1
        elif not may[i]:
            return -1.0
    return gain if inside else -1.0


@kernel
def evaluate(
    points,
    costs,
    leave,
    first,
    member,
    groups,
    loose,
    k,
    sweeps,
    unit,
    slot,
    X,
    cost,
    may,
    size,
    total,
    gains,
    result,
    slots_out,
    units_out,
    start,
    stop,
):
    """Regroup the areas start..stop-1 by trial; write gains, the number of people published and their groups.

    ``groups`` and ``loose``, padded by -1, are the groups and the waiting people of each area; without any
    group, the first k of those who wait are one to begin with.
    """
    for area in range(start, stop):
        n = slots = 0
        fits = True
        for place in range(groups.shape[1]):
            g = groups[area, place]
            if g < 0:
                continue
            for at in range(first[g], first[g + 1]):
                if n == len(unit):
                    fits = False
                    break
                unit[n] = member[at]
                slot[n] = slots
                n += 1
            slots += 1
        alone = slots == 0
        for place in range(loose.shape[1]):
            u = loose[area, place]
            if u >= 0 and n < len(unit):
                unit[n] = u
                slot[n] = 0 if alone and n < k else -1
                n += 1
        slots = max(slots, 1)
        for j in range(X.shape[1]):
            middle = 0.0
            for i in range(n):
                middle += points[unit[i], j]
            middle /= max(n, 1)
            for i in range(n):
                X[i, j] = points[unit[i], j] - middle
        for i in range(n):
            cost[i] = costs[unit[i]]
            may[i] = leave[unit[i]]
        gains[area] = regroup(X, total, size, slot, cost, may, n, slots, k, sweeps) if fits else -1.0
        inside = 0
        for i in range(units_out.shape[1]):
            units_out[area, i] = unit[i] if i < n else -1
            slots_out[area, i] = slot[i] if i < n else -1
            if i < n and slot[i] >= 0:
                inside += 1
        result[area] = inside
