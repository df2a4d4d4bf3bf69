"""Values that become missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.core.options import option, whole
from voronym.errors import InputError
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.table import Table


@step("suppress", guarantee="the values are nowhere in the column", main="values", needed=False)
@dataclass(frozen=True)
class Suppress(ColumnStep):
    """Make values missing: those that are named, those that few records have, or all.

    That a value is missing tells something, too: whoever knows the step knows which values can be there. It
    hides who has which of them, not that it is one of them.
    """

    values: tuple[str, ...] = list_option("the values; none for the whole column")
    rare: int | None = option(
        None, "the values of fewer people than that, instead of naming them", check=whole(2)
    )

    def check(self) -> None:
        """Refuse values and a rule at once."""
        if self.values and self.rare is not None:
            raise InputError(f"step '{self}': name the values, or give rare, not both")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns without the values."""
        return {name: table.without(name, self._where(table, name)) for name in self.columns}

    def _where(self, table: Table, name: str) -> np.ndarray:
        codes, levels = table.codes(name), [str(level) for level in table.levels(name)]
        if self.rare is not None:
            if table.persons is None:
                counts = np.bincount(codes[codes >= 0], minlength=len(levels) + 1)
            else:
                pairs = np.unique(np.column_stack([codes, table.persons]), axis=0)[:, 0]
                counts = np.bincount(pairs[pairs >= 0], minlength=len(levels) + 1)
            return np.asarray((codes >= 0) & (counts[codes] < self.rare))
        if not self.values:
            return np.asarray(codes >= 0)
        strange = [value for value in self.values if value not in levels]
        if len(self.columns) == 1 and len(strange) == len(self.values):
            raise InputError(
                f"step '{self}': column {name!r} has none of the {len(self.values)} values; write them as "
                "they stand in the table"
            )
        chosen = np.array([level in self.values for level in levels] + [False])
        return np.asarray((codes >= 0) & chosen[codes])

    def warns(self, before: Table, after: Table) -> str | None:
        """Say where a gap tells as much as the value did."""
        telling = []
        for name in self.columns:
            new = int((after.missing(name) & ~before.missing(name)).sum())
            old = int(before.missing(name).sum())
            if new and (self.values or self.rare) and new > old and after[name].observed:
                telling.append(f"{name!r} ({new:,} new beside {old:,} others)")
        if not telling:
            return None
        return (
            f"step '{self}': most gaps in {', '.join(telling)} are those that it made, so a gap tells that "
            "one of the suppressed values was there. Where that alone is too much, recode the column instead"
        )

    def says(self) -> str:
        """Return what it does."""
        what = "all values"
        if self.values:
            what = f"{len(self.values)} {'values' if len(self.values) > 1 else 'value'}"
        elif self.rare is not None:
            what = f"values of fewer than {self.rare} people"
        return f"{', '.join(self.columns)}: {what} made missing"
