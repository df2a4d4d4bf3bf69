"""Cuts: rows that every partition obeys, and that fractional solutions break.

No two groups of a partition have more than half of the same records. So the groups with at least p of 2p - 1
records (or fewer) have a total weight of at most 1. Three records and p = 2 are the best known case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BROKEN = 0.02
"""Weight above 1 from which a row is worth adding."""


@dataclass(frozen=True)
class Cut:
    """The groups with at least ``least`` of some records have a total weight of at most 1.

    Parameters
    ----------
    records : tuple of int
        Ascending, and fewer than twice ``least``.
    least : int
        Number of these records from which a group meets the cut.
    """

    records: tuple[int, ...]
    least: int


@dataclass(frozen=True)
class Fined:
    """Cuts, and a penalty for each on the groups that meet it."""

    cuts: Sequence[Cut]
    penalties: Floats

    def effective(self) -> Fined:
        """Return the cuts with a penalty above 0; the others do not matter."""
        kept = np.flatnonzero(self.penalties > 0.0)
        return Fined([self.cuts[cut] for cut in kept.tolist()], self.penalties[kept])

    def suspects(self, prices: Floats, k: int, m: int, *, flat: bool) -> NDArray[np.bool_]:
        """Return the records of which a group of m has at least one if it costs less than its prices.

        The prices are valid for groups of k: no group T costs less than its prices less its penalties. Let F
        be the penalties of a larger group S; its k-subsets T have no more. On average, T costs the share
        ``(k - 1) / (m - 1)`` of S (squares alone) or ``k / m`` at most. So S costs at least ``a`` times its
        prices less ``b`` times F, where b is one over this share, and a is ``b k / m``. That is enough if
        ``(a - 1) price >= (b - 1) fine`` for every member, where the fine of a record is a penalty divided
        by the least number of records that pay it, summed over its cuts: the fines of S are F or more.
        """
        if m == k:
            return np.ones(len(prices), bool)
        b = (m - 1) / (k - 1) if flat else m / k
        fines = np.zeros(len(prices))
        for cut, penalty in zip(self.cuts, self.penalties.tolist(), strict=True):
            fines[list(cut.records)] += penalty / cut.least
        return np.asarray((b * k / m - 1.0) * prices < (b - 1.0) * fines)


NONE = Fined((), np.empty(0))


def triples(groups: Sequence[Integers], weights: Floats) -> list[tuple[float, Cut]]:
    """Return all cuts of three records that weights of groups break, with the weight of the groups.

    Let y be the weight of the groups with both records of a pair, and z of the groups with all three. The
    groups with two or more of the three weigh ``y_ij + y_ih + y_jh - 2 z``. If that exceeds 1, all three y
    are positive, because the groups with one record weigh 1 together. So only triangles in the graph of y
    are tried.
    """
    pairs: dict[tuple[int, int], float] = {}
    trios: dict[tuple[int, int, int], float] = {}
    partners: dict[int, set[int]] = {}
    for group, weight in zip(groups, weights.tolist(), strict=True):
        members = group.tolist()
        for pair in combinations(members, 2):
            pairs[pair] = pairs.get(pair, 0.0) + weight
        for trio in combinations(members, 3):
            trios[trio] = trios.get(trio, 0.0) + weight
    for i, j in pairs:
        partners.setdefault(i, set()).add(j)
    result = []
    for (i, j), weight in pairs.items():
        for h in partners[i] & partners.get(j, set()):
            total = weight + pairs[i, h] + pairs[j, h] - 2.0 * trios.get((i, j, h), 0.0)
            if total > 1.0 + BROKEN:
                result.append((total, Cut((i, j, h), 2)))
    return result


def majorities(groups: Sequence[Integers], weights: Floats, n: int) -> list[tuple[float, Cut]]:
    """Return cuts of many records that weights of groups break, with the weight of the groups.

    The heaviest groups are starts. One by one, the records join that the overlapping groups have most often,
    up to 2k - 1. The number of records counts with which the groups weigh most. A group that meets a cut is
    no start any more.
    """
    result = []
    having: list[list[int]] = [[] for _ in range(n)]
    for place, group in enumerate(groups):
        for record in group.tolist():
            having[record].append(place)
    k, met = min(map(len, groups), default=0), np.zeros(len(groups), bool)
    for start in np.argsort(-weights, kind="stable").tolist():
        if met[start]:
            continue
        total, size, records, counts = _grown(start, groups, weights, having, 2 * k - 1)
        if total > 1.0 + BROKEN:
            cut = Cut(tuple(sorted(records[:size])), size // 2 + 1)
            result.append((total, cut))
            met |= counts >= cut.least
    return result


def _grown(
    start: int, groups: Sequence[Integers], weights: Floats, having: Sequence[list[int]], most: int
) -> tuple[float, int, list[int], Integers]:
    """Let records join those of a group: return the best weight, for how many records, and all of them.

    In the end, the number of these best records in each group.
    """
    counts, records = np.zeros(len(groups), np.int64), groups[start].tolist()[:most]
    for record in records:
        counts[having[record]] += 1
    best, size, kept = 0.0, 0, counts
    while True:
        total = float(weights[counts > len(records) // 2].sum())
        if total > best + 1e-9:
            best, size, kept = total, len(records), counts.copy()
        if len(records) >= most:
            return best, size, records, kept
        near = np.flatnonzero(counts)
        members = np.concatenate([groups[place] for place in near.tolist()])
        worth = np.repeat(weights[near] * counts[near], [len(groups[place]) for place in near.tolist()])
        those, back = np.unique(members, return_inverse=True)
        score = np.bincount(back, weights=worth)
        score[np.isin(those, records)] = 0.0
        if score.max() <= 0.0:
            return best, size, records, kept
        records.append(int(those[score.argmax()]))
        counts[having[records[-1]]] += 1


def worst(cuts: Iterable[tuple[float, Cut]], known: Iterable[Cut], most: int) -> list[Cut]:
    """Return up to ``most`` new cuts, the most broken first."""
    old = set(known)
    fresh = [(total, cut) for total, cut in cuts if cut not in old]
    fresh.sort(key=lambda item: (-round(item[0], 9), item[1].records))
    return [cut for _, cut in fresh[:most]]
