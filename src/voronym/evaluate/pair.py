"""Make the original and the released table comparable, column by column.

The tables may come from different libraries, and a masked column may have another type: whole numbers become
means, and dates in a CSV are text. Each column of both is converted to one type. Columns that are neither
numbers nor dates are compared as categories, with a note.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError
from voronym.generalize.forms import read_ranges
from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.sets import ValueSets, sets_of_numbers, sets_of_texts
from voronym.generalize.spans import middles
from voronym.table.alike import common, moment, plain
from voronym.table.classes import equivalence_classes
from voronym.table.conform import conform
from voronym.table.frame import as_frame
from voronym.table.schema import Schema
from voronym.table.source import source_of
from voronym.table.typeset import unguarded

__all__ = [
    "Floats",
    "Pair",
    "codes",
    "common",
    "make_pair",
    "numbers",
    "plain",
    "row_map",
    "scaled",
]

Floats = NDArray[np.float64]


Codes = tuple[NDArray[np.int64], NDArray[np.int64], int | None, int]
"""See `codes`."""


@dataclass(frozen=True)
class Pair:
    """The common columns of both tables, as Polars frames of equal types, and a schema that fits them."""

    original: pl.DataFrame
    released: pl.DataFrame
    schema: Schema
    notes: tuple[str, ...]
    texts: Mapping[str, pl.Series] = field(default_factory=dict)
    """Columns of the released table that are published as ranges."""
    sets: Mapping[str, ValueSets] = field(default_factory=dict)
    """Columns that are published as ranges, codes with stars and the like: the values of each text."""
    coded: dict[str, Codes] = field(default_factory=dict)
    """Codes of columns, computed before."""
    trees: Mapping[str, Any] = field(default_factory=dict)
    """The hierarchies of columns."""

    @property
    def published(self) -> pl.DataFrame:
        """The released table with ranges as published."""
        return self.released.with_columns(self.texts.values())

    def codes(self, name: str) -> Codes:
        """Return the values of a column of both tables as numbers, computed once: see `codes`.

        If published texts are sets of values, originals are recoded to these sets.
        """
        if name not in self.coded:
            before, sets = self.original[name], self.sets.get(name)
            self.coded[name] = codes(before if sets is None else _recoded(before, sets), self.released[name])
        return self.coded[name]


def _recoded(before: pl.Series, sets: ValueSets) -> pl.Series:
    """Return the originals as they would be published: the smallest set that holds each value.

    Otherwise a model tells the two tables apart by the way in which codes are written.
    """
    wide = np.where(sets.member, sets.member.sum(axis=1)[:, None], np.iinfo(np.int64).max)
    held = np.asarray(sets.member.any(axis=0))
    shown = [
        sets.texts[row] if some else str(value)
        for value, row, some in zip(sets.values, wide.argmin(axis=0), held, strict=True)
    ]
    return before.cast(pl.String).replace_strict(
        [str(value) for value in sets.values], shown, default=None, return_dtype=pl.String
    )


def make_pair(
    original: Any,
    released: Any,
    schema: Schema,
    hierarchies: Mapping[str, Any] | None = None,
    *,
    conformed: bool = False,
) -> Pair:
    """Bring the released columns of both tables to common types.

    Parameters
    ----------
    original, released : DataFrame
        pandas, Polars, PyArrow or narwhals.
    schema : Schema
        Roles and kinds of the original's columns.
    hierarchies : mapping, optional
        For each column, an argument of `voronym.Hierarchy.of`; its names stand for the values below them.
    conformed : bool
        Whether both tables already have the kinds of the schema, as in a run.

    Raises
    ------
    InputError
        The released table has columns that the original lacks, or lacks a key.
    """
    before, after = as_frame(original), as_frame(released)
    strange = [name for name in after.columns if name not in before.columns]
    lacking = [name for name in schema.keys if name not in after.columns]
    if strange or lacking:
        lacks = [f"the {which} lacks {_names(names)}"
                 for which, names in (("original", strange), ("table", lacking)) if names]  # fmt: skip
        raise InputError(
            f"original and table have different columns: {', '.join(lacks)}; compare a table with the one "
            "it was made from"
        )
    for what, table in (("original", before), ("table", after)):
        if len(table) == 0:
            raise InputError(f"the {what} has no rows, so there is nothing to compare")
    files = {"original": source_of(before), "released": source_of(after)}
    if not conformed:
        before, after = conform(before, schema), conform(after, schema)
    names = [n for n in after.columns if n in schema and schema[n].role != "identifier"]
    left, right, odd, ranged = [], [], [], {}
    for name in names:
        first, second = plain(before[name]), _bare(plain(after[name]))
        if second.dtype == pl.String and (times := _on_line(first)) is not None:
            second = read_ranges(second, times=times, **files)
        middle = _middle(first, second)
        if middle is not None:
            ranged[name] = second
        a, b, fits = common(first, second if middle is None else middle)
        left.append(a)
        right.append(b)
        if not fits and schema[name].kind != "text":
            odd.append(name)
    notes = []
    if ranged:
        notes.append(f"{_names(list(ranged))}: published as ranges, and compared by the middle of each")
    if odd:
        notes.append(
            f"{_names(odd)}: of different types in the original and the table, so compared as categories"
        )
        odd += [partner for name in odd if (partner := schema[name].partner) is not None]
    columns = [schema[name] for name in names]
    sets = _sets(left, right, ranged, schema, hierarchies or {})
    if masked := [name for name in sets if name not in ranged]:
        notes.append(f"{_names(masked)}: texts such as 08*** count as the values that they may stand for")
    fitted = tuple(
        replace(c, kind="nominal", categories=None, partner=None, axis=None) if c.name in odd else c
        for c in columns
    )
    tables = pl.DataFrame(left), pl.DataFrame(right)
    return Pair(*tables, Schema(fitted), tuple(notes), ranged, sets, trees=hierarchies or {})


def _sets(
    left: Sequence[pl.Series],
    right: Sequence[pl.Series],
    ranged: Mapping[str, pl.Series],
    schema: Schema,
    hierarchies: Mapping[str, Any],
) -> dict[str, ValueSets]:
    """Return the sets of values behind published texts, for columns that publish such texts."""
    out: dict[str, ValueSets] = {}
    for before, after in zip(left, right, strict=True):
        name = before.name
        if name in ranged:
            line = numbers(before)
            times = before.dtype in (pl.Date, pl.Datetime)
            texts = ranged[name].drop_nulls().unique(maintain_order=True).to_list()
            if line is not None:
                result = sets_of_numbers(texts, np.unique(line[~np.isnan(line)]), times=times)
                out |= {} if result is None else {name: result}
            continue
        if after.dtype != pl.String or schema[name].kind == "text":
            continue
        tree = Hierarchy.of(hierarchies[name]) if name in hierarchies else None
        shown, own = (item.drop_nulls().value_counts(sort=True) for item in (after, before))
        result = sets_of_texts(
            shown[name].to_list(), shown["count"].to_list(), own[name].to_list(), own["count"].to_list(),
            tree=tree, order=schema[name].categories,
        )  # fmt: skip
        out |= {} if result is None else {name: result}
    return out


def _on_line(before: pl.Series) -> bool | None:
    """Whether a column holds times; None if it holds neither times nor numbers."""
    times = before.dtype in (pl.Date, pl.Datetime)
    return times if times or before.dtype.is_numeric() else None


def _middle(before: pl.Series, after: pl.Series) -> pl.Series | None:
    """Return the middles of ranges of numbers or times; None for other texts."""
    times = _on_line(before)
    return None if after.dtype != pl.String or times is None else middles(after, times=times)


def _bare(column: pl.Series) -> pl.Series:
    """Return texts without the apostrophes that a release puts before formulas."""
    return unguarded(column) if column.dtype == pl.String else column


def numbers(column: pl.Series, order: Sequence[str] | None = None) -> Floats | None:
    """Return a column as float64, NaN if missing or infinite; None if it has no numbers.

    Times become seconds since 1970. With ``order``, levels become ranks from 0.
    """
    if order is not None:
        rank = {level: float(i) for i, level in enumerate(order)}
        levels = [level for level in column.unique().cast(pl.String).to_list() if level is not None]
        known = [level for level in levels if level in rank]
        ranks = [rank[level] for level in known]
        column = column.cast(pl.String).replace_strict(known, ranks, default=None, return_dtype=pl.Float64)
        return column.fill_null(float("nan")).to_numpy().astype(np.float64)
    if column.dtype in (pl.Date, pl.Datetime):
        column = moment(column).dt.epoch("us") / 1e6
    elif column.dtype == pl.Null or column.dtype.is_numeric():
        column = column.cast(pl.Float64)
    else:
        return None
    values = column.fill_null(float("nan")).to_numpy().astype(np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def scaled(*columns: Floats) -> tuple[list[Floats], int]:
    """Return columns divided by a power of two, so that the largest value is near 1, and the exponent.

    Squares of very large or very small numbers leave the range of floats. A power of two changes no
    digit, so figures without a unit stay the same.

    Examples
    --------
    >>> (small,), exponent = scaled(np.array([3e300, -4e300]))
    >>> float(np.ldexp(small.std(), exponent))
    3.5e+300
    """
    largest = max((float(np.nanmax(np.abs(c))) for c in columns if not np.isnan(c).all()), default=0.0)
    exponent = math.frexp(largest)[1]
    return [np.ldexp(column, -exponent) for column in columns], exponent


def codes(a: pl.Series, b: pl.Series) -> Codes:
    """Give equal values of two columns the same number.

    Returns
    -------
    codes of a, codes of b, the code of "missing" (None where nothing is), number of codes
    """
    if a.dtype != b.dtype:  # a range, or a list of categories, stands for numbers
        a, b = _as_texts(a), _as_texts(b)
    both = pl.concat([a.alias("v"), b.alias("v")])
    frame = nw.from_native(both.to_frame(), eager_only=True)
    result = equivalence_classes(frame, ["v"])
    gone = np.flatnonzero(both.is_null().to_numpy())
    missing = int(result.labels[gone[0]]) if len(gone) else None
    return result.labels[: len(a)], result.labels[len(a) :], missing, len(result.sizes)


def _as_texts(column: pl.Series) -> pl.Series:
    """Return a column as texts; whole numbers without a decimal point."""
    if column.dtype.is_float() and bool((column.drop_nulls() == column.drop_nulls().round()).all()):
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String)


def row_map(aligned: bool | ArrayLike | None, n: int, m: int) -> NDArray[np.int64] | None:
    """Return the original row of each released row; None if it is unknown.

    Parameters
    ----------
    aligned : bool, array or None
        True: row i of both is the same person. An array: the original row of each released row.
    n, m : int
        Rows of the original and of the released table.
    """
    if aligned is None or aligned is False:
        return None
    if aligned is True:
        if n != m:
            raise InputError(
                f"aligned rows need tables of equal length: the original has {n} rows, the table {m}; "
                "without alignment they can still be compared"
            )
        return np.arange(n, dtype=np.int64)
    rows = np.asarray(aligned)
    if rows.shape != (m,) or not np.issubdtype(rows.dtype, np.integer):
        raise InputError(f"aligned must hold one original row for each of the {m} released rows")
    if rows.min() < 0 or rows.max() >= n or np.bincount(rows, minlength=n).max() > 1:
        raise InputError(f"aligned must hold different rows from 0 to {n - 1} of the original")
    return rows.astype(np.int64)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:12]))
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"
