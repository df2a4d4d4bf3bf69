"""Confidential columns as levels, and judges: how a model sees the cells of a partition.

A model that limits what a class reveals looks at one confidential column at a time. The column becomes
`Levels`: a whole number 0..m-1 for every record. A `Judge` then measures every cell of a partition from
these numbers alone, in O(n log n) and without a table of cells x levels, which may be large.

Every judge here improves or stays when cells are merged: see `Judge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from voronym.core.promise import RELATIVE as RELATIVE
from voronym.core.promise import meets
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
_FARTHEST = 1e12  # of infinite measures: searches take differences


@dataclass(frozen=True, eq=False)
class Levels:
    """A column as levels: the level of every record, 0..m-1.

    Parameters
    ----------
    column : str
        Name of the column; several, joined by " x ", where levels are those of several columns together.
    codes : (n,) int64 array
        The level of each record. Every level occurs.
    ordered : bool
        Whether the order of the levels means something. Missing, if it occurs, is the last level.
    values : tuple
        The value behind each level, None for missing. Values of persons: never printed.
    how : str
        How values became levels.
    total : array, shape (m,), optional
        How many records of the whole data set have each level, where these records are a part of it; then
        a level may be there that none of them has.
    """

    column: str
    codes: Ints = field(repr=False)
    ordered: bool
    values: tuple[Any, ...] = field(repr=False)
    how: str = "distinct values"
    total: Ints | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of records, of the whole data set where these are a part of it."""
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
        """Records of each level, shape (m,); of the whole data set where these are a part of it."""
        if self.total is not None:
            return self.total
        return np.bincount(self.codes, minlength=self.size).astype(np.int64)

    @cached_property
    def exact(self) -> bool:
        """Whether sums of products of counts fit 64 bits, so that distances are computed in whole numbers."""
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
        """Return some of the records, with the counts of all of them."""
        return replace(self, codes=self.codes[records], total=self.counts)

    def binned(self, bins: int) -> Levels:
        """Return a limited number of levels of about equal frequency; equal values stay together.

        Level i, with middle rank r_i among the n observed records, goes to bin floor(bins r_i / n). Missing
        stays a level of its own. What is learned about a bin is at most what is learned about the value.
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

    The answer depends neither on the order of rows nor on the dataframe library, nor on how a number is
    stored (integer, float, decimal, nullable). Missing is a level of its own, the last one.

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
    """Return codes in ascending order of value, -1 where missing, and the values."""
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
            f"confidential column {column!r} has {strange} levels that its order of {len(place)} lacks; "
            "add them to the order"
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


@dataclass(frozen=True, eq=False)
class Runs:
    """The pairs of cell and level that occur, by cell, then by level, with their counts."""

    cell: Ints
    level: Ints
    count: Ints
    sizes: Ints
    """Records of each cell, shape (n_cells,)."""

    @cached_property
    def start(self) -> Ints:
        """First pair of each cell that is not empty."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @cached_property
    def occupied(self) -> Ints:
        """The cells that are not empty."""
        return self.cell[self.start]

    def spread(self, per_cell: NDArray[Any], empty: float) -> Floats:
        """Return a value per cell from one per occupied cell."""
        out = np.full(len(self.sizes), empty)
        out[self.occupied] = per_cell
        return out


def count_runs(labels: Ints, codes: Ints, n_cells: int, m: int) -> Runs:
    """Count the records of every cell and level that occur together."""
    pair = labels * np.int64(m) + codes
    if n_cells * m <= max(4 * len(pair), 1 << 16):
        full = np.bincount(pair, minlength=n_cells * m)
        places = np.flatnonzero(full)
        count = full[places]
    else:
        places, count = np.unique(pair, return_counts=True)
    sizes = np.bincount(labels, minlength=n_cells)
    cell = places // m
    return Runs(cell, places - cell * m, count.astype(np.int64), sizes.astype(np.int64))


@dataclass(frozen=True)
class Rule:
    """How the kernels of enforcement compute the measure of a judge themselves.

    A judge without a rule is obeyed too, by merging groups and by exchanging records whose confidential
    values are equal. With a rule, records are also exchanged wherever the measure allows it.

    Parameters
    ----------
    kind : int
        The measure, one of the constants of `voronym._kernels.verdict`.
    need : float
        The threshold, in the kernel's own terms.
    factor : float
        The c of recursive l-diversity.
    """

    kind: int
    need: float
    factor: float = 0.0


@dataclass(frozen=True, eq=False)
class Judge:
    """What enforcement asks of a model about one confidential column: a measure of cells, and its threshold.

    A threshold met exactly counts as met, unless the model's definition is strict. Measures
    that differ from the threshold by rounding count as equal to it: see `voronym.core.promise`. An empty cell
    reveals nothing and holds.

    **Merging never hurts.** Let cells A and B hold; their union is C, with distribution
    p_C = a p_A + (1 - a) p_B, where a = |A| / |C|.

    - A distance f(p) = d(p, q) to the distribution q of the whole table that is convex in p (any earth
      mover's distance: a linear programme whose right-hand side is p; total variation: a norm;
      Kullback-Leibler: convex) has f(p_C) <= a f(p_A) + (1 - a) f(p_B) <= max(f(p_A), f(p_B)).
    - Entropy is concave: H(p_C) >= min(H(p_A), H(p_B)). The number of distinct values cannot fall.
    - Recursive (c, l): the greatest count of C is at most the sum of the greatest counts of A and B, and the
      l - 1 greatest counts of C at most those of A plus those of B, so the rest is at least the sum of the
      rests. The ratio is at most the greater of the two ratios.
    - ``|ln p_C / q|`` of a value lies between those of A and B before the absolute value is taken, hence is
      at most the greater.
    - Contributions (|C| / n) KL(p_C || q) are at most the sum of those of A and B, by convexity, so
      their total falls.

    Parameters
    ----------
    levels : Levels
        The confidential column.
    measure : callable
        ``measure(runs, levels)``: a value per cell.
    required : float or None
        The threshold; None only measures.
    at_most : bool
        Whether values must stay at or below the threshold, rather than at or above.
    strict : bool
        Whether the threshold itself is refused.
    additive : bool
        Whether the sum over cells is compared.
    name : str
        The model, for messages.
    rule : Rule, optional
        The same measure for the kernels of enforcement, where they know it.

    Examples
    --------
    >>> from voronym.privacy.distances import ordered
    >>> salary = Levels("salary", np.array([0, 1, 2, 3]), True, (3, 4, 5, 6))
    >>> judge = Judge(salary, ordered, 0.5)
    >>> judge.values(np.array([0, 0, 1, 1]), 2).round(3)
    array([0.333, 0.333])
    >>> judge.value(np.array([0])), judge.holds(0.5)
    (0.5, True)
    """

    levels: Levels
    measure: Callable[[Runs, Levels], Floats] = field(repr=False)
    required: float | None = None
    at_most: bool = True
    strict: bool = False
    additive: bool = False
    name: str = ""
    rule: Rule | None = None

    @property
    def total(self) -> Ints:
        """Records of each level in the whole table, shape (m,)."""
        return self.levels.counts

    def subset(self, records: Ints) -> Judge:
        """Return the judge of partitions of some records; it compares them with the whole table as before."""
        return replace(self, levels=self.levels.subset(records))

    def value(self, codes: Ints) -> float:
        """Measure one cell, from the levels of its records; O(c log m) for c records."""
        codes = np.asarray(codes, np.int64)
        return float(self.measure(_one(codes), self.levels)[0])

    def values(self, labels: Ints, n_cells: int) -> Floats:
        """Measure every cell of a partition of the whole table, shape (n_cells,); O(n log n)."""
        labels = np.asarray(labels, np.int64)
        if labels.shape != self.levels.codes.shape:
            raise InputError(f"there are {self.levels.n} records but {labels.size} labels")
        return self.measure(count_runs(labels, self.levels.codes, n_cells, self.levels.size), self.levels)

    @overload
    def holds(self, values: float) -> bool: ...
    @overload
    def holds(self, values: Floats) -> Any: ...
    def holds(self, values: float | Floats) -> Any:
        """Whether each measure meets the threshold; a single answer for an additive judge."""
        result = np.asarray(values, np.float64)
        if self.additive:
            result = np.asarray(
                math.fsum(result.ravel())
            )  # exactly rounded: the order of cells cannot matter
        good = meets(result, self.required, at_most=self.at_most, strict=self.strict)
        return bool(good) if np.ndim(good) == 0 else good

    def severity(self, values: float | Floats) -> Any:
        """How far each measure is from the threshold: 0 where it holds, larger is worse.

        For an additive judge the contributions themselves while the sum is too large: the greatest
        contribution is the first to reduce.
        """
        result = np.asarray(values, np.float64)
        if self.required is None:
            far = np.zeros(result.shape)
        elif self.additive:
            far = np.zeros(result.shape) if self.holds(result) else np.maximum(result, 0.0)
        else:
            far = result - self.required if self.at_most else self.required - result
            # A strict threshold is missed when it is met: by nothing, which must not look like 0.
            far = np.where(self.holds(result), 0.0, np.clip(far, np.finfo(float).tiny, _FARTHEST))
        return float(far) if far.ndim == 0 else far


def _one(codes: Ints) -> Runs:
    level, count = np.unique(codes, return_counts=True)
    return Runs(np.zeros(len(level), np.int64), level, count.astype(np.int64), np.array([len(codes)]))
