"""Choose values to blank so that records with gaps are alike: possible classes and their members.

A record is published with some of its keys, and gaps in the others. A *class* is a set of kept columns and
their values; all records published in it look alike. A gap is a value of its own, so a class with a gap
differs from one without. A class is useful only if at least k records have its values. These classes are
found column by column: if too few records share some values, adding a column does not help.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_PATTERNS = 30_000_000
"""Largest number of pairs of a combination of keys and a class that fits it."""
SAME = 1e-9
"""Costs with a smaller difference count as equal."""


def combinations(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct rows in order, the index of each row among them, and their counts.

    The same as `numpy.unique` by rows, but faster.

    Examples
    --------
    >>> rows, which, counts = combinations(np.array([[1, -1], [0, 2], [1, -1]]))
    >>> rows.tolist(), which.tolist(), counts.tolist()
    ([[0, 2], [1, -1]], [1, 0, 1], [1, 2])
    """
    which = np.zeros(len(codes), np.int64)
    for column in codes.T:
        width = int(column.max(initial=0)) + 2
        which = np.unique(which * width + column + 1, return_inverse=True)[1].reshape(-1)
    first = np.unique(which, return_index=True)[1]
    return codes[first], which, np.bincount(which, minlength=len(first))


@dataclass(frozen=True, eq=False)
class Choices:
    """Combinations of keys, and the classes in which each can be published.

    Parameters
    ----------
    codes : array of int, shape (m, d)
        The distinct combinations of keys; -1 for a value that is already missing, which costs nothing.
    counts : array of int, shape (m,)
        Records with each.
    price : array, shape (d,)
        The cost of one blanked value of a column.
    k : int
        Least number of records in a class.
    row, of, cost : arrays, shape (e,)
        All pairs of combination and fitting class, by combination, the cheapest first; and the cost of a
        record there.
    start : array, shape (m + 1,)
        First pair of each combination.
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
        """Find all classes that can have k records or more."""
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
                _, first, result = np.unique(
                    labels[seen] * size[c] + codes[some, c], return_index=True, return_inverse=True
                )
                enough = np.bincount(result, counts[some]) >= k
                if not enough.any():
                    continue
                inside = enough[result]
                number = np.cumsum(enough) - 1
                mine, own = some[inside], number[result[inside]]
                rows.append(mine)
                classes.append(own + many)
                kept += [mask | 1 << c] * int(enough.sum())
                sample += some[first[enough]].tolist()
                many, total = many + int(enough.sum()), total + len(mine)
                if total > MOST_PATTERNS:
                    raise InputError(
                        f"more than {MOST_PATTERNS:,} ways to leave values out: take fewer keys, or "
                        "recode them to fewer values first"
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

    @cached_property
    def worth(self) -> Floats:
        """The price of the columns that each class keeps."""
        bits = (self.kept[:, None] >> np.arange(len(self.price))) & 1
        return np.asarray(bits @ self.price, np.float64)

    @cached_property
    def whole(self) -> Floats:
        """The price of all values that each combination has."""
        return np.asarray((self.codes >= 0) @ self.price, np.float64)


@dataclass(eq=False)
class Search:
    """The class of each record; every class in use has k records or more.

    Parameters
    ----------
    choices : Choices
        The possible choices.
    """

    choices: Choices
    held: list[dict[int, int]] = field(init=False)
    """For each combination, the number of records by class."""
    inside: dict[int, dict[int, int]] = field(init=False)
    """For each class in use, the number of records by combination."""
    load: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.held = [{} for _ in self.choices.counts]
        self.inside = {}
        self.load = np.zeros(len(self.choices.kept), np.int64)
        c = self.choices
        self._worth: list[float] = c.worth.tolist()
        self._whole: list[float] = c.whole.tolist()

    @property
    def cost(self) -> float:
        """The price of all blanked values."""
        return sum(self.cost_of(row) for row in range(len(self.held)))

    def cost_of(self, row: int) -> float:
        """Return the price of all blanked values in the records of a combination."""
        return float(sum(n * self.price(row, item) for item, n in self.held[row].items()))

    def price(self, row: int, item: int) -> float:
        """Return the cost of a record in a class that fits it."""
        return self._whole[row] - self._worth[item]

    def put(self, row: int, item: int, many: int) -> None:
        """Publish more records of a combination in a class; fewer if ``many`` is negative."""
        for outer, inner in ((self.held[row], item), (self.inside.setdefault(item, {}), row)):
            outer[inner] = outer.get(inner, 0) + many
            if not outer[inner]:
                del outer[inner]
        self.load[item] += many
        if not self.load[item]:
            del self.inside[item]

    def publish(self, which: Ints, at: Ints) -> None:
        """Publish records, by their combinations and classes."""
        pairs, many = np.unique(np.column_stack([which, at]), axis=0, return_counts=True)
        for (row, item), n in zip(pairs.tolist(), many.tolist(), strict=True):
            self.put(row, item, n)

    def labels(self, which: Ints, rng: np.random.Generator) -> Ints:
        """Return the class of each record; equal records are assigned at random."""
        out = np.empty(len(which), np.int64)
        order = rng.permutation(len(which))
        order = order[np.argsort(which[order], kind="stable")]
        for own, mine in zip(self.held, np.split(order, np.cumsum(self.choices.counts)[:-1]), strict=True):
            out[mine] = np.repeat(list(own), list(own.values()))
        return out
