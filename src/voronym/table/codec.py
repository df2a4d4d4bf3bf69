"""Key columns to coordinates, and centroids back to key columns."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError, SchemaError
from voronym.table.encoders import Encoder, Location, Nominal, Numeric, Ordinal
from voronym.table.encoders.levels import KnownLevels
from voronym.table.frame import Frame, Series
from voronym.table.kinds import check_kind
from voronym.table.schema import Schema
from voronym.table.summaries import LevelCounts
from voronym.table.table import Table

_ENCODERS: dict[str, Any] = {"numeric": Numeric, "datetime": Numeric, "ordinal": Ordinal, "nominal": Nominal}


@dataclass(frozen=True)
class Block:
    """The coordinates ``start..stop-1`` of one key; of two keys for a location."""

    name: str
    start: int
    stop: int
    kind: str
    columns: tuple[str, ...]


class Codec:
    """The keys of a table as points, standardised, and the way back.

    Made by `Codec.fit`. The way back is for centroids: decode them once, then gather the rows by label.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 40, 50, 60], "sex": ["f", "m", "f", "f"]})
    >>> codec = Codec.fit(table, Schema.build(table, keys=["age", "sex"]))
    >>> X = codec.encode(table)
    >>> X.shape
    (4, 2)
    >>> codec.decode(X[[0, 2, 3]].mean(axis=0, keepdims=True)).rows()
    [(47, 'f')]
    """

    def __init__(self, schema: Schema, encoders: tuple[Encoder, ...], n_fitted: int) -> None:
        self.schema = schema
        self.n_fitted = n_fitted
        self._encoders = encoders
        blocks, start = [], 0
        for encoder in encoders:
            stop = start + encoder.width
            blocks.append(Block(", ".join(encoder.columns), start, stop, encoder.kind, encoder.columns))
            start = stop
        self.blocks: tuple[Block, ...] = tuple(blocks)

    @classmethod
    def fit(cls, table: Any, schema: Schema | None = None) -> Codec:
        """Learn means, scales, levels and ranges of the keys.

        Parameters
        ----------
        table : Table or frame
            The records; columns other than the keys are not read.
        schema : Schema
            Says which columns are keys, and their kinds; a `Table` has one.
        """
        records = _keys(table, schema)
        if len(records) == 0:
            raise SchemaError("the table has no rows; there is nothing to anonymize")
        schema = records.schema
        encoders: list[Encoder] = []
        done: set[str] = set()
        for name in schema.keys:
            column = schema[name]
            check_kind(records[name], column)
            if name in done:
                continue
            if column.kind == "location":
                lat, lon = schema.location(name, schema.keys)
                encoders.append(Location(records[lat], records[lon]))
                done |= {lat, lon}
            else:
                encoders.append(_ENCODERS[column.kind](records[name], column))
        return cls(schema, tuple(encoders), len(records))

    @classmethod
    def of(cls, schema: Schema, summaries: Mapping[str, Any], n: int) -> Codec:
        """Build a codec from summaries of the keys, merged over all parts of a data set of n records."""
        encoders: list[Any] = []
        done: set[str] = set()
        for name in schema.keys:
            column = schema[name]
            if name in done or name not in summaries:
                continue
            summary = summaries[name]
            if column.kind == "location":
                pair = schema.location(name, schema.keys)
                encoders.append(Location.of(pair, summary))
                done |= set(pair)
            elif isinstance(summary, LevelCounts):
                encoders.append((Ordinal if column.kind == "ordinal" else Nominal).of(column, summary))
            else:
                encoders.append(Numeric.of(column, summary))
        return cls(schema, tuple(encoders), n)

    def bound(self, table: Table) -> Codec:
        """Return the codec fitted to the records of a table, so that their categories can be counted."""
        encoders = []
        for encoder in self._encoders:
            levels = getattr(encoder, "levels", None)
            if isinstance(levels, KnownLevels):
                encoder = copy.copy(encoder)
                encoder.levels = levels.bound(levels.lookup(table[encoder.columns[0]]))  # type: ignore[attr-defined]
            encoders.append(encoder)
        return Codec(self.schema, tuple(encoders), len(table))

    @property
    def encoders(self) -> tuple[Encoder, ...]:
        """The encoders, one for each block."""
        return self._encoders

    @property
    def width(self) -> int:
        """Number of coordinates of a record."""
        return self.blocks[-1].stop if self.blocks else 0

    def encode(self, table: Any) -> NDArray[np.float64]:
        """Return the records of a `Table` or frame as points, shape (n, d), float64 in C order and finite."""
        records = _keys(table, self.schema)
        X = np.empty((len(records), self.width))
        for block, part in self.parts(records):
            X[:, block.start : block.stop] = part
        return X

    def parts(self, table: Any) -> Iterator[tuple[Block, NDArray[np.float64]]]:
        """Yield the coordinates of one block after the other, for work that need not hold all of them."""
        records = _keys(table, self.schema)
        for encoder, block in zip(self._encoders, self.blocks, strict=True):
            yield block, encoder.encode(records)

    def decode(self, C: ArrayLike, labels: ArrayLike | None = None) -> Frame:
        """Return one row of key values per centroid, in the library and dtypes of the fitted table.

        Guarantee: a number or time lies between the smallest and the largest observed one, a category
        was observed, integers are integers, and there is no -0.0.

        Parameters
        ----------
        C : array, shape (m, d)
            Means of cells of encoded records.
        labels : array, shape (n,), optional
            The cell of each record of the fitted table. With it, the categories of a cell are counted. A
            centroid alone reveals the most frequent category only if each has its own coordinate, up to 64;
            beyond that, the nearest category is taken.
        """
        points = np.asarray(C, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.width:
            raise InputError(
                f"centroids must have {self.width} coordinates; got an array of shape {points.shape}"
            )
        cells = None if labels is None else self._cells(labels, len(points))
        made: dict[str, Series] = {}
        for encoder, block in zip(self._encoders, self.blocks, strict=True):
            if cells is not None and isinstance(encoder, Nominal):
                series = [encoder.modes(cells, len(points))]
            else:
                series = encoder.decode(points[:, block.start : block.stop])
            made.update(zip(encoder.columns, series, strict=True))
        return nw.from_dict({name: made[name] for name in self.schema.keys if name in made})

    def _cells(self, labels: ArrayLike, m: int) -> NDArray[np.int64]:
        cells = np.asarray(labels)
        fits = cells.shape == (self.n_fitted,) and np.issubdtype(cells.dtype, np.integer)
        if not fits or not np.array_equal(np.unique(cells), np.arange(m)):
            raise InputError(
                f"labels must name one of {m} cells, none of them empty, for each of the {self.n_fitted} "
                "records of the fitted table"
            )
        return cells.astype(np.int64)

    def describe(self) -> tuple[str, ...]:
        """Return a sentence per key: its encoding, and the treatment of missing values."""
        return tuple(encoder.describe() for encoder in self._encoders)

    def __repr__(self) -> str:
        return f"Codec({len(self.schema.keys)} keys in {self.width} coordinates)"


def _keys(table: Any, schema: Schema | None) -> Table:
    """Return the table itself, or the keys of a frame."""
    if isinstance(table, Table):
        return table
    return Table.of(table, schema, only=None if schema is None else schema.keys)
