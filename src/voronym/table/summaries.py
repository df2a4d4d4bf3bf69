"""Summaries of columns that merge: counts, ranges and exact sums, with the same result in any order.

A table in memory has one summary per column. A data set of many parts has one per part. Encoders and models
use the merged summaries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from voronym.errors import SchemaError
from voronym.table.encoders.location import Location, _unit
from voronym.table.encoders.numeric import _places, _refuse_infinite, _step
from voronym.table.exact import Moments
from voronym.table.frame import time_unit
from voronym.table.kinds import MAX_CATEGORIES, check_kind
from voronym.table.schema import Column, Schema
from voronym.table.table import Table
from voronym.table.values import Values

MOST_LEVELS = 200_000
"""Largest number of distinct values of a confidential column in a model, over all parts."""


def wider(kind: Any, other: Any) -> Any:
    """Return the type that holds the values of both; raise TypeError if there is none."""
    if kind == other or other == pl.Null:
        return kind
    if kind == pl.Null:
        return other
    if kind.is_numeric() and other.is_numeric() and not (kind.is_decimal() or other.is_decimal()):
        if kind.is_float() or other.is_float():
            return pl.Float64()
        if kind.is_unsigned_integer() and other.is_unsigned_integer():
            return pl.UInt64()
        return pl.Float64() if pl.UInt64 in (kind, other) else pl.Int64()
    raise TypeError


@dataclass
class LevelCounts:
    """The distinct values of a column, and the number of records with each."""

    dtype: Any
    counts: dict[Any, int] = field(default_factory=dict)
    missing: int = 0

    @classmethod
    def of(cls, values: Values) -> LevelCounts:
        """Count the values of a column."""
        series = plain_levels(values)
        table = series.drop_nulls().value_counts()
        counts = dict(zip(table[series.name].to_list(), table["count"].to_list(), strict=True))
        return cls(series.dtype, counts, int(series.null_count()))

    def merge(self, other: LevelCounts) -> None:
        """Add counts from elsewhere."""
        self.dtype = wider(self.dtype, other.dtype)
        for value, count in other.counts.items():
            self.counts[value] = self.counts.get(value, 0) + count
        self.missing += other.missing

    def check(self, name: str, schema: Schema) -> None:
        """Refuse too many levels: of a key as in memory, of others as a driver can hold."""
        most = MAX_CATEGORIES if schema[name].role == "key" else MOST_LEVELS
        if len(self.counts) > most:
            raise SchemaError(
                f"column {name!r} has more than {most:,} different values, too many for categories that are "
                "counted over the whole data set: group them into broader ones, declare numbers numeric, or "
                "make it an identifier, which drops it"
            )

    @property
    def ordered(self) -> list[Any]:
        """The values, sorted: numbers by size, anything else by its text."""
        if self.dtype.is_numeric() or self.dtype == pl.Boolean:
            return sorted(self.counts)
        return sorted(self.counts, key=str)

    def series(self, name: str) -> pl.Series:
        """Return the sorted values, followed by a missing one."""
        return pl.Series(name, [*self.ordered, None], dtype=self.dtype, strict=False)


def plain_levels(values: Values) -> pl.Series:
    """Return a column in which equal values compare equal: NaN is missing, categories are texts."""
    native: pl.Series = values.series.to_native()
    if native.dtype.is_float():
        return native.fill_nan(None) + 0.0
    if isinstance(native.dtype, (pl.Categorical, pl.Enum)):
        return native.cast(pl.String)
    return native


@dataclass
class NumberSummary:
    """Counts, range and sums of numbers or times."""

    dtype: Any
    form: str
    like: pl.Series
    missing: int = 0
    moments: Moments = field(default_factory=Moments)
    low: Any = None
    high: Any = None
    places: int | None = 0
    step: int = 0
    decimals: tuple[Decimal, Decimal] | None = None
    scale: int = 0

    @classmethod
    def of(cls, values: Values, column: Column) -> NumberSummary:
        """Summarise the numbers of a column."""
        result = values.numbers
        _refuse_infinite(result, column)
        native: pl.Series = values.series.to_native()
        missing = len(values) - len(result)
        out = cls(native.dtype, values.form, native.drop_nulls().head(1), missing)
        if not len(result):
            return out
        out.low, out.high = result.min().item(), result.max().item()
        if float(out.high) - float(out.low) > 1e152 or max(abs(float(out.low)), abs(float(out.high))) > 1e152:
            raise SchemaError(f"the values of key {column.name!r} are too large to square; change its unit")
        if result.dtype.kind in "iu":
            out.moments = Moments.of(result, out.low).shifted(int(out.low))
        else:
            out.moments = Moments.of(result)
        out.places = _places(result) if values.form == "float" else 0
        out.step = _step(result, time_unit(values.series)) if values.form == "datetime" else 1
        if values.form == "decimal":
            present = [item for item in native.drop_nulls().to_list() if item.is_finite()]
            out.decimals = (min(present), max(present))
            out.scale = max(-int(entry.as_tuple().exponent) for entry in present)
        return out

    def example(self, name: str) -> pl.Series:
        """Return an example value of the column, or a missing one of its type."""
        return (self.like if len(self.like) else pl.Series(name, [None], dtype=self.dtype)).alias(name)

    def merge(self, other: NumberSummary) -> None:
        """Add findings from elsewhere."""
        self.dtype = wider(self.dtype, other.dtype)
        self.missing += other.missing
        if other.low is None:
            return
        if self.low is None:
            kept = self.missing
            vars(self).update(vars(other) | {"missing": kept, "dtype": self.dtype})
            return
        if other.form != self.form:  # whole numbers in one part, others in another
            self.form = "float"
            self.like = self.like.cast(self.dtype)
        if self.places is not None:
            self.places = None if other.places is None else max(self.places, other.places)
        step = min(self.step, other.step)
        apart = abs(int(self.low) - int(other.low)) if self.form == "datetime" else 0
        while step > 1 and apart % step:
            step = _shorter(step, self.dtype)
        self.step = step
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.moments = self.moments.merged(other.moments)
        if self.decimals is not None and other.decimals is not None:
            low, high = zip(self.decimals, other.decimals, strict=True)
            self.decimals, self.scale = (min(low), max(high)), max(self.scale, other.scale)


def _shorter(step: int, dtype: Any) -> int:
    """Return the next shorter of day, minute, second and the unit itself."""
    second = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[dtype.time_unit]
    return next((item for item in (86_400 * second, 60 * second, second) if item < step), 1)


@dataclass
class PlaceSummary:
    """Counts, ranges and sums of places on the globe, as points on the unit sphere."""

    likes: tuple[pl.Series, pl.Series]
    missing: int = 0
    moments: tuple[Moments, ...] = ()
    ranges: tuple[tuple[float, float], ...] | None = None

    @classmethod
    def of(cls, lat: Values, lon: Values) -> PlaceSummary:
        """Summarise two columns of degrees."""
        probe = Location.__new__(Location)
        mask = lat.missing | lon.missing
        angles = probe._angles(lat, lon, mask)
        like = tuple(item.series.to_native().drop_nulls().head(1) for item in (lat, lon))
        unit = _unit(*angles)
        sums = tuple(Moments.of(np.ascontiguousarray(column)) for column in unit.T)
        ranges = tuple((float(a.min()), float(a.max())) for a in angles) if len(unit) else None
        return cls(like, int(mask.sum()), sums, ranges)

    def examples(self, columns: tuple[str, str]) -> list[pl.Series]:
        """Return an example value of each column, or a missing one of its type."""
        return [
            like if len(like) else pl.Series(name, [None], dtype=like.dtype)
            for name, like in zip(columns, self.likes, strict=True)
        ]

    def merge(self, other: PlaceSummary) -> None:
        """Add findings from elsewhere."""
        self.missing += other.missing
        self.moments = tuple(a.merged(b) for a, b in zip(self.moments, other.moments, strict=True))
        self.likes = tuple(  # type: ignore[assignment]
            a if len(a) else b for a, b in zip(self.likes, other.likes, strict=True)
        )
        if self.ranges is None or other.ranges is None:
            self.ranges = self.ranges or other.ranges
        else:
            self.ranges = tuple(
                (min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self.ranges, other.ranges, strict=True)
            )


Summary = LevelCounts | NumberSummary | PlaceSummary


def summarize(table: Table, schema: Schema, counted: Iterable[str]) -> dict[str, Summary]:
    """Return statistics of the keys of a part, and of the confidential columns in ``counted``."""
    out: dict[str, Summary] = {}
    for name in schema.keys:
        column, values = schema[name], table[name]
        check_kind(values, column)
        if column.kind == "location":
            lat, lon = schema.location(name, schema.keys)
            if lat not in out:
                out[lat] = PlaceSummary.of(table[lat], table[lon])
        elif column.kind in ("numeric", "datetime") and values.form != "empty":
            out[name] = NumberSummary.of(values, column)
        else:
            out[name] = LevelCounts.of(values)
    for name in counted:
        out[name] = LevelCounts.of(table[name])
    for name, item in out.items():
        if isinstance(item, LevelCounts):
            item.check(name, schema)
    return out


def merge(
    into: dict[str, Summary], other: dict[str, Summary], name: str, schema: Schema
) -> dict[str, Summary]:
    """Merge the statistics of a part; ``name`` is its file, for messages."""
    if not into:
        return other
    for column, item in other.items():
        if type(into[column]) is not type(item):
            raise SchemaError(f"column {column!r} of {name!r} is of another kind than in the files before it")
        try:
            into[column].merge(item)  # type: ignore[arg-type]
        except TypeError:
            raise SchemaError(
                f"column {column!r} reads as another type in {name!r} than in the files before it: make it "
                "the same everywhere, or declare its kind"
            ) from None
        if isinstance(item, LevelCounts):
            into[column].check(column, schema)  # type: ignore[union-attr]
    return into
