"""Attribute disclosure: people whose confidential value is known because all of their group share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from voronym.table.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Disclosed:
    """How many people of a table have a confidential value that their whole group shares.

    Parameters
    ----------
    column : str
        The confidential column.
    groups, people : int
        Groups with a single value, and the people in them.
    share : float
        Of all people.
    chance : float
        Share to expect if the same values were dealt out to the same groups at random.
    usual : float
        Share of the most frequent value: how often somebody is right who knows only the table's counts.
    before : float or None
        Share of people whose value was certain from their original keys; None where these are not known.
    """

    column: str
    groups: int
    people: int
    share: float
    chance: float
    usual: float
    before: float | None = None

    @property
    def excess(self) -> float:
        """What exceeds chance."""
        return self.share - self.chance


def disclosed(table: Table, original: Table | None = None) -> tuple[Disclosed, ...]:
    """Count for each confidential column who is known, the column with most excess over chance first.

    From the released table alone, but for ``before``. A record that shares its keys with nobody counts, too:
    whoever finds it knows what it says.
    """
    labels = table.classes.labels
    sizes = np.bincount(labels)
    found = [_one(table, name, labels, sizes) for name in table.confidential]
    if original is not None:
        own = original.classes.labels
        many = np.bincount(own)
        found = [
            replace(one, before=float(many[_alone(original, one.column, own, many)].sum() / len(own)))
            for one in found
        ]
    return tuple(sorted(found, key=lambda one: -one.excess))


def _one(table: Table, name: str, labels: Ints, sizes: Ints) -> Disclosed:
    alone = _alone(table, name, labels, sizes)
    counts = np.unique(table.codes(name), return_counts=True)[1]
    people = int(sizes[alone].sum())
    return Disclosed(
        name,
        int(alone.sum()),
        people,
        people / len(labels),
        alone_by_chance(sizes, counts),
        float(counts.max() / len(labels)),
    )


def _alone(table: Table, name: str, labels: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Return which groups have a single value in a column."""
    codes = np.unique(table.codes(name), return_inverse=True)[1].reshape(-1)
    low, high = np.full(len(sizes), np.iinfo(np.int64).max), np.full(len(sizes), -1)
    np.minimum.at(low, labels, codes)
    np.maximum.at(high, labels, codes)
    return np.asarray(low == high)


def alone_by_chance(sizes: Ints, counts: Ints) -> float:
    """Return the expected share of people in groups of one value, with the values dealt out at random.

    A group of s records has one value with probability sum over levels of C(q, s) / C(n, s).

    Examples
    --------
    >>> round(alone_by_chance(np.array([2, 2]), np.array([2, 2])), 4)
    0.3333
    """
    size, times = np.unique(sizes, return_counts=True)
    return by_chance(dict(zip(size.tolist(), times.tolist(), strict=True)), counts)


def by_chance(sizes: Mapping[int, int], counts: ArrayLike) -> float:
    """Return the same from how many groups there are of each size."""
    n = sum(size * times for size, times in sizes.items())
    total, many = 0.0, np.asarray(counts)
    for size, times in sorted(sizes.items()):
        q = many[many >= size].astype(np.float64)
        log = gammaln(q + 1) - gammaln(q - size + 1) - gammaln(n + 1.0) + gammaln(n - size + 1.0)
        total += float(times * size * np.exp(log).sum())
    return min(1.0, total / n)
