"""Annealing of records among classes with gaps: some hundred thousand proposals a second.

Every class that is used has k heads or more at any time: a proposal is a whole of moves. One class is opened,
with those who gain by it and with helpers where they are too few, or one is closed, or a record goes
elsewhere; classes that are left with too few heads are dissolved, each of their records going where it is
cheapest. Then the proposal is judged, and taken back where it is too dear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import inner, kernel
from voronym._kernels.random import below, uniform

Ints = NDArray[np.int64]
HOME, CLOSE = 0.15, 0.95
"""Share of the proposals that send a helper home; limit above which proposals close a class."""


class Fits(NamedTuple):
    """The classes that fit each combination of keys; those of combination r begin at ``start[r]``."""

    start: Ints
    of: Ints  # the class, the cheapest first
    ends: Ints  # where the combinations of each class begin
    row: Ints  # and which they are
    worth: NDArray[np.float64]  # the price of the columns that each class keeps
    whole: NDArray[np.float64]  # the price of all values that a combination has


class Crew(NamedTuple):
    """The records: their combinations, households and present classes."""

    row: Ints
    of_row: Ints  # the records of combination r are from ``ends[r]`` on
    ends: Ints
    home: Ints
    of_home: Ints  # the records of household h are from ``homes[h]`` on
    homes: Ints
    at: Ints  # the class of each record
    following: Ints  # the next record of its class, and the one before; -1 at the ends
    before: Ints
    first: Ints  # the first record of each class
    size: Ints  # records in each class
    heads: Ints  # households in each class
    away: Ints  # records whose own combination is common, and that are published with gaps
    place: Ints  # the position of each record among these; -1 if it is not
    many: Ints  # how many there are
    common: NDArray[np.bool_]  # whether k households have the combination of a record
    moved: Ints  # room for the records that a proposal moves
    source: Ints  # and where they were


@inner
def shares(crew, u, item):
    """Whether somebody else of the household of a record is in a class."""
    home = crew.home[u]
    for at in range(crew.homes[home], crew.homes[home + 1]):
        v = crew.of_home[at]
        if v != u and crew.at[v] == item:
            return True
    return False


@inner
def shift(fits, crew, u, new):
    """Publish a record in another class."""
    old = crew.at[u]
    if not shares(crew, u, old):
        crew.heads[old] -= 1
    if not shares(crew, u, new):
        crew.heads[new] += 1
    crew.size[old] -= 1
    crew.size[new] += 1
    a, b = crew.before[u], crew.following[u]
    if a >= 0:
        crew.following[a] = b
    else:
        crew.first[old] = b
    if b >= 0:
        crew.before[b] = a
    crew.before[u], crew.following[u] = -1, crew.first[new]
    if crew.first[new] >= 0:
        crew.before[crew.first[new]] = u
    crew.first[new] = u
    crew.at[u] = new
    if crew.common[u]:
        note(fits, crew, u, new)


@inner
def note(fits, crew, u, item):
    """Remember whether a record of a common combination is published with gaps."""
    gaps = fits.whole[crew.row[u]] - fits.worth[item] > 1e-9
    if gaps and crew.place[u] < 0:
        crew.place[u] = crew.many[0]
        crew.away[crew.many[0]] = u
        crew.many[0] += 1
    elif not gaps and crew.place[u] >= 0:
        last = crew.away[crew.many[0] - 1]
        crew.away[crew.place[u]] = last
        crew.place[last] = crew.place[u]
        crew.place[u] = -1
        crew.many[0] -= 1


@inner
def go(fits, crew, u, new, many):
    """Move a record to another class and remember the old one; return the added cost."""
    old = crew.at[u]
    crew.moved[many], crew.source[many] = u, old
    shift(fits, crew, u, new)
    return fits.worth[old] - fits.worth[new]


@inner
def mend(fits, crew, many, k):
    """Dissolve the classes that the records in ``moved`` left with too few people.

    Everybody goes to the cheapest class that has enough. Return 0, or -1 where too many would have to go; how
    many moved in all; and by how much it is dearer.
    """
    rise, at, most = 0.0, 0, len(crew.moved)
    while at < many:
        old = crew.source[at]
        at += 1
        if crew.heads[old] == 0 or crew.heads[old] >= k:
            continue
        if many + crew.size[old] > most:
            return -1, many, rise
        u = crew.first[old]
        while u >= 0:
            following = crew.following[u]
            new = open_class(fits, crew, u, old, k)
            if new < 0:
                return -1, many, rise
            rise += go(fits, crew, u, new, many)
            many += 1
            u = following
    return 0, many, rise


@inner
def open_class(fits, crew, u, without, k):
    """Return the cheapest class with enough heads that fits a record; -1 if there is none."""
    row = crew.row[u]
    for at in range(fits.start[row], fits.start[row + 1]):
        there = fits.of[at]
        if crew.heads[there] >= k and there != without:
            return there
    return -1


@inner
def take_back(fits, crew, many):
    """Return the records in ``moved`` to their old classes."""
    for at in range(many - 1, -1, -1):
        shift(fits, crew, crew.moved[at], crew.source[at])


@inner
def judged(fits, crew, new, many, k, rise, limit):
    """Keep the moves if the cost is acceptable once all classes have enough people again."""
    ok, many, more = mend(fits, crew, many, k)
    if ok == 0 and rise + more <= limit and (crew.heads[new] >= k or crew.heads[new] == 0):
        return rise + more
    take_back(fits, crew, many)
    return 0.0


@inner
def try_one(fits, crew, u, new, k, limit):
    """Move a record to another class; return the added cost, 0 if the move was rejected."""
    rise = go(fits, crew, u, new, 0)
    if crew.heads[new] < k:
        take_back(fits, crew, 1)
        return 0.0
    return judged(fits, crew, new, 1, k, rise, limit)


@inner
def try_close(fits, crew, item, k, limit):
    """Move all records of a class to the cheapest other classes."""
    if crew.size[item] > len(crew.moved) // 2:
        return 0.0
    rise, many = 0.0, 0
    u = crew.first[item]
    while u >= 0:
        following = crew.following[u]
        new = open_class(fits, crew, u, item, k)
        if new < 0:
            take_back(fits, crew, many)
            return 0.0
        rise += go(fits, crew, u, new, many)
        many += 1
        u = following
    if rise <= limit:
        return rise
    take_back(fits, crew, many)
    return 0.0


@inner
def try_open(fits, crew, u, new, k, unit, limit, random):
    """Open a class for a record, with the records that gain and helpers up to the needed size.

    Classes that are left with too few heads are dissolved. Return by how much all that is dearer; 0 where it
    is not done.
    """
    most = len(crew.moved) // 2
    low, high = fits.ends[new], fits.ends[new + 1]
    rise, many = go(fits, crew, u, new, 0), 1
    span = min(high - low, most)
    begin = low + below(random, high - low)
    for at in range(span):
        place = begin + at if begin + at < high else begin + at - (high - low)
        row = fits.row[place]
        if fits.whole[row] - fits.worth[new] > 1e-9 and crew.common[crew.of_row[crew.ends[row]]]:
            continue
        for there in range(crew.ends[row], crew.ends[row + 1]):
            v = crew.of_row[there]
            if many < most and fits.worth[crew.at[v]] < fits.worth[new] - 1e-9:
                rise += go(fits, crew, v, new, many)
                many += 1
    while crew.heads[new] < k and many < most:
        best, helper = np.inf, -1
        for at in range(span):
            place = begin + at if begin + at < high else begin + at - (high - low)
            row = fits.row[place]
            own = crew.ends[row + 1] - crew.ends[row]
            tries = min(own, 4)
            first = below(random, own)
            for number in range(tries):
                there = first + number if first + number < own else first + number - own
                v = crew.of_row[crew.ends[row] + there]
                old = crew.at[v]
                if old == new or shares(crew, v, new):
                    continue
                dearer = fits.worth[old] - fits.worth[new]
                if crew.heads[old] == k:
                    dearer += unit  # it would have to be dissolved
                if dearer < best:
                    best, helper = dearer, v
        if helper < 0:
            break
        rise += go(fits, crew, helper, new, many)
        many += 1
    if crew.heads[new] < k:
        take_back(fits, crew, many)
        return 0.0
    return judged(fits, crew, new, many, k, rise, limit)


@kernel
def anneal(fits, crew, focus, k, unit, heat, begun, stop, total, quantiles, random):
    """Make proposals ``begun`` to ``stop`` of ``total``; return the rise of the price.

    ``focus`` are the records whose combinations are rare, and ``unit`` the price of a usual gap. The
    temperature falls from ``heat[0]`` to ``heat[1]``.
    """
    rise, each = 0.0, len(quantiles)
    ratio = np.log(heat[1] / heat[0])
    hot = heat[0]
    for number in range(begun, stop):
        if number == begun or number % 256 == 0:
            hot = heat[0] * np.exp(ratio * (number / total))
        limit = hot * quantiles[below(random, each)]
        kind = uniform(random)
        if kind < HOME and crew.many[0] > 0:  # a helper goes to a class without gaps for it
            u = crew.away[below(random, crew.many[0])]
            new = fits.of[fits.start[crew.row[u]]]
        else:
            u = focus[below(random, len(focus))]
            if kind > CLOSE:
                rise += try_close(fits, crew, crew.at[u], k, limit)
                continue
            row = crew.row[u]
            part = uniform(random)
            span = fits.start[row + 1] - fits.start[row]
            new = fits.of[fits.start[row] + np.int64(span * part * part)]  # the cheaper, the likelier
        if new == crew.at[u]:
            continue
        if crew.heads[new] + 1 >= k:
            rise += try_one(fits, crew, u, new, k, limit)
        else:
            rise += try_open(fits, crew, u, new, k, unit, limit, random)
    return rise


@kernel
def settle(fits, crew, k):
    """Dissolve every class with too few heads, the smallest first.

    Each of its records goes where it is cheapest among the classes that have enough heads with it. Who finds
    none is published without keys, and where those are too few, records of the largest class join them.
    """
    for few in range(1, k):
        for element in range(1, len(fits.worth)):
            if crew.heads[element] != few:
                continue
            u = crew.first[element]
            while u >= 0:
                following = crew.following[u]
                row, new = crew.row[u], 0
                for at in range(fits.start[row], fits.start[row + 1]):
                    there = fits.of[at]
                    if there == element:
                        continue
                    if crew.heads[there] + 1 >= k and (crew.heads[there] >= k or not shares(crew, u, there)):
                        new = there
                        break
                shift(fits, crew, u, new)
                u = following
    while 0 < crew.heads[0] < k:
        best, large = k, 0
        for entry in range(1, len(fits.worth)):
            if crew.heads[entry] > best:
                best, large = crew.heads[entry], entry
        if large == 0:  # no class can spare anybody: the first of all joins as a whole
            for item in range(1, len(fits.worth)):
                if crew.heads[item] > 0:
                    large = item
                    break
            if large == 0:  # there are fewer heads than k in all
                return
            u = crew.first[large]
            while u >= 0:
                following = crew.following[u]
                shift(fits, crew, u, 0)
                u = following
            continue
        u = crew.first[large]
        while u >= 0 and shares(crew, u, 0):
            u = crew.following[u]
        if u < 0:
            u = crew.first[large]
        shift(fits, crew, u, 0)
