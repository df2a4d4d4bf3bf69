"""Attribute disclosure: people whose confidential value is known because all of their group share it.

Where several rows are of one person, people are counted, each with all values of their rows: a value is
certain where every person of a group has it, whatever else they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.privacy.level import Levels
from voronym.privacy.people import held_by_all
from voronym.table.table import Table
from voronym.table.units import distinct, first_of_each

gammaln = later.called("scipy.special", "gammaln")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FREQUENT = 100
"""Values that may be those of all people of a group by chance; rarer ones hardly are."""


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
    several : bool
        Whether people with several rows were counted; else every row counts as a person.
    """

    column: str
    groups: int
    people: int
    share: float
    chance: float
    usual: float
    before: float | None = None
    several: bool = False

    @property
    def excess(self) -> float:
        """What exceeds chance."""
        return self.share - self.chance


def disclosed(table: Table, original: Table | None = None) -> tuple[Disclosed, ...]:
    """Count for each confidential column who is known, that with somebody and most excess over chance first.

    From the released table alone, but for ``before``. A record that shares its keys with nobody counts, too:
    whoever finds it knows what it says.
    """
    labels = table.classes.labels
    sizes = np.bincount(labels)
    one_of = _one if table.persons is None else _one_of_people
    result = [one_of(table, name, labels, sizes) for name in table.confidential]
    if original is not None:
        result = [replace(item, before=_certain(original, item.column)) for item in result]
    return in_order(result)


def in_order(discloseds: Sequence[Disclosed]) -> tuple[Disclosed, ...]:
    """Return columns in which somebody is known first, of these the one with most excess over chance."""
    return tuple(sorted(discloseds, key=lambda item: (item.people == 0, -item.excess)))


def _certain(table: Table, name: str) -> float:
    """Return the share of people whose value follows from the keys of one of their rows."""
    labels, persons = table.classes.labels, table.persons
    sizes = np.bincount(labels)
    if persons is None:
        return float(sizes[_alone(table, name, labels, sizes)].sum() / len(labels))
    known = _held_by_all(table, name, labels, persons)[labels]
    return len(np.unique(persons[known])) / len(np.unique(persons))


def _held_by_all(table: Table, name: str, labels: Ints, persons: Ints) -> NDArray[np.bool_]:
    """Return in which groups every person has one and the same value among theirs."""
    return shared_by_all(np.unique(table.codes(name), return_inverse=True)[1].reshape(-1), labels, persons)


def shared_by_all(codes: Ints, labels: Ints, persons: Ints) -> NDArray[np.bool_]:
    """Return in which groups every person has one and the same value, coded from 0 on, among theirs.

    Reports and the attack `homogeneous-groups` both count by it where people have several rows.
    """
    pairs = first_of_each(labels, persons, codes)
    levels = Levels("", codes[pairs], False, tuple(range(int(codes.max()) + 1)))
    return np.asarray(held_by_all(levels, labels[pairs], persons[pairs], int(labels.max()) + 1))


def _one_of_people(table: Table, name: str, labels: Ints, _: Ints) -> Disclosed:
    persons = table.persons
    assert persons is not None  # noqa: S101 - for the type checker
    codes = np.unique(table.codes(name), return_inverse=True)[1].reshape(-1)
    known = _held_by_all(table, name, labels, persons)
    heads = distinct(labels, persons, len(known))
    everybody, people = int(heads.sum()), int(heads[known].sum())
    often = distinct(codes, persons, int(codes.max()) + 1).max() / everybody
    chance = people_by_chance(labels, persons, codes, heads)
    return Disclosed(name, int(known.sum()), people, people / everybody, chance, float(often), several=True)


def people_by_chance(labels: Ints, persons: Ints, codes: Ints, heads: Ints) -> float:
    """Return the expected share of people in groups with a value that all have, values drawn by their counts.

    A person with r rows has a value of share p with probability ``1 - (1 - p)^r``, everybody in a group with
    their product, and one value or another of the most frequent ones as if these were independent.
    """
    rows = np.bincount(persons)
    group = np.zeros(len(rows), np.int64)
    group[persons] = labels  # all rows of a person are in one group
    shares = np.sort(np.bincount(codes) / len(codes))[::-1][:FREQUENT]
    none = np.ones(len(heads))
    for share in shares.tolist():
        has = np.log(np.maximum(1.0 - (1.0 - share) ** rows, 1e-300))
        none *= 1.0 - np.exp(np.bincount(group, has, len(heads)))
    return float((heads * (1.0 - none)).sum() / heads.sum())


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
    return alike(codes.astype(np.float64), labels, sizes)


def alike(values: Floats, labels: Ints, sizes: Ints, width: float = 0.0) -> NDArray[np.bool_]:
    """Return in which groups all values lie within a width: are the same, where it is 0.

    Reports and the attack `homogeneous-groups` both count by it.
    """
    here = values[np.argsort(labels, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.maximum.reduceat(here, starts) - np.minimum.reduceat(here, starts) <= width)


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
