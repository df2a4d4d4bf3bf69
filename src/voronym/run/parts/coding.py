"""Keys of the whole data set as numbers: the encoders of `voronym.table`, from merged statistics.

In the work folder categories are codes, places among the sorted levels of the whole data set, and all other
columns are as they are. A leaf is encoded, and its centres decoded, by the same rules as a table in memory;
only the figures come from everywhere.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.run.parts.exact import Moments, root
from voronym.run.parts.statistics import Levels, Numbers, Places, Statistic, plain_levels
from voronym.table.codec import Codec
from voronym.table.encoders import Location, Nominal, Numeric, Ordinal
from voronym.table.encoders.base import Absence
from voronym.table.encoders.levels import _CODE_SEED as CODE_SEED
from voronym.table.encoders.levels import CODE_WIDTH, ONE_HOT
from voronym.table.schema import Column, Schema
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]


class Known:
    """The levels of a column of the whole data set; stands in for those of a column in memory."""

    def __init__(self, name: str, found: Levels) -> None:
        self.name, self.values = name, found.ordered
        self.counts = np.array([found.counts[value] for value in self.values], np.int64)
        self.missing = found.missing
        self.has_missing = found.missing > 0
        self._series = found.series(name)
        self.codes: Ints = np.zeros(0, np.int64)
        """Those of the leaf that is at work."""

    def code(self, values: Values) -> pl.Series:
        """Return the code of each value of a part; missing where it is."""
        series = plain_levels(values)
        if not self.values:
            return pl.Series(self.name, np.zeros(len(series), np.int32)).set(series.is_null(), None)
        try:
            if series.dtype == pl.String:
                found = series.cast(pl.Enum(self.values)).to_physical()
            else:
                levels = self._series.head(len(self.values)).cast(series.dtype)
                found = series.replace_strict(
                    levels, list(range(len(levels))), default=None, return_dtype=pl.Int32
                )
            codes = found.cast(pl.Int32).alias(self.name)
            if codes.null_count() != series.null_count():
                raise pl.exceptions.InvalidOperationError
        except pl.exceptions.PolarsError:
            raise SchemaError(
                f"column {self.name!r} has values that it did not have when it was first read: did the files "
                "change meanwhile?"
            ) from None
        return codes

    @property
    def series(self) -> pl.Series:
        """The values, sorted, and a missing one behind them where there is one."""
        return self._series if self.has_missing else self._series.head(len(self.values))

    def lookup(self, column: Values) -> Ints:
        """Return the codes of a column of codes, -1 where it is missing."""
        codes: Ints = column.series.to_native().fill_null(-1).to_numpy().astype(np.int64)
        return codes

    def gather(self, codes: Ints) -> nw.Series[Any]:
        """Return the values behind codes."""
        picked = self._series.gather(np.where(codes < 0, len(self.values), codes))
        return nw.from_native(picked, series_only=True)


class WideNumeric(Numeric):
    """Numbers and times of the whole data set."""

    def __init__(self, column: Column, found: Numbers) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.form = found.form  # type: ignore[assignment]
        like = found.like if len(found.like) else pl.Series(column.name, [None], dtype=found.dtype)
        self.like = nw.from_native(like.alias(column.name), series_only=True)
        sums = found.moments
        self.absence = Absence(found.missing / (found.missing + sums.count))
        self.low, self.high = (found.low, found.high) if found.low is not None else (0, 0)
        self.unit = math.frexp(float(self.high) - float(self.low))[1]
        self.mean = self.std = 0.0
        if sums.count and self.low != self.high:
            offset = sums.total / sums.count - Fraction(self.low)
            self.mean = float(offset / Fraction(2) ** self.unit)
            self.std = root(sums.exact_variance / Fraction(4) ** self.unit)
        beyond = max(abs(float(self.low)), abs(float(self.high))) >= 1e9
        self.places = None if found.form != "float" or beyond else found.places
        self.step = max(found.step, 1)
        self.decimals, self.scale = found.decimals or (0, 0), found.scale  # type: ignore[assignment]


class WideOrdinal(Ordinal):
    """Ordered levels of the whole data set."""

    def __init__(self, column: Column, found: Levels) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.levels: Any = Known(column.name, found)
        counts, values = self.levels.counts, self.levels.values
        self.absence = Absence(found.missing / (found.missing + int(counts.sum())))
        if column.categories is None:
            self.ranks = np.arange(len(values), dtype=np.float64)
        else:
            place = {level: i for i, level in enumerate(column.categories)}
            self.ranks = np.array([place[str(value)] for value in values], dtype=np.float64)
        whole = [(int(rank), int(count)) for rank, count in zip(self.ranks, counts, strict=True)]
        many = sum(count for _, count in whole)
        sums = Moments(
            many,
            Fraction(sum(rank * count for rank, count in whole)),
            Fraction(sum(rank * rank * count for rank, count in whole)),
        )
        self.mean, self.std = sums.mean, sums.deviation


class WideNominal(Nominal):
    """Categories of the whole data set."""

    def __init__(self, column: Column, found: Levels) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.levels: Any = Known(column.name, found)
        often = self.levels.counts
        if found.missing or not len(often):
            often = np.append(often, found.missing)
        self.n_categories = count = len(often)
        self.alone = often == 1
        share = often / often.sum()
        if count <= ONE_HOT:
            self.codes = np.eye(count) if count > 2 else np.array([[0.0], [1.0]])[:count]
        else:
            draws = np.random.default_rng(CODE_SEED).standard_normal((count, CODE_WIDTH))
            self.codes = draws / np.linalg.norm(draws, axis=1, keepdims=True)
        self.mean = share @ self.codes
        variance = float(share @ np.square(self.codes - self.mean).sum(axis=1))
        self.scale = 1.0 / np.sqrt(variance) if variance > 0.0 else 0.0
        self.points = (self.codes - self.mean) * self.scale


class WideLocation(Location):
    """Places of the whole data set."""

    def __init__(self, columns: tuple[str, str], found: Places) -> None:
        self.columns = columns
        likes = (
            one if len(one) else pl.Series(name, [None], dtype=one.dtype)
            for name, one in zip(columns, found.likes, strict=True)
        )
        self.like = tuple(nw.from_native(one, series_only=True) for one in likes)  # type: ignore[assignment]
        count = found.moments[0].count
        self.absence = Absence(found.missing / (found.missing + count))
        self.range = list(found.ranges or ((0.0, 0.0), (0.0, 0.0)))
        self.mean = np.array([one.mean for one in found.moments])
        variance = sum((one.exact_variance for one in found.moments), Fraction(0))
        self.scale = 1.0 / root(variance) if variance > Fraction(1, 10**30) else 0.0


class Coding:
    """How the keys of all parts become numbers, and centres keys again.

    Parameters
    ----------
    schema : Schema
        Which columns are keys, and their kinds.
    found : mapping
        What is known of them, merged.
    n : int
        Records in all.
    """

    def __init__(self, schema: Schema, found: Mapping[str, Statistic], n: int) -> None:
        self.schema, self.n = schema, n
        self.encoders: list[Any] = []
        self.types: dict[str, Any] = {}
        """Of keys that parts may read as different types."""
        done: set[str] = set()
        for name in schema.keys:
            column = schema[name]
            if name in done:
                continue
            if column.kind == "location":
                pair = schema.location(name, schema.keys)
                self.encoders.append(WideLocation(pair, found[pair[0]]))  # type: ignore[arg-type]
                done |= set(pair)
                continue
            one = found[name]
            if isinstance(one, Numbers):
                self.encoders.append(WideNumeric(column, one))
                self.types[name] = one.dtype
            elif isinstance(one, Levels):
                make = WideOrdinal if column.kind == "ordinal" else WideNominal
                self.encoders.append(make(column, one))
        self.levels: dict[str, Known] = {
            one.columns[0]: one.levels for one in self.encoders if hasattr(one, "levels")
        }
        self.confidential = {
            name: Known(name, one)
            for name, one in found.items()
            if isinstance(one, Levels) and name not in schema.keys
        }

    @property
    def width(self) -> int:
        """Number of coordinates of a record."""
        return sum(one.width for one in self.encoders)

    def blocks(self) -> list[tuple[str, slice]]:
        """Return each key with its coordinates."""
        at = np.concatenate([[0], np.cumsum([one.width for one in self.encoders])]).tolist()
        return [(", ".join(one.columns), slice(at[i], at[i + 1])) for i, one in enumerate(self.encoders)]

    @property
    def kinds(self) -> list[Ints]:
        """The coordinates of each key that is categories."""
        return [
            np.arange(here.start, here.stop)
            for (_, here), one in zip(self.blocks(), self.encoders, strict=True)
            if isinstance(one, Nominal)
        ]

    def pack(self, table: Columns) -> pl.DataFrame:
        """Return a part with codes for the categories among its keys."""
        frame: pl.DataFrame = table.frame.to_native()
        made = [known.code(table[name]) for name, known in self.levels.items()]
        types = [pl.col(name).cast(kind) for name, kind in self.types.items()]
        return frame.with_columns(*made, *types)

    def encode(self, packed: pl.DataFrame) -> NDArray[np.float64]:
        """Return packed keys as points, shape (n, d)."""
        columns = Columns(nw.from_native(packed, eager_only=True))
        X = np.empty((len(packed), self.width))
        for (_, here), encoder in zip(self.blocks(), self.encoders, strict=True):
            X[:, here] = encoder.encode(columns)
        return X

    def decode(self, centroids: NDArray[np.float64], packed: pl.DataFrame, labels: Ints) -> pl.DataFrame:
        """Return the keys that groups publish, a row each, as values; categories of members are counted."""
        bound = []
        for encoder in self.encoders:
            if hasattr(encoder, "levels"):
                encoder = copy.copy(encoder)
                encoder.levels = copy.copy(encoder.levels)
                encoder.levels.codes = encoder.levels.lookup(
                    Values(nw.from_native(packed[encoder.columns[0]], series_only=True))
                )
            bound.append(encoder)
        made: pl.DataFrame = (
            Codec(self.schema, tuple(bound), len(packed)).decode(centroids, labels).to_native()
        )
        return made

    def for_everybody(self) -> NDArray[np.float64]:
        """Return what everybody would publish in one group, encoded, shape (d,).

        The mean of every number, as a value that can occur, and the most frequent of every category.
        """
        row: dict[str, Any] = {}
        for encoder in self.encoders:
            if isinstance(encoder, WideNominal):
                made = [encoder.levels.gather(np.array([_most_frequent(encoder.levels)]))]
            else:
                made = encoder.decode(np.zeros((1, encoder.width)))  # the mean of all
            row.update(zip(encoder.columns, (one.to_native() for one in made), strict=True))
        return np.asarray(self.encode(self.repack(pl.DataFrame(row)))[0])

    def repack(self, published: pl.DataFrame) -> pl.DataFrame:
        """Return published keys with codes for their categories, to be encoded."""
        columns = Columns(nw.from_native(published, eager_only=True))
        return published.with_columns(known.code(columns[name]) for name, known in self.levels.items())


def _most_frequent(known: Known) -> int:
    """Return the code of the category that most records have; -1 where most have none."""
    if not len(known.counts) or known.missing > int(known.counts.max()):
        return -1
    return int(np.argmax(known.counts))
