"""Numbers as means of a few: microaggregation of single columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import option, whole, yes_or_no
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.steps import numbers
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.steps.within import strata_rows
from voronym.table.table import Table


@step("microaggregate", guarantee="every value is the mean of at least `size` neighbouring ones", main="size")
@dataclass(frozen=True)
class Microaggregate(ColumnStep):
    """Publish the mean of neighbouring values instead of each, column by column or several together.

    For single confidential numbers: it hides the exact value and keeps totals, apart from rounding. It does
    not protect combinations of columns; k on the keys does.

    Notes
    -----
    For one column the groups are optimal (least squares); columns with ``together`` are grouped by MDAV, each
    scaled to variance 1. Equal values of one person or household count once.
    """

    size: int | None = option(None, "the least number of values in a group", check=whole(2))
    together: bool = option(False, "whether the columns share their groups", check=yes_or_no)
    by: tuple[str, ...] = list_option("columns whose values groups do not mix")

    averages: ClassVar[bool] = True
    once: ClassVar[bool] = True

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns as means."""
        for name in self.columns:
            numbers.check_line(table, name, self)
        blocks = [self.columns] if self.together else [(name,) for name in self.columns]
        made = {}
        for names in blocks:
            read = [numbers.read(table, name) for name in names]
            X = np.column_stack([values for values, _ in read])
            gone = np.column_stack([absent for _, absent in read])
            for rows in strata_rows(table, self.by):
                here = rows[~gone[rows].any(axis=1)]
                if 0 < len(here) < int(self.size):  # type: ignore[arg-type]
                    where = f" in a stratum by {', '.join(self.by)}" if self.by else ""
                    raise InputError(
                        f"step '{self}': only {len(here)} rows have a value{where}, fewer than "
                        f"{self.size}: take a smaller number, or larger strata"
                    )
                if len(here):
                    X[here] = self._means(X[here])
            lone = gone.any(axis=1, keepdims=True) & ~gone  # one of several columns is missing
            for j, name in enumerate(names):
                made[name] = numbers.write(table, name, X[:, j], gone[:, j] | lone[:, j])
        return made

    def _means(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each row's group."""
        spread = X.std(axis=0)
        scaled = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        method = METHODS["univariate" if X.shape[1] == 1 else "mdav"]
        part = method.partition(Problem.of(scaled, int(self.size)), Context(seed=0))  # type: ignore[arg-type]
        return np.asarray(part.centroids(X)[part.labels])

    def asks(self) -> tuple[str, ...]:
        """Return the columns of the strata."""
        return self.by

    def says(self) -> str:
        """Describe the step."""
        how = ", together" if self.together and len(self.columns) > 1 else ""
        where = f" within each {', '.join(self.by)}" if self.by else ""
        return f"{', '.join(self.columns)}: means of {self.size} neighbouring values or more{how}{where}"
