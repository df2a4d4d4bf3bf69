"""Top and bottom coding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym.core.options import one_of, option
from voronym.core.percent import percent
from voronym.errors import GuaranteeError, InputError
from voronym.steps import numbers
from voronym.steps.base import ColumnStep, Made, step
from voronym.table.limits import shared_limit
from voronym.table.table import Table

LARGEST_SHARE = 0.5
"""If a limit affects more than this share of the records, a percentile was probably meant."""
DOMINANCE = 0.1
"""The p % rule of statistics offices for sums of turnovers, with p = 10: others' estimates of a person's
excess over the limit must be off by at least this share of it.
"""


def _beyond(table: Table, out: NDArray[np.bool_], far: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the excess of each person in a tail over its limit, summed over their rows."""
    if table.persons is None:
        return far[out]
    _, who = np.unique(table.persons[out], return_inverse=True)
    return np.bincount(who, weights=far[out]).astype(np.float64)


def _limit(name: str, value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, float) and not np.isfinite(value)):
        raise InputError(f"{name} must be a number, a date, or a share such as 1%, not {value!r}")
    if isinstance(value, str) and value.endswith("%"):
        _share(value)
    return value


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100.0
    except ValueError:
        share = -1.0
    if not 0.0 < share < 1.0:
        raise InputError(f"a share of the records is written 1%, above 0 and below 100, not {text}")
    return share


@dataclass(frozen=True)
class Limit(ColumnStep):
    """A limit to the values of columns."""

    limit: Any = option(None, "a number, a date, or the share of the records beyond it: 1%", check=_limit)
    publish: str = option(
        "limit",
        "the published value beyond it: the limit, or the mean of all values there",
        check=one_of("limit", "mean"),
    )

    sign: ClassVar[float] = 1.0
    beyond: ClassVar[str] = "above"
    end: ClassVar[str] = "highest"

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with values beyond the limit set to it."""
        return {name: self._one(table, name, least) for name in self.columns}

    def _one(self, table: Table, name: str, least: int) -> Any:
        numbers.check_line(table, name, self)
        values, gone = numbers.read(table, name)
        limit, out = self._placed(table, name, least), self.tail(table, name, least)
        if self.publish == "mean" and out.any():
            self._check_mean(name, _beyond(table, out, np.abs(values - limit)), max(least, 3))
            limit = float(values[out].mean())
        return numbers.write(table, name, np.where(out, limit, values), gone, keep=~out)

    def tail(self, table: Table, name: str, least: int) -> NDArray[np.bool_]:
        """Return which values are beyond the limit; at least ``least`` people share the limit."""
        values, gone = numbers.read(table, name)
        return np.asarray((self.sign * values > self.sign * self._placed(table, name, least)) & ~gone)

    def _placed(self, table: Table, name: str, least: int) -> float:
        """Return the limit: as requested, if the mean beyond it is published in its place."""
        return self._place(table, name, max(least, 1) if self.publish == "limit" else 1)

    def _check_mean(self, name: str, beyond: NDArray[np.float64], least: int) -> None:
        """Refuse the mean of a tail if it would reveal one person: too few people, or one dominates the sum.

        Everybody sees the number of people in the tail, and so knows the sum. The person with the
        second largest value can subtract their own. The others must then still hide the largest.
        """
        people = len(beyond)
        if people < least:
            raise GuaranteeError(
                f"step '{self}': only {people} people are {self.beyond} the limit of {name!r}, and their "
                f"mean would reveal their values. Take a limit with {least} or more, or leave out "
                "publish=mean"
            )
        most = np.sort(beyond)
        if most[:-2].sum() < DOMINANCE * most[-1]:
            raise GuaranteeError(
                f"step '{self}': one of the {people} people {self.beyond} the limit of {name!r} is so far "
                f"beyond the others that their mean would reveal that value, to within "
                f"{percent(DOMINANCE)} of "
                "how far it is. Take a limit that more people are beyond, or leave out publish=mean"
            )

    def _place(self, table: Table, name: str, least: int) -> float:
        """Return the limit; if it is a share, move it to a value that does not identify one person.

        The limit becomes a value of at least ``least`` people, or a round number. Rounding goes
        outwards, so that no fewer people are beyond it, and is coarse enough to stand for as many.
        """
        if not (isinstance(self.limit, str) and self.limit.endswith("%")):
            return numbers.number(table, name, self.limit, self)
        there = ~table.missing(name)
        values = self.sign * table.numbers(name).astype(np.float64)
        if not len(values):
            return 0.0
        persons = None if table.persons is None else table.persons[there]
        most = max(len(values) - int(np.ceil(_share(self.limit) * len(values))) - 1, 0)
        start = float(np.partition(values, most)[most])
        whole = table.form(name) not in ("float", "decimal")
        return self.sign * shared_limit(values, start, least, whole=whole, persons=persons)

    @property
    def by_row(self) -> bool:
        """Whether the limit is a given number, and is published itself."""
        return self.publish == "limit" and not (isinstance(self.limit, str) and self.limit.endswith("%"))

    def warns(self, before: Table, after: Table) -> str | None:
        """Warn if a share was probably meant as a percentile: 99% of the records are nearly all."""
        if (
            not (isinstance(self.limit, str) and self.limit.endswith("%"))
            or _share(self.limit) <= LARGEST_SHARE
        ):
            return None
        rest = f"{100 - 100 * _share(self.limit):g}%"
        return (
            f"step '{self}': {self.limit} is the share of the records that are {self.beyond} the limit, so "
            f"nearly all were changed. For the {self.end} {rest} write {self.name} "
            f"{','.join(self.columns)}={rest}"
        )

    def says(self) -> str:
        """Describe the step."""
        what = "the limit" if self.publish == "limit" else "the mean of those values"
        if isinstance(self.limit, str) and self.limit.endswith("%"):
            which = f"the {self.end} {self.limit} of the values"
        else:
            which = f"values {self.beyond} {self.limit}"
        return f"{', '.join(self.columns)}: {which} are published as {what}"


@step(
    "top",
    guarantee="no value is above the limit, or above the mean of the values that exceeded it",
    main="limit",
)
class Top(Limit):
    """Publish high values as a limit, or as the mean of all values above it."""


@step(
    "bottom", guarantee="no value is below the limit, or below the mean of the values that were", main="limit"
)
class Bottom(Limit):
    """Publish low values as a limit, or as the mean of all values below it."""

    sign: ClassVar[float] = -1.0
    beyond: ClassVar[str] = "below"
    end: ClassVar[str] = "lowest"
