"""Public checks, for this project's tests and for yours.

`assert_k_anonymous` counts by itself and shares no code with the methods it checks. `check_algorithm` is the
contract that every registered method keeps; run it on your own before you register it. `check_space` asks of
a space that its cost and its centroid belong together.
`check_model` is the contract of a privacy model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from voronym.partition import Partition
from voronym.privacy.contract import check_model
from voronym.registry import Algorithm
from voronym.space import Euclidean, Space

__all__ = ["assert_k_anonymous", "check_algorithm", "check_model", "check_space"]


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


Points = np.ndarray[Any, np.dtype[np.float64]]


def check_space(
    space: Space, X: Points, *, nudge: Callable[[Points, np.random.Generator], Points] | None = None
) -> None:
    """Check a space: costs are costs, and the centroid minimises their sum.

    Costs have one row for each point and one column for each other, are finite, not negative, and 0 between
    equal points; a row is the same, bit by bit, whether it is computed alone or among others. The
    centroid of equal points is that point. No row of X, and no point near the centroid, has a smaller sum of
    costs to a cell than the cell's centroid. The input is left unchanged.

    Parameters
    ----------
    space : Space
        What is checked.
    X : array, shape (n, d)
        Points of that space, 5 or more, not all equal.
    nudge : callable, optional
        ``(centroid, rng) -> points near it``, shape (some, d), for spaces where a point plus a little
        noise would not be a point.

    Examples
    --------
    >>> import numpy as np
    >>> from voronym.space import Manhattan
    >>> check_space(Manhattan(), np.random.default_rng(0).standard_normal((9, 2)))
    """
    rng = np.random.default_rng(11)
    before = X.copy()
    name = space.name
    costs = space.cost(X, X[:3])
    if costs.shape != (len(X), 3):
        raise AssertionError(f"{name}: costs of {len(X)} points to 3 have shape {costs.shape}")
    full = space.cost(X, X)
    if not np.isfinite(full).all() or full.min() < 0:
        raise AssertionError(f"{name}: costs must be finite and not negative")
    if np.diag(full).any():
        raise AssertionError(f"{name}: the cost between equal points is not 0")
    if not full.any():
        raise AssertionError(f"{name}: all costs are 0; give points that differ")
    if any(not np.array_equal(space.cost(X[i : i + 1], X)[0], full[i]) for i in range(len(X))):
        raise AssertionError(f"{name}: a row computed alone differs from the same row among others")
    for size in sorted({1, 2, 3, len(X) // 2, len(X)}):
        cell = np.ascontiguousarray(X[rng.permutation(len(X))[:size]])
        centroid = space.centroid(cell)
        if centroid.shape != (X.shape[1],):
            raise AssertionError(f"{name}: the centroid has shape {centroid.shape}")
        others = np.concatenate([X, _near(centroid, X, rng) if nudge is None else nudge(centroid, rng)])
        least = float(space.cost(cell, centroid[None, :]).sum())
        slack = 1e-9 * (least + float(space.cost(cell, X).max()))
        lower = int((space.cost(cell, others).sum(axis=0) < least - slack).sum())
        if lower:
            raise AssertionError(
                f"{name}: {lower} of {len(others)} points have a smaller sum of costs to a cell of {size} "
                "than its centroid"
            )
        if size == 1 and least > slack:
            raise AssertionError(f"{name}: the centroid of one point is another")
    if not np.array_equal(X, before):
        raise AssertionError(f"{name}: the space changed its input")


def _near(centroid: Points, X: Points, rng: np.random.Generator) -> Points:
    scale = X.std(axis=0) + 1e-12
    steps = 10.0 ** rng.uniform(-4, 0, (200, 1))
    return np.asarray(centroid + scale * steps * rng.standard_normal((200, len(centroid))))


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
