"""Groups by rank in a total order from a public reference point."""

from __future__ import annotations

import math

import numpy as np

from voronym.dp.budget import Budget
from voronym.dp.cells import (
    STEPS,
    BoundedRecords,
    Cells,
    Ints,
    Population,
    grouping,
    shrunk,
    steps_of,
    sums_of,
)
from voronym.dp.noise import largest, noisy


def total_order(records: BoundedRecords) -> Ints:
    """Return the records in order of their distance from the point with the least value in every column.

    A nominal column counts 0 for the first value of its domain, else 1. Ties are ordered by the values,
    so the position of a record depends only on values, and equal records are interchangeable.
    """
    weights = records.importance
    far = np.square(records.ordered) @ weights[: records.d] + (records.nominal > 0) @ weights[records.d :]
    columns = [*records.nominal.T[::-1], *records.ordered.T[::-1], far]
    return np.asarray(np.lexsort(columns), np.int64)


def by_rank(order: Ints, k: int) -> Ints:
    """Return the group of each record: k at a time in an order, and all remaining ones in the last.

    Sizes depend only on the number of records.
    """
    groups = max(len(order) // k, 1)
    of = np.empty(len(order), np.int64)
    of[order] = np.minimum(np.arange(len(order)) // k, groups - 1)
    return of


def _size(n: int, d: int, epsilon: float) -> int:
    return min(n, math.ceil(math.sqrt(30.0 * n * d / epsilon)))


@grouping(
    "order",
    sensitivity="one record moves by rank, and every group between its old and its new place swaps one "
    "record for another: all sums may change",
    size=_size,
)
def order(population: Population, k: int, budget: Budget) -> Cells:
    """Take groups of k by rank in a total order from a public reference point.

    Ranks need all records at one place.

    Soria-Comas, Domingo-Ferrer, Sánchez and Martínez: Enhancing data utility in differential privacy via
    microaggregation-based k-anonymity. VLDB Journal 23 (2014).
    """
    records = population.together()
    of = by_rank(total_order(records), k)
    counts = np.bincount(of)
    groups, d, e = len(counts), records.d, records.e
    share, spent = budget.share / max(d + e, 1), {}
    ordered = np.empty((groups, d))
    if d:
        sums = sums_of(of, groups, steps_of(2.0 * records.ordered - 1.0))
        total, length = 2 * STEPS * groups * d, 2.0 * STEPS * math.sqrt(groups * d)
        drawn, variance = noisy(sums, total, length, d * share, pure=budget.pure)
        spent["sums"] = d * share
        means = drawn / (STEPS * counts[:, None])
        noise = np.broadcast_to(variance / np.square(STEPS * counts[:, None]), means.shape)
        ordered = np.clip(shrunk(means, noise, counts.astype(np.float64)), -1.0, 1.0) / 2.0 + 0.5
    nominal = np.empty((groups, e), np.int64)
    for column, size in enumerate(records.sizes):
        table = np.bincount(of * size + records.nominal[:, column], minlength=groups * size)
        nominal[:, column] = largest(table.reshape(groups, size), share / groups, pure=budget.pure)
        spent[f"mode {column + 1}"] = share
    return Cells(ordered, nominal, counts, of, spent, {"groups": groups})
