"""Public checks, for the tests of this project and of others.

`assert_k_anonymous` counts independently and shares no code with the methods it checks. `check_method` tests
a method against the contract of all registered methods; run it before you register your own. `check_space`
checks that the centroid of a space minimises its cost. `check_model` and `check_attack` are the contracts of
privacy models and attacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from voronym.attacks.contract import check_attack
from voronym.core.context import Context
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.method import Method
from voronym.partition import Partition
from voronym.privacy.contract import check_model
from voronym.problem import Problem
from voronym.space import Euclidean, Mixed, Space
from voronym.space.field import Field
from voronym.space.metrics import Absolute, Nominal

__all__ = ["assert_k_anonymous", "check_attack", "check_method", "check_model", "check_space"]


@checked
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
    listed = list(rows)
    if not all(isinstance(row, Sequence) and not isinstance(row, (str, bytes)) for row in listed):
        raise InputError("rows must be a list of rows, each a list of the values of its keys")
    counts = Counter(tuple(repr(value) for value in row) for row in listed)
    few = [count for count in counts.values() if count < k]
    if few:
        raise AssertionError(
            f"{len(few)} combinations of keys have fewer than k={k} records (least: {min(few)})"
        )


def check_method(method: Method) -> None:
    """Check a method that makes groups against the contract, in every space that it claims.

    Every record in one group of at least k; no group above the stated maximum; the same seed gives the same
    partition; the input is left unchanged; equal points, constant columns, large offsets and n = 2k are
    handled; progress is reported as a share that never falls. A method that works anywhere is also given
    mixed records.
    """
    rng = np.random.default_rng(7)
    dimensions = (1,) if method.univariate else (1, 2, 5)
    sizes = (4, 2), (10, 5), (23, 3), (60, 7), (60, 29)
    for d in dimensions:
        for n, k in sizes:
            for X in _tables(rng, n, d):
                _check_one(method, Euclidean(), X, k)
    if method.anywhere:
        for n, k in sizes:
            space = _mixed(rng, n)
            _check_one(method, space, space.codes.astype(float), k)


Points = np.ndarray[Any, np.dtype[np.float64]]


def check_space(
    space: Space, X: Points, *, nudge: Callable[[Points, np.random.Generator], Points] | None = None
) -> None:
    """Check a space: costs are costs, and the centroid minimises their sum.

    Costs have one row for each point and one column for each other, are finite, not negative, and 0 between
    equal points; a row is the same, bit by bit, if it is computed alone or among others. The centroid of
    equal points is that point. No row of X, and no point near the centroid, has a smaller sum of costs to a
    cell than the cell's centroid. The input is left unchanged.

    Parameters
    ----------
    space : Space
        The space to check.
    X : array, shape (n, d)
        Points of that space, 5 or more, not all equal.
    nudge : callable, optional
        ``(centroid, rng) -> points near it``, shape (some, d), for spaces in which a point plus a little
        noise is no point.

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


def _mixed(rng: np.random.Generator, n: int) -> Mixed:
    """Return a space of two columns: whole numbers with ties, and three labels."""
    age, kind = rng.integers(0, 9, n), rng.integers(0, 3, n)
    values, codes = np.unique(age, return_inverse=True)
    fields = [
        Field(("age",), "absolute", Absolute().geometry(values, "age"), codes),
        Field(("kind",), "nominal", Nominal().geometry(["a", "b", "c"], "kind"), kind),
    ]
    return Mixed.fit(fields, reference=None)


def _check_one(method: Method, space: Space, X: Points, k: int) -> None:
    before = X.copy()
    shares: list[float] = []

    def run() -> Partition:
        shares.clear()
        ctx = Context(seed=3, progress=lambda step: shares.append(step.done))
        return method.partition(Problem.of(X, k, space=space), ctx)

    part = run()
    where = f"{method.name} on {X.shape[0]} x {X.shape[1]} in {space.name} space with k={k}"
    if not np.array_equal(X, before):
        raise AssertionError(f"{where}: the method changed its input")
    if part.n != len(X) or part.sizes.sum() != len(X):
        raise AssertionError(f"{where}: the partition has {part.n} records")
    if part.sizes.min() < k:
        raise AssertionError(f"{where}: a group has {part.sizes.min()} records")
    if method.max_size is not None and len(X) >= 2 * k and part.sizes.max() > method.max_size(k):
        raise AssertionError(
            f"{where}: a group has {part.sizes.max()} records, more than {method.max_size(k)}"
        )
    if run() != part:
        raise AssertionError(f"{where}: the same seed gave another partition")
    if any(not 0 <= share <= 1 for share in shares) or any(a > b for a, b in pairwise(shares)):
        raise AssertionError(f"{where}: progress was reported outside 0..1, or went back")
