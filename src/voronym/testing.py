"""Public checks, for this project's tests and for yours.

`assert_k_anonymous` counts by itself and shares no code with the methods it checks. `check_algorithm` is the
contract that every registered method keeps; run it on your own before you register it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from voronym.partition import Partition
from voronym.registry import Algorithm
from voronym.space import Euclidean


def assert_k_anonymous(rows: Iterable[Sequence[Any]], k: int) -> None:
    """Raise AssertionError unless every row occurs at least k times.

    Parameters
    ----------
    rows : iterable of sequences
        The key values of each record, as they would be published.
    k : int
        The least number of equal rows.

    Examples
    --------
    >>> assert_k_anonymous([("a", 1), ("a", 1)], 2)
    """
    # NaN differs from itself; as text it does not, and a missing value must not hide a row from the count.
    counts = Counter(tuple(repr(value) for value in row) for row in rows)
    few = [count for count in counts.values() if count < k]
    if few:
        raise AssertionError(
            f"{len(few)} combinations of keys have fewer than k={k} records (least: {min(few)})"
        )


def check_algorithm(method: Algorithm) -> None:
    """Check a partitioning method against the contract.

    Every record in one cell of at least k; no cell above the stated maximum; the same seed gives the same
    partition; the input is left unchanged; equal points, constant columns, large offsets and n = 2k are
    handled; progress is told as a share between 0 and 1.
    """
    rng = np.random.default_rng(7)
    dimensions = (1,) if method.univariate else (1, 2, 5)
    for d in dimensions:
        for n, k in ((4, 2), (10, 5), (23, 3), (60, 7), (60, 29)):
            for X in _tables(rng, n, d):
                _check_one(method, X, k)


def _tables(rng: np.random.Generator, n: int, d: int) -> Iterable[np.ndarray[Any, np.dtype[np.float64]]]:
    yield rng.standard_normal((n, d))
    yield rng.integers(0, 3, (n, d)).astype(float)  # ties and repeats
    yield np.zeros((n, d))
    yield np.repeat(rng.standard_normal((n // 2 + 1, d)), 2, axis=0)[:n] * 1e6 + 1e9


def _check_one(method: Algorithm, X: np.ndarray[Any, np.dtype[np.float64]], k: int) -> None:
    before = X.copy()
    told: list[float] = []

    def run() -> Partition:
        return method.function(
            X,
            k,
            space=Euclidean(),
            rng=np.random.default_rng(3),
            progress=lambda step: told.append(step.done),
        )

    part = run()
    where = f"{method.name} on {X.shape[0]} x {X.shape[1]} with k={k}"
    if not np.array_equal(X, before):
        raise AssertionError(f"{where}: the method changed its input")
    if part.n != len(X) or part.sizes.sum() != len(X):
        raise AssertionError(f"{where}: the partition has {part.n} records")
    if part.sizes.min() < k:
        raise AssertionError(f"{where}: a cell has {part.sizes.min()} records")
    if method.max_size is not None and part.sizes.max() > method.max_size(k):
        raise AssertionError(
            f"{where}: a cell has {part.sizes.max()} records, more than {method.max_size(k)}"
        )
    if run() != part:
        raise AssertionError(f"{where}: the same seed gave another partition")
    if any(not 0 <= share <= 1 for share in told):
        raise AssertionError(f"{where}: progress was told outside 0..1")
