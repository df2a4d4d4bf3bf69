"""Values that change places: within a distance of ranks, or between records that are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.options import number, option
from voronym.errors import InputError
from voronym.steps import numbers, picked
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table

Ints = NDArray[np.int64]

_TRIES = 16
"""Number of draws of a partner before all candidates are examined."""


@step("rank-swap", guarantee="the column has the same values, each within the distance of ranks of its place",
      main="percent", random=True)  # fmt: skip
@dataclass(frozen=True)
class RankSwap(ColumnStep):
    """Swap every value with another one of near rank.

    References
    ----------
    R. A. Moore: Controlled data-swapping techniques for masking public use microdata sets, U.S. Bureau of the
    Census (1996).
    """

    percent: float | None = option(
        None,
        "how far apart the ranks of two swapped values may be, in percent of the records",
        check=number(0.0, 100.0, above=0.0),
    )

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with values swapped."""
        made = {}
        for name in self.columns:
            if table.schema[name].kind not in ("ordinal",):
                numbers.check_line(table, name, self)
            made[name] = picked.of_rows(table, name, self._places(table, name, rng))
        return made

    def _places(self, table: Table, name: str, rng: np.random.Generator) -> Ints:
        rows = np.flatnonzero(~table.missing(name))
        codes = table.codes(name)[rows]
        ranked = rows[np.lexsort((rng.random(len(rows)), codes))]  # equal values in a random order
        width = max(1, int(float(self.percent) / 100.0 * len(rows)))  # type: ignore[arg-type]
        partner = swapped(len(ranked), width, rng)
        places = np.arange(table.n)
        places[ranked] = ranked[partner]
        return places

    def says(self) -> str:
        """Describe the step."""
        return f"{', '.join(self.columns)}: values swapped within {self.percent:g} % of the ranks"


def swapped(n: int, width: int, rng: np.random.Generator) -> Ints:
    """Pair each place 0..n-1 with a free place at most ``width`` further on; at most one stays single."""
    partner = np.arange(n)
    free = np.ones(n, dtype=bool)
    ahead = rng.random(n)
    for i in range(n):
        if not free[i]:
            continue
        reach = np.flatnonzero(free[i + 1 : i + 1 + width])
        if not len(reach):
            continue
        j = i + 1 + int(reach[int(ahead[i] * len(reach))])
        partner[i], partner[j] = j, i
        free[i] = free[j] = False
    return partner


@step("record-swap", guarantee="the column has the same values, and equally many of each among records that "
    "match",
      main="percent", random=True)  # fmt: skip
@dataclass(frozen=True)
class RecordSwap(ColumnStep):
    """Swap values between records that are alike in other columns, such as their region with its columns.

    Records that are unique on the keys come first, because intruders find these.

    References
    ----------
    T. Dalenius, S. P. Reiss: Data-swapping: a technique for disclosure control, Journal of Statistical
    Planning and Inference 6(1) (1982).
    """

    percent: float | None = option(
        None, "share of the records that are swapped, in percent", check=number(0.0, 100.0, above=0.0)
    )
    match: tuple[str, ...] = list_option("columns in which swapped records are equal")

    def asks(self) -> tuple[str, ...]:
        """Return the columns that it reads."""
        return self.match

    def check(self) -> None:
        """Refuse columns that are both swapped and equal."""
        if set(self.match) & set(self.columns):
            raise InputError(f"step '{self}': a column cannot be swapped and be equal at once")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with values swapped."""
        here = equivalence_classes(table.frame, self.columns).labels
        strata = (
            equivalence_classes(table.frame, self.match).labels if self.match else np.zeros(table.n, np.int64)
        )
        sizes = table.classes.sizes[table.classes.labels] if table.keys else np.full(table.n, table.n)
        wanted = int(np.ceil(float(self.percent) / 100.0 * table.n))  # type: ignore[arg-type]
        first = np.lexsort((rng.random(table.n), sizes))  # the smallest classes
        places = np.arange(table.n)
        free = np.ones(table.n, dtype=bool)
        order = rng.permutation(table.n)
        groups = order[np.argsort(strata[order], kind="stable")]
        starts = np.searchsorted(strata[groups], np.arange(strata.max(initial=0) + 2))
        for row in first.tolist():
            if wanted <= 0:
                break
            if not free[row]:
                continue
            alike = groups[starts[strata[row]] : starts[strata[row] + 1]]
            drawn = alike[(rng.random(_TRIES) * len(alike)).astype(np.int64)]
            able = drawn[free[drawn] & (here[drawn] != here[row])][:1]
            if not len(able):  # few are left: look at all of them
                able = alike[free[alike] & (here[alike] != here[row])]
            if not len(able):
                continue
            other = int(able[int(rng.random() * len(able))])
            places[row], places[other] = other, row
            free[row] = free[other] = False
            wanted -= 2
        return {name: picked.of_rows(table, name, places) for name in self.columns}

    def says(self) -> str:
        """Describe the step."""
        alike = f" among records with equal {', '.join(self.match)}" if self.match else ""
        return (
            f"{', '.join(self.columns)}: {self.percent:g} % of the records swapped{alike}, those in the "
            "smallest classes first"
        )
