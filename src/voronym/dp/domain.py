"""Public bounds and domains of columns, stated beforehand and never read from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.registry import meant
from voronym.errors import InputError, hint
from voronym.table.build import build
from voronym.table.frame import DAY, sample, time_unit
from voronym.table.schema import RECODED, Column
from voronym.table.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EARTH = {"lat": (-90.0, 90.0), "lon": (-180.0, 180.0)}
FINE = 10_000.0
"""Published decimals are rounded to about this number of steps in the public range."""


@dataclass(frozen=True)
class Range:
    """A column of numbers, times or ordered levels: from 0 to 1 of its public range.

    Parameters
    ----------
    name : str
        The column.
    low, high : float
        Its bounds, in the units of `voronym.table.frame.numbers`; the first and last place of levels.
    origin : str
        The source of the bounds.
    levels : tuple of str
        The levels of an ordinal column, lowest first; none for numbers and times.
    shown : tuple of str
        The bounds as people write them.
    """

    name: str
    low: float
    high: float
    origin: str
    levels: tuple[str, ...] = ()
    shown: tuple[str, str] = ("", "")

    @property
    def says(self) -> str:
        """The bounds in words."""
        return " < ".join(self.levels) if self.levels else f"{self.shown[0]} to {self.shown[1]}"

    def encode(self, table: Table) -> tuple[Floats, int]:
        """Return the positions of all values in the range, and the number of values clipped to its ends."""
        if self.levels:
            values = _places(table, self.name, self.levels).astype(np.float64)
        else:
            values = table.numbers(self.name).astype(np.float64)
            if not np.isfinite(values).all():
                raise InputError(
                    f"{self.name!r} has infinite values, which are outside all bounds: correct or leave "
                    "out these rows"
                )
        outside = int(((values < self.low) | (values > self.high)).sum())
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0), outside

    def decode(self, table: Table, places: Floats) -> nw.Series[Any]:
        """Return published values on the column's grid, from public numbers alone."""
        values = self.low + np.clip(places, 0.0, 1.0) * (self.high - self.low)
        if self.levels:
            return _labelled(table, self.name, self.levels, np.rint(values).astype(np.int64))
        like, form = sample(table.frame[self.name]), table.form(self.name)
        kept = np.zeros(len(values), bool)
        if form in ("integer", "date", "datetime"):
            step = 1
            if form == "datetime":
                unit = time_unit(like)
                step = DAY[unit] if self.high - self.low >= 100 * DAY[unit] else DAY[unit] // 86_400
            whole = [int(value) // step * step for value in np.rint(values).tolist()]
            limits = math.ceil(self.low), math.floor(self.high)
            return build(like, np.array([min(max(entry, limits[0]), limits[1]) for entry in whole]), kept)
        places_kept = max(0, -math.floor(math.log10((self.high - self.low) / FINE)))
        rounded = np.clip(np.round(values, places_kept), self.low, self.high) + 0.0
        if form == "decimal":
            from decimal import Decimal

            return build(like, [Decimal(f"{item:.{places_kept}f}") for item in rounded.tolist()], kept)
        return build(like, rounded, kept)


@dataclass(frozen=True)
class Domain:
    """A nominal column: a place in its public domain.

    Parameters
    ----------
    name : str
        The column.
    values : tuple of str
        All that it may hold.
    origin : str
        The source of the domain.
    """

    name: str
    values: tuple[str, ...]
    origin: str

    @property
    def says(self) -> str:
        """The domain in words."""
        few = self.values if len(self.values) <= 8 else (*self.values[:6], "…", self.values[-1])
        return ", ".join(few)

    def encode(self, table: Table) -> tuple[Ints, int]:
        """Return the position of each value in the domain."""
        return _places(table, self.name, self.values), 0

    def decode(self, table: Table, places: Ints) -> nw.Series[Any]:
        """Return published values."""
        return _labelled(table, self.name, self.values, places)


Bounds = Range | Domain


def bounds_of(
    table: Table, columns: Sequence[str], given: Mapping[str, Any], trees: Mapping[str, Sequence[str]]
) -> list[Bounds]:
    """Return the public bounds of some columns; refuse columns without bounds.

    Parameters
    ----------
    table : Table
        The records; only the kinds of columns are read.
    columns : sequence of str
        The columns that are published with noise.
    given : mapping
        The declared bounds: two ends, or a list of values.
    trees : mapping
        The values of declared hierarchies.
    """
    strange = [name for name in given if name not in table.schema]  # bounds of dropped columns do no harm
    if strange:
        raise InputError(
            f"the bounds name {', '.join(map(repr, strange))}, and the table has no such column"
            + meant(strange[0], [column.name for column in table.schema])
        )
    return [_of(table, table.schema[name], given.get(name), trees.get(name)) for name in columns]


def _of(table: Table, column: Column, given: Any, leaves: Sequence[str] | None) -> Bounds:
    name = column.name
    if column.kind == "text":
        raise InputError(
            f"{name!r} is free text, which has no public domain: drop it, or declare it nominal with its "
            f"values (kinds={{{name!r}: 'nominal'}}, bounds={{{name!r}: [...]}})"
        )
    if table.missing(name).any():
        raise InputError(
            f"{int(table.missing(name).sum()):,} values of {name!r} are missing, and differential privacy "
            "needs one in every row: complete them, give them a value of their own, or leave out the column"
        )
    if column.kind in ("nominal", "ordinal"):
        return _listed(table, column, given, leaves)
    if given is None and column.axis is not None:
        low, high = EARTH[column.axis]
        return Range(name, low, high, "degrees of the Earth", shown=(f"{low:g}", f"{high:g}"))
    if given is None:
        raise InputError(
            f"the bounds of {name!r} are not declared, and bounds taken from the data would reveal "
            "somebody's value: declare the range that anybody could have, "
            f"{hint('bounds', {name: 'LOW..HIGH'})}"
        )
    ends = [_end(table, name, end) for end in _pair(name, given)]
    if not all(map(math.isfinite, ends)) or not ends[0] < ends[1]:
        raise InputError(f"bounds of {name!r} must be two different ends, the lower first, not {given!r}")
    shown = tuple(f"{end:,}" if isinstance(end, int) else str(end) for end in _pair(name, given))
    return Range(name, ends[0], ends[1], "declared", shown=(shown[0], shown[1]))


def _listed(table: Table, column: Column, given: Any, leaves: Sequence[str] | None) -> Bounds:
    """Return the domain of a column of categories, or the range of ordered levels."""
    name, origin = column.name, "declared"
    if given is None and column.kind == "ordinal" and column.declared and column.categories:
        given, origin = column.categories, "the declared order"
    elif given is None and column.note == RECODED and column.categories:
        given, origin = column.categories, "the ranges of a step"
    elif given is None and leaves is not None:
        given, origin = leaves, "the declared hierarchy"
    elif given is None and table.form(name) == "boolean":
        given, origin = ("False", "True"), "true or false, by its type"
    if given is None:
        raise InputError(
            f"the values that {name!r} may have are not declared, and a domain taken from the data would "
            f"reveal that somebody has a rare value: {hint('bounds', {name: 'a|b'})}, or its hierarchy"
        )
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or not len(given):
        raise InputError(f"bounds of {name!r}, which is {column.kind}, must be a list of all its values")
    values = tuple(dict.fromkeys(str(value) for value in given))
    if column.kind == "ordinal" and len(values) > 1:
        return Range(name, 0.0, float(len(values) - 1), origin, values)
    return Domain(name, values, origin)


def _pair(name: str, given: Any) -> Sequence[Any]:
    fine = isinstance(given, Sequence) and not isinstance(given, (str, bytes)) and len(given) == 2
    if not fine:
        raise InputError(f"bounds of {name!r} must be two ends, such as (0, 120) or 0..120, not {given!r}")
    ends: Sequence[Any] = given
    return ends


def _end(table: Table, name: str, end: Any) -> float:
    """Return an end in the units of the column."""
    form = table.form(name)
    if form in ("date", "datetime"):
        try:
            moment = end if isinstance(end, (date, datetime)) else datetime.fromisoformat(str(end))
        except ValueError:
            raise InputError(f"bounds of {name!r} must be dates such as 2020-01-31, not {end!r}") from None
        day = date(moment.year, moment.month, moment.day).toordinal() - 719_163
        if form == "date":
            return float(day)
        unit = time_unit(table.frame[name])
        seconds = (
            moment.hour * 3600 + moment.minute * 60 + moment.second if isinstance(moment, datetime) else 0
        )
        return float(day * DAY[unit] + seconds * (DAY[unit] // 86_400))
    if isinstance(end, bool) or not isinstance(end, Real):
        raise InputError(f"bounds of {name!r} must be numbers, not {end!r}")
    return float(end)


def _places(table: Table, name: str, values: Sequence[str]) -> Ints:
    known = {value: place for place, value in enumerate(values)}
    levels = [_text(level) for level in table.levels(name)]
    strange = sum(level not in known for level in levels)
    if strange:
        raise InputError(
            f"{strange} values of {name!r} are not in its declared domain: declare all that anybody could "
            "have, or change these rows"
        )
    places = np.array([known[level] for level in levels] or [0], np.int64)
    return np.asarray(places[table.codes(name)], np.int64)


def _text(level: Any) -> str:
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level)


def _labelled(table: Table, name: str, values: Sequence[str], places: Ints) -> nw.Series[Any]:
    form, series = table.form(name), table.frame[name]
    if form == "boolean":
        truth = [values[place].lower() in ("true", "1") for place in places.tolist()]
        return nw.new_series(name, truth, nw.Boolean(), backend=series.implementation)
    if form in ("integer", "float"):
        numbers = np.array([float(value) for value in values])[places]
        made = numbers.astype(np.int64) if form == "integer" else numbers
        return build(sample(series), made, np.zeros(len(places), bool))
    texts = [values[place] for place in places.tolist()]
    return nw.new_series(name, texts, nw.String(), backend=series.implementation)
