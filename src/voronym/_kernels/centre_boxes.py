"""Branch and bound over boxes of centres, for groups of k of least reduced cost.

For given categories let F(c) be the least sum of k terms at the centre c (see `centres`). F(c) minus
``k scale |c|^2`` is the least of linear functions of c, so it is concave. On a box it is at least any linear
function that is not above it in the corners. So the corners alone bound F from below; exactly, where one
group is the best in the whole box.
"""

from __future__ import annotations

import numpy as np

from voronym._kernels import inner, kernel
from voronym._kernels.centres import LEVELS, pick

GUARD = 1e-12
"""Share of the terms by which a bound of a box is lowered: more than their rounding."""

WIDE = 4.0
"""Curvature of a box, as a multiple of k or of the least sum of scores, above which its corners are not
tried: it is far too large.
"""


@inner
def nearest(prices, room, level):
    """Score the candidates by the nearest point of the box."""
    X, raw, members = prices.X, room.raw[level], room.members[level]
    low, high, score = room.low[level], room.high[level], room.score[room.score.shape[0] - 1]
    for t in range(room.sizes[level]):
        i = members[t]
        total = 0.0
        for j in range(X.shape[0]):
            x = X[j, i]
            if x < low[j]:
                total += (low[j] - x) ** 2
            elif x > high[j]:
                total += (x - high[j]) ** 2
        score[t] = raw[t] + prices.scale * total


@inner
def first(room, level):
    """Move the candidates with the least scores to the front: then `pick` seldom replaces one."""
    k = room.least.shape[0]
    members, raw, places = room.members[level], room.raw[level], room.places
    score = room.score[room.score.shape[0] - 1]
    free = min(0, k)
    for q in range(k):
        t = places[q]
        if t < k:
            continue
        taken = True
        while taken:
            taken = False
            for u in range(k):
                taken = taken or places[u] == free
            if taken:
                free += 1
        members[free], members[t] = members[t], members[free]
        raw[free], raw[t] = raw[t], raw[free]
        score[free], score[t] = score[t], score[free]
        places[q] = free


@inner
def thin(prices, room, level, limit):
    """Keep the candidates that may be in a group below the limit; return whether such a group may exist."""
    k = room.least.shape[0]
    members, raw, score = room.members[level], room.raw[level], room.score[room.score.shape[0] - 1]
    nearest(prices, room, level)
    size = room.sizes[level]
    if pick(score, size, room.least, room.places) < k:
        return False
    others = 0.0
    for q in range(k - 1):
        others += room.least[q]
    if others + room.least[k - 1] >= limit:
        return False
    room.wide[level] = WIDE * max(1.0 * k, -others - room.least[k - 1])
    first(room, level)
    kept = min(0, size)
    for t in range(size):
        if score[t] + others < limit:
            members[kept], raw[kept], score[kept] = members[t], raw[t], score[t]
            kept += 1
    room.sizes[level] = kept
    return True


@inner
def corners(prices, room, level):
    """Score the candidates in every corner of the box; return the least sum of k."""
    X, scale, members, raw = prices.X, prices.scale, room.members[level], room.raw[level]
    low, high, size, k = room.low[level], room.high[level], room.sizes[level], room.least.shape[0]
    for j in range(X.shape[0]):
        below, above = room.sides[2 * j], room.sides[2 * j + 1]
        for t in range(size):
            x = X[j, members[t]]
            below[t] = scale * (x - low[j]) ** 2
            above[t] = scale * (x - high[j]) ** 2
    result = np.inf
    for v in range(room.totals.shape[1]):
        score = room.score[v]
        for t in range(size):
            score[t] = raw[t]
        for j in range(X.shape[0]):
            side = room.sides[2 * j + ((v >> j) & 1)]
            for t in range(size):
                score[t] += side[t]
        pick(score, size, room.least, room.places)
        total = 0.0
        for q in range(k):
            total += room.least[q]
        room.totals[0, v] = total
        room.totals[1, v] = room.least[k - 1]
        if total < result:
            result = total
            for q in range(k):
                room.best[q] = room.places[q]
    return result


@inner
def curvature(room, level, j, factor):
    """Return by how much the square of half a side, times ``factor``, bends F along an axis."""
    return factor * 0.25 * (room.high[level, j] - room.low[level, j]) ** 2


@inner
def bottom(room, level, least, factor):
    """Return a lower bound on F in the box, from its values in the corners.

    In coordinates u from -1 to 1, F is a concave function plus the curvature times u^2 of each axis. The line
    through the means of the corners, lowered until it is above none, is below the concave function.
    """
    d, count = room.low.shape[1], room.totals.shape[1]
    bend, middle, largest = 0.0, 0.0, 0.0
    for j in range(d):
        bend += curvature(room, level, j, factor)
    for v in range(count):
        middle += room.totals[0, v] / count
        largest = max(largest, abs(room.totals[0, v]))
    dip = 0.0
    for j in range(d):
        slope = 0.0
        for v in range(count):
            slope += (room.totals[0, v] if (v >> j) & 1 else -room.totals[0, v]) / count
        room.slope[j] = slope
        own = curvature(room, level, j, factor)
        if abs(slope) < 2.0 * own:
            dip -= slope * slope / (4.0 * own)
        else:
            dip += own - abs(slope)
    above = 0.0
    for v in range(count):
        line = middle
        for j in range(d):
            line += room.slope[j] if (v >> j) & 1 else -room.slope[j]
        above = max(above, line - room.totals[0, v])
    return max(least - bend, middle - bend - above + dip) - GUARD * (bend + largest)


@inner
def settle(prices, room, level, group):
    """Improve the group of the best corner: to its mean, then to the best group there; return its cost."""
    X, k, size = prices.X, group.shape[0], room.sizes[level]
    members, raw, score = room.members[level], room.raw[level], room.score[room.score.shape[0] - 1]
    for q in range(k):
        group[q] = members[room.best[q]]
    value = np.inf
    for _ in range(3):
        for t in range(size):
            score[t] = raw[t]
        for j in range(X.shape[0]):
            mean = 0.0
            for q in range(k):
                mean += X[j, group[q]] / k
            for t in range(size):
                score[t] += prices.scale * (X[j, members[t]] - mean) ** 2
        pick(score, size, room.least, room.places)
        total = 0.0
        for q in range(k):
            total += room.least[q]
        if total >= value:
            break
        value = total
        for q in range(k):
            group[q] = members[room.places[q]]
    return value


@inner
def tally(prices, room, level, column, limit):
    """Find which categories of a column groups in the box may publish.

    With category v, as many records as have it may cost the least of these; the others cost the least of all,
    and the weight.
    """
    k, codes, weight = room.least.shape[0], prices.codes[column], prices.weights[column]
    there, lowest = room.there[column], room.lowest[column]
    members, score = room.members[level], room.score[room.score.shape[0] - 1]
    for v in range(there.shape[0]):
        there[v] = 0
        lowest[v] = np.inf
    nearest(prices, room, level)
    for t in range(room.sizes[level]):
        v = codes[members[t]]
        there[v] += 1
        lowest[v] = min(lowest[v], score[t])
    pick(score, room.sizes[level], room.least, room.places)
    for v in range(there.shape[0]):
        left = there[v]
        total = 0.0
        for q in range(k - 1, -1, -1):
            if left > 0 and lowest[v] < room.least[q] + weight:
                total += lowest[v]
                left -= 1
            else:
                total += room.least[q] + weight
        if total >= limit:
            there[v] = 0


@inner
def halve(room, level, child):
    """Fill the next level with one half of the box."""
    axis, above = room.axis[level], level + 1
    middle = 0.5 * (room.low[level, axis] + room.high[level, axis])
    for j in range(room.low.shape[1]):
        room.low[above, j], room.high[above, j] = room.low[level, j], room.high[level, j]
    if child == 0:
        room.high[above, axis] = middle
    else:
        room.low[above, axis] = middle
    for t in range(room.sizes[level]):
        room.members[above, t], room.raw[above, t] = room.members[level, t], room.raw[level, t]
    room.sizes[above], room.decided[above] = room.sizes[level], room.decided[level]


@inner
def choose(prices, room, level, v):
    """Fill the next level with the same box, whose groups publish category v of the next column."""
    column, above = room.decided[level], level + 1
    codes, weight = prices.codes[column], prices.weights[column]
    for j in range(room.low.shape[1]):
        room.low[above, j], room.high[above, j] = room.low[level, j], room.high[level, j]
    for t in range(room.sizes[level]):
        i = room.members[level, t]
        room.members[above, t] = i
        room.raw[above, t] = room.raw[level, t] + (0.0 if codes[i] == v else weight)
    room.sizes[above], room.decided[above] = room.sizes[level], column + 1


@inner
def longest(room, level):
    """Return the longest side of a box; -1 if it is too short to be halved."""
    result, side = min(-1, level), 0.0
    for j in range(room.low.shape[1]):
        low, high = room.low[level, j], room.high[level, j]
        if high - low > side and low < 0.5 * (low + high) < high:
            result, side = j, high - low
    return result


@inner
def look(prices, room, level, limit, tolerance, share, lower, values, sets, count):
    """Look at a box; return whether it is to be divided, and the number of groups.

    It is not if no group is below the limit, or if a group is as good as the bound of the box.
    """
    k, columns = room.least.shape[0], prices.codes.shape[0]
    factor = k * prices.scale
    if not thin(prices, room, level, limit):
        return False, count
    bend = 0.0
    for j in range(room.low.shape[1]):
        bend += curvature(room, level, j, factor)
    stuck = level + 2 >= LEVELS or longest(room, level) < 0
    if bend > room.wide[level] and not stuck:
        return True, count
    least = corners(prices, room, level)
    bound = bottom(room, level, least, factor)
    if bound >= limit:
        return False, count
    done = level + 2 >= LEVELS
    if room.decided[level] == columns:
        done = stuck or least - bound <= tolerance
        if least < limit:
            value = settle(prices, room, level, sets[count])
            done = done or value - bound <= tolerance - share * min(0.0, value)
            if done and value < limit and count < values.shape[0] - 1:
                values[count] = value
                count += 1
    members, raw = room.members[level], room.raw[level]
    kept = min(0, k)
    for t in range(room.sizes[level]):
        more = np.inf  # a group with this candidate costs so much more in every corner
        for v in range(room.totals.shape[1]):
            more = min(more, room.score[v, t] - room.totals[1, v])
        forced = bound + max(0.0, more)
        if forced < limit:
            if done:
                lower[members[t]] = min(lower[members[t]], forced)
            members[kept], raw[kept] = members[t], raw[t]
            kept += 1
    room.sizes[level] = kept
    return not done and kept >= k, count


@inner
def divide(prices, room, level, limit):
    """Decide how a box is divided: by a category if it is small enough, otherwise across its longest side."""
    d, k = room.low.shape[1], room.least.shape[0]
    bend = 0.0
    for j in range(d):
        bend += curvature(room, level, j, k * prices.scale)
    room.next[level] = 0
    room.axis[level] = longest(room, level)
    if room.decided[level] < prices.codes.shape[0] and (bend <= room.wide[level] or room.axis[level] < 0):
        room.axis[level] = -1
        tally(prices, room, level, room.decided[level], limit)


@kernel
def search(prices, room, low, high, limit, tolerance, share, budget, lower, late, values, sets):
    """Search the groups whose mean is in a box for reduced costs below ``limit``.

    A box is divided until its bound is within the tolerance, or the share of the cost, of a group's.
    ``lower`` falls to a bound on the cost of every group with a record. Fills ``values`` and ``sets``. If
    somebody waits, ``late`` marks the records that may be in groups not seen. After ``budget`` boxes it
    returns, and goes on with the next call. Returns whether it has ended.
    """
    d, n = prices.X.shape
    if room.place[3] == 0:
        for j in range(d):
            room.low[0, j], room.high[0, j] = low[j], high[j]
        for i in range(n):
            room.members[0, i] = i
            room.raw[0, i] = -prices.lam[i]
        room.sizes[0], room.decided[0], room.place[1] = n, 0, 1
    level, fresh, count, boxes = room.place[0], room.place[1] == 1, room.place[2], room.place[3]
    last = boxes + budget
    while level >= 0 and boxes < last:
        if fresh:
            fresh = False
            boxes += 1
            if prices.halt[0] != 0:
                if thin(prices, room, level, limit):
                    for t in range(room.sizes[level]):
                        late[room.members[level, t]] = True
                level -= 1
                continue
            more, count = look(prices, room, level, limit, tolerance, share, lower, values, sets, count)
            if not more:
                level -= 1
                continue
            divide(prices, room, level, limit)
        child = room.next[level]
        if room.axis[level] >= 0:
            if child == 2:
                level -= 1
                continue
            halve(room, level, child)
        else:
            there = room.there[room.decided[level]]
            while child < there.shape[0] and there[child] == 0:
                child += 1
            if child == there.shape[0]:
                level -= 1
                continue
            choose(prices, room, level, child)
        room.next[level] = child + 1
        level += 1
        fresh = True
    room.place[0], room.place[1], room.place[2], room.place[3] = level, 1 if fresh else 0, count, boxes
    return level < 0
