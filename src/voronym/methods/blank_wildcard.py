"""The number of gaps in tools that let a gap match everything; only for comparison.

A record is safe, as they count, when k records or more match it, itself counted: in every key the two have
the same value, or one of them has a gap. Fewer gaps do, because every gap made for one record makes it match
others. Such a table is not k-anonymous to an intruder who repeats the work (see `docs/suppression.md`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.methods.blanks import combinations

Ints = NDArray[np.int64]


def matches(codes: Ints, row: Ints, counts: Ints) -> int:
    """Count the matches of a record if a gap, -1, matches everything.

    Examples
    --------
    >>> codes = np.array([[0, 1], [0, -1], [1, 1]])
    >>> matches(codes, codes[0], np.ones(3, np.int64))
    2
    """
    alike = ((codes == row) | (codes < 0) | (row < 0)).all(axis=1)
    return int(counts[alike].sum())


def wildcard_gaps(codes: Ints, k: int, price: Sequence[float], homes: Ints | None = None) -> int:
    """Return how many values a greedy search blanks until k records match every record.

    Records that fewer than k match are looked at one after the other, the loneliest first. Of the cheapest
    sets of their values it is the first that suffices. Where there are households, records of the same one
    count once.
    """
    rows, which, many = combinations(codes)
    heads = many
    if homes is not None:  # one record of each household and combination
        heads = np.bincount(combinations(np.column_stack([which, homes]))[0][:, 0], minlength=len(rows))
    # Every record of a combination that is too rare gets the same gaps: then it is a combination again.
    shown, prices = rows.copy(), np.asarray(price, np.float64)
    sets = _cheapest_first(prices)
    alike = np.array([matches(shown, row, heads) for row in shown])
    gaps = 0
    for number in np.lexsort((np.arange(len(rows)), alike)).tolist():
        row = shown[number]
        if matches(shown, row, heads) >= k:
            continue
        present = row >= 0
        for hidden in sets:
            if not present[hidden].all():
                continue
            trial = row.copy()
            trial[hidden] = -1
            if matches(shown, trial, heads) >= k:
                gaps += int(hidden.sum()) * int(many[number])
                shown[number] = trial
                break
    return gaps


def _cheapest_first(prices: NDArray[np.float64]) -> list[NDArray[np.bool_]]:
    """Return all non-empty sets of columns, the cheapest first."""
    d = len(prices)
    numbers = np.arange(1, 2**d)
    sets = ((numbers[:, None] >> np.arange(d)) & 1).astype(bool)
    order = np.lexsort((numbers, sets @ prices))
    return [sets[at] for at in order.tolist()]
