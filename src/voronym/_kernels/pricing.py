"""Groups of least reduced cost, by branch and bound.

The reduced cost of a group S of m records against prices ``lam`` is
``(sum of squared distances over its pairs) / m - lam(S) + (penalties of the cuts it meets twice or more)``.
A group is found from its *anchor*, its member of least rank; ranks go by falling price, so no member has a
higher price than the anchor. Records join in an order fixed at each node, so no group is met twice.
"""

from __future__ import annotations

from voronym._kernels import kernel


@kernel
def join(j, sign, cuts, sigma, starts, of_record, counts, half):
    """Let a record join (sign 1) or leave (sign -1) the group: update how often the cuts are met.

    ``half[i]`` is half the penalty that i would bring by meeting cuts that the group meets once. Half,
    because both remaining records of a triple may join, and the penalty is due once: the halves never add to
    more.
    """
    for t in range(starts[j], starts[j + 1]):
        cut = of_record[t]
        before = counts[cut]
        counts[cut] = before + sign
        for change, met in ((-1.0, before), (1.0, before + sign)):
            if met == 1:
                for q in range(3):
                    half[cuts[cut, q]] += change * sigma[cut] / 2.0


@kernel
def select(score, size, need, least):
    """Fill the ``need`` least scores, sorted; return how many there are."""
    found = min(0, size)
    for t in range(size):
        value = score[t]
        if found < need:
            place = found
            found += 1
        elif value < least[need - 1]:
            place = need - 1
        else:
            continue
        while place > 0 and least[place - 1] > value:
            least[place] = least[place - 1]
            place -= 1
        least[place] = value
    return found


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
            i, r, s = members[t], raw[t], score[t]
            place = kept
            kept += 1
            while place > 0 and score[place - 1] > s:
                members[place], raw[place], score[place] = (
                    members[place - 1],
                    raw[place - 1],
                    score[place - 1],
                )
                place -= 1
            members[place], raw[place], score[place] = i, r, s
    return kept


@kernel
def keep(values, sets, found, value, chosen, last, m):
    """Put a group among the best found, sorted by value; return how many there are."""
    place = found if found < values.shape[0] else found - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        for q in range(m):
            sets[place, q] = sets[place - 1, q]
        place -= 1
    values[place] = value
    for q in range(m - 1):
        sets[place, q] = chosen[q]
    sets[place, m - 1] = last
    return min(found + 1, values.shape[0])


@kernel
def price_anchor(
    D2, near, lam, anchor, pool, pooled, m, limit, budget, values, sets, cuts, sigma, starts, of_record,
    counts, half, members, raw, score, sizes, places, chosen, base, least,
):  # fmt: skip
    """Find the best groups of m records with this anchor whose reduced cost is below ``limit``.

    ``pool[:pooled]`` are the records that may join: of higher rank, and not too far.

    A node is a group of some records and a list of candidates, sorted by ``score``: what a candidate adds by
    its distances to the group, minus its price, plus a half of the least distances to the others still to
    come (``near[i, q]`` sums the q nearest of all). The q least scores bound what q more records add.

    Fills ``values`` and ``sets``, best first. Returns how many, the nodes looked at, and a lower bound on
    the reduced cost of every such group: ``limit``, or the best found, or, where the budget ended the search,
    the least bound among the nodes not looked at.
    """
    found = min(0, m)
    nodes = min(0, m)
    if lam[anchor] <= 0.0 and limit <= 0.0:
        return found, nodes, limit
    size = min(0, m)
    for t in range(pooled):
        j = pool[t]
        if D2[anchor, j] < 2.0 * (m * lam[anchor] + limit):
            members[0, size] = j
            raw[0, size] = D2[anchor, j] / m - lam[j]
            score[0, size] = raw[0, size] + near[j, m - 2] / (2.0 * m)
            size += 1
    chosen[0] = anchor
    base[0] = -lam[anchor]
    join(anchor, 1, cuts, sigma, starts, of_record, counts, half)
    if sigma.shape[0] > 0:
        for t in range(size):
            score[0, t] += half[members[0, t]] * (2.0 if m == 2 else 1.0)
    sizes[0] = narrow(members[0], raw[0], score[0], size, m - 1, limit - base[0], least)
    places[0] = 0
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
            join(chosen[level], -1, cuts, sigma, starts, of_record, counts, half)
            level -= 1
            continue
        if nodes >= budget:  # leave, and remember what might have been here and in the levels above
            lower = min(lower, bound)
            join(chosen[level], -1, cuts, sigma, starts, of_record, counts, half)
            level -= 1
            continue
        nodes += 1
        places[level] = t + 1
        j = members[level, t]
        if need == 1:
            found = keep(values, sets, found, bound, chosen, j, m)
            if found == values.shape[0]:
                room = min(room, values[found - 1])
            continue
        start = base[level] + raw[level, t] + 2.0 * half[j]
        join(j, 1, cuts, sigma, starts, of_record, counts, half)
        double = 2.0 if need == 2 else 1.0
        size = 0
        for q in range(t + 1, sizes[level]):
            i = members[level, q]
            members[level + 1, size] = i
            raw[level + 1, size] = raw[level, q] + D2[j, i] / m
            score[level + 1, size] = raw[level + 1, size] + near[i, need - 2] / (2.0 * m) + double * half[i]
            size += 1
        level += 1
        chosen[level] = j
        base[level] = start
        places[level] = 0
        sizes[level] = narrow(members[level], raw[level], score[level], size, need - 1, room - start, least)
    if found > 0:
        lower = min(lower, values[0])
    return found, nodes, lower


@kernel
def price(
    D2, near, lam, rank, anchors, first, last, limit, budget, values, sets, found, lower, spent,
    cuts, sigma, starts, of_record, counts, half, pool, members, raw, score, sizes, places, chosen, base,
    least,
):  # fmt: skip
    """Price every size for the anchors first..last-1: ``values[a, s]`` and ``sets[a, s]`` for size k + s."""
    k = (sets.shape[3] + 1) // 2
    largest = k + sets.shape[1] - 1
    for a in range(first, last):
        anchor = anchors[a]
        pooled = min(0, k)
        # SSE(S) >= D2[anchor, j] / 2, and no price is above the anchor's.
        reach = 2.0 * (max(k * lam[anchor], largest * lam[anchor]) + limit)
        for j in range(D2.shape[0]):
            if D2[anchor, j] < reach and rank[j] > rank[anchor]:
                pool[pooled] = j
                pooled += 1
        for s in range(sets.shape[1]):
            found[a, s], spent[a, s], lower[a, s] = price_anchor(
                D2, near, lam, anchor, pool, pooled, k + s, limit, budget, values[a, s], sets[a, s], cuts,
                sigma, starts, of_record, counts, half, members, raw, score, sizes, places, chosen, base,
                least,
            )  # fmt: skip
