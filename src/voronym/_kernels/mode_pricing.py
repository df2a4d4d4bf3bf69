"""Groups of least reduced cost if groups publish modes: branch and bound over modes, then records.

The reduced cost of a group S of m records is that of `voronym._kernels.pricing`, plus a weight for each
member and column of categories in which it has not the group's most frequent one. That is the least over all
choices of a category for each column; so for a given choice it is a sum over records, like the prices.
Choices are made column by column. A choice for some columns bounds all that go on from it, and most of them
end there: too few records share the category. Of the columns without a choice yet, the pairs of members that
differ bound the members without the mode, as distances do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.pricing import Levels, join, keep, levels, narrow, select


class Prices(NamedTuple):
    """The distances of the numbers, the categories, and the prices of the records."""

    D2: NDArray[np.float64]  # (n, n) squared distances
    near: NDArray[np.float64]  # (c + 1, largest, n) sums of the least ones, columns from c on as pairs
    codes: NDArray[np.int64]  # (c, n) categories, numbered within their column
    weights: NDArray[np.float64]  # (c,) what a wrong one costs
    pairs: NDArray[np.float64]  # (c,) what a pair that differs adds to a distance
    lam: NDArray[np.float64]  # (n,)
    rank: NDArray[np.int64]  # (n,)
    anchors: NDArray[np.int64]  # the records that can be anchors
    suspect: NDArray[np.bool_]  # (n,) the records of which a group has at least one
    close: NDArray[np.int64]  # (n, some) the nearest records of each, the nearest first; or none
    halt: NDArray[np.int64]  # (1,) not 0: somebody waits, end soon


class Choices(NamedTuple):
    """Scratch: the candidates after each choice of a category."""

    members: NDArray[np.int64]  # (c + 1, n)
    raw: NDArray[np.float64]  # (c + 1, n) what a candidate adds to the anchor
    score: NDArray[np.float64]  # (3 c + 1, n) the same with a bound on what is still to come; then `tally`
    sizes: NDArray[np.int64]  # (c + 1,)
    base: NDArray[np.float64]  # (c + 1,) what the anchor brings
    next: NDArray[np.int64]  # (c + 1,) the category that is next
    there: NDArray[np.int64]  # (c, categories) how many candidates have each


class Found(NamedTuple):
    """The result for each anchor."""

    values: NDArray[np.float64]  # (anchors, most) reduced costs, best first
    sets: NDArray[np.int64]  # (anchors, most, k) the groups
    count: NDArray[np.int64]  # (anchors,)
    lower: NDArray[np.float64]  # (anchors,) what no reduced cost is below
    spent: NDArray[np.int64]  # (anchors,) nodes looked at; -1 where the time was over


def scratch(columns: int, categories: int, depth: int, n: int) -> tuple[Choices, Levels]:
    """Return the scratch of one thread."""
    rows = (columns + 1, n)
    choices = Choices(
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty((3 * columns + 1, max(n, categories))),
        np.zeros(columns + 1, np.int64),
        np.zeros(columns + 1),
        np.zeros(columns + 1, np.int64),
        np.zeros((columns, categories), np.int64),
    )
    return choices, levels(depth, n)


@inner
def tally(prices, choices, depth, anchor, need):
    """Count the categories of a column among the candidates, and note what choosing each costs at least.

    Row ``c + 1 + depth`` of ``score`` gets the least score of each category's candidates if it is not the
    one that is published; row ``2 c + 1 + depth`` the least scores of all candidates, sorted.
    """
    columns, size, m = prices.weights.shape[0], choices.sizes[depth], need + 1
    there, codes, own = choices.there[depth], prices.codes[depth], prices.codes[depth, anchor]
    score, lowest = choices.score[depth + 1], choices.score[columns + 1 + depth]
    weight, pair, still = prices.weights[depth], prices.pairs[depth] / m, prices.near[depth + 1, m - 2]
    for v in range(there.shape[0]):
        there[v] = 0
        lowest[v] = np.inf
    for t in range(size):
        i = choices.members[depth, t]
        v = codes[i]
        value = choices.raw[depth, t] + weight - (0.0 if v == own else pair) + still[i] / (2.0 * m)
        score[t] = value
        there[v] += 1
        lowest[v] = min(lowest[v], value)
    select(score, size, need, choices.score[2 * columns + 1 + depth])


@inner
def prospect(prices, choices, depth, v, need):
    """Return what candidates cost at least if category v is published: `choose` would say no less.

    Some of them have the category, as many as there are at most, and cost the least of these; the others
    cost the least of all.
    """
    columns = prices.weights.shape[0]
    least = choices.score[2 * columns + 1 + depth]
    having = choices.score[columns + 1 + depth, v] - prices.weights[depth]
    left = choices.there[depth, v]
    total = 0.0
    for q in range(need - 1, -1, -1):
        if left > 0 and having < least[q]:
            total += having
            left -= 1
        else:
            total += least[q]
    return total


@inner
def thin(choices, depth, size, need, room, least):
    """Keep the candidates that can be in a group of cost below ``room``; return the bound over all."""
    members, raw, score = choices.members[depth], choices.raw[depth], choices.score[depth]
    if select(score, size, need, least) < need:
        choices.sizes[depth] = 0
        return np.inf
    others = 0.0
    for t in range(need - 1):
        others += least[t]
    total = others + least[need - 1]
    kept = min(0, size)
    if total < room:
        for t in range(size):
            if score[t] + others < room:
                members[kept], raw[kept], score[kept] = members[t], raw[t], score[t]
                kept += 1
    choices.sizes[depth] = kept
    return total


@inner
def choose(prices, choices, depth, anchor, v, need, limit, least):
    """Let groups publish category v of a column: fill the candidates that are left; return a bound."""
    weight, codes = prices.weights[depth], prices.codes[depth]
    m = need + 1
    pair, still, own = prices.pairs[depth] / m, prices.near[depth + 1, m - 2], codes[anchor]
    base = choices.base[depth] + (0.0 if codes[anchor] == v else weight)
    choices.base[depth + 1] = base
    size = choices.sizes[depth]
    for t in range(size):
        i = choices.members[depth, t]
        raw = choices.raw[depth, t] + (0.0 if codes[i] == v else weight) - (0.0 if codes[i] == own else pair)
        choices.members[depth + 1, t] = i
        choices.raw[depth + 1, t] = raw
        choices.score[depth + 1, t] = raw + still[i] / (2.0 * m)
    return base + thin(choices, depth + 1, size, need, limit - base, least)


@inner
def descend(prices, cuts, work, anchor, base, size, m, budget, room, values, sets, result):
    """Look for groups among the candidates in the first level; return how many, nodes, and a lower bound."""
    D2, near, halt = prices.D2, prices.near[prices.weights.shape[0]], prices.halt
    cutting = cuts.penalties.shape[0] > 0
    nodes = min(0, m)
    level = min(0, m)
    lower = room
    if cutting:
        join(anchor, 1, cuts)
        extra = cuts.due if m == 2 else cuts.share
        for t in range(size):
            work.score[0, t] += extra[work.members[0, t]]
    work.chosen[0], work.base[0], work.places[0] = anchor, base, 0
    work.sizes[0] = narrow(work.members[0], work.raw[0], work.score[0], size, m - 1, room - base, work.least)
    while level >= 0:
        need = m - 1 - level
        t, size = work.places[level], work.sizes[level]
        bound = work.base[level]
        if t + need <= size:
            for q in range(t, t + need):
                bound += work.score[level, q]
        spent = nodes >= budget or halt[0] != 0
        if t + need > size or bound >= room or spent:
            if t + need <= size and bound < room:
                lower = min(lower, bound)  # leave, and remember what might have been here and above
            if cutting:
                join(work.chosen[level], -1, cuts)
            level -= 1
            continue
        nodes += 1
        work.places[level] = t + 1
        j = work.members[level, t]
        if need == 1:
            result = keep(values, sets, result, bound, work.chosen, j, m)
            if result == values.shape[0]:
                room = min(room, values[result - 1])
            continue
        members, raw = work.members[level], work.raw[level]
        next_members, next_raw, next_score = (
            work.members[level + 1], work.raw[level + 1], work.score[level + 1],
        )  # fmt: skip
        apart, still = D2[j], near[need - 2]
        start = work.base[level] + raw[t]
        here = min(0, m)
        if cutting:
            start += cuts.due[j]
            join(j, 1, cuts)
        for q in range(t + 1, size):
            i = members[q]
            value = raw[q] + apart[i] / m
            next_members[here] = i
            next_raw[here] = value
            next_score[here] = value + still[i] / (2.0 * m)
            here += 1
        if cutting:
            extra = cuts.due if need == 2 else cuts.share
            for q in range(here):
                next_score[q] += extra[next_members[q]]
        work.chosen[level + 1], work.base[level + 1], work.places[level + 1] = j, start, 0
        work.sizes[level + 1] = narrow(
            next_members, next_raw, next_score, here, need - 1, room - start, work.least
        )
        level += 1
    return result, nodes, lower


@inner
def gather(prices, choices, anchor, m, limit):
    """Fill the candidates of an anchor: all of lower rank that are not too far; return how many.

    None if there is no suspect among them.
    """
    D2, rank, lam, weights, codes = prices.D2, prices.rank, prices.lam, prices.weights, prices.codes
    reach = m * lam[anchor] + limit  # no price is above the anchor's
    mine, still = rank[anchor], prices.near[0, m - 2]
    size, width, suspect = min(0, m), prices.close.shape[1], prices.suspect[anchor]
    listed = width > 0 and 0.5 * D2[anchor, prices.close[anchor, width - 1]] >= reach
    for t in range(width if listed else D2.shape[0]):
        j = prices.close[anchor, t] if listed else t
        # SSE(S) >= D2[anchor, j] / 2, and of two categories one is wrong.
        if 0.5 * D2[anchor, j] >= reach:
            if listed:
                break
            continue
        if rank[j] <= mine:
            continue
        cost = 0.5 * D2[anchor, j]
        apart = D2[anchor, j]
        for c in range(weights.shape[0]):
            if codes[c, j] != codes[c, anchor]:
                cost += weights[c]
                apart += prices.pairs[c]
        if cost < reach:
            choices.members[0, size] = j
            choices.raw[0, size] = apart / m - lam[j]
            choices.score[0, size] = choices.raw[0, size] + still[j] / (2.0 * m)
            size += 1
            suspect |= prices.suspect[j]
    return size if suspect else min(0, m)


@inner
def price_anchor(prices, cuts, choices, work, anchor, m, limit, budget, values, sets):
    """Find the best groups of m records with this anchor whose reduced cost is below ``limit``.

    Fills ``values`` and ``sets``. Returns how many, the nodes looked at, and a lower bound on the reduced
    cost of every such group: ``limit``, or the best found, or, where the budget ended the search, the least
    bound among the nodes not looked at.
    """
    columns, need = prices.weights.shape[0], m - 1
    result = min(0, m)
    nodes = min(0, m)
    room = limit
    lower = limit
    choices.base[0] = -prices.lam[anchor]
    bound = choices.base[0] + thin(
        choices, 0, gather(prices, choices, anchor, m, limit), need, limit - choices.base[0], work.least
    )
    if bound >= limit:
        return result, nodes, lower
    depth = min(0, m)
    if columns > 0:
        tally(prices, choices, 0, anchor, need)
        choices.next[0] = 0
    while depth >= 0:
        if depth == columns:
            size = choices.sizes[depth]
            for t in range(size):
                work.members[0, t] = choices.members[depth, t]
                work.raw[0, t] = choices.raw[depth, t]
                work.score[0, t] = choices.score[depth, t]
            result, more, least = descend(
                prices, cuts, work, anchor, choices.base[depth], size, m, budget - nodes, room, values, sets,
                result,
            )  # fmt: skip
            nodes += more
            lower = min(lower, least)
            if result == values.shape[0]:
                room = min(room, values[result - 1])
            depth -= 1
            continue
        v = choices.next[depth]
        if v == choices.there.shape[1]:
            depth -= 1
            continue
        choices.next[depth] = v + 1
        own = prices.codes[depth, anchor]
        v = own if v == 0 else v - 1 if v <= own else v  # the anchor's own first: it is the likeliest
        wrong = 0.0 if v == own else prices.weights[depth]
        if choices.there[depth, v] == 0 and v != own:  # nobody has it
            continue
        bound = choices.base[depth] + wrong + prospect(prices, choices, depth, v, need)
        if bound >= room:
            continue
        if nodes >= budget or prices.halt[0] != 0:  # no look at what goes on from here: it has this bound
            lower = min(lower, bound)
            continue
        bound = choose(prices, choices, depth, anchor, v, need, room, work.least)
        if bound >= room:
            continue
        nodes += 1
        depth += 1
        if depth < columns:
            tally(prices, choices, depth, anchor, need)
            choices.next[depth] = 0
    if result > 0:
        lower = min(lower, values[0])
    return result, nodes, lower


@kernel
def price(prices, cuts, choices, work, out, first, last, limit, budget):
    """Price groups of one size for the anchors first..last-1.

    Once somebody waits, an anchor gets the bound that its price alone proves: no member has a higher one.
    """
    m = out.sets.shape[2]
    for a in range(first, last):
        anchor = prices.anchors[a]
        if prices.halt[0] != 0:
            out.lower[a] = min(limit, -m * prices.lam[anchor])
            out.spent[a] = -1
            continue
        if prices.lam[anchor] <= 0.0 and limit <= 0.0:
            out.lower[a] = limit
            continue
        out.count[a], out.spent[a], out.lower[a] = price_anchor(
            prices, cuts, choices, work, anchor, m, limit, budget, out.values[a], out.sets[a]
        )
        if prices.halt[0] != 0 and out.lower[a] < limit:
            out.spent[a] = -1
