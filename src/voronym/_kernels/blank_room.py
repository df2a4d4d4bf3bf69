"""The value of a class with gaps at given prices; part of the proof of the fewest gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel

Ints = NDArray[np.int64]


class Offers(NamedTuple):
    """The units that each class may publish; those of class c begin at ``ends[c]``."""

    ends: Ints
    unit: Ints
    cost: NDArray[np.float64]
    count: Ints  # records of each unit
    home: Ints  # the household of each unit, or a number of its own
    single: NDArray[np.bool_]  # whether each of its records is a head; otherwise all are one


@kernel
def relaxed(offers, price, k, seen, picked, many, taken):
    """Publish each class in its cheapest way; return the total cost beyond the prices.

    A class is used by nobody, or by k heads or more. ``taken`` is filled with the records of each unit that
    are published so, in all classes together: a unit may be in several, or in none.
    """
    total = 0.0
    taken[:] = 0
    seen[:] = -1
    for c in range(len(offers.ends) - 1):
        value, heads = gains(offers, price, c, k, seen)
        chosen = 0
        while heads < k and value < 0.0:
            at = cheapest(offers, price, c, seen)
            if at < 0:
                value = 0.0  # too few heads could be in it
                break
            u = offers.unit[at]
            seen[offers.home[u]] = c
            picked[chosen] = u
            many[chosen] = min(offers.count[u], k - heads) if offers.single[u] else 1
            value += many[chosen] * (offers.cost[at] - price[u])
            heads += many[chosen]
            chosen += 1
        if value >= 0.0:
            continue
        total += value
        for at in range(offers.ends[c], offers.ends[c + 1]):
            u = offers.unit[at]
            if offers.cost[at] < price[u]:
                taken[u] += offers.count[u]
        for number in range(chosen):
            taken[picked[number]] += many[number]
    return total


@inner
def gains(offers, price, c, k, seen):
    """Return the sum over all units that cost less in a class than their price, and their heads."""
    value, heads = 0.0, 0
    for at in range(offers.ends[c], offers.ends[c + 1]):
        u = offers.unit[at]
        over = offers.cost[at] - price[u]
        if over < 0.0:
            value += offers.count[u] * over
            if offers.single[u]:
                heads += offers.count[u]
            elif seen[offers.home[u]] != c:
                heads += 1
            seen[offers.home[u]] = c
    return value, heads


@inner
def cheapest(offers, price, c, seen):
    """Return the unseen offer of a class with the lowest cost beyond its price; -1 if there is none."""
    best, place = np.inf, -1
    for at in range(offers.ends[c], offers.ends[c + 1]):
        u = offers.unit[at]
        over = offers.cost[at] - price[u]
        if over < best and seen[offers.home[u]] != c:
            best, place = over, at
    return place
