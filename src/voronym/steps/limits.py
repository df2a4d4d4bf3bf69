"""Top and bottom coding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym.errors import GuaranteeError, InputError
from voronym.options import one_of, option
from voronym.steps import numbers
from voronym.steps.base import ColumnStep, Made, step
from voronym.table.table import Table


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
class _Limit(ColumnStep):
    limit: Any = option(None, "a number, a date, or the share of the records beyond it: 1%", check=_limit)
    publish: str = option(
        "limit",
        "what is published beyond it: the limit, or the mean of all there",
        check=one_of("limit", "mean"),
    )

    sign: ClassVar[float] = 1.0
    beyond: ClassVar[str] = "above"
    end: ClassVar[str] = "highest"

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns, with what is beyond the limit brought back to it."""
        return {name: self._one(table, name, least) for name in self.columns}

    def _one(self, table: Table, name: str, least: int) -> Any:
        numbers.check_line(table, name, self)
        values, gone = numbers.read(table, name)
        limit = self._place(table, name)
        out = (self.sign * values > self.sign * limit) & ~gone
        if self.publish == "mean" and out.any():
            people = int(out.sum()) if table.persons is None else len(np.unique(table.persons[out]))
            if people < max(least, 3):
                raise GuaranteeError(
                    f"step '{self}': only {people} people are {self.beyond} the limit of {name!r}, and their "
                    f"mean would tell about each of them. Take a limit with {max(least, 3)} or more, or "
                    "leave out publish=mean"
                )
            limit = float(values[out].mean())
        return numbers.write(table, name, np.where(out, limit, values), gone, keep=~out)

    def _place(self, table: Table, name: str) -> float:
        if not (isinstance(self.limit, str) and self.limit.endswith("%")):
            return numbers.number(table, name, self.limit, self)
        values = np.sort(self.sign * table.numbers(name).astype(np.float64))
        if not len(values):
            return 0.0
        return self.sign * float(
            values[max(len(values) - int(np.ceil(_share(self.limit) * len(values))) - 1, 0)]
        )

    def says(self) -> str:
        """Return what it does."""
        what = "the limit" if self.publish == "limit" else "the mean of those values"
        if isinstance(self.limit, str) and self.limit.endswith("%"):
            which = f"the {self.end} {self.limit} of the values"
        else:
            which = f"values {self.beyond} {self.limit}"
        return f"{', '.join(self.columns)}: {which} are published as {what}"


@step("top", guarantee="no value is above the limit, or the mean of those that were", main="limit")
class Top(_Limit):
    """Publish high values as a limit, or as the mean of all that are above it."""


@step("bottom", guarantee="no value is below the limit, or the mean of those that were", main="limit")
class Bottom(_Limit):
    """Publish low values as a limit, or as the mean of all that are below it."""

    sign: ClassVar[float] = -1.0
    beyond: ClassVar[str] = "below"
    end: ClassVar[str] = "lowest"
