"""Repair cells by exchanges with near cells, then lower the loss without breaking what holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.partition import Partition
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Asked
from voronym.privacy.enforce.search import Search
from voronym.privacy.enforce.split import split
from voronym.progress import Progress, silent

ROUNDS = 10
"""Prices of a violation that are tried, each three times the one before."""

PASSES = 8
"""Visits to all records, at most, in the end."""


def swap(
    X: NDArray[np.float64], part: Partition, asked: Asked, *, k: int, progress: Progress = silent
) -> Partition:
    """Repair cells by exchanges and shifts between near cells, merge what is left, and polish.

    The problem: minimise the sum of squares over partitions into cells of at least k that all judges accept.
    Its relaxation charges a price for every unit of violation; shifts of a record to a near cell and swaps of
    two records are made while they lower squares plus price. The price doubles until nothing is violated, so
    what is cheap to repair is repaired cheaply. Cells that no exchange repairs are merged. Then `polish`.

    Guarantee: every judge accepts every cell, and every cell has at least k records.

    Cost: O(n K s d) in a pass, with K near cells of s records; some twenty passes. Memory O(n (K + d)).
    """
    if not asked.hold(part.labels):
        labels = repair(X, part.labels, asked, k=k, progress=progress)
        part = merge(X, Partition(labels, k=k), asked, progress=progress)
        part = split(X, part, asked, k=k)  # what was merged for one fault may be large
    return polish(X, part, asked, k=k, progress=progress)


def repair(
    X: NDArray[np.float64], labels: NDArray[np.int64], asked: Asked, *, k: int, progress: Progress = silent
) -> NDArray[np.int64]:
    """Exchange records while that lowers squares plus the price of violations, at rising prices."""
    search = Search(X, labels, k, asked, progress)
    violated = float(search.groups.weight.sum())
    if violated <= 0.0:  # only judges that the kernels do not know, which merging serves
        return labels
    # The first price: all that is violated is worth a fiftieth of the spread of all records.
    weight = 0.02 * float(np.square(search.points).sum()) / max(violated, 1.0)
    for turn in range(ROUNDS):
        # The last rounds repair without breaking anything elsewhere.
        search.run(passes=1, weight=weight, hard=turn >= ROUNDS - 3, donors=True)
        if search.refused == 0:
            break
        weight *= 3.0
    return search.groups.labels.copy()


def polish(
    X: NDArray[np.float64], part: Partition, asked: Asked, *, k: int, progress: Progress = silent
) -> Partition:
    """Lower the sum of squares by swaps, shifts and splits that keep every judge content."""
    for _ in range(2):
        search = Search(X, part.labels, k, asked, progress)
        search.run(passes=PASSES)
        found = search.partition()
        if not asked.hold(found.labels):  # a verdict that hangs on the last bits
            found = merge(X, found, asked, progress=progress)
        part = split(X, found, asked, k=k)
        if part.n_cells == found.n_cells:
            break
    return part
