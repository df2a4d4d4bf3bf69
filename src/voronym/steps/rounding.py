"""Rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.core.options import number, one_of, option
from voronym.steps import numbers
from voronym.steps.base import ColumnStep, Made, step
from voronym.table.frame import DAY, time_unit
from voronym.table.table import Table


@step("round", guarantee="every value is a multiple of the step", main="to")
@dataclass(frozen=True)
class Round(ColumnStep):
    """Round numbers to multiples of a step, and dates to a number of days."""

    to: float | None = option(None, "the step; of dates and times a number of days", check=number(above=0.0))
    how: str = option(
        "nearest", "to the nearest, or down: 17 to 10 in steps of 10", check=one_of("nearest", "down")
    )

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns rounded."""
        made = {}
        for name in self.columns:
            numbers.check_line(table, name, self)
            values, gone = numbers.read(table, name)
            size = float(self.to)  # type: ignore[arg-type]
            if table.form(name) == "datetime":
                size *= DAY[time_unit(table[name].series)]
            ratio = values / size
            whole = np.floor(ratio + 0.5 if self.how == "nearest" else ratio + 1e-12)
            made[name] = numbers.write(table, name, whole * size, gone)
        return made

    @property
    def by_row(self) -> bool:
        """Whether it depends only on the row: always."""
        return True

    def says(self) -> str:
        """Describe the step."""
        down = "down " if self.how == "down" else ""
        return f"{', '.join(self.columns)}: rounded {down}to multiples of {self.to:g}"
