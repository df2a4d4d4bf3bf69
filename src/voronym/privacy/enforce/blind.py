"""Blind: groups that reveal nothing about a person, even to an intruder who knows the method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import GuaranteeError, hint
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.privacy.cells import Judge
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RATIO = 1.5
"""Ratio between consecutive sizes of the grid."""

WORLDS, SURE = 400, 0.99
"""Random worlds tried before any confidential value is read, and the share that must pass."""
_FEWER, _RECORDS, _AT_ONCE = 100, 20_000_000, 2_000_000  # worlds of large tables; records of all, and at once

REST = 16
"""Approximate number of groups that are joined regardless of content, if there are many."""
NEARLY = 0.75
"""Share of the groups that a tree of partners must cover; within it, twos are preferred to threes."""


def blind(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Merge groups with partners of the same size, chosen by the keys alone.

    Groups of one size are made by the keys, and get partners by the keys: each group has a near partner,
    each pair a near pair, sometimes three go together, and so on, up to a few very large groups (`Plan`).
    If a judge refuses one of several partners, they are published as one group; if it refuses that group,
    it is joined with its own partners, and so on. A few groups without partners are joined from the
    start. The size is chosen before the confidential values are used: the first of a public grid (`grid`)
    at which nearly all tables with these values in random order pass. If the largest groups do not pass,
    nothing is released.

    Guarantee: every judge accepts every group, and every group has at least k records.

    **Claim.** Let the intruder know everybody's keys, the method and the release, and have no favourites
    among the orders of the confidential records that agree with it. Then the chance that a person has a
    value is the share of that value in the person's group, exactly: for every n, and however groups differ.

    *Proof.* Sizes and partners follow from the keys and from the values as a whole, which all orders share.
    Let G be a published group. If it was a group from the start, the release says nothing about it but its
    counts. Otherwise it is the union of partners A, B, ..., one of which was refused. Whatever else the
    release says (that G passed, that it was not joined with its own partners, what happened elsewhere)
    follows from the counts in published groups. So among the orders within G those are left in which A or B
    or ... is refused. This set does not change when members of A change places, or those of B, nor when A
    changes places with B as a whole, since all partners have the same size. These exchanges lead from every
    member of G to every other: all have the same chances, and the mean of their chances is the share in the
    group. ∎

    The claim is about each person alone. About two people together the release reveals more than the
    counts: if A or B had a single value, some members are alike, but the release does not show which
    ones.

    If a judge measures a sum over all groups, as for mutual information, no groups are merged: they pass
    unchanged, or nothing is released.

    Cost: that of MDAV for a size or two, and O(n log n).

    References
    ----------
    R. Wong, A. Fu, K. Wang and J. Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007:
    what methods give away that look at confidential values group by group.
    """
    summed = any(judge.additive for judge in asked.judges)
    for size in grid(problem.k, problem.n):
        groups = _by_keys(problem, part, size, ctx)
        if groups.n_cells == 1:
            break
        plan = Plan.of(groups, size, deep=not summed)
        place = plan.places(groups.centroids(problem.records.coordinates))
        largest = Partition(plan.unions(plan.height)[place][groups.labels])
        if largest.n_cells > 1 and chance(largest, asked) < SURE:
            continue
        failing = len(asked.failing(largest.labels))
        if failing:
            raise GuaranteeError(
                f"{failing} of {largest.n_cells} groups of {largest.sizes.min()} or more records do not "
                "pass, and no others may be made: an intruder who knows the method would learn why. Ask for "
                f"a larger k or for less, or choose {hint('intruder', 'keys')}"
            )
        return Partition(_merged(plan, place, groups, asked), k=problem.k)
    return problem.one_group()


def _merged(plan: Plan, place: Ints, groups: Partition, asked: Requirements) -> Ints:
    """Return the labels of groups; if a judge refuses a group, it is joined with its partners."""
    unions = plan.unions(0)
    joined = np.searchsorted(unions, unions)  # the first place of each union distinguishes heights
    for height in range(plan.height):
        refused = asked.failing(unions[place][groups.labels])
        above = plan.unions(height + 1)
        parents = np.isin(above, above[np.isin(unions, refused)])
        joined = np.where(parents, np.searchsorted(above, above), joined)
        unions = above
    return np.unique(joined[place][groups.labels], return_inverse=True)[1].reshape(-1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Plan:
    """The partners of each group.

    Parameters
    ----------
    even, odd : array of int
        The groups of the common size, and the groups of other sizes.
    trees : tuple of tuple of int
        For each tree of partners, the numbers of groups that are joined, the smallest first: 2, 2, 3 are
        twelve groups, in six pairs, in three fours, in one. Groups without a tree are joined, and so are odd
        ones.
    """

    even: Ints
    odd: Ints
    trees: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, groups: Partition, size: int, *, deep: bool = True) -> Plan:
        """Give partners to as many groups as possible; without ``deep``, to none."""
        if not deep:
            return cls(np.arange(groups.n_cells), np.empty(0, np.int64), ((),) * groups.n_cells)
        even, odd = (np.flatnonzero((groups.sizes == size) == side) for side in (True, False))
        m = len(even)
        left, trees = m - min(REST, m // 20), list[tuple[int, ...]]()
        while left > max(3, m // 50) or (left > 1 and not trees):
            trees.append(_arities(left))
            left -= math.prod(trees[-1])
        return cls(even, odd, tuple(trees))

    @property
    def height(self) -> int:
        """Largest number of times that groups may be joined."""
        return max((len(tree) for tree in self.trees), default=0)

    @property
    def paired(self) -> int:
        """Number of groups in trees."""
        return sum(math.prod(tree) for tree in self.trees)

    def places(self, centres: Floats) -> Ints:
        """Return the position of each group in an order in which partners are neighbours.

        Groups without partners are nearest to the overall centre, where joining costs least. A tree
        takes the two ends of the widest coordinate and leaves the middle to the next tree. Its groups
        are divided along the widest coordinate, repeatedly.
        """
        far = np.square(centres[self.even] - centres[self.even].mean(axis=0)).sum(axis=1)
        outward = self.even[np.argsort(-far, kind="stable")]
        left, rest = outward[: self.paired], outward[self.paired :]
        out: list[Ints] = []
        for tree in self.trees:
            many = math.prod(tree)
            left = _along(left, centres)
            middle = slice(many // 2, many // 2 + len(left) - many)
            waiting = [(np.delete(left, middle), len(tree))]
            left = left[middle]
            while waiting:
                some, height = waiting.pop()
                if height == 0:
                    out.append(some)
                    continue
                parts = np.split(_along(some, centres), tree[height - 1])
                waiting += [(part, height - 1) for part in parts[::-1]]
        place = np.empty(len(centres), np.int64)
        place[np.concatenate([*out, rest, self.odd])] = np.arange(len(centres))
        return place

    def unions(self, height: int) -> Ints:
        """Return the number of each place's union with its partners after 0, 1, 2, … joins."""
        out: list[Ints] = []
        number = 0
        for tree in self.trees:
            many = math.prod(tree)
            own = np.arange(many) // math.prod(tree[:height])
            out.append(number + own)
            number += int(own[-1]) + 1
        rest = len(self.even) + len(self.odd) - self.paired
        return np.concatenate([*out, np.full(rest, number)]).astype(np.int64)


def _along(some: Ints, centres: Floats) -> Ints:
    """Return groups in the order of the coordinate with the largest spread."""
    axis = int(np.argmax(centres[some].var(axis=0))) if len(some) else 0
    return np.asarray(some[np.argsort(centres[some, axis], kind="stable")], np.int64)


def _arities(groups: int) -> tuple[int, ...]:
    """Return twos and threes whose product is at most ``groups`` and near it, with as many twos as possible.

    Examples
    --------
    >>> _arities(600), _arities(5), _arities(1)
    ((2, 2, 2, 2, 2, 2, 2, 2, 2), (2, 2), ())
    """
    best = (-1, 0, 0)
    for twos in range(groups.bit_length()):
        threes = int(math.log(groups >> twos, 3) + 1e-9)
        product = 2**twos * 3**threes
        if product >= NEARLY * groups or twos == 0:
            best = max(best, (twos, product, threes))
    return (2,) * best[0] + (3,) * best[2]


def grid(k: int, n: int) -> list[int]:
    """Return the group sizes to try, from k; the last one is a single group.

    Examples
    --------
    >>> grid(5, 100)
    [5, 8, 12, 17, 26, 38, 100]
    """
    sizes, size = [k], float(k)
    while (size := size * RATIO) <= n / 2:
        sizes.append(int(np.ceil(size)))
    return [*sizes, n] if sizes[-1] < n else sizes


def _by_keys(problem: Problem, part: Partition, size: int, ctx: Context) -> Partition:
    """Return groups made by the keys alone; all but one have exactly the given size."""
    if size == problem.k and (part.sizes == size).sum() >= part.n_cells - 1:
        return part
    return METHODS["mdav"].partition(problem.with_k(size), ctx.quiet())


def chance(part: Partition, asked: Requirements) -> float:
    """Return the share of possible tables that pass: the same values in random order, in these groups.

    It depends on the group sizes and on the values as a whole, not on who has which value: the shuffles
    start from the sorted values.
    """
    rng = np.random.default_rng(0)
    labels, n = np.sort(part.labels), part.n
    many = int(np.clip(_RECORDS // n, min(_FEWER, WORLDS), WORLDS))
    passed = np.ones(many, bool)
    step = max(1, _AT_ONCE // n)
    for start in range(0, many, step):
        here = slice(start, min(many, start + step))
        worlds = np.empty((here.stop - start, n), np.int64)
        for number in range(len(worlds)):
            worlds[number, asked.order] = rng.permutation(labels) + number * part.n_cells
        passed[here] = _passing(worlds, part.n_cells, asked)
    return float(passed.mean())


def _passing(worlds: Ints, n_cells: int, asked: Requirements) -> NDArray[np.bool_]:
    """Return which possible tables pass; the cells of each are numbered separately."""
    many = len(worlds)
    passed = np.ones(many, bool)
    for judge in asked.judges:
        if type(judge) is not Judge:  # it knows more of the records than their codes
            each = [judge.values(world - number * n_cells, n_cells) for number, world in enumerate(worlds)]
            passed &= [bool(np.all(judge.holds(values))) for values in each]
            continue
        # All at once, as a table of copies with the same frequencies.
        copies = replace(judge.levels, codes=np.tile(judge.levels.codes, many))
        values = replace(judge, levels=copies).values(worlds.reshape(-1), many * n_cells)
        cells = values.reshape(many, n_cells)
        if judge.additive:  # shares of all copies' records
            passed &= [bool(judge.holds(world)) for world in cells * many]
        else:
            passed &= np.asarray(judge.holds(cells)).all(axis=1)
    return passed
