"""Groups of least reduced cost, by branch and bound.

The reduced cost of a group S of m records against prices ``lam`` is
``(sum of squared distances over its pairs) / m - lam(S) + (penalties of the cuts it meets twice or more)``.
A group is found from its *anchor*, its member of least rank; ranks go by falling price, so no member has a
higher price than the anchor. Records join in an order fixed at each node, so no group is met twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import kernel


class Prices(NamedTuple):
    """The distances and the prices of the records."""

    D2: NDArray[np.float64]  # (n, n) squared distances
    near: NDArray[np.float64]  # (n, largest) sums of the least ones
    lam: NDArray[np.float64]  # (n,)
    rank: NDArray[np.int64]  # (n,)
    anchors: NDArray[np.int64]  # the records that can be anchors
    halt: NDArray[np.int64]  # (1,) not 0: somebody waits, end soon


class Cuts(NamedTuple):
    """Sets of records with a penalty on groups that contain more than half of them; and the group so far."""

    penalties: NDArray[np.float64]  # (cuts,)
    least: NDArray[np.int64]  # (cuts,) number of its records from which a group pays
    shares: NDArray[np.float64]  # (cuts,) penalty for each record that may be the last to be counted
    ends: NDArray[np.int64]  # (cuts + 1,) the records of cut c are members[ends[c]:ends[c + 1]]
    members: NDArray[np.int64]
    starts: NDArray[np.int64]  # (n + 1,) the cuts of record j are of_record[starts[j]:starts[j + 1]]
    of_record: NDArray[np.int64]
    counts: NDArray[np.int64]  # (cuts,) how many of the records the group has
    due: NDArray[np.float64]  # (n,) the penalties that a record would bring as the next
    share: NDArray[np.float64]  # (n,) what a record brings at least if others join, too


class Found(NamedTuple):
    """The result for each anchor and size."""

    values: NDArray[np.float64]  # (anchors, sizes, most) reduced costs, best first
    sets: NDArray[np.int64]  # (anchors, sizes, most, 2k - 1) the groups
    count: NDArray[np.int64]  # (anchors, sizes)
    lower: NDArray[np.float64]  # (anchors, sizes) what no reduced cost is below
    spent: NDArray[np.int64]  # (anchors, sizes) nodes looked at


class Levels(NamedTuple):
    """Scratch: the candidates of each level of the search."""

    pool: NDArray[np.int64]  # (n,)
    members: NDArray[np.int64]  # (depth, n)
    raw: NDArray[np.float64]  # (depth, n) what a candidate adds to the group
    score: NDArray[np.float64]  # (depth, n) the same with a bound on what is still to come
    sizes: NDArray[np.int64]  # (depth,)
    places: NDArray[np.int64]  # (depth,) the candidate that is next
    chosen: NDArray[np.int64]  # (depth,)
    base: NDArray[np.float64]  # (depth,)
    least: NDArray[np.float64]  # (depth,)


def levels(depth: int, n: int) -> Levels:
    """Return the scratch of one thread."""
    whole, real = (depth,), (depth, n)
    return Levels(
        np.empty(n, np.int64),
        np.empty(real, np.int64),
        np.empty(real),
        np.empty(real),
        np.empty(whole, np.int64),
        np.empty(whole, np.int64),
        np.empty(whole, np.int64),
        np.empty(whole),
        np.empty(whole),
    )


@kernel
def join(j, sign, cuts):
    """Let a record join (sign 1) or leave (sign -1) the group: update how many of each cut it has.

    Cuts that lack one record count in ``due`` and ``share``. All remaining records of a cut may join, and
    its penalty is due once: so the shares of all of them add up to no more than the penalty.
    """
    for t in range(cuts.starts[j], cuts.starts[j + 1]):
        cut = cuts.of_record[t]
        before = cuts.counts[cut]
        cuts.counts[cut] = before + sign
        for change, met in ((-1.0, before), (1.0, before + sign)):
            if met == cuts.least[cut] - 1:
                for q in range(cuts.ends[cut], cuts.ends[cut + 1]):
                    cuts.due[cuts.members[q]] += change * cuts.penalties[cut]
                    cuts.share[cuts.members[q]] += change * cuts.shares[cut]


@kernel
def select(score, size, need, least):
    """Fill the ``need`` least scores, sorted; return how many there are."""
    result = min(0, size)
    for t in range(size):
        value = score[t]
        if result < need:
            place = result
            result += 1
        elif value < least[need - 1]:
            place = need - 1
        else:
            continue
        while place > 0 and least[place - 1] > value:
            least[place] = least[place - 1]
            place -= 1
        least[place] = value
    return result


@kernel
def narrow(members, raw, score, size, need, room, least):
    """Keep the candidates that can be in a group of cost below ``room``, sorted by score; return how many."""
    if select(score, size, need, least) < need:
        return 0
    others = 0.0
    for t in range(need - 1):
        others += least[t]
    if others + least[need - 1] >= room:
        return 0
    kept = 0
    for t in range(size):
        if score[t] + others < room:
            members[kept], raw[kept], score[kept] = members[t], raw[t], score[t]
            kept += 1
    step = 1
    while step < kept // 9:
        step = 3 * step + 1
    while step > 0:
        for t in range(step, kept):
            s = score[t]
            if score[t - step] <= s:
                continue
            i, r = members[t], raw[t]
            place = t
            while place >= step and score[place - step] > s:
                before = place - step
                members[place], raw[place], score[place] = members[before], raw[before], score[before]
                place = before
            members[place], raw[place], score[place] = i, r, s
        step //= 3
    return kept


@kernel
def keep(values, sets, result, value, chosen, last, m):
    """Insert a group into the best so far, sorted by value; return their number."""
    place = result if result < values.shape[0] else result - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        for q in range(m):
            sets[place, q] = sets[place - 1, q]
        place -= 1
    values[place] = value
    for q in range(m - 1):
        sets[place, q] = chosen[q]
    sets[place, m - 1] = last
    return min(result + 1, values.shape[0])


@kernel
def begin(prices, cuts, work, anchor, pooled, m, limit, reach):
    """Fill the first level: the anchor, and the records of the pool within its reach."""
    D2, near, lam = prices.D2, prices.near, prices.lam
    pool, members, raw, score = work.pool, work.members[0], work.raw[0], work.score[0]
    size = min(0, m)
    for t in range(pooled):
        j = pool[t]
        if D2[anchor, j] < reach:
            members[size] = j
            raw[size] = D2[anchor, j] / m - lam[j]
            score[size] = raw[size] + near[j, m - 2] / (2.0 * m)
            size += 1
    work.chosen[0] = anchor
    work.base[0] = -lam[anchor]
    join(anchor, 1, cuts)
    if cuts.penalties.shape[0] > 0:
        extra = cuts.due if m == 2 else cuts.share
        for t in range(size):
            score[t] += extra[members[t]]
    work.sizes[0] = narrow(members, raw, score, size, m - 1, limit - work.base[0], work.least)
    work.places[0] = 0


@kernel
def deepen(prices, cuts, work, level, t, m, room):
    """Add candidate ``t`` of a level to the group, and fill the next level with the candidates after it."""
    D2, near = prices.D2, prices.near
    members, raw = work.members[level], work.raw[level]
    next_members, next_raw, next_score = work.members[level + 1], work.raw[level + 1], work.score[level + 1]
    need = m - 1 - level
    j = members[t]
    start = work.base[level] + raw[t] + cuts.due[j]
    join(j, 1, cuts)
    extra = cuts.due if need == 2 else cuts.share
    size = 0
    for q in range(t + 1, work.sizes[level]):
        i = members[q]
        next_members[size] = i
        next_raw[size] = raw[q] + D2[j, i] / m
        next_score[size] = next_raw[size] + near[i, need - 2] / (2.0 * m) + extra[i]
        size += 1
    work.chosen[level + 1] = j
    work.base[level + 1] = start
    work.places[level + 1] = 0
    work.sizes[level + 1] = narrow(
        next_members, next_raw, next_score, size, need - 1, room - start, work.least
    )


@kernel
def price_anchor(prices, cuts, work, anchor, pooled, m, limit, reach, budget, values, sets):
    """Find the best groups of m records with this anchor whose reduced cost is below ``limit``.

    ``pool[:pooled]`` are the records that may join, those whose squared distance is below ``reach``.

    A node is a group of some records and a list of candidates, sorted by ``score``: what a candidate adds by
    its distances to the group, minus its price, plus a half of the least distances to the others still to
    come (``near[i, q]`` sums the q nearest of all). The q least scores bound what q more records add.

    Fills ``values`` and ``sets``, best first. Returns how many, the nodes looked at, and a lower bound on
    the reduced cost of every such group: ``limit``, or the best found, or, where the budget ended the search,
    the least bound among the nodes not looked at.
    """
    result = min(0, m)
    nodes = min(0, m)
    begin(prices, cuts, work, anchor, pooled, m, limit, reach)
    halt, places, sizes, base, score, chosen = (
        prices.halt, work.places, work.sizes, work.base, work.score, work.chosen,
    )  # fmt: skip
    level = min(0, m)
    room = limit
    lower = limit
    while level >= 0:
        need = m - 1 - level
        t = places[level]
        bound = base[level]
        if t + need <= sizes[level]:
            for q in range(t, t + need):
                bound += score[level, q]
        if t + need > sizes[level] or bound >= room:
            join(chosen[level], -1, cuts)
            level -= 1
            continue
        if nodes >= budget or halt[0] != 0:  # leave, and remember what might have been here and above
            lower = min(lower, bound)
            join(chosen[level], -1, cuts)
            level -= 1
            continue
        nodes += 1
        places[level] = t + 1
        if need == 1:
            result = keep(values, sets, result, bound, chosen, work.members[level, t], m)
            if result == values.shape[0]:
                room = min(room, values[result - 1])
            continue
        deepen(prices, cuts, work, level, t, m, room)
        level += 1
    if result > 0:
        lower = min(lower, values[0])
    return result, nodes, lower


@kernel
def price(prices, cuts, work, out, first, last, limit, budget):
    """Price every size for the anchors first..last-1: ``values[a, s]`` and ``sets[a, s]`` for size k + s.

    Once somebody waits, an anchor gets the bound that its price alone proves: no member has a higher one.
    """
    k = (out.sets.shape[3] + 1) // 2
    kinds = out.sets.shape[1]
    D2, rank, pool = prices.D2, prices.rank, work.pool
    for a in range(first, last):
        anchor = prices.anchors[a]
        price_of = prices.lam[anchor]
        if prices.halt[0] != 0:
            for s in range(kinds):
                out.lower[a, s] = min(limit, -(k + s) * price_of)
            continue
        pooled = min(0, k)
        # SSE(S) >= D2[anchor, j] / 2, and no price is above the anchor's.
        reach = 2.0 * (max(k * price_of, (k + kinds - 1) * price_of) + limit)
        for j in range(D2.shape[0]):
            if D2[anchor, j] < reach and rank[j] > rank[anchor]:
                pool[pooled] = j
                pooled += 1
        for s in range(kinds):
            m = k + s
            if price_of <= 0.0 and limit <= 0.0:
                out.lower[a, s] = limit
                continue
            near = 2.0 * (m * price_of + limit)
            out.count[a, s], out.spent[a, s], out.lower[a, s] = price_anchor(
                prices, cuts, work, anchor, pooled, m, limit, near, budget, out.values[a, s], out.sets[a, s]
            )
