"""Values that become missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.core.options import number, option, whole
from voronym.errors import InputError, SchemaError
from voronym.privacy.individual import match_probability, weights_of
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.classes import equivalence_classes
from voronym.table.schema import Schema
from voronym.table.table import Table


@step("suppress", guarantee="the values are nowhere in the column", main="values", needed=False)
@dataclass(frozen=True)
class Suppress(ColumnStep):
    """Blank values: named values, rare values, values of records at risk, or all.

    A gap also carries information: readers who know the step know which values it may stand for. The step
    hides which of these values a person has.
    """

    values: tuple[str, ...] = list_option("the values; none for the whole column")
    rare: int | None = option(
        None, "suppress values of fewer people than this, instead of named values", check=whole(2)
    )
    risk: float | None = option(
        None,
        "suppress values of records whose individual risk, by all keys, is above this",
        check=number(0.0, 1.0),
    )
    weights: str | None = option(
        None, "the column of sampling weights for that risk; without it the table is the whole population"
    )

    def check(self) -> None:
        """Refuse values together with a rule."""
        if bool(self.values) + (self.rare is not None) + (self.risk is not None) > 1:
            raise InputError(f"step '{self}': give exactly one of: values, rare, risk")
        if self.weights is not None and self.risk is None:
            raise InputError(f"step '{self}': weights are for risk, such as risk=0.1")

    def asks(self) -> tuple[str, ...]:
        """Return the columns that it reads."""
        return () if self.weights is None else (self.weights,)

    def check_columns(self, schema: Schema) -> None:
        """Refuse the option risk for a column that is no key, because intruders do not know its values."""
        super().check_columns(schema)
        if self.risk is not None and (odd := [name for name in self.columns if name not in schema.keys]):
            raise SchemaError(
                f"step '{self}': risk is the risk of being found by the keys, and {odd[0]!r} is no key"
            )

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns without the values."""
        return {name: table.without(name, self._where(table, name)) for name in self.columns}

    def _where(self, table: Table, name: str) -> np.ndarray:
        codes, levels = table.codes(name), [str(level) for level in table.levels(name)]
        if self.risk is not None:
            return np.asarray((codes >= 0) & (self._risks(table) > self.risk))
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
                f"step '{self}': column {name!r} has none of the {len(self.values)} values; write them "
                f"exactly as in the table"
            )
        chosen = np.array([level in self.values for level in levels] + [False])
        return np.asarray((codes >= 0) & chosen[codes])

    def _risks(self, table: Table) -> np.ndarray:
        """Return how likely a match with each record is correct."""
        labels = equivalence_classes(table.frame, table.keys).labels
        weights = np.ones(table.n) if self.weights is None else weights_of(table[self.weights])
        rows = np.arange(table.n)
        if table.persons is not None:  # a person with several rows in a class is one of it
            rows = np.unique(np.column_stack([labels, table.persons]), axis=0, return_index=True)[1]
        sizes = np.bincount(labels[rows])
        people = np.bincount(labels[rows], np.maximum(weights[rows], 1.0))
        return np.asarray(match_probability(sizes, sizes / people)[labels])

    def warns(self, before: Table, after: Table) -> str | None:
        """Warn if a gap reveals as much as the value did."""
        telling = []
        for name in self.columns:
            new = int((after.missing(name) & ~before.missing(name)).sum())
            old = int(before.missing(name).sum())
            if new and (self.values or self.rare) and new > old and after[name].observed:
                telling.append(f"{name!r} ({new:,} new, {old:,} others)")
        if not telling:
            return None
        return (
            f"step '{self}': most gaps in {', '.join(telling)} were made by this step, so a gap reveals "
            "that one of the suppressed values was there. If that is too much, recode the column instead"
        )

    def says(self) -> str:
        """Describe the step."""
        what = "all values"
        if self.values:
            what = f"{len(self.values)} {'values' if len(self.values) > 1 else 'value'}"
        elif self.rare is not None:
            what = f"values of fewer than {self.rare} people"
        elif self.risk is not None:
            what = f"values of records whose individual risk is above {self.risk:g}"
        return f"{', '.join(self.columns)}: {what} made missing"
