"""Models for people with several rows: each person counts once for each of their distinct values.

A class is a bag of pairs (person, value). Each pair counts once, even if several rows of the person show it.
Distances, entropies and informations are those of this bag. It differs from counting rows in two ways:

- A person who comes every week makes a class neither look diverse nor look like the table.
- Values no longer exclude each other: all five people of a class may have both flu and a worse illness. The
  class has two values, and yet reveals a value of everybody. So if all people of a class share a value,
  p-sensitivity and l-diversity treat it as a class with this value only.

**Merging still never hurts.** A merged cell is a mixture of two bags, by their sizes, so the arguments of
`voronym.privacy.cells.Judge` hold. If all people of a merged cell share a value, so did all people of each
part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from voronym.privacy.cells import Judge, Runs
from voronym.privacy.level import Floats, Ints, Levels
from voronym.table.classes import Classes
from voronym.table.units import distinct, first_of_each


def once(levels: Levels, classes: Classes, persons: Ints) -> tuple[Levels, Classes, Ints]:
    """Return a column and its classes with each person's value once per class, and the person of each.

    Examples
    --------
    >>> ill = Levels("ill", np.array([0, 0, 1, 1]), False, ("cold", "flu"))
    >>> two = Classes(np.array([0, 0, 0, 1]), np.array([3, 1]))
    >>> less, fewer, who = once(ill, two, np.array([7, 7, 7, 8]))
    >>> less.codes.tolist(), fewer.sizes.tolist(), who.tolist()
    ([0, 1, 1], [2, 1], [7, 7, 8])
    """
    kept = first_of_each(classes.labels, persons, levels.codes)
    labels = classes.labels[kept]
    sizes = np.bincount(labels, minlength=len(classes.sizes)).astype(np.int64)
    return replace(levels, codes=levels.codes[kept]), Classes(labels, sizes), persons[kept]


def held_by_all(levels: Levels, labels: Ints, persons: Ints, n_cells: int) -> Any:
    """Return for each cell whether all its people share a value; pairs come once each."""
    people = distinct(labels, persons, n_cells)
    pair, often = np.unique(labels * np.int64(levels.size) + levels.codes, return_counts=True)
    most = np.zeros(n_cells, np.int64)
    np.maximum.at(most, pair // levels.size, often)
    return (most == people) & (people > 0)


def with_known(judge: Judge, values: Floats, known: Any) -> Floats:
    """Return the measures; a cell that reveals a value about everybody counts as a single value."""
    return np.where(known, np.inf if judge.at_most else 1.0, values)


@dataclass(frozen=True, eq=False)
class OfPeople(Judge):
    """A judge whose records are people, each with one or several values.

    ``levels.codes`` number the sets of values of people; enforcement uses only these, so two people with
    the same set may change places. Made by `of_people`.

    Parameters
    ----------
    plain : Judge
        The judge of the pairs of person and value.
    owner : array
        The person of each pair.
    sets : tuple of arrays
        The values of each set.
    knows : bool
        Whether a value that all people of a cell have makes it one of a single value.
    """

    plain: Judge = field(repr=False, kw_only=True)
    owner: Ints = field(repr=False, kw_only=True)
    sets: tuple[Ints, ...] = field(repr=False, default=())
    knows: bool = False

    def subset(self, records: Ints) -> OfPeople:
        """Return the judge of partitions of some people, still compared with the whole table."""
        place = np.full(len(self.levels.codes), -1, np.int64)
        place[records] = np.arange(len(records))
        kept = np.flatnonzero(place[self.owner] >= 0)
        kept = kept[np.argsort(place[self.owner[kept]], kind="stable")]
        return replace(
            self,
            levels=self.levels.subset(records),
            plain=self.plain.subset(kept),
            owner=place[self.owner[kept]],
        )

    def value(self, codes: Ints) -> float:
        """Measure one cell, from the sets of values of its people."""
        sets = [self.sets[code] for code in np.asarray(codes, np.int64)]
        level, count = np.unique(np.concatenate(sets), return_counts=True)
        size = int(count.sum())
        runs = Runs(np.zeros(len(level), np.int64), level, count.astype(np.int64), np.array([size]))
        result = self.plain.measure(runs, self.plain.levels)
        known = np.array([self.knows and int(count.max()) == len(sets)])
        return float(with_known(self.plain, result, known)[0])

    def values(self, labels: Ints, n_cells: int) -> Floats:
        """Measure every cell of a partition of the people."""
        cells = np.asarray(labels, np.int64)[self.owner]
        result = self.plain.values(cells, n_cells)
        if not self.knows:
            return result
        return with_known(self.plain, result, held_by_all(self.plain.levels, cells, self.owner, n_cells))


def pairs(levels: Levels, persons: Ints) -> tuple[Levels, Ints]:
    """Return the column with each person's distinct values once, and their owners, by person."""
    kept = first_of_each(persons, levels.codes)
    kept = kept[np.lexsort((levels.codes[kept], persons[kept]))]
    return replace(levels, codes=levels.codes[kept]), persons[kept]


def of_people(judge: Judge, owner: Ints, *, knows: bool) -> Judge:
    """Return a judge for partitions of people, from a judge for pairs of person and value.

    Parameters
    ----------
    judge : Judge
        Judge of the pairs made by `pairs`.
    owner : array
        The person of each pair, in ascending order, everybody at least once.
    knows : bool
        Whether a value that all people of a cell have makes it one of a single value.
    """
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    own = np.split(judge.levels.codes, start[1:])
    numbers: dict[bytes, int] = {}
    codes = np.array([numbers.setdefault(item.tobytes(), len(numbers)) for item in own], np.int64)
    sets: list[Ints] = [np.empty(0, np.int64)] * len(numbers)
    for code, entry in zip(codes.tolist(), own, strict=True):
        sets[code] = entry
    profile = Levels(judge.levels.column, codes, False, tuple(range(len(sets))), "sets of values of a person")
    return OfPeople(
        profile,
        judge.measure,
        judge.required,
        judge.at_most,
        judge.strict,
        judge.additive,
        judge.name,
        None,
        plain=judge,
        owner=owner,
        sets=tuple(sets),
        knows=knows,
    )


@dataclass(frozen=True, eq=False)
class OfRows(Judge):
    """A judge of partitions of rows that counts each person's distinct values once per cell.

    Parameters
    ----------
    persons : array
        The person of each row.
    knows : bool
        Whether a value that all people of a cell have makes it one of a single value.
    """

    persons: Ints = field(repr=False, kw_only=True)
    knows: bool = False

    def values(self, labels: Ints, n_cells: int) -> Floats:
        """Measure every cell of a partition of the rows."""
        classes = Classes(np.asarray(labels, np.int64), np.bincount(labels, minlength=n_cells))
        column, fewer, owner = once(self.levels, classes, self.persons)
        plain = replace_levels(self, column)
        measured = plain.values(fewer.labels, n_cells)
        if not self.knows:
            return measured
        return with_known(self, measured, held_by_all(column, fewer.labels, owner, n_cells))


def replace_levels(judge: Judge, levels: Levels) -> Judge:
    """Return a plain judge with the measure of another and other records."""
    return Judge(levels, judge.measure, judge.required, judge.at_most, judge.strict, judge.additive)


def of_rows(judge: Judge, persons: Ints, *, knows: bool) -> Judge:
    """Return a judge for partitions of people's rows, from a judge for rows."""
    return OfRows(
        judge.levels,
        judge.measure,
        judge.required,
        judge.at_most,
        judge.strict,
        judge.additive,
        judge.name,
        None,
        persons=persons,
        knows=knows,
    )
