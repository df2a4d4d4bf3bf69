"""Rows on their way between workers: categories as codes, and the keys of all as numbers.

In the work folder categories are codes, places among the sorted levels of the whole data set, and all other
columns are as they are. A leaf is encoded, and its centres decoded, by the encoders of a table in memory;
only the summaries that these are built from come from everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.codec import Codec
from voronym.table.encoders import Nominal
from voronym.table.encoders.levels import CodedValues, KnownLevels
from voronym.table.schema import Schema
from voronym.table.summaries import LevelCounts, NumberSummary, Summary, plain_levels
from voronym.table.table import Table
from voronym.table.totals import Totals
from voronym.table.units import Units
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]
PERSON, HOME = "voronym: person", "voronym: household"
"""Columns of the work folder: a number for the person, and for the household, of each row."""


def coded(known: KnownLevels, values: Values) -> pl.Series:
    """Return the code of each value of a part; missing values stay missing."""
    series = plain_levels(values)
    if not known.values:
        return pl.Series(known.name, np.zeros(len(series), np.int32)).set(series.is_null(), None)
    try:
        if series.dtype == pl.String:
            places = series.cast(pl.Enum(known.values)).to_physical()
        else:
            levels = known.series.head(len(known.values)).cast(series.dtype)
            places = series.replace_strict(
                levels, list(range(len(levels))), default=None, return_dtype=pl.Int32
            )
        codes = places.cast(pl.Int32).alias(known.name)
        if codes.null_count() != series.null_count():
            raise pl.exceptions.InvalidOperationError
    except pl.exceptions.PolarsError:
        raise SchemaError(
            f"column {known.name!r} has values that it did not have when it was first read: did the files "
            "change meanwhile?"
        ) from None
    return codes


def numbered(codes: pl.Series) -> Ints:
    """Return codes as whole numbers; -1 for missing values."""
    return np.asarray(codes.fill_null(-1).to_numpy(), np.int64)


class Coding:
    """The coding of the rows of all parts, and of their keys as numbers.

    Parameters
    ----------
    schema : Schema
        Which columns are keys, and their kinds.
    summaries : mapping
        Summaries of keys and confidential columns, merged over all parts.
    rows : int
        Records in all.
    importance : mapping
        Factor on the differences of a key.
    """

    def __init__(
        self, schema: Schema, summaries: Mapping[str, Summary], rows: int, importance: Mapping[str, float]
    ) -> None:
        self.schema, self.importance = schema, dict(importance)
        keys = {name: summaries[name] for name in schema.keys if name in summaries}
        self.codec = Codec.of(schema, keys, rows)
        held = {encoder.columns[0]: getattr(encoder, "levels", None) for encoder in self.codec.encoders}
        self.levels = {name: levels for name, levels in held.items() if isinstance(levels, KnownLevels)}
        self.judged: dict[str, KnownLevels] = {
            name: KnownLevels(name, summary)
            for name, summary in summaries.items()
            if isinstance(summary, LevelCounts) and name not in schema.keys
        }
        self.types: dict[str, Any] = {
            name: summary.dtype for name, summary in summaries.items() if isinstance(summary, NumberSummary)
        }
        """Of keys that parts may read as different types."""

    @property
    def width(self) -> int:
        """Number of coordinates of a record."""
        return self.codec.width

    @property
    def kinds(self) -> list[Ints]:
        """The coordinates of each categorical key."""
        blocks = zip(self.codec.blocks, self.codec.encoders, strict=True)
        return [np.arange(block.start, block.stop) for block, part in blocks if isinstance(part, Nominal)]

    @property
    def scale(self) -> NDArray[np.float64]:
        """The factor for each coordinate before records are compared."""
        out = np.ones(self.width)
        for block in self.codec.blocks:
            given = [self.importance[name] for name in block.columns if name in self.importance]
            out[block.start : block.stop] = np.sqrt(max(given, default=1.0))
        return out

    def pack(self, table: Table, units: Mapping[str, pl.Series]) -> pl.DataFrame:
        """Return a part with codes for categorical keys, and with its units as columns."""
        frame: pl.DataFrame = table.frame.to_native()
        made = [coded(known, table[name]) for name, known in self.levels.items()]
        types = [pl.col(name).cast(kind) for name, kind in self.types.items() if name in frame.columns]
        return frame.with_columns(*made, *types, **units)

    def encode(self, packed: pl.DataFrame) -> NDArray[np.float64]:
        """Return packed keys as points, shape (n, d)."""
        frame = nw.from_native(packed, eager_only=True)
        known = {
            name: CodedValues(frame[name], numbered(packed[name]), levels.values)
            for name, levels in self.levels.items()
        }
        columns = Columns(frame, known)
        X = np.empty((len(packed), self.width))
        for encoder, block in zip(self.codec.encoders, self.codec.blocks, strict=True):
            X[:, block.start : block.stop] = encoder.encode(columns)
        return X

    def table(self, packed: pl.DataFrame, totals: Totals | None) -> Table:
        """Return packed rows as a table of real values, with the levels of the whole data set."""
        known: dict[str, Values] = {
            name: levels.known(numbered(packed[name]))
            for name, levels in self.levels.items()
            if name in packed.columns
        }
        apart = [name for name in (PERSON, HOME) if name in packed.columns]
        frame = packed.drop(apart).with_columns(values.series.to_native() for values in known.values())
        for name, levels in self.judged.items() if totals is not None else ():
            series = nw.from_native(frame[name], series_only=True)
            codes = numbered(coded(levels, Values(series)))
            known[name] = CodedValues(series, codes, levels.values)
        units = {what: closed(packed[name]) for what, name in (("person", PERSON), ("household", HOME))
                 if name in apart}  # fmt: skip
        return Table(
            nw.from_native(frame, eager_only=True),
            self.schema,
            known=known,
            units=Units(**units) if units else None,
            totals=totals,
        )


def closed(codes: pl.Series) -> Ints:
    """Return units as numbers 0, 1, 2, ... by order of appearance."""
    values = codes.to_numpy()
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[inverse.reshape(-1)]
