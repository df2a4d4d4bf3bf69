"""The change of each key: how many people kept their value, and how far the others moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.evaluate.pair import Pair, numbers
from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.sets import untrue, within
from voronym.generalize.spans import ANY, bounds
from voronym.table.alike import common, plain
from voronym.table.schema import Column, Schema

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class KeyChange(Plain):
    """A key before and after, record by record. Contains figures of the original: not for publication.

    Counts and sums of parts of a data set add up, see `joined`.

    Parameters
    ----------
    key, kind : str
        The column.
    records : int
        Records that are published.
    kept : int
        Records whose published value is the original one, including unchanged gaps.
    gone : int
        Records whose value was blanked.
    coarser : int
        Records with a text that stands for their value and others: a range, a code with stars, a level of a
        hierarchy. A text that does not stand for their value counts as another category (`other`). A text
        that voronym cannot read counts as coarser.
    moved : int
        Records with another number or date, or another level of an order.
    distance : float or None
        Mean distance of the moved records, in the column's unit: days for dates, levels for an order. None
        for categories, and if none moved.
    farthest : float or None
        Largest distance.
    filled : int
        Records with a value in place of a gap.
    """

    key: str
    kind: str
    records: int
    kept: int
    gone: int = 0
    coarser: int = 0
    moved: int = 0
    distance: float | None = None
    farthest: float | None = None
    filled: int = 0

    @property
    def other(self) -> int:
        """Number of records with another category or a range without their value, or with a filled gap."""
        return self.records - self.kept - self.gone - self.coarser - self.moved

    @property
    def unit(self) -> str:
        """The unit of distances, with a space in front; empty for numbers."""
        return {"datetime": " days", "ordinal": " levels", "location": " degrees"}.get(self.kind, "")

    def __str__(self) -> str:
        if self.kept == self.records:
            return f"{self.key}: all {self.records:,} records kept their value"
        share = min(np.floor(1000 * self.kept / self.records) / 10, 99.9)  # never 100 where one did not
        parts = [f"{self.kept:,} of {self.records:,} records kept their value ({share:.1f} %)"]
        if self.moved and self.distance is not None and self.farthest is not None:
            what = "the others" if self.moved == self.records - self.kept else f"{self.moved:,}"
            mean, most = amount(self.distance), amount(self.farthest)
            unit = self.unit.removesuffix("s") if mean == "1" else self.unit
            parts.append(f"{what} moved by {mean}{unit} on average, {most} at most")
        rest = {
            "became coarser": self.coarser,
            "missing now": self.gone,
            "with a value in place of a gap": self.filled,
            "with another category": self.other - self.filled,
        }
        parts += [f"{count:,} {what}" for what, count in rest.items() if count]
        return f"{self.key}: {', '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types."""
        return {**super().to_dict(), "other": self.other}


def amount(value: float) -> str:
    """Format a distance with three digits, and all those before the point.

    Examples
    --------
    >>> amount(0.1234), amount(12345.6)
    ('0.123', '12,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def key_changes(
    original: Any,
    released: Any,
    schema: Schema,
    rows: NDArray[Any],
    hierarchies: Mapping[str, Any] | None = None,
) -> tuple[KeyChange, ...]:
    """Compare the keys of a table with its original, record by record.

    Parameters
    ----------
    original, released : narwhals DataFrame
        The two tables.
    schema : Schema
        Roles and kinds of the original's columns.
    rows : array of int
        The original row of each released one.
    hierarchies : mapping, optional
        For each column, an argument of `voronym.Hierarchy.of`; its names stand for the values below them.

    Examples
    --------
    >>> before = nw.from_native(pl.DataFrame({"age": [20, 30, 60, 70]}), eager_only=True)
    >>> after = nw.from_native(pl.DataFrame({"age": [20, 34, 66, 70]}), eager_only=True)
    >>> print(*key_changes(before, after, Schema.build(before, keys=["age"]), np.arange(4)))
    age: 2 of 4 records kept their value (50.0 %), the others moved by 5 on average, 6 at most
    """
    order, trees = np.asarray(rows, np.int64), hierarchies or {}
    return tuple(
        _change(plain(original[name])[order], plain(released[name]), schema[name], trees.get(name))
        for name in schema.keys
        if name in released.columns and name in original.columns
    )


def pair_changes(pair: Pair, rows: NDArray[Any]) -> tuple[KeyChange, ...]:
    """Compare the keys of two comparable tables; ranges are compared as texts."""
    before, after = (nw.from_native(frame, eager_only=True) for frame in (pair.original, pair.published))
    return key_changes(before, after, pair.schema, rows, pair.trees)


def _change(before: pl.Series, after: pl.Series, column: Column, tree: Any) -> KeyChange:
    n = len(after)
    was, now = before.is_null().to_numpy(), after.is_null().to_numpy()
    first, second, fits = common(before, after)
    if not fits:
        first, second = before.cast(pl.String), after.cast(pl.String)
    same = (first == second).fill_null(False).to_numpy() | (was & now)
    gone = now & ~was
    filled = was & ~now
    base = KeyChange(column.name, column.kind, n, int(same.sum()), int(gone.sum()), filled=int(filled.sum()))
    rest = ~same & ~gone & ~filled
    order = column.categories if column.kind == "ordinal" else None
    x, y = (numbers(before, order), numbers(after, order)) if column.kind != "nominal" else (None, None)
    if x is None or y is None:
        coarse = rest & _strange(first, second)
        coarse[coarse] = ~_untrue(before.filter(coarse), second.filter(coarse), order, tree)
        return replace(base, coarser=int(coarse.sum()))
    coarse = rest & np.isnan(y)
    coarse[coarse] = ~_untrue(before.filter(coarse), after.filter(coarse), order, tree)
    moved = rest & ~np.isnan(x) & ~np.isnan(y)
    away = np.abs(x[moved] - y[moved]) / (86_400.0 if column.kind == "datetime" else 1.0)
    return replace(
        base,
        coarser=int(coarse.sum()),
        moved=int(moved.sum()),
        distance=float(away.mean()) if len(away) else None,
        farthest=float(away.max()) if len(away) else None,
    )


def _strange(before: pl.Series, after: pl.Series) -> Bools:
    """Return which published values occur in no original."""
    return (~after.is_in(before.unique().implode()) & after.is_not_null()).fill_null(False).to_numpy()


def _untrue(before: pl.Series, after: pl.Series, order: Sequence[str] | None, tree: Any) -> Bools:
    """Return which published ranges, codes and levels do not stand for the record's own value."""
    if not len(after) or after.dtype != pl.String:
        return np.zeros(len(after), bool)
    line, times = None if order or tree else numbers(before), before.dtype in (pl.Date, pl.Datetime)
    if line is not None:
        distinct = after.unique().to_list()
        inside = {text: ends for text in distinct if (ends := bounds(text, times=times)) is not None}
        shown = [inside.get(text) for text in after.to_list()]
        return np.array([ends is not None and not within(value, ends, times=times)
                         for value, ends in zip(line.tolist(), shown, strict=True)], bool)  # fmt: skip
    values, texts = before.cast(pl.String).to_list(), after.to_list()
    lengths = {len(value) for value in values}
    in_place = all(len(text) in lengths for text in set(texts) - {ANY})
    known = None if tree is None else Hierarchy.of(tree)
    return untrue(texts, values, in_place=in_place, tree=known, order=order)


def joined(parts: Sequence[Sequence[KeyChange]]) -> tuple[KeyChange, ...]:
    """Combine the changes of keys in parts into those of the whole data set."""
    out = []
    for same in zip(*parts, strict=True):
        counts = {
            field.name: sum(getattr(part, field.name) for part in same)
            for field in fields(KeyChange)
            if field.name in ("records", "kept", "gone", "coarser", "moved", "filled")
        }
        away = [part for part in same if part.distance is not None and part.farthest is not None]
        total = sum(part.moved * float(part.distance or 0.0) for part in away)
        out.append(
            KeyChange(
                same[0].key,
                same[0].kind,
                **counts,
                distance=total / counts["moved"] if away else None,
                farthest=max(float(part.farthest or 0.0) for part in away) if away else None,
            )
        )
    return tuple(out)
