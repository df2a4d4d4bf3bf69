"""Categories, ordered or not."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.encoders.base import Absence, Array
from voronym.table.exact import Moments
from voronym.table.frame import Series
from voronym.table.schema import Column
from voronym.table.values import Columns, Values, first_rows

if TYPE_CHECKING:
    from voronym.table.summaries import LevelCounts

ONE_HOT = 64  # most categories that get a coordinate each
CODE_WIDTH = 64  # coordinates of a pseudo-random code, beyond that
FARTHEST = 4.0
"""Largest distance of two categories, in standard deviations: otherwise a rare category or gap in a nearly
constant column would weigh as much as all values of another column.
"""
_CODE_SEED = 0x766F726F  # fixed: the same categories get the same codes in every run
_BLOCK = 4096


class FittedLevels:
    """The distinct values of a fitted column, in its dtype, so that decoding only looks them up."""

    def __init__(self, column: Values) -> None:
        self.codes, self.values = column.codes, column.levels
        first = first_rows(self.codes, len(self.values) + 1)  # the last is the missing one
        gone = bool((self.codes < 0).any())
        self.native = column.series[first if gone else first[:-1]]
        self.position = {value: i for i, value in enumerate(self.values)}
        self.has_missing = gone

    def lookup(self, column: Values) -> NDArray[np.int64]:
        """Return the codes of another column in the fitted levels, or refuse it with a count."""
        if column.levels is self.values:  # the column was coded with these very levels
            return column.codes
        to = np.array([self.position.get(value, -2) for value in column.levels] + [-1], dtype=np.int64)
        codes = to[column.codes]
        strange = int((codes == -2).sum())
        if strange:
            raise SchemaError(
                f"{strange} values of {column.name!r} are of categories that it did not have when fitted"
            )
        return codes

    def gather(self, codes: NDArray[np.int64]) -> Series:
        """Return the values behind codes."""
        picked = self.native[np.where(codes < 0, len(self.values), codes)]
        return nw.maybe_reset_index(picked)


class KnownLevels(FittedLevels):
    """The levels of a column in all parts of a data set; a part is coded with them.

    Parameters
    ----------
    name : str
        The column.
    summary : LevelCounts
        Its values and how many records have each, merged.
    """

    def __init__(self, name: str, summary: LevelCounts) -> None:
        self.name, self.values = name, summary.ordered
        self.counts = np.array([summary.counts[value] for value in self.values], np.int64)
        self.missing = summary.missing
        self.has_missing = summary.missing > 0
        self.position = {value: i for i, value in enumerate(self.values)}
        self.series: pl.Series = summary.series(name)
        """The sorted values, followed by a missing one."""
        self.native = nw.from_native(self.series, series_only=True)
        self.codes: NDArray[np.int64] = np.zeros(0, np.int64)
        """The codes of the current records: see `bound`."""

    @property
    def every(self) -> pl.Series:
        """The sorted values, followed by a missing one if the column has any."""
        return self.series if self.has_missing else self.series.head(len(self.values))

    def bound(self, codes: NDArray[np.int64]) -> KnownLevels:
        """Return the same levels, fitted to records of these codes."""
        made = copy.copy(self)
        made.codes = codes
        return made

    def known(self, codes: NDArray[np.int64]) -> Values:
        """Return a column of these codes with known levels."""
        return CodedValues(self.gather(codes), codes, self.values)


class CodedValues(Values):
    """A column with known codes and levels; some levels may not occur."""

    def __init__(self, series: Series, codes: NDArray[np.int64], levels: list[Any]) -> None:
        super().__init__(series)
        vars(self)["_factorized"] = (codes, levels)


class Ordinal:
    """Ordered levels: encoded as standardised ranks, decoded to the nearest level of the column."""

    def __init__(self, given: Values, column: Column) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.levels: FittedLevels = FittedLevels(given)
        self.absence = Absence.fit(self.levels.codes < 0)
        self.ranks = _ranks(column, self.levels.values)
        observed = self.ranks[self.levels.codes[self.levels.codes >= 0]]
        self.mean, self.std = (float(observed.mean()), float(observed.std())) if len(observed) else (0.0, 0.0)

    @classmethod
    def of(cls, column: Column, summary: LevelCounts) -> Ordinal:
        """Build the encoder from statistics over all parts of a data set."""
        made = cls.__new__(cls)
        made.columns, made.kind = (column.name,), column.kind
        made.levels = levels = KnownLevels(column.name, summary)
        made.absence = Absence(summary.missing / (summary.missing + int(levels.counts.sum())))
        made.ranks = _ranks(column, levels.values)
        whole = [(int(rank), int(count)) for rank, count in zip(made.ranks, levels.counts, strict=True)]
        sums = Moments(
            sum(count for _, count in whole),
            Fraction(sum(rank * count for rank, count in whole)),
            Fraction(sum(rank * rank * count for rank, count in whole)),
        )
        made.mean, made.std = sums.mean, sums.deviation
        return made

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 1 + self.absence.width

    def encode(self, table: Columns) -> Array:
        """Return the coordinates of the rows, shape (n, width)."""
        codes = self.levels.lookup(table[self.columns[0]])
        out = np.zeros((len(codes), self.width))
        if self.std > 0.0:
            out[codes >= 0, 0] = (self.ranks[codes[codes >= 0]] - self.mean) / self.std
        out[:, 1:] = self.absence.encode(codes < 0, self.columns)
        return out

    def decode(self, C: Array) -> list[Series]:
        """Return one value per centroid for each column."""
        gone, observed = self.absence.decode(C)
        if not len(self.ranks):
            return [self.levels.gather(np.full(len(C), -1, np.int64))]
        rank = self.mean + self.std * (C[:, 0] / observed)
        order = np.argsort(self.ranks)
        ranks = self.ranks[order]
        above = np.searchsorted(
            (ranks[1:] + ranks[:-1]) / 2, np.round(rank, 9), side="left"
        )  # a tie: the lower
        return [self.levels.gather(np.where(gone, -1, order[above]))]

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        return (
            f"{self.columns[0]}: ordinal with {len(self.ranks)} levels, by rank, standardised; published "
            f"as the level nearest to the mean rank{self.absence.describe()}"
        )


def _ranks(column: Column, values: list[Any]) -> Array:
    """Return the rank of each level in the order of the column."""
    if column.categories is None:
        return np.arange(len(values), dtype=np.float64)
    place = {level: i for i, level in enumerate(column.categories)}
    return np.array([place[str(value)] for value in values], dtype=np.float64)


class Nominal:
    """Categories: encoded as corners of a simplex, or random directions if many; decoded by frequency.

    With one coordinate per category, the nearest category to a centroid is the most frequent of the cell.
    Random directions are only nearly orthogonal, so members of the cell are counted instead, if they are
    known.
    """

    def __init__(self, given: Values, column: Column) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.levels: FittedLevels = FittedLevels(given)
        codes = self._with_missing(self.levels.codes)
        count = len(self.levels.values) + self.levels.has_missing
        self._fit(np.bincount(codes, minlength=count))

    @classmethod
    def of(cls, column: Column, summary: LevelCounts) -> Nominal:
        """Build the encoder from statistics over all parts of a data set."""
        made = cls.__new__(cls)
        made.columns, made.kind = (column.name,), column.kind
        made.levels = levels = KnownLevels(column.name, summary)
        often = levels.counts
        if summary.missing or not len(often):
            often = np.append(often, summary.missing)
        made._fit(often)
        return made

    def _fit(self, often: NDArray[np.int64]) -> None:
        """Place the categories, given the number of records of each."""
        self.n_categories = count = len(often)
        self.alone = often == 1
        share = often / often.sum()
        if count <= ONE_HOT:
            self.codes = np.eye(count) if count > 2 else np.array([[0.0], [1.0]])[:count]
        else:
            draws = np.random.default_rng(_CODE_SEED).standard_normal((count, CODE_WIDTH))
            self.codes = draws / np.linalg.norm(draws, axis=1, keepdims=True)
        self.mean = share @ self.codes
        variance = float(share @ np.square(self.codes - self.mean).sum(axis=1))
        # Squared distances of two categories are 1 in one coordinate and 2 in several, before scaling.
        least = (1.0 if self.codes.shape[1] == 1 else 2.0) / FARTHEST**2
        self.scale = 1.0 / np.sqrt(max(variance, least)) if variance > 0.0 else 0.0
        self.points = (self.codes - self.mean) * self.scale

    def _with_missing(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(codes < 0, len(self.levels.values), codes)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.codes.shape[1])

    def encode(self, table: Columns) -> Array:
        """Return the coordinates of the rows, shape (n, width)."""
        codes = self.levels.lookup(table[self.columns[0]])
        if not self.levels.has_missing:
            Absence(0.0).encode(codes < 0, self.columns)
        return np.asarray(self.points[self._with_missing(codes)])

    def decode(self, C: Array) -> list[Series]:
        """Return one value per centroid for each column."""
        nearest = np.zeros(len(C), np.int64)
        if self.scale > 0.0:
            half = np.square(self.points).sum(axis=1) / 2
            for start in range(0, len(C), _BLOCK):  # blocks: m x categories would be too large
                rows = slice(start, start + _BLOCK)
                near = C[rows] @ self.points.T - half
                if self.n_categories <= ONE_HOT:
                    near = np.round(near, 9)  # a tie goes to the first category in sorted order
                nearest[rows] = np.argmax(near, axis=1)
        return [self.levels.gather(np.where(nearest == len(self.levels.values), -1, nearest))]

    def modes(self, cells: NDArray[np.int64], m: int) -> Series:
        """Return the most frequent category of each of m cells of the fitted rows.

        In a tie, a category of several records comes first. A category of one person is published
        only if every member of the cell has a unique category.
        """
        count = self.n_categories
        pairs, often = np.unique(cells * count + self._with_missing(self.levels.codes), return_counts=True)
        cell, code = np.divmod(pairs, count)
        best = np.lexsort((code, self.alone[code], -often, cell))
        mode = np.zeros(m, np.int64)
        mode[cell[best][::-1]] = code[best][::-1]  # the last write wins: the first of each cell
        return self.levels.gather(np.where(mode == len(self.levels.values), -1, mode))

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        how, unless = "one coordinate per category", ""
        if self.n_categories > ONE_HOT:
            how = f"a fixed pseudo-random direction in {CODE_WIDTH} coordinates per category"
            unless = ", or the one nearest to the centroid where its members are not known"
        gone = "; missing is a category of its own" if self.levels.has_missing else ""
        return (
            f"{self.columns[0]}: nominal with {self.n_categories} categories, {how}, scaled to "
            "variance 1, or less where nearly all are alike; published as the most frequent category of the "
            f"group{unless}{gone}"
        )
