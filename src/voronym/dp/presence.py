"""Neighbours by adding or removing one unit: the number of rows is private, too.

A noisy count gives the number of published rows. The table is brought to that size: public records fill it
up, or the last records of an order are left out. Then adding a record acts like replacing one, and every
grouping keeps its proof.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

import numpy as np

from voronym.dp.budget import Budget
from voronym.dp.cells import BoundedRecords, Ints, Population, steps_of
from voronym.dp.noise import noisy
from voronym.errors import InputError

COUNT = 0.05
"""Share of the budget for the number of rows."""
LARGEST_SCALE = 100_000.0
"""Largest scale of the noise on the count, in rows."""


def counted(n: int, budget: Budget) -> tuple[int, float]:
    """Return a noisy number of rows, at least 1, and its cost out of a row's share.

    Parameters
    ----------
    n : int
        The number of rows, which one record changes by 1.
    budget : Budget
        Budget of the whole release.
    """
    share = COUNT * budget.share
    if 1.0 / (share if budget.pure else np.sqrt(2.0 * share)) > LARGEST_SCALE:
        raise InputError(
            "dp: with so small an ε the noise on the number of rows is above a hundred thousand rows: take a "
            "larger ε, or neighbours=replace, with which the number of rows is public"
        )
    drawn, _ = noisy(np.array([n], np.int64), 1, 1.0, share, pure=budget.pure)
    return max(int(drawn[0]), 1), share


def resized(records: Population, rows: int, salt: int | None = None) -> tuple[Population, Ints | None]:
    """Return the published number of records, and the record behind each; -1 for filled-in ones.

    For tables that differ by one record, the results differ by one replaced record. Filled-in records
    have the middle of the public box and the first value of each domain. Left-out records are last in an
    order by the values and a salt, so nobody can tell who they are; equal records are interchangeable.

    Parameters
    ----------
    records : Population
        All records; without the records at hand, the second result is None.
    rows : int
        Number of published rows.
    salt : int, optional
        Salt of the order; a new one by default.
    """
    salt = secrets.randbits(63) if salt is None else salt
    if not isinstance(records, BoundedRecords):
        return records.resized(rows, salt), None
    if records.n >= rows:
        kept = np.sort(salted_order(records, salt)[:rows])
        return replace(records, ordered=records.ordered[kept], nominal=records.nominal[kept]), kept
    fill = filling(records, rows - records.n)
    filled = replace(
        records,
        ordered=np.concatenate([records.ordered, fill.ordered]),
        nominal=np.concatenate([records.nominal, fill.nominal]),
    )
    return filled, np.concatenate([np.arange(records.n), np.full(fill.n, -1)])


def filling(records: Population, rows: int) -> BoundedRecords:
    """Return public records that fill up a table."""
    ordered, nominal = np.full((rows, records.d), 0.5), np.zeros((rows, records.e), np.int64)
    return BoundedRecords(
        ordered, nominal, records.sizes, tuple(records.importance.tolist()), records.medians
    )


def salted_order(records: BoundedRecords, salt: int) -> Ints:
    """Return an order of records by a mix of their values with a salt, ties by the values themselves."""
    mixed = np.full(records.n, salt, np.uint64)
    columns = [*steps_of(records.ordered).T, *records.nominal.T]
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.asarray(np.lexsort([*records.nominal.T, *records.ordered.T, mixed]), np.int64)
