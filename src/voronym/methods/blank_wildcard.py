"""Count the gaps that other tools need, in which a gap matches everything; only for comparison.

In these tools a record is safe if at least k records match it, including itself: in every key both have the
same value, or one has a gap. This needs fewer gaps, because each gap also makes the record match others. Such
a table is not k-anonymous against an intruder who repeats the work (see `docs/suppression.md`).
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
    """Return the number of values that a greedy search blanks until k records match every record.

    Records with fewer than k matches are treated one by one, those with the fewest first. Their cheapest
    sufficient set of values is blanked. If there are households, records of the same household count
    once.
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
