"""Groups of k of least reduced cost by what they publish: their centre and modes.

Let a group publish the point c and one category of each column. Its reduced cost is at most the sum, over its
members, of ``scale * (squared distance to c) + (weights of wrong categories) - (price)``. It is equal if c is
the mean and the categories are the modes. So the best group for given values has the k records with the least
of these terms. `descend` moves from such a group to what it publishes; `centre_boxes` searches all centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel

LEVELS = 100
"""Depth of the search; a box at this depth is not divided."""


class Prices(NamedTuple):
    """The records and their prices."""

    X: NDArray[np.float64]  # (d, n) the numbers
    codes: NDArray[np.int64]  # (c, n) categories, numbered within their column
    weights: NDArray[np.float64]  # (c,) what a wrong one costs
    lam: NDArray[np.float64]  # (n,)
    scale: float  # factor on squares
    halt: NDArray[np.int64]  # (1,) not 0: somebody waits, end soon


class Room(NamedTuple):
    """Scratch of one thread: boxes and their candidates at each level, and the scores of the present box."""

    members: NDArray[np.int64]  # (levels, n) candidates
    raw: NDArray[np.float64]  # (levels, n) their cost without the numbers
    low: NDArray[np.float64]  # (levels, d)
    high: NDArray[np.float64]  # (levels, d)
    sizes: NDArray[np.int64]  # (levels,) number of candidates
    decided: NDArray[np.int64]  # (levels,) columns of categories that are decided
    axis: NDArray[np.int64]  # (levels,) the axis that is cut; -1 if a category is chosen
    next: NDArray[np.int64]  # (levels,) the half or the category that is next
    wide: NDArray[np.float64]  # (levels,) curvature above which the corners are not tried
    score: NDArray[np.float64]  # (2^d + 1, n) cost in each corner, then in the nearest point of the box
    sides: NDArray[np.float64]  # (2 d, n) squares to both ends of the box
    least: NDArray[np.float64]  # (k,) the least scores, in ascending order
    places: NDArray[np.int64]  # (k,) whose they are
    best: NDArray[np.int64]  # (k,) the candidates in the best corner
    there: NDArray[np.int64]  # (c, categories) how many candidates have each; 0 if it is too costly
    lowest: NDArray[np.float64]  # (c, categories) their least score
    totals: NDArray[np.float64]  # (2, 2^d) sum of the k least scores in a corner, and the last of them
    slope: NDArray[np.float64]  # (d,) of the line through the corners
    place: NDArray[np.int64]  # (4,) where a search is: level, whether its box is new, groups, boxes


def room(d: int, columns: int, categories: int, n: int, k: int) -> Room:
    """Return the scratch of one thread."""
    table, box, whole, corners = (LEVELS, n), (LEVELS, d), (LEVELS,), 2**d
    return Room(
        np.empty(table, np.int64),
        np.empty(table),
        np.empty(box),
        np.empty(box),
        np.empty(whole, np.int64),
        np.empty(whole, np.int64),
        np.empty(whole, np.int64),
        np.empty(whole, np.int64),
        np.empty(whole),
        np.empty((corners + 1, n)),
        np.empty((2 * d, n)),
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty((columns, categories), np.int64),
        np.empty((columns, categories)),
        np.empty((2, corners)),
        np.empty(d),
        np.zeros(4, np.int64),
    )


@inner
def pick(score, size, least, places):
    """Fill the least scores, in ascending order, and their places; return how many there are."""
    k = least.shape[0]
    count = min(0, size)
    for t in range(size):
        value = score[t]
        if count < k:
            place = count
            count += 1
        elif value < least[k - 1]:
            place = k - 1
        else:
            continue
        while place > 0 and least[place - 1] > value:
            least[place] = least[place - 1]
            places[place] = places[place - 1]
            place -= 1
        least[place] = value
        places[place] = t
    return count


@inner
def best_group(prices, room, codes, centre, group):
    """Fill the group of least cost if it publishes these values; return the cost."""
    X, score, k = prices.X, room.score[0], group.shape[0]
    for i in range(X.shape[1]):
        score[i] = -prices.lam[i]
    for j in range(X.shape[0]):
        for i in range(X.shape[1]):
            score[i] += prices.scale * (X[j, i] - centre[j]) ** 2
    for c in range(prices.codes.shape[0]):
        for i in range(X.shape[1]):
            score[i] += 0.0 if prices.codes[c, i] == codes[c] else prices.weights[c]
    pick(score, X.shape[1], room.least, room.places)
    total = 0.0
    for q in range(k):
        group[q] = room.places[q]
        total += room.least[q]
    return total


@inner
def publish(prices, room, group, codes, centre):
    """Fill what a group publishes: its mean, and its most frequent categories."""
    for j in range(prices.X.shape[0]):
        centre[j] = 0.0
        for q in range(group.shape[0]):
            centre[j] += prices.X[j, group[q]] / group.shape[0]
    for c in range(prices.codes.shape[0]):
        there = room.there[c]
        for v in range(there.shape[0]):
            there[v] = 0
        for q in range(group.shape[0]):
            there[prices.codes[c, group[q]]] += 1
        for v in range(there.shape[0]):
            if there[v] > there[codes[c]]:
                codes[c] = v


@kernel
def descend(prices, room, starts, codes, begin, end, values, sets):
    """From each start, a centre and categories, take the best group, what it publishes, and so on.

    Fills the reduced costs and groups of the starts ``begin`` to ``end - 1``: an upper bound on the least
    only. ``starts`` (rows, d) and ``codes`` (rows, c) change.
    """
    for a in range(begin, end):
        values[a] = np.inf
        for _ in range(6):
            value = best_group(prices, room, codes[a], starts[a], room.best)
            if value >= values[a]:
                break
            values[a] = value
            for q in range(room.best.shape[0]):
                sets[a, q] = room.best[q]
            publish(prices, room, sets[a], codes[a], starts[a])
