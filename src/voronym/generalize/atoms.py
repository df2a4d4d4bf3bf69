"""The possible ends of ranges.

The smallest and the largest value of a group belong to somebody. With exact ends, each group would reveal two
true values in every column, and the table its extremes. So ends are taken from *atoms*: bins of a round width
(1, 2, 5, 10, ...; days, months, years), joined until each has at least k records. A range goes from one atom
to another, so an end may belong to any of k people. If the outermost bin has fewer than k people, its outer
end is not published: "80 or more".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.generalize.grid import Grid, Ranked, finest, grids
from voronym.generalize.tally import Tally
from voronym.table.values import Values

Ints = NDArray[np.int64]
SHARE_IN_LARGE_BINS = 0.5
"""Bins are wide enough if at least this share of the records is in bins of k or more."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atoms of a column: the ends of each, as number and text, and the atom of each record.

    Parameters
    ----------
    codes : array of int, shape (n,)
        The atom of each record; the number of atoms stands for missing.
    low, high : array, shape (atoms,)
        Ends.
    texts : sequence of pairs of str
        Ends as texts; None for an unpublished outer end.
    """

    codes: Ints
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    texts: Sequence[tuple[str | None, str | None]]

    def __len__(self) -> int:
        return len(self.low)


def joined(
    values: NDArray[Any],
    missing: NDArray[np.bool_],
    grid: Grid,
    k: int,
    whose: NDArray[np.int64] | None = None,
) -> Atoms:
    """Return bins joined from below until each holds k records or units; a small last bin is joined, too."""
    bins, back = np.unique(grid.bins(values), return_inverse=True)
    tally = Tally(back.reshape(-1), len(bins), None if whose is None else whose[~missing])
    often = tally.counts
    of_bin, first, last, held = np.empty(len(bins), np.int64), [], [], tally.begin()
    for at in range(len(bins)):
        if held.count == 0:
            first.append(at)
            last.append(at)
        of_bin[at], last[-1] = len(first) - 1, at
        held.add(at)
        if held.count >= k:
            held = tally.begin()
    if held.count and len(first) > 1:  # too few are left at the end
        of_bin[first.pop() :] -= 1
        last.pop(-2)
    numbers, stops = bins.tolist(), [int(bins[item]) for item in last]
    # An atom begins at its own first bin where k people are there, else right after the atom before.
    starts = [
        numbers[own] if at == 0 or often[own] >= k else stops[at - 1] + 1 for at, own in enumerate(first)
    ]
    low = np.array([grid.low(start) for start in starts])
    high = np.array([grid.high(stop) for stop in stops])
    texts = [(grid.text(a), grid.text(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    result: list[tuple[str | None, str | None]] = list(texts)
    if result and often[0] < k:
        result[0] = (None, result[0][1])
    if result and often[-1] < k:
        result[-1] = (result[-1][0], None)
    if result:  # beyond the values there is nothing to lose
        line = [float(grid.low(int(b))) if isinstance(grid, Ranked) else None for b in (bins[0], bins[-1])]
        low[0] = max(low[0], float(values.min()) if line[0] is None else line[0])
        high[-1] = min(high[-1], float(values.max()) if line[1] is None else line[1])
    codes = np.full(len(missing), len(result), np.int64)
    codes[~missing] = of_bin[back.reshape(-1)]
    return Atoms(codes, low, high, result)


def atoms_of(
    column: Values,
    k: int,
    *,
    order: Sequence[str] | None = None,
    width: float | None = None,
    exact: bool = False,
    whose: NDArray[np.int64] | None = None,
) -> Atoms:
    """Return the atoms of a column of numbers, times or ordered levels.

    Parameters
    ----------
    column : Values
        The column.
    k : int
        Records in an atom, at least.
    order : sequence of str, optional
        The levels of an ordered column, lowest first.
    width : float, optional
        Width of a bin: of numbers in their unit, of times in days. By default the least of 1, 2, 5, 10, ...
        (days, months, years) with which half of the records are in bins of k or more.
    exact : bool
        Take the values themselves: ends are then somebody's.
    whose : array of int, shape (n,), optional
        The household, or person, of each record: they are counted then.
    """
    missing = column.missing
    if order is not None:
        place = {level: rank for rank, level in enumerate(order)}
        of_level = np.array([place[str(level)] for level in column.levels], dtype=np.int64)
        ranks = of_level[column.codes[~missing]] if len(of_level) else np.empty(0, np.int64)
        levels = Ranked(tuple(order), tuple(map(float, range(len(order)))))
        return joined(ranks, missing, levels, 1 if exact else k, whose)
    values = column.numbers
    candidates = grids(column, values, width)
    if exact:
        return joined(values, missing, finest(values, candidates[0]), 1)
    for grid in candidates:
        bins, back, many = np.unique(grid.bins(values), return_inverse=True, return_counts=True)
        often = many if whose is None else Tally(back.reshape(-1), len(bins), whose[~missing]).counts
        if many[often >= k].sum() >= SHARE_IN_LARGE_BINS * len(values):
            break
    return joined(values, missing, grid, k, whose)
