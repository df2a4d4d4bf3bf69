"""What the ends of ranges may be.

The least and the greatest value of a group are somebody's values. With exact ends, each group tells two true
values in every column, and the table its extremes. So ends are taken from *atoms*: steps of a round size
(1, 2, 5, 10, ...; days, months, years), joined until k records or more lie in each. A range goes from
an atom to an atom, so whoever reads an end knows of k people that it may be of. Where the outermost step
has fewer than k people, its outer end is not told: "80 or more".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.ranges.tally import Tally
from voronym.table.frame import DAY, time_unit
from voronym.table.values import Values

Ints = NDArray[np.int64]
MOST_STEPS = 1_000_000
"""Steps that the range of a column of numbers has at most."""
ENOUGH = 0.5
"""Share of the records in steps of k or more, from which on steps are wide enough."""


class Steps(Protocol):
    """A way to cut a line into steps."""

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the step of each value."""
        ...

    def low(self, step: int) -> float:
        """Return the least value of a step."""
        ...

    def high(self, step: int) -> float:
        """Return the greatest value of a step, or where it ends, for numbers without a resolution."""
        ...

    def text(self, value: float) -> str:
        """Return an end as text."""
        ...


@dataclass(frozen=True)
class Even:
    """Steps of one width, from 0 on. ``whole``: all values are multiples of ``unit``."""

    width: float
    unit: float
    whole: bool
    exact: bool = False
    """Whether values are integers, to be divided as such."""

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the step of each value."""
        if self.exact:
            return np.floor_divide(values.astype(np.int64), int(self.width))
        if self.whole:  # counted in units, as 0.3 / 0.1 is a little less than 3
            units = np.rint(values.astype(np.float64) / self.unit).astype(np.int64)
            return np.asarray(np.floor_divide(units, round(self.width / self.unit)))
        step = np.floor(values.astype(np.float64) / self.width)
        step -= step * self.width > values  # a quotient may be rounded across a whole number
        step += (step + 1) * self.width <= values
        return step.astype(np.int64)

    def low(self, step: int) -> float:
        """Return the least value of a step."""
        return step * self.width

    def high(self, step: int) -> float:
        """Return its greatest one."""
        return (step + 1) * self.width - (self.unit if self.whole else 0.0)

    def text(self, value: float) -> str:
        """Return an end as text, with as many decimals as the steps have."""
        if self.exact:
            return str(round(value))
        places = max(0, -int(np.floor(np.log10(self.unit) + 1e-9)))
        made = f"{value:.{places}f}"
        return made if float(made) else made.lstrip("-")


@dataclass(frozen=True)
class Calendar:
    """Seconds, minutes, hours, days, months or years of times that are counted in ``unit``."""

    unit: str
    step: str
    many: int = 1

    def _at(self, values: Any) -> Any:
        return np.asarray(values).astype(f"datetime64[{self.unit}]")

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the number of the step of each time."""
        whole = self._at(values).astype(f"datetime64[{self.step}]").astype(np.int64)
        return np.asarray(np.floor_divide(whole, self.many))

    def low(self, step: int) -> float:
        """Return the first moment of a step."""
        start = (
            np.array(int(step) * self.many)
            .astype(f"datetime64[{self.step}]")
            .astype(f"datetime64[{self.unit}]")
        )
        return float(start.astype(np.int64))

    def high(self, step: int) -> float:
        """Return its last moment, in whole days or seconds."""
        least = 1 if self.unit == "D" else DAY[self.unit] // (1 if self._daily else 86_400)
        return self.low(step + 1) - least

    @property
    def _daily(self) -> bool:
        return self.step in ("D", "M", "Y")

    def text(self, value: float) -> str:
        """Return a moment as text."""
        return str(self._at(int(value)).astype("datetime64[D]" if self._daily else "datetime64[s]"))


@dataclass(frozen=True)
class Ranked:
    """The levels of an ordered column, each a step; or the distinct values themselves."""

    names: tuple[str, ...]
    places: tuple[float, ...]

    def bins(self, values: NDArray[Any]) -> Ints:
        """Return the ranks, which the values are."""
        return values.astype(np.int64)

    def low(self, step: int) -> float:
        """Return the place of a level."""
        return self.places[step]

    def high(self, step: int) -> float:
        """Return the same."""
        return self.places[step]

    def text(self, value: float) -> str:
        """Return the name of a level."""
        return self.names[self.places.index(value)]


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atoms of a column: where each begins and ends, as number and as text, and who is in which.

    Parameters
    ----------
    codes : array of int, shape (n,)
        The atom of each record; the number of atoms stands for missing.
    low, high : array, shape (atoms,)
        Ends.
    texts : sequence of pairs of str
        Ends as texts; None where an outer end is not told.
    """

    codes: Ints
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    texts: Sequence[tuple[str | None, str | None]]

    def __len__(self) -> int:
        return len(self.low)


def joined(
    values: NDArray[Any],
    missing: NDArray[np.bool_],
    steps: Steps,
    k: int,
    whose: NDArray[np.int64] | None = None,
) -> Atoms:
    """Return steps joined from below until k records, or units, lie in each; the last join what is before."""
    bins, back = np.unique(steps.bins(values), return_inverse=True)
    tally = Tally(back.reshape(-1), len(bins), None if whose is None else whose[~missing])
    often = tally.counts
    of_bin, first, last, held = np.empty(len(bins), np.int64), [], [], tally.begin()
    for at in range(len(bins)):
        if held.count == 0:
            first.append(at)
            last.append(at)
        of_bin[at], last[-1] = len(first) - 1, at
        held.add(at)
        if held.count >= k:
            held = tally.begin()
    if held.count and len(first) > 1:  # too few are left at the end
        of_bin[first.pop() :] -= 1
        last.pop(-2)
    numbers, stops = bins.tolist(), [int(bins[item]) for item in last]
    # An atom begins at its own first step where k people are there, else right after the atom before.
    starts = [
        numbers[own] if at == 0 or often[own] >= k else stops[at - 1] + 1 for at, own in enumerate(first)
    ]
    low = np.array([steps.low(start) for start in starts])
    high = np.array([steps.high(stop) for stop in stops])
    texts = [(steps.text(a), steps.text(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    result: list[tuple[str | None, str | None]] = list(texts)
    if result and often[0] < k:
        result[0] = (None, result[0][1])
    if result and often[-1] < k:
        result[-1] = (result[-1][0], None)
    if result:  # beyond the values there is nothing to lose
        line = [float(steps.low(int(b))) if isinstance(steps, Ranked) else None for b in (bins[0], bins[-1])]
        low[0] = max(low[0], float(values.min()) if line[0] is None else line[0])
        high[-1] = min(high[-1], float(values.max()) if line[1] is None else line[1])
    codes = np.full(len(missing), len(result), np.int64)
    codes[~missing] = of_bin[back.reshape(-1)]
    return Atoms(codes, low, high, result)


def atoms_of(
    column: Values,
    k: int,
    *,
    order: Sequence[str] | None = None,
    step: float | None = None,
    exact: bool = False,
    whose: NDArray[np.int64] | None = None,
) -> Atoms:
    """Return the atoms of a column of numbers, times or ordered levels.

    Parameters
    ----------
    column : Values
        The column.
    k : int
        Records in an atom, at least.
    order : sequence of str, optional
        The levels of an ordered column, lowest first.
    step : float, optional
        Width of a step: of numbers in their unit, of times in days. By default the least of 1, 2, 5, 10, ...
        (days, months, years) with which half of the records are in steps of k or more.
    exact : bool
        Take the values themselves: ends are then somebody's.
    whose : array of int, shape (n,), optional
        The household, or person, of each record: they are counted then.
    """
    missing = column.missing
    if order is not None:
        place = {level: rank for rank, level in enumerate(order)}
        of_level = np.array([place[str(level)] for level in column.levels], dtype=np.int64)
        ranks = of_level[column.codes[~missing]] if len(of_level) else np.empty(0, np.int64)
        levels = Ranked(tuple(order), tuple(map(float, range(len(order)))))
        return joined(ranks, missing, levels, 1 if exact else k, whose)
    values = column.numbers
    ladder = _ladder(column, values, step)
    if exact:
        return joined(values, missing, _finest(values, ladder[0]), 1)
    for steps in ladder:
        bins, back, many = np.unique(steps.bins(values), return_inverse=True, return_counts=True)
        often = many if whose is None else Tally(back.reshape(-1), len(bins), whose[~missing]).counts
        if many[often >= k].sum() >= ENOUGH * len(values):
            break
    return joined(values, missing, steps, k, whose)


def _ladder(column: Values, values: NDArray[Any], step: float | None) -> list[Steps]:
    """Return steps from the finest to those that hold all values."""
    if column.form in ("date", "datetime"):
        unit = "D" if column.form == "date" else time_unit(column.series)
        if step is not None:
            return [Calendar(unit, "D", _days(step, column.name))]
        daily: list[Steps] = [
            Calendar(unit, "D"),
            Calendar(unit, "M"),
            Calendar(unit, "Y"),
            Calendar(unit, "Y", 10),
        ]
        fine: list[Steps] = [Calendar(unit, "s"), Calendar(unit, "m"), Calendar(unit, "h")]
        days = unit == "D" or not (values % DAY[unit]).any()
        return [*([] if days else fine), *daily, Calendar(unit, "Y", 1000)]
    whole = column.form == "integer"
    span = float(values.max()) - float(values.min()) if len(values) else 0.0
    unit_, known = (1.0, True) if whole else _resolution(values, span)
    if step is not None:
        if not step > 0.0 or (whole and step != int(step)):
            raise InputError(f"the step of {column.name!r} must be a number above 0, whole for whole numbers")
        fits = known and step / unit_ == round(step / unit_)
        return [Even(float(step), unit_ if fits else min(unit_, _unit(float(step))), fits, whole)]
    out: list[Steps] = []
    width = unit_
    for power in range(400):
        for factor in (1, 2, 5):
            width = unit_ * factor * 10.0**power
            if span / width <= MOST_STEPS:
                out.append(Even(width, unit_, known, whole))
            if width > span:
                return out
    return out


def _unit(step: float) -> float:
    """Return the largest power of ten up to 1 that divides a step: ends are written with its decimals."""
    return next((10.0**-places for places in range(16) if round(step, places) == step), 1e-16)


def _days(step: float, name: str) -> int:
    if step < 1 or step != int(step):
        raise InputError(f"the step of {name!r} must be a whole number of days")
    return int(step)


def _resolution(values: NDArray[Any], span: float) -> tuple[float, bool]:
    """Return the power of ten that all values are multiples of, up to 4 decimals; or one that is fine."""
    if len(values) and np.abs(values).max() < 1e9:
        for places in range(5):
            if np.array_equal(np.round(values, places), values):
                return 10.0**-places, True
    return (10.0 ** np.floor(np.log10(span / 1000.0)) if span > 0.0 else 1.0), False


def _finest(values: NDArray[Any], first: Steps) -> Steps:
    """Return steps that are the values themselves, where they have a resolution."""
    if isinstance(first, Even) and not first.whole:
        return _Exact(tuple(np.unique(values).tolist()))
    if isinstance(first, Even):
        return Even(first.unit, first.unit, True, first.exact)
    return first


@dataclass(frozen=True)
class _Exact:
    """Distinct values as steps."""

    values: tuple[float, ...]

    def bins(self, values: NDArray[Any]) -> Ints:
        return np.searchsorted(np.array(self.values), values).astype(np.int64)

    def low(self, step: int) -> float:
        return self.values[step]

    def high(self, step: int) -> float:
        return self.values[step]

    def text(self, value: float) -> str:
        return repr(float(value))
