"""Kept columns that a household or a person shares: equal values would join their rows again.

All members of a household pay the same rent, and few others pay exactly as much. Anybody who sees two rows
with the same rent knows that they belong together, although the household column was dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.errors import hint
from voronym.table.doubts.base import Doubt
from voronym.table.values import Columns

Ints = NDArray[np.int64]
NAME = "unit-columns"
_SHUFFLES = 5
_LEAST = 3
"""Smallest number of joined units that cannot be chance."""
MANY = {"household": "households", "person": "people"}


@dataclass(frozen=True)
class Joined:
    """Columns whose equal values join rows.

    Parameters
    ----------
    columns : tuple of str
        One column, or several together.
    units : int
        Number of units with at least two joined rows.
    several : int
        Units of several rows.
    """

    columns: tuple[str, ...]
    units: int
    several: int


def joining(
    table: Columns, names: Sequence[str], unit: Ints, k: int, *, looked_at: float = 1.0
) -> tuple[Joined, ...]:
    """Return the columns that join the rows of units more often than chance would.

    Two rows of a unit are joined by a common value that fewer than k units have. Columns that join rows
    alone are returned one by one. The others are tried together, if they agree within units more often
    than by chance.

    Parameters
    ----------
    table : Columns
        The columns as they will be published.
    names : sequence of str
        Kept columns.
    unit : array, shape (n,)
        The household or the person of each row.
    k : int
        Units that must share a value.
    looked_at : float
        The share of all rows that are in the table; below 1 it is estimated how many units share a value.
    """
    several = int((np.bincount(unit) > 1).sum())
    if several < _LEAST:
        return ()
    rng = np.random.default_rng(0)
    out: list[Joined] = []
    own: list[tuple[str, Ints]] = []
    for name in names:
        if table[name].form in ("mixed", "other", "empty"):
            continue
        codes = np.asarray(table[name].codes, np.int64)
        units = _beyond_chance(codes, unit, k, looked_at, rng)
        if units:
            out.append(Joined((name,), units, several))
        elif _beyond_chance(codes, unit, math.inf, 1.0, rng):
            own.append((name, codes))
    if len(own) > 1:
        both = np.unique(np.column_stack([codes for _, codes in own]), axis=0, return_inverse=True)[1]
        units = _beyond_chance(both.reshape(-1), unit, k, looked_at, rng)
        if units:
            out.append(Joined(tuple(name for name, _ in own), units, several))
    return tuple(out)


def _beyond_chance(codes: Ints, unit: Ints, k: float, looked_at: float, rng: np.random.Generator) -> int:
    """Return how many units are joined; 0 if random order would join as many."""
    units = _joined(codes, unit, k, looked_at)
    if units < _LEAST:
        return 0
    chance = np.mean([_joined(rng.permutation(codes), unit, k, looked_at) for _ in range(_SHUFFLES)])
    return units if units > chance + 3.0 * math.sqrt(chance) + 2.0 else 0


def _joined(codes: Ints, unit: Ints, k: float, looked_at: float) -> int:
    """Count the units with two rows that share a value of fewer than k units."""
    known = codes >= 0
    size = int(codes.max(initial=0)) + 1
    pairs, rows = np.unique(unit[known] * np.int64(size) + codes[known], return_counts=True)
    value, whose = pairs % size, pairs // size
    sharing = np.bincount(value, minlength=size)[value]
    twice = rows > 1
    if looked_at < 1.0:  # the visible rows are a sample of the others
        others = float((sharing[twice] - 1).mean()) / looked_at if twice.any() else 0.0
        few = np.full(len(pairs), others + 1 < k)
    else:
        few = sharing < k
    return len(np.unique(whose[twice & few]))


def doubts(joins: Sequence[Joined], what: str, k: int) -> Iterator[Doubt]:
    """Yield a refusal for each set of joining columns.

    ``what`` is "household" or "person".
    """
    for joined in joins:
        name = joined.columns[0]
        both = "column" if len(joined.columns) == 1 else "together, columns"
        text = (
            f"{both} {', '.join(map(repr, joined.columns))} would join rows of {joined.units:,} of "
            f"{joined.several:,} {MANY[what]} with several rows: they have a value that fewer than k={k} "
            f"{MANY[what]} have, so everybody sees which rows belong together. Make it a key, round it "
            f"({hint('steps', f'round {name}=100')}), or drop it ({hint('identifiers', [name])}); or allow "
            "it: "
            f"{hint('allow_unit_columns', list(joined.columns))}"
        )
        yield Doubt(NAME, name, text, "refuse")
