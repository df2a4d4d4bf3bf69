"""Numbers and times."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError, hint
from voronym.table.build import build
from voronym.table.encoders.base import Absence, Array
from voronym.table.exact import root
from voronym.table.frame import DAY, Series, sample, time_unit
from voronym.table.schema import Column
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.summaries import NumberSummary

_WIDEST = 1e152  # widest range of a key: users will square its published values


class Numeric:
    """Numbers and times: ``(x - mean) / std``, back to the column's own dtype, inside its observed range."""

    def __init__(self, given: Values, column: Column) -> None:
        self.columns, self.kind = (column.name,), column.kind
        self.form = given.form
        self.like = sample(given.series)
        self.absence = Absence.fit(given.missing)
        values = given.numbers
        _refuse_infinite(values, column)
        self.low: Any = values.min().item() if len(values) else 0
        self.high: Any = values.max().item() if len(values) else 0
        self.mean, self.std = 0.0, 0.0
        span = float(self.high) - float(self.low)
        if span > _WIDEST:
            raise SchemaError(f"the values of key {column.name!r} are too large to square; change its unit")
        # Offsets are counted in a power of two near the range, which changes no digit of them, so that
        # squares of very small ones are not lost.
        self.unit = math.frexp(span)[1]
        if len(values):
            offsets = self._offsets(values)
            self.mean, self.std = float(offsets.mean()), float(offsets.std())
        if self.low == self.high:
            self.std = 0.0  # not the noise of a mean that misses the constant by a bit
        self.places = _places(values) if self.form == "float" else None
        self.step = _step(values, time_unit(given.series)) if self.form == "datetime" else 1
        if self.form == "decimal":
            present = [
                value for value in given.series.to_list() if isinstance(value, Decimal) and value.is_finite()
            ]
            self.decimals = (min(present), max(present)) if present else (Decimal(0), Decimal(0))
            self.scale = max((-int(value.as_tuple().exponent) for value in present), default=0)

    @classmethod
    def of(cls, column: Column, summary: NumberSummary) -> Numeric:
        """Build the encoder from statistics over all parts of a data set."""
        made = cls.__new__(cls)
        made.columns, made.kind, made.form = (column.name,), column.kind, summary.form  # type: ignore[assignment]
        made.like = nw.from_native(summary.example(column.name), series_only=True)
        sums = summary.moments
        made.absence = Absence(summary.missing / (summary.missing + sums.count))
        made.low, made.high = (summary.low, summary.high) if summary.low is not None else (0, 0)
        made.unit = math.frexp(float(made.high) - float(made.low))[1]
        made.mean = made.std = 0.0
        if sums.count and made.low != made.high:
            offset = sums.total / sums.count - Fraction(made.low)
            made.mean = float(offset / Fraction(2) ** made.unit)
            made.std = root(sums.exact_variance / Fraction(4) ** made.unit)
        beyond = max(abs(float(made.low)), abs(float(made.high))) >= 1e9
        made.places = None if summary.form != "float" or beyond else summary.places
        made.step = max(summary.step, 1)
        made.decimals, made.scale = summary.decimals or (Decimal(0), Decimal(0)), summary.scale
        return made

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 1 + self.absence.width

    def _offsets(self, values: NDArray[Any]) -> Array:
        """Return distances from the lowest value, in units: whole numbers past 2**53 keep their digits."""
        if values.dtype.kind in "iu" and int(self.high) - int(self.low) < 2**63:
            wide = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64)
            offsets = (wide - wide.dtype.type(self.low)).astype(np.float64)
        else:  # the same arithmetic: pandas stores whole numbers with gaps as floats
            offsets = values.astype(np.float64) - float(self.low)
        return np.ldexp(offsets, -self.unit)

    def coordinate(self, values: NDArray[Any]) -> Array:
        """Return the coordinates of values of a column that varies."""
        return (self._offsets(values) - self.mean) / self.std

    def encode(self, table: Columns) -> Array:
        """Return the coordinates of the rows, shape (n, width)."""
        mask, values = table[self.columns[0]].missing, table[self.columns[0]].numbers
        out = np.zeros((len(table), self.width))
        _refuse_infinite(values, Column(self.columns[0], "key", "numeric"))
        if self.std > 0.0:
            out[~mask, 0] = self.coordinate(values)
        out[:, 1:] = self.absence.encode(mask, self.columns)
        return out

    def decode(self, C: Array) -> list[Series]:
        """Return one value per centroid for each column."""
        gone, observed = self.absence.decode(C)
        offsets = np.ldexp(self.mean + self.std * (C[:, 0] / observed), self.unit)
        return [build(self.like, _fit(offsets, self), gone)]

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        if self.absence.share == 1.0:
            rule = "left out of the distance"
        elif self.std == 0.0:
            rule = "constant, so it does not count in the distance"
        elif self.form in ("date", "datetime"):
            rule = "as a time on a line, standardised; published as the mean, at the column's own resolution"
        else:
            whole = ", rounded to a whole number" if self.form == "integer" or self.places == 0 else ""
            if self.places:
                whole = (
                    f", rounded to {self.places} decimals" if self.places > 1 else ", rounded to one decimal"
                )
            rule = f"standardised; published as the mean{whole}"
        return f"{self.columns[0]}: {self.kind}, {rule}{self.absence.describe()}"


def _fit(offsets: Array, encoder: Numeric) -> Any:
    """Return offsets as values of the column: rounded to its resolution, inside its range, without -0.0."""
    low, high = encoder.low, encoder.high
    if encoder.form in ("float", "empty"):
        means = _tidy(offsets + low, low, high)
        if encoder.places is not None:
            means = np.clip(np.round(means, encoder.places), low, high) + 0.0
        return means
    if encoder.form == "decimal":
        least, most = encoder.decimals
        exact = (least + Decimal(value) for value in offsets.tolist())
        return [min(max(round(value, encoder.scale), least), most) for value in exact]
    span = int(high) - int(low)
    step = encoder.step
    if span < 2**53:
        whole = np.clip(np.rint(offsets / step) * step, 0, span).astype(np.int64)
        if low < 2**63 - span - 1:
            return whole + np.int64(low)
        return whole.astype(np.uint64) + np.uint64(low)
    digits = 14 - len(
        str(span)
    )  # a float has no more digits: further ones are noise (nanoseconds over years)
    rounded = (round(round(value), digits) for value in offsets.tolist())
    values = [int(low) + min(max((value + step // 2) // step * step, 0), span) for value in rounded]
    return np.array(values, dtype=np.int64 if high < 2**63 else np.uint64)


def _places(values: NDArray[Any]) -> int | None:
    """Return the number of decimals of all values, up to 4; None if some have more.

    A mean with more decimals than the values would reveal the exact sum of the cell.
    """
    if len(values) == 0 or np.abs(values).max() >= 1e9:
        return None
    return next((p for p in range(5) if np.array_equal(np.round(values, p), values)), None)


def _step(values: NDArray[Any], unit: str) -> int:
    """Return the unit (day, minute or second) of which all times are multiples, counted from the first."""
    second = DAY[unit] // 86_400
    offsets = values - values.min() if len(values) else values
    return next((step for step in (DAY[unit], 60 * second, second) if not (offsets % step).any()), 1)


def _tidy(values: Array, low: float, high: float) -> Array:
    """Round off the noise of summation (to 12 digits of the range), clip, and turn -0.0 into 0.0."""
    span = high - low
    if np.isfinite(span) and 1e-280 < span < 1e280:
        rounded = np.round(values, int(11 - np.floor(np.log10(span))))
        values = np.where(np.isfinite(rounded), rounded, values)
    return np.clip(values, low, high) + 0.0


def _refuse_infinite(values: NDArray[Any], column: Column) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        count = int((~np.isfinite(values)).sum())
        raise SchemaError(
            f"{column.kind} key {column.name!r} has {count} infinite values out of {len(values)}; "
            f"make them missing ({hint('missing', 'inf,-inf')}), or numbers"
        )
