"""Make classes of records with gaps obey models.

Merging joins a class that breaks a model with the class that gives the smallest loss; both publish the values
that all their records share. Demands of models never get worse by joining (see
`voronym.privacy.cells.Judge`), so this ends, at worst with a single class. Other ways, such as exchanges of
records, are those of `voronym.privacy.enforce`; records that share many values count as near. The way with
the fewest gaps is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.methods.blanks import combinations
from voronym.partition import Partition
from voronym.privacy import Judge
from voronym.privacy.enforce import choose, enforce
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
JOINED_SHARE = 0.1
"""Share of the classes joined at a time if a sum over all of them is too large."""
NEAR = 8
"""Number of classes, the cheapest first, that are tried as partners."""
SLOW = 1e-4
"""Seconds per record that methods other than merging may take; with less time left they do not start."""
LEVELS = 64
"""Most values of a key that exchanges distinguish: a column of numbers each."""


def shared(codes: Ints, labels: Ints, many: int) -> Ints:
    """Return the values that all records of a class share, by column; -1 if they differ or one is missing.

    Examples
    --------
    >>> shared(np.array([[1, 2], [1, 3], [4, -1]]), np.array([0, 0, 1]), 2).tolist()
    [[1, -1], [4, -1]]
    """
    order = np.argsort(labels, kind="stable")
    begin = np.searchsorted(labels[order], np.arange(many))
    low = np.minimum.reduceat(codes[order], begin, axis=0)
    high = np.maximum.reduceat(codes[order], begin, axis=0)
    return np.where(low == high, low, -1)


def obey(
    codes: Ints, labels: Ints, k: int, judges: Sequence[Judge], price: Floats, ctx: Context, *, how: str
) -> Ints:
    """Return classes of k records or more that every judge accepts.

    Parameters
    ----------
    codes, labels, judges, price, ctx
        See `join`.
    k : int
        The least size of a class.
    how : str
        The way to enforce models: a name of `voronym.privacy.enforce.WAYS`, or "auto", which keeps the way
        with the cheapest gaps.
    """
    part, asked = Partition(labels, k=k), Requirements(judges)
    if how == "auto":
        ways = ("merge",) if asked.hold(part.labels) else ("merge", *choose(part, asked))
    else:
        ways = (how,)
    made: list[Ints] = []
    for number, way in enumerate(ways):
        if number and ctx.left < SLOW * len(codes):
            break
        here = ctx.part(number / len(ways), (number + 1) / len(ways))
        if way == "merge":
            made.append(join(codes, part.labels, judges, price, here))
        else:
            near = Problem.of(_indicators(codes, price), k)
            made.append(enforce(Problem(near.records, k, judges), part, here, way=way).partition.labels)
    return min(made, key=lambda classes: missing(codes, classes, price))


def missing(codes: Ints, labels: Ints, price: Floats) -> float:
    """Return the cost of blanked values if each class publishes only the values that its records share."""
    gaps = shared(codes, labels, int(labels.max()) + 1)[labels] < 0
    return float(((codes >= 0) & gaps).sum(axis=0) @ price)


def _indicators(codes: Ints, price: Floats) -> Floats:
    """Return a 0/1 column for each value of each key, so that records with equal values are near.

    If a key has many values, several of them share a column. Exchanges then distinguish them less well,
    but published values do not depend on it.
    """
    columns = []
    for column, worth in zip(codes.T % LEVELS, price, strict=True):
        columns.append((column[:, None] == np.unique(column)) * np.sqrt(worth))
    return np.concatenate(columns, axis=1)


def join(codes: Ints, labels: Ints, judges: Sequence[Judge], price: Floats, ctx: Context) -> Ints:
    """Join classes until every judge accepts each of them; return the records' classes.

    Parameters
    ----------
    codes : array of int, shape (n, d)
        The keys of each record as numbers; -1 for a missing value.
    labels : array of int, shape (n,)
        Their classes.
    judges : sequence of Judge
        Which accept the table as one class.
    price : array, shape (d,)
        The cost of a blanked value of each column.
    ctx : Context
        Time limit, progress and requests to stop.
    """
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    first = 0
    while True:
        many = int(labels.max()) + 1
        bad = _refused(labels, many, judges)
        if not len(bad) or many == 1:
            break
        first = max(first, len(bad))
        ctx.tell(1.0 - len(bad) / first, whole=False)
        labels = _joined(labels, _partners(codes, labels, many, bad, judges, price), many)
    # Classes that publish the same values are one class for a reader.
    rows = shared(codes, labels, int(labels.max()) + 1)
    return combinations(rows)[1][labels]


def _refused(labels: Ints, many: int, judges: Sequence[Judge]) -> Ints:
    """Return the classes that a judge refuses; for an excessive sum, the classes that contribute most."""
    bad = np.zeros(many, bool)
    most = np.zeros(many)
    for judge in judges:
        far = judge.severity(judge.values(labels, many))
        if judge.additive:
            most = np.maximum(most, far)
        else:
            bad |= far > 0.0
    if bad.any() or not most.any():
        return np.flatnonzero(bad)
    return np.sort(np.argsort(-most, kind="stable")[: max(1, int(JOINED_SHARE * many))])


def _partners(
    codes: Ints, labels: Ints, many: int, bad: Ints, judges: Sequence[Judge], price: Floats
) -> list[tuple[float, int, int]]:
    """Return for each refused class the partner to join, and the cost.

    Among the few cheapest partners it is the first that makes the class obey, else the cheapest.
    """
    rows = shared(codes, labels, many)
    size = np.bincount(labels, minlength=many)
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(size)[:-1])
    result = rows >= 0
    each = [judge for judge in judges if not judge.additive]
    out = []
    for item in bad.tolist():
        lost = (rows != rows[item]) | ~result[item]
        cost = (lost * (size[:, None] * result + size[item] * result[item])) @ price
        cost[item] = np.inf
        near = np.argsort(cost, kind="stable")[: min(NEAR, many - 1)].tolist()
        both = (np.concatenate([members[item], members[other]]) for other in near)
        good = (all(judge.holds(judge.value(judge.levels.codes[some])) for judge in each) for some in both)
        other = next((other for other, obeys in zip(near, good, strict=True) if obeys), near[0])
        out.append((float(cost[other]), item, other))
    return sorted(out)


def _joined(labels: Ints, pairs: Sequence[tuple[float, int, int]], many: int) -> Ints:
    """Join pairs of classes, the cheapest first; each class joins once."""
    to, used = np.arange(many), np.zeros(many, bool)
    for _, item, other in pairs:
        if not used[item] and not used[other]:
            used[item] = used[other] = True
            to[item] = other
    return np.unique(to[labels], return_inverse=True)[1].reshape(-1)
