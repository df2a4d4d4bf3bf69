"""Confidential columns as levels: a whole number for every record, however its values are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.sentence import numbered
from voronym.errors import InputError
from voronym.table.classes import check_columns, equivalence_classes
from voronym.table.conform import as_kind
from voronym.table.frame import is_object
from voronym.table.kinds import find_kind
from voronym.table.table import Table
from voronym.table.totals import Totals
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ORDERED = ("numeric", "ordinal", "datetime", "location")
_EXACT = 2**62


@dataclass(frozen=True, eq=False)
class Levels:
    """A column as levels: the level of every record, 0..m-1.

    Parameters
    ----------
    column : str
        Name of the column; for levels of several columns, their names joined by " x ".
    codes : (n,) int64 array
        The level of each record. Every level occurs.
    ordered : bool
        Whether the order of the levels means something. Missing, if it occurs, is the last level.
    values : tuple
        The value behind each level, None for missing. Values of persons: never printed.
    how : str
        The conversion of values to levels.
    total : array, shape (m,), optional
        Number of records of the whole data set with each level, if these records are a part of it; some
        levels may then not occur.
    """

    column: str
    codes: Ints = field(repr=False)
    ordered: bool
    values: tuple[Any, ...] = field(repr=False)
    how: str = "distinct values"
    total: Ints | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of records; of the whole data set if the levels are of a part."""
        return len(self.codes) if self.total is None else int(self.total.sum())

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.values)

    @property
    def missing(self) -> bool:
        """Whether the last level is "missing"."""
        return bool(self.values) and self.values[-1] is None

    @cached_property
    def counts(self) -> Ints:
        """Number of records of each level, shape (m,); of the whole data set if the levels are of a part."""
        if self.total is not None:
            return self.total
        return np.bincount(self.codes, minlength=self.size).astype(np.int64)

    @cached_property
    def exact(self) -> bool:
        """Whether sums of products of counts fit 64 bits, so that distances use whole numbers."""
        return self.n * self.n * max(1, self.size) < _EXACT

    @cached_property
    def below(self) -> NDArray[Any]:
        """Records up to and including each level, shape (m,)."""
        return np.cumsum(self.counts) if self.exact else np.cumsum(self.counts, dtype=np.float64)

    @cached_property
    def area(self) -> NDArray[Any]:
        """Sums of `below` up to each level, shape (m + 1,)."""
        return np.concatenate([np.zeros(1, self.below.dtype), np.cumsum(self.below)])

    def subset(self, records: Ints) -> Levels:
        """Return some of the records, still with the counts of all."""
        return replace(self, codes=self.codes[records], total=self.counts)

    def binned(self, bins: int) -> Levels:
        """Return at most ``bins`` levels of about equal frequency; equal values stay together.

        Level i, with middle rank r_i among the n observed records, goes to bin floor(bins r_i / n).
        Missing stays a separate level. A bin reveals at most as much as the value.
        """
        last = self.size - 1 if self.missing else self.size
        observed = self.counts[:last]
        total = int(observed.sum())
        if last <= bins or total == 0:
            return self
        middle = 2 * np.cumsum(observed) - observed  # twice the middle rank: whole numbers, no rounding
        bin_of, code_of = np.unique(bins * middle // (2 * total), return_inverse=True)
        to = code_of.reshape(-1).astype(np.int64)
        values: list[Any] = [int(b) for b in bin_of]
        if self.missing:
            to, values = np.append(to, len(bin_of)), [*values, None]
        how = f"{len(bin_of)} bins of about equal frequency"
        whole = None if self.total is None else np.bincount(to, self.total, len(values)).astype(np.int64)
        return Levels(self.column, to[self.codes], self.ordered, tuple(values), how, whole)


def levels(table: Any, column: str, *, kind: str | None = None, order: Sequence[str] | None = None) -> Levels:
    """Return a column as levels.

    The result depends neither on the order of rows, nor on the dataframe library, nor on the type of
    numbers (integer, float, decimal, nullable). Missing is a separate level, the last one.

    Parameters
    ----------
    table : Table or frame
        The records.
    column : str
        The column.
    kind : str, optional
        Numeric, ordinal and datetime columns are ordered; the others are not. By default the kind in the
        table's schema, or what the dtype suggests.
    order : sequence of str, optional
        The levels of an ordinal column, lowest first.

    Examples
    --------
    >>> import polars as pl
    >>> levels(pl.DataFrame({"income": [30, 10, None, 30]}), "income").codes.tolist()
    [1, 0, 2, 1]
    """
    records = Columns.at_door(table)
    check_columns(records.frame, [column], "confidential")
    if len(records) == 0:
        raise InputError("the table has no rows, so there is nothing to measure")
    if isinstance(records, Table) and records.totals is not None and column in records.totals.levels:
        return _of_part(records, column, records.totals)
    values = records[column]
    if kind is None:
        known = records.schema[column] if isinstance(records, Table) else find_kind(values)
        kind, order = known.kind, known.categories if order is None else order
    if not isinstance(records, Table) and (typed := as_kind(values, kind)) is not None:
        values = Values(typed)
    codes, result = _codes(records, values)
    if order is not None:
        codes, result = _in_order(column, codes, result, order)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(result), codes)
        result = [*result, None]
    return Levels(column, codes, kind in _ORDERED, tuple(result))


def _of_part(table: Table, name: str, totals: Totals) -> Levels:
    """Return a column of a part of a data set, with the levels and counts of all of it."""
    known, column = totals.levels[name], table.schema[name]
    codes, values, counts = known.lookup(table[name]), list(known.values), totals.counts(name)
    if column.categories is not None:
        order, many = column.categories, len(values)
        codes, values = _in_order(name, codes, values, order)
        sort = [known.position[value] for value in values]
        counts = np.concatenate([counts[:many][sort], counts[many:]])
    if known.has_missing:
        codes, values = np.where(codes < 0, len(values), codes), [*values, None]
    return Levels(
        name, codes.astype(np.int64), column.kind in _ORDERED, tuple(values), total=counts.astype(np.int64)
    )


def _codes(records: Columns, column: Values) -> tuple[Ints, list[Any]]:
    """Return codes in ascending order of value, -1 if missing, and the values."""
    held, gone = column.form, column.missing
    if held in ("mixed", "other"):  # nothing to order by: numbered by first appearance, compared by equality
        classes = equivalence_classes(records.frame, [column.name])
        first = [i for i in classes.first.tolist() if not gone[i]]
        to = np.full(len(classes.sizes), -1, np.int64)
        to[classes.labels[first]] = np.arange(len(first))
        return to[classes.labels], [str(column.series[i]) for i in first]
    if held in ("decimal", "date", "datetime"):
        codes = np.full(len(column), -1, np.int64)
        present = column.numbers
        if held == "decimal":  # as decimals, which are exact
            series = column.series
            objects = (
                series.to_native().to_numpy()[~gone] if is_object(series) else series.drop_nulls().to_list()
            )
            present = np.array(objects, dtype=object)
        result, inverse = np.unique(present, return_inverse=True)
        codes[~gone] = inverse.reshape(-1)
        return codes, result.tolist()
    return column.codes, column.levels


def _in_order(
    column: str, codes: Ints, values: Sequence[Any], order: Sequence[str]
) -> tuple[Ints, list[Any]]:
    place = {str(level): i for i, level in enumerate(order)}
    ranks = np.array([place.get(str(value), -1) for value in values], dtype=np.int64)
    strange = int((ranks < 0).sum())
    if strange:
        raise InputError(
            f"confidential column {column!r} has {numbered(strange, 'level')} that its order of {len(place)} "
            "lacks; add what is missing to the order"
        )
    sort = np.argsort(ranks, kind="stable")
    to = np.empty(len(values) + 1, np.int64)
    to[sort] = np.arange(len(values))
    to[-1] = -1
    return to[codes], [values[i] for i in sort]


def joint(parts: Sequence[Levels]) -> Levels:
    """Return the combinations of several columns' levels as levels, unordered."""
    if len(parts) == 1:
        return parts[0]
    code, inverse = np.unique(np.stack([p.codes for p in parts]), axis=1, return_inverse=True)
    values = tuple(tuple(row) for row in code.T.tolist())
    how = "combinations of " + "; ".join(f"{p.column}: {p.how}" for p in parts)
    name = " x ".join(p.column for p in parts)
    return Levels(name, inverse.reshape(-1).astype(np.int64), False, values, how)
