"""Grids: divide a line into bins, by even widths, the calendar, ranks, or single values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.table.frame import DAY, time_unit
from voronym.table.values import Values

Ints = NDArray[np.int64]
MOST_BINS = 1_000_000
"""Largest number of bins over the range of a numeric column."""


class Grid(Protocol):
    """A way to cut a line into bins."""

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the bin of each value."""
        ...

    def low(self, index: int) -> float:
        """Return the least value of a bin."""
        ...

    def high(self, index: int) -> float:
        """Return the greatest value of a bin, or its end for numbers without a resolution."""
        ...

    def text(self, value: float) -> str:
        """Return an end as text."""
        ...


@dataclass(frozen=True)
class Even:
    """Bins of one width, starting at 0. ``whole``: all values are multiples of ``unit``."""

    width: float
    unit: float
    whole: bool
    exact: bool = False
    """Whether values are integers; then bins are computed by integer division."""

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the bin of each value."""
        if self.exact:
            return np.floor_divide(values.astype(np.int64), int(self.width))
        if self.whole:  # counted in units, as 0.3 / 0.1 is a little less than 3
            units = np.rint(values.astype(np.float64) / self.unit).astype(np.int64)
            return np.asarray(np.floor_divide(units, round(self.width / self.unit)))
        bins = np.floor(values.astype(np.float64) / self.width)
        bins -= bins * self.width > values  # a quotient may be rounded across a whole number
        bins += (bins + 1) * self.width <= values
        return bins.astype(np.int64)

    def low(self, index: int) -> float:
        """Return the least value of a bin."""
        return index * self.width

    def high(self, index: int) -> float:
        """Return the greatest value of a bin."""
        return (index + 1) * self.width - (self.unit if self.whole else 0.0)

    def text(self, value: float) -> str:
        """Return an end as text, with as many decimals as the bins have."""
        if self.exact:
            return str(round(value))
        places = max(0, -int(np.floor(np.log10(self.unit) + 1e-9)))
        made = f"{value:.{places}f}"
        return made if float(made) else made.lstrip("-")


@dataclass(frozen=True)
class Calendar:
    """Seconds, minutes, hours, days, months or years of times that are counted in ``unit``."""

    unit: str
    period: str
    many: int = 1

    def _at(self, values: Any) -> Any:
        return np.asarray(values).astype(f"datetime64[{self.unit}]")

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the bin of each time."""
        whole = self._at(values).astype(f"datetime64[{self.period}]").astype(np.int64)
        return np.asarray(np.floor_divide(whole, self.many))

    def low(self, index: int) -> float:
        """Return the first moment of a bin."""
        start = (
            np.array(int(index) * self.many)
            .astype(f"datetime64[{self.period}]")
            .astype(f"datetime64[{self.unit}]")
        )
        return float(start.astype(np.int64))

    def high(self, index: int) -> float:
        """Return the last moment of a bin, in whole days or seconds."""
        least = 1 if self.unit == "D" else DAY[self.unit] // (1 if self._daily else 86_400)
        return self.low(index + 1) - least

    @property
    def _daily(self) -> bool:
        return self.period in ("D", "M", "Y")

    def text(self, value: float) -> str:
        """Return a moment as text."""
        return str(self._at(int(value)).astype("datetime64[D]" if self._daily else "datetime64[s]"))


@dataclass(frozen=True)
class Ranked:
    """The levels of an ordered column, each a bin; or the distinct values themselves."""

    names: tuple[str, ...]
    places: tuple[float, ...]

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the values as integers; they are ranks already."""
        return values.astype(np.int64)

    def low(self, index: int) -> float:
        """Return the position of a level."""
        return self.places[index]

    def high(self, index: int) -> float:
        """Return the position of a level, equal to `low`."""
        return self.places[index]

    def text(self, value: float) -> str:
        """Return the name of a level."""
        return self.names[self.places.index(value)]


@dataclass(frozen=True)
class Exact:
    """Distinct values, each a bin."""

    values: tuple[float, ...]

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the place of each value."""
        return np.searchsorted(np.array(self.values), values).astype(np.int64)

    def low(self, index: int) -> float:
        """Return the value."""
        return self.values[index]

    def high(self, index: int) -> float:
        """Return the value, equal to `low`."""
        return self.values[index]

    def text(self, value: float) -> str:
        """Return the value in all its digits."""
        return repr(float(value))


def grids(column: Values, values: NDArray[Any], width: float | None) -> list[Grid]:
    """Return grids of round widths, from the finest to a single bin; or only the grid of a given width."""
    if column.form in ("date", "datetime"):
        unit = "D" if column.form == "date" else time_unit(column.series)
        if width is not None:
            return [Calendar(unit, "D", _days(width, column.name))]
        daily: list[Grid] = [
            Calendar(unit, "D"),
            Calendar(unit, "M"),
            Calendar(unit, "Y"),
            Calendar(unit, "Y", 10),
        ]
        fine: list[Grid] = [Calendar(unit, "s"), Calendar(unit, "m"), Calendar(unit, "h")]
        days = unit == "D" or not (values % DAY[unit]).any()
        return [*([] if days else fine), *daily, Calendar(unit, "Y", 1000)]
    whole = column.form == "integer"
    span = float(values.max()) - float(values.min()) if len(values) else 0.0
    unit_, known = (1.0, True) if whole else _resolution(values, span)
    if width is not None:
        if not width > 0.0 or (whole and width != int(width)):
            raise InputError(
                f"the width of {column.name!r} must be a number above 0, whole for whole numbers"
            )
        fits = known and width / unit_ == round(width / unit_)
        return [Even(float(width), unit_ if fits else min(unit_, _unit(float(width))), fits, whole)]
    out: list[Grid] = []
    for power in range(400):
        for factor in (1, 2, 5):
            wide = unit_ * factor * 10.0**power
            if span / wide <= MOST_BINS:
                out.append(Even(wide, unit_, known, whole))
            if wide > span:
                return out
    return out


def _unit(width: float) -> float:
    """Return the largest power of ten up to 1 that divides a width: ends are written with its decimals."""
    return next((10.0**-places for places in range(16) if round(width, places) == width), 1e-16)


def _days(width: float, name: str) -> int:
    if width < 1 or width != int(width):
        raise InputError(f"the width of {name!r} must be a whole number of days")
    return int(width)


def _resolution(values: NDArray[Any], span: float) -> tuple[float, bool]:
    """Return the largest power of ten that divides all values, up to 4 decimals; otherwise a fine one."""
    if len(values) and np.abs(values).max() < 1e9:
        for places in range(5):
            if np.array_equal(np.round(values, places), values):
                return 10.0**-places, True
    return (10.0 ** np.floor(np.log10(span / 1000.0)) if span > 0.0 else 1.0), False


def finest(values: NDArray[Any], first: Grid) -> Grid:
    """Return the grid whose bins are the single values; the first grid for dates and ranks."""
    if isinstance(first, Even) and not first.whole:
        return Exact(tuple(np.unique(values).tolist()))
    if isinstance(first, Even):
        return Even(first.unit, first.unit, True, first.exact)
    return first


def public_width(bounds: Sequence[Any]) -> float:
    """Return the default width of published ranges: a round number, about a tenth of the bounds.

    Examples
    --------
    >>> public_width((0, 120)), public_width((0.0, 3.0))
    (10, 0.2)
    """
    rough = (float(bounds[1]) - float(bounds[0])) / 10.0
    power = 10.0 ** math.floor(math.log10(rough))
    width = max(step for step in (1.0, 2.0, 5.0) if step * power <= rough * (1.0 + 1e-9)) * power
    return int(width) if width >= 1.0 else width
