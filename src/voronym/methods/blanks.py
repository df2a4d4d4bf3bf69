"""Which values to make missing, so that records with gaps are alike: the classes there can be, and a search.

A record is published with some of its keys and gaps for the others. A *class* is a set of columns that are
kept and their values; all that are published in it look alike. A gap is a value of its own: a class with a
gap and one without are two. So a class is of use only if k records or more have its values, and these are
found column by column: what too few share, fewer share with one more column.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 30_000_000
"""Pairs of a combination of keys and a class that it can be published in, at most."""
ROUNDS = 12
"""Times that all classes are looked at."""
SAME = 1e-9
"""Costs nearer than that are equal."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Combinations of keys, and the classes in which they can be published.

    Parameters
    ----------
    codes : array of int, shape (m, d)
        The distinct combinations of keys; -1 where a value is missing already, which costs nothing.
    counts : array of int, shape (m,)
        Records with each.
    price : array, shape (d,)
        What one missing value of a column costs.
    k : int
        Least number of records in a class.
    row, of, cost : arrays, shape (e,)
        All pairs of a combination and a class that it can be in, by combination, the cheapest first; and what
        a record costs there.
    start : array, shape (m + 1,)
        Where the pairs of each combination begin.
    kept : array of int, shape (c,)
        The columns that a class keeps, a bit each. The first class keeps none.
    sample : array of int, shape (c,)
        A combination of each class.
    """

    codes: Ints
    counts: Ints
    price: Floats
    k: int
    row: Ints
    of: Ints
    cost: Floats
    start: Ints
    kept: Ints
    sample: Ints

    @classmethod
    def find(cls, codes: Ints, counts: Ints, price: Floats, k: int, ctx: Context) -> Choices:
        """Find all classes that k records or more can be in."""
        m, d = codes.shape
        size = codes.max(axis=0, initial=0) + 1
        rows, classes, kept, sample = [np.arange(m)], [np.zeros(m, np.int64)], [0], [0]
        total, many = m, 1
        todo = [(0, 0, rows[0], classes[0])]  # columns kept, the next one, who can be in, and where
        while todo:
            mask, begin, here, labels = todo.pop()
            ctx.tell(0.0, whole=False)
            for c in range(begin, d):
                seen = codes[here, c] >= 0
                some = here[seen]
                _, first, found = np.unique(
                    labels[seen] * size[c] + codes[some, c], return_index=True, return_inverse=True
                )
                enough = np.bincount(found, counts[some]) >= k
                if not enough.any():
                    continue
                inside = enough[found]
                number = np.cumsum(enough) - 1
                mine, own = some[inside], number[found[inside]]
                rows.append(mine)
                classes.append(own + many)
                kept += [mask | 1 << c] * int(enough.sum())
                sample += some[first[enough]].tolist()
                many, total = many + int(enough.sum()), total + len(mine)
                if total > MOST:
                    raise InputError(
                        f"more than {MOST:,} ways to leave values out: take fewer keys, or recode them to "
                        "fewer values first"
                    )
                todo.append((mask | 1 << c, c + 1, mine, own))
        return cls._sorted(codes, counts, price, k, np.concatenate(rows), np.concatenate(classes),
                           np.array(kept, np.int64), np.array(sample, np.int64))  # fmt: skip

    @classmethod
    def _sorted(cls, codes: Ints, counts: Ints, price: Floats, k: int, row: Ints, of: Ints, kept: Ints,
                sample: Ints) -> Choices:  # fmt: skip
        bits = (kept[:, None] >> np.arange(len(price))) & 1
        worth = bits @ price
        all_of = (codes >= 0) @ price
        cost = np.maximum(all_of[row] - worth[of], 0.0)
        order = np.lexsort((of, cost, row))
        row = row[order]
        start = np.searchsorted(row, np.arange(len(codes) + 1))
        return cls(codes, counts, price, k, row, of[order], cost[order], start, kept, sample)

    def fits(self, row: int, one: int) -> bool:
        """Say whether a combination has the values of a class."""
        here = (int(self.kept[one]) >> np.arange(len(self.price))) & 1 == 1
        return bool((self.codes[row, here] == self.codes[self.sample[one], here]).all())


@dataclass(eq=False)
class Search:
    """Who is published in which class: each that is used has k records or more.

    Parameters
    ----------
    choices : Choices
        What there is to choose from.
    """

    choices: Choices
    held: list[dict[int, int]] = field(init=False)
    """For each combination, records by class."""
    inside: dict[int, dict[int, int]] = field(init=False)
    """For each class that is used, records by combination."""
    load: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.held = [{} for _ in self.choices.counts]
        self.inside = {}
        self.load = np.zeros(len(self.choices.kept), np.int64)
        c = self.choices
        bits = (c.kept[:, None] >> np.arange(len(c.price))) & 1
        self._worth: list[float] = (bits @ c.price).tolist()
        self._whole: list[float] = ((c.codes >= 0) @ c.price).tolist()
        order = np.argsort(c.of, kind="stable")
        self._rows, self._ends = c.row[order], np.searchsorted(c.of[order], np.arange(len(c.kept) + 1))

    @property
    def cost(self) -> float:
        """The price of all values that are made missing."""
        return sum(self.cost_of(row) for row in range(len(self.held)))

    def cost_of(self, row: int) -> float:
        """Return the price of all values that are made missing in the records of a combination."""
        return float(sum(n * self.price(row, one) for one, n in self.held[row].items()))

    def price(self, row: int, one: int) -> float:
        """Return what a record costs in a class that fits it."""
        return self._whole[row] - self._worth[one]

    def put(self, row: int, one: int, many: int) -> None:
        """Publish some more records of a combination in a class; fewer, where many is negative."""
        for outer, inner in ((self.held[row], one), (self.inside.setdefault(one, {}), row)):
            outer[inner] = outer.get(inner, 0) + many
            if not outer[inner]:
                del outer[inner]
        self.load[one] += many
        if not self.load[one]:
            del self.inside[one]

    def begin(self) -> None:
        """Publish everybody as cheaply as those who are left allow, the dearest columns kept first."""
        c = self.choices
        rest = c.counts.copy()
        worth = np.array(self._worth)
        by_kept = np.lexsort((c.of, c.kept[c.of], -worth[c.of]))
        ends = np.flatnonzero(np.diff(c.kept[c.of[by_kept]], prepend=-1, append=-1))
        for a, b in itertools.pairwise(ends.tolist()):
            here = by_kept[a:b]
            rows, of = c.row[here], c.of[here] - c.of[here].min()
            enough = np.bincount(of, rest[rows]) >= c.k
            take = enough[of] & (rest[rows] > 0)
            for row, one in zip(rows[take].tolist(), c.of[here][take].tolist(), strict=True):
                self.put(row, one, int(rest[row]))
            rest[rows[take]] = 0
        for row in np.flatnonzero(rest).tolist():
            self.put(row, 0, int(rest[row]))
        while 0 < self.load[0] < c.k:
            self._fill()

    def _fill(self) -> None:
        """Bring records to those who can be nowhere but among the nameless, where these are too few."""
        c = self.choices
        spare = [
            (self.price(row, 0) - self.price(row, one), row, one, n)
            for one, own in self.inside.items() if one and self.load[one] > c.k
            for row, n in own.items()
        ]  # fmt: skip
        if spare:
            _, row, one, n = min(spare)
            self._move(row, one, 0, min(n, int(self.load[one]) - c.k, c.k - int(self.load[0])))
            return
        costs = [
            (sum(n * (self.price(row, 0) - self.price(row, one)) for row, n in own.items()), one)
            for one, own in self.inside.items() if one
        ]  # fmt: skip
        _, one = min(costs)
        for row, n in list(self.inside[one].items()):
            self._move(row, one, 0, n)

    def _move(self, row: int, old: int, new: int, many: int) -> None:
        self.put(row, old, -many)
        self.put(row, new, many)

    def improve(self, ctx: Context) -> None:
        """Move records, open classes and close them, as long as one of these helps."""
        for number in range(ROUNDS):
            ctx.tell(number / ROUNDS, whole=True)
            before = self.cost
            for one in self._promising():
                self._open(int(one))
            for one in list(self.inside):
                if one in self.inside:
                    self._close(one)
            for row in range(len(self.held)):
                self._cheaper(row)
            if self.cost > before - SAME:
                return

    def _promising(self) -> Ints:
        """Return classes that would save something if those who gain, and the cheapest helpers, came."""
        c = self.choices
        now = np.array(
            [max((self.price(row, one) for one in own), default=0.0) for row, own in enumerate(self.held)]
        )
        gain = now[c.row] - c.cost
        order = np.lexsort((-gain, c.of))
        of, many, gain = c.of[order], c.counts[c.row[order]], gain[order]
        upto = np.cumsum(many) - many
        first = np.searchsorted(of, np.arange(len(c.kept)))
        helpers = np.clip(c.k - (upto - upto[first[of]]), 0, many)
        saved = np.bincount(of, gain * np.where(gain > 0.0, many, helpers), minlength=len(c.kept))
        good = np.flatnonzero(saved > SAME)
        return np.asarray(good[np.argsort(-saved[good], kind="stable")])

    def _members(self, one: int) -> list[int]:
        return list(self._rows[self._ends[one] : self._ends[one + 1]].tolist())

    def _open(self, one: int) -> None:
        """Bring those who gain by a class, and helpers where they are too few, if all in all it saves."""
        c = self.choices
        units = sorted(
            ((self.price(row, old) - self.price(row, one), row, old, n)
             for row in self._members(one) for old, n in self.held[row].items() if old != one),
            key=lambda unit: -unit[0],
        )  # fmt: skip
        have, saved = int(self.load[one]), 0.0
        left: dict[int, int] = {}
        moves: list[tuple[int, int, int, int]] = []
        short: dict[int, None] = {}  # classes that would be too small, in the order of what they offer
        for gain, row, old, n in units:
            if gain <= SAME and have >= c.k:
                break
            wanted = n if gain > SAME else min(n, c.k - have)
            there = left.get(old, int(self.load[old]))
            take = wanted if there - wanted >= c.k or there == wanted else max(0, there - c.k)
            if take < wanted:
                short[old] = None
            if take > 0:
                left[old] = there - take
                moves.append((row, old, one, take))
                have, saved = have + take, saved + take * gain
        for old in short:
            if have >= c.k and saved > SAME:
                break
            if any(new == old for _, _, new, _ in moves):  # somebody is to go there
                continue
            found = self._emptied(old, one, moves)
            if found is not None:
                more, came, worth = found
                moves, have, saved = moves + more, have + came, saved + worth
        if have >= c.k and saved > SAME:
            for row, old, new, n in moves:
                self._move(row, old, new, n)

    def _emptied(
        self, old: int, one: int, moves: list[tuple[int, int, int, int]]
    ) -> tuple[list[tuple[int, int, int, int]], int, float] | None:
        """Return how all who are still in a class would go, to a new one or elsewhere, and what it saves."""
        gone = {row: n for row, source, _, n in moves if source == old}
        out, came, saved = [], 0, 0.0
        busy = {source for _, source, _, _ in moves}  # these may be emptied, or have nobody to spare
        for row, n in self.inside[old].items():
            many = n - gone.get(row, 0)
            if not many:
                continue
            target = one if self.choices.fits(row, one) else self._other(row, {old, one} | busy)
            if target is None:
                return None
            came += many if target == one else 0
            saved += many * (self.price(row, old) - self.price(row, target))
            out.append((row, old, target, many))
        return out, came, saved

    def _other(self, row: int, without: set[int]) -> int | None:
        """Return the cheapest class that is used and fits a combination."""
        c = self.choices
        for one in c.of[c.start[row] : c.start[row + 1]].tolist():
            if self.load[one] and one not in without:
                return int(one)
        return None

    def _close(self, one: int) -> None:
        """Empty a class, if those in it are cheaper elsewhere, all in all."""
        moves, saved = [], 0.0
        for row, n in self.inside[one].items():
            target = self._other(row, {one})
            if target is None:
                return
            saved += n * (self.price(row, one) - self.price(row, target))
            moves.append((row, one, target, n))
        if saved > SAME:
            for move in moves:
                self._move(*move)

    def _cheaper(self, row: int) -> None:
        """Move records of a combination to a cheaper class that is used, where nobody there needs them."""
        for old, n in list(self.held[row].items()):
            target = self._other(row, set())
            if target is None or self.price(row, target) >= self.price(row, old) - SAME:
                continue
            there = int(self.load[old])
            many = n if there == n else min(n, there - self.choices.k)
            if many > 0:
                self._move(row, old, target, many)

    def unveil(self) -> None:
        """Publish what all records of a class share: every gap that is left stands for several values."""
        c = self.choices
        for one in list(self.inside):
            rows = list(self.inside.get(one, ()))
            if not rows:
                continue
            codes = c.codes[rows]
            shared = (codes == codes[0]).all(axis=0) & (codes[0] >= 0)
            mask = int(shared @ (1 << np.arange(len(c.price))))
            if mask == c.kept[one]:
                continue
            own = c.of[c.start[rows[0]] : c.start[rows[0] + 1]]
            finer = int(own[np.flatnonzero(c.kept[own] == mask)[0]])
            for row, n in list(self.inside[one].items()):
                self._move(row, one, finer, n)
