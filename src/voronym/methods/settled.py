"""Records that need no masking, because at least k of them have equal keys.

A group of equal records publishes their values and loses nothing. If all records are in such classes, the
table is k-anonymous unchanged. Otherwise the others are grouped among themselves, or join their nearest
class. The best of these and of grouping all records, by loss as published, is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.certify import Bound
from voronym.core import later
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy import Judge
from voronym.problem import Problem

cdist = later.called("scipy.spatial.distance", "cdist")

Ints = NDArray[np.int64]
Divide = Callable[[Problem, Context], tuple[Partition, Bound | None]]

WORK, BLOCK = 5e9, 256
"""Most coordinates compared at once to find the nearest class of each record."""
TRIED = 64
"""Number of classes to try as company for fewer than k leftover records."""


def equal_groups(labels: Ints, k: int, judges: Sequence[Judge] = ()) -> Partition | None:
    """Return the classes of equal records as groups, if all have k or more and obey all models."""
    if np.bincount(labels).min() < k:
        return None
    part = Partition(labels, k=k)
    held = all(np.all(judge.holds(judge.values(part.labels, part.n_cells))) for judge in judges)
    return part if held else None


def groups_of(
    problem: Problem, equal: Ints, ctx: Context, divide: Divide, loss: Callable[[Partition], float]
) -> tuple[Partition, Bound | None]:
    """Group records; leave records in classes of at least k unchanged if that loses less.

    Parameters
    ----------
    problem : Problem
        The records.
    equal : array of int, shape (n,)
        The class of equal records of each.
    ctx : Context
        Context of the whole grouping.
    divide : callable
        ``(problem, ctx) -> groups, and a proven bound on their loss``.
    loss : callable
        Loss of groups, for comparing them.
    """
    if (whole := equal_groups(equal, problem.k)) is not None:
        return whole, None
    sizes = np.bincount(equal)
    rest = np.flatnonzero(sizes[equal] < problem.k)
    if len(rest) == problem.n:
        return divide(problem, ctx)
    best, bound = divide(problem, ctx.part(0.0, 0.6, time=0.6))
    least = loss(best)
    for labels in _others(problem, rest, equal, sizes, ctx.part(0.6, 1.0), divide):
        if least <= 0.0:
            break
        other = Partition(labels, k=problem.k)
        if (lost := loss(other)) < least:
            best, least = other, lost
    return best, bound


def _others(
    problem: Problem, rest: Ints, equal: Ints, sizes: Ints, ctx: Context, divide: Divide
) -> Iterator[Ints]:
    """Iterate over groupings that keep classes of k or more together, except for records lent to others."""
    near = _nearest(problem, rest, equal, sizes)
    if near is not None:
        yield _joined(rest, near, equal)
        yield _beside(problem.k, rest, near, equal, sizes)
    labels = equal.copy()
    if len(rest) >= problem.k:
        few, _ = divide(problem.subset(rest), ctx)
        labels[rest] = len(sizes) + few.labels
    else:
        group = np.union1d(rest, _company(problem, rest, equal, sizes))
        labels[group] = len(sizes)
    yield labels


def _nearest(problem: Problem, rest: Ints, equal: Ints, sizes: Ints) -> Ints | None:
    """Return the nearest class of at least k for each record; None if the search would take long."""
    points, large = problem.records.points, np.flatnonzero(sizes >= problem.k)
    if points is None or len(rest) * len(large) * points.shape[1] > WORK:
        return None
    first = np.full(len(sizes), -1, np.int64)
    first[equal[::-1]] = np.arange(len(equal))[::-1]
    places = points[first[large]]
    result = np.empty(len(rest), np.int64)
    for start in range(0, len(rest), BLOCK):
        some = points[rest[start : start + BLOCK]]
        result[start : start + BLOCK] = np.argmin(cdist(some, places, "sqeuclidean"), axis=1)
    return np.asarray(large[result])


def _joined(rest: Ints, near: Ints, equal: Ints) -> Ints:
    """Add each record to the whole of its nearest class."""
    labels = equal.copy()
    labels[rest] = near
    return labels


def _beside(k: int, rest: Ints, near: Ints, equal: Ints, sizes: Ints) -> Ints:
    """Add the fewest records of the nearest class that make k, if k of the class remain."""
    labels = _joined(rest, near, equal)
    members = np.argsort(equal, kind="stable")
    start = np.concatenate([[0], np.cumsum(sizes)])
    for new, number in enumerate(np.unique(near).tolist(), len(sizes)):
        here = rest[near == number]
        take = max(k - len(here), 0)
        if sizes[number] >= k + take:
            labels[here] = new
            labels[members[start[number] : start[number] + take]] = new
    return labels


def _company(problem: Problem, rest: Ints, equal: Ints, sizes: Ints) -> Ints:
    """Return records from the cheapest class that complete fewer than k leftovers.

    Only as many as needed if at least k stay in the class; otherwise all of it.
    """
    lacking = problem.k - len(rest)
    large = np.flatnonzero(sizes >= problem.k)
    members = np.argsort(equal, kind="stable")
    start = np.concatenate([[0], np.cumsum(sizes)])
    points = problem.records.points
    if len(large) > TRIED and points is not None:
        away = np.square(points[members[start[large]]] - points[rest].mean(axis=0)).sum(axis=1)
        large = large[np.argsort(away, kind="stable")]
    best, least = np.zeros(0, np.int64), np.inf
    for number in large[:TRIED].tolist():
        take = lacking if sizes[number] >= problem.k + lacking else sizes[number]
        some = members[start[number] : start[number] + take]
        some_problem = problem.subset(np.sort(np.concatenate([rest, some])))
        cost = some_problem.cost(some_problem.one_group())
        if cost < least:
            best, least = some, cost
    return best


def pure_groups(part: Partition, equal: Ints) -> NDArray[np.bool_]:
    """Return the groups whose records are all equal."""
    member = np.empty(part.n_cells, np.int64)
    member[part.labels] = equal  # that of some record of the group
    pure = np.ones(part.n_cells, bool)
    pure[part.labels[equal != member[part.labels]]] = False
    return pure


def said_of(part: Partition, equal: Ints, k: int, counted: str) -> tuple[str, ...]:
    """Return sentences about unchanged records; ``counted`` is the plural noun for the units."""
    sizes = np.bincount(equal)
    pure = pure_groups(part, equal)
    if sizes.min() >= k and pure.all():
        return (
            f"k = {int(sizes.min())} holds already: every combination of keys is that of {int(sizes.min())} "
            f"{counted} or more. Nothing needs masking, and no key was changed.",
        )
    left = int(pure[part.labels].sum())
    if not left:
        return ()
    return (
        f"{left:,} of {len(equal):,} {counted} share all keys with the others of their group and were left "
        "as they are.",
    )
