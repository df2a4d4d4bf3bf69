"""Leave out records so that local suppression blanks fewer values of the others.

Every combination of keys has a price that proves the least number of gaps (see
`voronym.methods.blank_bound`). Combinations with the highest prices are tried, and those with the most gaps
if nobody is left out.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.methods.blank_bound import least
from voronym.methods.blank_search import anneal
from voronym.methods.blanks import Choices, combinations

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TIE = 1e-6
"""Prices of records with the same keys differ by less than this."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Records as codes of their keys, for local suppression.

    Parameters
    ----------
    codes : array of int, shape (n, d)
        The keys of each record as numbers; -1 for a missing value.
    k : int
        Least number of records that look alike.
    price : array, shape (d,)
        The cost of a blanked value of each column.
    homes : array of int, optional
        The household of each record, which k counts.
    """

    codes: Ints
    k: int
    price: Floats
    homes: Ints | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.codes)

    @property
    def total(self) -> float:
        """The price of all values."""
        return float((self.codes >= 0).sum(axis=0) @ self.price)

    @cached_property
    def choices(self) -> tuple[Choices, Ints]:
        """The possible classes, and the combination of each record."""
        rows, which, counts = combinations(self.codes)
        return Choices.find(rows, counts, self.price, self.k, Context()), which

    def subset(self, rows: Ints) -> Coded:
        """Return some of the records."""
        return replace(self, codes=self.codes[rows], homes=None if self.homes is None else self.homes[rows])

    def prices(self, ctx: Context) -> Floats:
        """Return the price of each record; the sum of all prices is a lower bound on the cost of any choice.

        This also holds if records are left out: a class then has fewer candidates, and the others
        keep their prices. Ties are broken by a random number that depends only on the records.
        """
        choices, which = self.choices
        lots = np.random.default_rng(zlib.crc32(np.ascontiguousarray(self.codes).tobytes()))
        return least(choices, ctx)[1][which] + TIE * lots.random(self.n)

    def chosen(self, many: int, ctx: Context, may: Bools) -> tuple[Ints, float, float, float]:
        """Return the records to leave out, the cost of all gaps, that of the others, and its bound."""
        many = min(many, int(may.sum()))
        near = self.prices(ctx.part(0.0, 0.1))
        proven = max(0.0, float(np.sort(near - TIE)[: self.n - many].sum()))
        everybody = self._gaps(ctx.part(0.1, 0.4, time=0.3))
        before = after = float(everybody.sum())
        outside = np.empty(0, np.int64)
        for number, far in enumerate((near, everybody + near * TIE)):
            here = ctx.part(0.4 + 0.3 * number, 0.7 + 0.3 * number, time=0.5)
            if not many or (number and here.over):
                break
            rows = np.argsort(np.where(may, -far, np.inf), kind="stable")[:many]
            rows = rows[far[rows] > 2 * TIE]  # records that cost nothing stay
            rest = np.delete(np.arange(self.n), rows)
            cost = float(self.subset(rest)._gaps(here).sum())
            if cost < after:
                after, outside = cost, np.sort(rows)
        return outside, before, after, min(proven, after)

    def _gaps(self, ctx: Context) -> Floats:
        """Return the price of the gaps of each record, by a search."""
        choices, which = self.choices
        labels, _ = anneal(choices, which, self.homes, ctx, lambda cost: cost)
        return choices.whole[which] - choices.worth[labels]
