"""k-map: every record has the keys of at least k people of the population."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym.core.promise import meets
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import Finding, register
from voronym.privacy.cells import Judge, Runs, count_runs
from voronym.privacy.level import Floats, Ints, Levels, levels
from voronym.privacy.people import of_people, once, pairs
from voronym.privacy.text import TextModel, whole
from voronym.table.alike import population_sizes
from voronym.table.classes import check_columns
from voronym.table.read import load
from voronym.table.table import Table

_WORST = 5


def people(runs: Runs, levels: Levels) -> Floats:
    """Return the sum of the weights (the levels' values) in each cell; infinite without records."""
    return _sums(runs, runs.count, levels)


def each_once(runs: Runs, levels: Levels) -> Floats:
    """Return the sum of the values of the distinct levels in each cell."""
    return _sums(runs, np.ones(len(runs.count), np.int64), levels)


def _sums(runs: Runs, count: Ints, levels: Levels) -> Floats:
    if not len(runs.cell):
        return np.full(len(runs.sizes), np.inf)
    each = count * np.array([float(value) for value in levels.values])[runs.level]
    return runs.spread(np.add.reduceat(each, runs.start), np.inf)


@partial(checked, texts=True)
@register("k-map")
@dataclass(frozen=True)
class KMap(TextModel):
    """Require that every combination of keys in the table belongs to at least k people of the population.

    This is weaker than k-anonymity: an intruder who does not know who is in the table must tell k people
    apart. Without weights and population the table counts as the population, and k-map is k-anonymity.

    Parameters
    ----------
    k : int or None
        Least number of people, 2 or more. None only measures.
    weights : str, optional
        Column of sampling weights: how many people each record stands for. An estimate: the sum of the
        weights of a class. Groups are merged until it holds.
    population : str, optional
        File with a table of the whole population and the same keys, coded as in the table that is measured.
        Keys that nobody there has count the table's own records.

    Notes
    -----
    People of a population are found by equal values. Nobody in the population has most released means. So use
    ``population`` for keys that were kept or recoded to categories; groups are not merged for it.

    References
    ----------
    Sweeney, L.: k-Anonymity: a model for protecting privacy. Int. J. of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10(5), 2002. El Emam, K., Dankar, F. K.: Protecting privacy using k-anonymity.
    JAMIA 15(5), 2008. doi:10.1197/jamia.M2716

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [30, 30, 40], "weight": [2.0, 3.0, 9.0]})
    >>> table = Table.build(survey, keys=["age"], other=["weight"])
    >>> print(KMap(5, weights="weight").measure(table))
    k-map: 5 (by weights), required 5: holds
    """

    strength: ClassVar[int] = 0
    unasked: ClassVar[bool] = False
    k: int | None = None
    weights: str | None = None
    population: str | None = None

    def __post_init__(self) -> None:
        self._set(k=whole(self.name, "k", self.k, least=2))
        if self.weights is not None and self.population is not None:
            raise InputError(f"{self.name}: give weights or a population, not both")

    @property
    def merging(self) -> bool:  # type: ignore[override]
        """Whether groups are merged until it holds; False with a population file, searched by values."""
        return self.population is None

    def judges(self, table: Table) -> tuple[Judge, ...]:
        """Return the demands of enforcement: the people of a group, which merging increases.

        With a population these are at least the people with the keys of some record of the group.
        """
        if self.population is not None:
            column, measure = self._counted(table), each_once
        else:
            column, measure = self._levels(table), people
        judge = Judge(column, measure, self.required, at_most=False, name=self.name)
        if table.persons is None:
            return (judge,)
        own, owner = pairs(column, table.persons)
        return (of_people(replace(judge, levels=own), owner, knows=False),)

    def measure(self, table: Table) -> Finding:
        """Count, or estimate, the people behind each class of the table.

        ``worst`` lists the smallest numbers below k with their classes; without a requirement, the smallest.
        """
        sizes, about = self._people(table)
        result = float(sizes.min())
        low = ~self._holds(sizes) if self.k is not None else sizes == result
        size, many = np.unique(sizes[low], return_counts=True)
        worst: tuple[dict[str, object], ...] = tuple(
            {"size": float(s), "classes": int(c)} for s, c in zip(size[:_WORST], many[:_WORST], strict=True)
        )
        detail: dict[str, object] = {
            "records": table.n,
            "classes": len(sizes),
            "classes_below": int(low.sum()) if self.k is not None else 0,
            "basis": about or "the table itself",
            "keys": list(table.keys),
        }
        holds = bool(self._holds(sizes).all())
        return Finding(self.name, result, self.required, holds, worst, detail, about, at_most=False)

    def _holds(self, sizes: Floats) -> NDArray[np.bool_]:
        return np.asarray(meets(sizes, self.k, at_most=False))

    def _levels(self, table: Table) -> Levels:
        """Return the weights as levels; without weights, each record is one person."""
        if self.weights is None:
            return Levels("records", np.zeros(table.n, np.int64), False, (1,))
        check_columns(table.frame, [self.weights], f"weights of {self.name}")
        column = levels(table, self.weights, kind="numeric")
        if column.missing or any(isinstance(value, str) or not value > 0 for value in column.values):
            raise InputError(
                f"{self.name}: the weights {self.weights!r} must be numbers above 0 in every row: how many "
                "people of the population a record stands for"
            )
        return column

    def _counted(self, table: Table) -> Levels:
        """Return the classes as levels, with the people of the population that each has."""
        assert self.population is not None  # noqa: S101 - asked before
        there = population_of(table, self.population)
        sizes = np.where(there > 0, there, table.heads)
        return Levels("keys", table.classes.labels, False, tuple(sizes.tolist()))

    def _people(self, table: Table) -> tuple[Floats, str]:
        """Return the people behind each class, and how they were counted."""
        classes = table.classes
        if self.population is not None:
            return np.array(self._counted(table).values, np.float64), "in the population"
        if self.weights is None:
            return table.heads.astype(np.float64), ""
        column = self._levels(table)
        if table.persons is not None:  # a person with several rows is one
            column, classes, _ = once(column, classes, table.persons)
        runs = count_runs(classes.labels, column.codes, len(classes.sizes), column.size)
        return people(runs, column), "by weights"


def population_of(table: Table, path: str) -> Ints:
    """Return the number of rows of a file with the keys of each class of a table."""
    _, there = population_sizes(table.frame, load(path), table.keys)
    return np.asarray(there[table.classes.first])
