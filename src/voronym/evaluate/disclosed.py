"""Attribute disclosure: people whose confidential value is known because their whole group shares it.

A number with many distinct values counts as shared if all values of a group are close together. If a person
has several rows, people are counted, each with all their values: a value is certain if every person of a
group has it. Report, page, ladder and the attack `homogeneous-groups` use `certain`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.evaluate.pair import numbers, plain
from voronym.privacy.level import Levels
from voronym.privacy.people import held_by_all
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table
from voronym.table.units import distinct, first_of_each

gammaln = later.called("scipy.special", "gammaln")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Profile = tuple[tuple[int, int], ...]
"""For a group: pairs of a number of rows, and the number of its people with that many rows."""
NARROW = 0.1
"""Share of a standard deviation: a number estimated this closely counts as known."""
LABEL_LIKE = 20
"""Most different values of a number that is compared as a label."""
FREQUENT = 100
"""Number of frequent values considered; people of a group hardly share rarer ones by chance."""
_DEALS = 10


@dataclass(frozen=True)
class Disclosed:
    """Number of people in a table with a confidential value that their whole group shares.

    Parameters
    ----------
    column : str
        The confidential column.
    groups, people : int
        Groups with a single value, and the people in them.
    share : float
        Share of all people.
    chance : float
        Share to expect if the same values were dealt out to the same groups at random.
    usual : float
        Share of the most frequent value: the success rate of a guess from the table's counts alone.
    before : float or None
        Share of people whose value was certain from their original keys; None if unknown.
    several : bool
        Whether people with several rows were counted; else every row counts as a person.
    width : float
        Distance within which values count as equal; 0 except for numbers with many distinct values.
    """

    column: str
    groups: int
    people: int
    share: float
    chance: float
    usual: float
    before: float | None = None
    several: bool = False
    width: float = 0.0

    @property
    def excess(self) -> float:
        """The excess over chance."""
        return self.share - self.chance


def disclosed(table: Table, original: Table | None = None) -> tuple[Disclosed, ...]:
    """For each confidential column, count people whose value is certain; worst column first.

    Only ``before`` uses the original table. A record with unique keys counts, too, because an intruder
    who finds it knows its value.
    """
    labels, persons = table.classes.labels, table.persons
    result = []
    for name in table.confidential:
        made = certain(name, plain(table.frame[name]), labels, persons)
        before = None
        if original is not None:
            values = plain(original.frame[name])
            held = certain(name, values, original.classes.labels, original.persons, width=made.counted.width)
            before = _share(held.groups[original.classes.labels], original.persons)
        result.append(replace(made.counted, before=before))
    return in_order(result)


def _share(known: Flags, persons: Ints | None) -> float:
    """Return the share of people with at least one row whose value is known."""
    if persons is None:
        return float(known.mean())
    return len(np.unique(persons[known])) / len(np.unique(persons))


def in_order(discloseds: Sequence[Disclosed]) -> tuple[Disclosed, ...]:
    """Return the columns with the largest excess over chance first; columns without people at risk last."""
    return tuple(sorted(discloseds, key=lambda item: (item.people == 0, -item.excess)))


@dataclass(frozen=True)
class Certain:
    """The groups in which a confidential value is certain, and the number of their people."""

    counted: Disclosed
    groups: Flags = field(repr=False)


def certain(
    name: str, column: pl.Series, labels: Ints, persons: Ints | None = None, *, width: float | None = None
) -> Certain:
    """Find the groups in which all people have the same value of a column, or nearly the same number.

    Parameters
    ----------
    name : str
        Name of the column.
    column : polars Series
        Its values in each row.
    labels : array
        The group of each row, numbered from 0 on.
    persons : array, optional
        The person of each row, if people have several rows.
    width : float, optional
        Distance within which values count as equal; by default from `width_of`.
    """
    near = width_of(column) if width is None else width
    values = _comparable(column, near)
    sizes = np.bincount(labels)
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    if persons is None:
        known, heads, often = alike(values, labels, sizes, near), sizes, np.bincount(codes)
        chance = alone_by_chance(sizes, often) if near == 0.0 else near_by_chance(sizes, values, near)
    else:
        heads, often = distinct(labels, persons, len(sizes)), distinct(codes, persons, int(codes.max()) + 1)
        if near == 0.0:
            known = shared_by_all(codes, labels, persons)
            chance = people_by_chance(profiles(labels, persons), np.bincount(codes))
        else:
            known = near_all(values, labels, persons, near)
            chance = _dealt(values, profiles(labels, persons), near)
    everybody, people = int(heads.sum()), int(heads[known].sum())
    usual = float(often.max() / everybody)
    several = persons is not None
    return Certain(
        Disclosed(name, int(known.sum()), people, people / everybody, chance, usual, None, several, near),
        known,
    )


def width_of(column: pl.Series) -> float:
    """Return the distance within which values count as equal; 0 for labels and for few distinct numbers."""
    values = numbers(column)
    if values is None or len(np.unique(values[~np.isnan(values)])) <= LABEL_LIKE:
        return 0.0
    return NARROW * float(np.nanstd(values))


def _comparable(column: pl.Series, width: float) -> Floats:
    """Return a column as numbers: equal or near values are alike, a missing value is apart."""
    if width > 0.0:
        values = numbers(column)
        assert values is not None  # noqa: S101 - for the type checker
        return np.where(np.isnan(values), np.nanmax(values, initial=0.0) + 2 * width + 1.0, values)
    frame = nw.from_native(column.alias("values").to_frame(), eager_only=True)
    return equivalence_classes(frame, ["values"]).labels.astype(np.float64)


def shared_by_all(codes: Ints, labels: Ints, persons: Ints) -> Flags:
    """Return the groups in which all people have a common value."""
    pairs = first_of_each(labels, persons, codes)
    levels = Levels("", codes[pairs], False, tuple(range(int(codes.max()) + 1)))
    return np.asarray(held_by_all(levels, labels[pairs], persons[pairs], int(labels.max()) + 1))


def near_all(values: Floats, labels: Ints, persons: Ints, width: float) -> Flags:
    """Return the groups with an interval of a given width that contains a value of every person."""
    order = np.lexsort((values, persons, labels))
    group, person, value = labels[order], persons[order], values[order]
    first = np.flatnonzero(np.diff(group, prepend=-1) | np.diff(person, prepend=-1))
    least, most = value[first], value[np.append(first[1:], len(value)) - 1]
    starts = np.flatnonzero(np.diff(group[first], prepend=-1))
    result = np.maximum.reduceat(least, starts) - width <= np.minimum.reduceat(most, starts)
    rows = np.split(np.arange(len(group)), first[starts[1:]])
    for place in np.flatnonzero(result):  # few: an interval must reach everybody's values
        here = rows[place]
        result[place] = _reaches_all(value[here], person[here], width)
    known = np.zeros(int(labels.max()) + 1, np.bool_)
    known[group[first][starts]] = result
    return known


def _reaches_all(values: Floats, persons: Ints, width: float) -> bool:
    """Return whether some interval of a width holds a value of each person."""
    order = np.argsort(values, kind="stable")
    everybody, inside, start = len(np.unique(persons)), Counter[int](), 0
    for row in order.tolist():
        inside[int(persons[row])] += 1
        while values[row] - values[order[start]] > width:
            leaving = int(persons[order[start]])
            inside[leaving] -= 1
            if not inside[leaving]:
                del inside[leaving]
            start += 1
        if len(inside) == everybody:
            return True
    return False


def _dealt(values: Floats, groups: Mapping[Profile, int], width: float) -> float:
    """Return the mean share of people in groups with near values over some fixed random deals.

    Neither the order of the rows nor the numbers of people and groups play a part.
    """
    made = [profile for profile, times in sorted(groups.items()) for _ in range(times)]
    rows = [rows for profile in made for rows, people in profile for _ in range(people)]
    heads = np.array([sum(people for _, people in profile) for profile in made])
    persons = np.repeat(np.arange(len(rows)), rows)
    labels = np.repeat(np.arange(len(made)), heads)[persons]
    rng, ordered = np.random.default_rng(0), np.sort(values)
    deals = (near_all(rng.permutation(ordered), labels, persons, width) for _ in range(_DEALS))
    return float(np.mean([heads[known].sum() / heads.sum() for known in deals]))


def profiles(labels: Ints, persons: Ints) -> Counter[Profile]:
    """Count the groups by the numbers of rows of their people."""
    rows = np.bincount(persons)
    group = np.zeros(len(rows), np.int64)
    group[persons] = labels  # all rows of a person are in one group
    here = rows > 0
    triples, many = np.unique(np.stack([group[here], rows[here]]), axis=1, return_counts=True)
    starts = np.flatnonzero(np.diff(triples[0], prepend=-1))
    pairs = list(zip(triples[1].tolist(), many.tolist(), strict=True))
    ends = [*starts[1:].tolist(), len(pairs)]
    return Counter(tuple(pairs[start:end]) for start, end in zip(starts.tolist(), ends, strict=True))


def people_by_chance(groups: Mapping[Profile, int], counts: ArrayLike) -> float:
    """Return the expected share of people in groups with a common value, if values were drawn at random.

    A person with r rows has a value of share p with probability ``1 - (1 - p)^r``. A whole group has it
    with the product of these probabilities. For several values, the most frequent ones are treated as
    independent.
    """
    many = np.sort(np.asarray(counts, np.float64))[::-1]
    shares = (many / many.sum())[:FREQUENT]
    total = known = 0.0
    for profile, times in groups.items():
        rows, people = np.array(profile, np.float64).T
        has = np.log(np.maximum(1.0 - (1.0 - shares[:, None]) ** rows, 1e-300)) @ people
        known += times * people.sum() * (1.0 - np.prod(1.0 - np.exp(has)))
        total += times * people.sum()
    return float(known / total)


def alike(values: Floats, labels: Ints, sizes: Ints, width: float = 0.0) -> Flags:
    """Return the groups whose values all lie within a width; a width of 0 means equal values."""
    here = values[np.argsort(labels, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.maximum.reduceat(here, starts) - np.minimum.reduceat(here, starts) <= width)


def near_by_chance(sizes: Ints, values: Floats, width: float) -> float:
    """Return the expected share of people in groups whose values lie within a width, if dealt at random.

    Sort the values. If m later values are within the width of the i-th, there are C(m, s - 1) groups of s
    values that begin with the i-th. The sum over i is divided by C(n, s).

    Examples
    --------
    >>> round(near_by_chance(np.array([2, 2]), np.array([1.0, 1.1, 5.0, 5.1]), 0.2), 4)
    0.3333
    """
    n, ordered = len(values), np.sort(values)
    near = np.searchsorted(ordered, ordered + width, "right") - np.arange(n) - 1.0
    total = 0.0
    for size, times in zip(*np.unique(sizes, return_counts=True), strict=True):
        m, rest = near[near >= size - 1], float(size - 1)
        ways = gammaln(m + 1) - gammaln(rest + 1) - gammaln(m - rest + 1)
        all_ways = gammaln(n + 1.0) - gammaln(size + 1.0) - gammaln(n - size + 1.0)
        total += float(times * size * np.exp(ways - all_ways).sum())
    return min(1.0, total / n)


def alone_by_chance(sizes: Ints, counts: Ints) -> float:
    """Return the expected share of people in groups with a single value, if values are dealt out at random.

    A group of s records has one value with probability sum over levels of C(q, s) / C(n, s).

    Examples
    --------
    >>> round(alone_by_chance(np.array([2, 2]), np.array([2, 2])), 4)
    0.3333
    """
    size, times = np.unique(sizes, return_counts=True)
    return by_chance(dict(zip(size.tolist(), times.tolist(), strict=True)), counts)


def by_chance(sizes: Mapping[int, int], counts: ArrayLike) -> float:
    """Return the same share from the number of groups of each size."""
    n = sum(size * times for size, times in sizes.items())
    total, many = 0.0, np.asarray(counts)
    for size, times in sorted(sizes.items()):
        q = many[many >= size].astype(np.float64)
        log = gammaln(q + 1) - gammaln(q - size + 1) - gammaln(n + 1.0) + gammaln(n - size + 1.0)
        total += float(times * size * np.exp(log).sum())
    return min(1.0, total / n)
