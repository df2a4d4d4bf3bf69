"""Doubts, their registry, and the refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voronym.core.registry import Registry
from voronym.errors import SchemaError, worded
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.schema import Column, Schema

Strength = Literal["refuse", "warn", "hint"]
_SAMPLE = 2_000
_EXACT = 2.0**53


@dataclass(frozen=True)
class Doubt:
    """A remark about a column that a person should check.

    Parameters
    ----------
    name : str
        Name of the doubt, such as "near-unique"; users allow it by this name.
    column : str
        The column; "" for the whole table.
    text : str
        A sentence with counts and advice, without a person's value.
    strength : {"refuse", "warn", "hint"}
        The consequence.
    public : bool
        Whether readers of the release may see it: it says nothing that the release does not show.
    """

    name: str
    column: str
    text: str
    strength: Strength = "warn"
    public: bool = False

    def __str__(self) -> str:
        return worded(self.text)


@dataclass(frozen=True, eq=False)
class Seen:
    """A column for doubts to examine: its values, its entry in the schema, and its table."""

    values: Values
    column: Column
    table: Columns

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def role(self) -> str:
        """Its role."""
        return self.column.role

    @property
    def whose(self) -> str:
        """Role and name, as the subject of a sentence."""
        result = {"other": "other column", "confidential": "confidential column"}
        return f"{result.get(self.role, self.role)} {self.name!r}"

    @cached_property
    def plain_name(self) -> str:
        """The name in small letters, with underscores between its words."""
        return plain(self.name)

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers; pandas stores them as floats if there are gaps."""
        if self.values.form != "float":
            return self.values.form == "integer"
        result = self.values.numbers
        return len(result) > 0 and bool(
            (np.abs(result) < _EXACT).all() and (result == np.floor(result)).all()
        )

    @cached_property
    def levels(self) -> list[Any]:
        """The distinct observed values, sorted; whole numbers need not be factorised."""
        if self.whole:
            values = np.unique(self.values.numbers)
            return list((values.astype(np.int64) if self.values.form == "float" else values).tolist())
        return self.values.levels

    @cached_property
    def texts(self) -> list[str]:
        """Up to some thousands of the distinct values, as texts without surrounding spaces."""
        if not self.whole and self.values.form not in ("string", "category"):
            return []
        levels = self.levels
        return [str(level).strip() for level in levels[:: max(1, len(levels) // _SAMPLE)]]

    @property
    def published_as_text(self) -> bool:
        """Whether a group publishes one of the values: a category, not a mean or a rank."""
        return self.role == "key" and self.column.kind == "nominal"


def plain(name: str) -> str:
    """Return a name in small letters, with underscores between its words.

    Examples
    --------
    >>> plain("Patient ID"), plain("patientId")
    ('patient_id', 'patient_id')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


Look = Callable[[Seen], Iterable[Doubt]]
LookAll = Callable[[Columns, "Schema"], Iterable[Doubt]]
DOUBTS: Registry[Look] = Registry("doubt about a column")
"""Functions that examine one column; identifiers are already dropped."""
TABLE_DOUBTS: Registry[LookAll] = Registry("doubt about a table")
"""Functions that examine the whole table as read, with its identifiers."""


def about_columns(table: Columns, schema: Schema) -> tuple[Doubt, ...]:
    """Return the doubts about every column of a table that is not dropped."""
    return tuple(_each(table, schema))


def _each(table: Columns, schema: Schema) -> Iterator[Doubt]:
    for column in schema:
        if column.role == "identifier" or column.name not in table:
            continue
        values = table[column.name]
        if values.form in ("mixed", "other", "empty"):
            continue
        seen = Seen(values, column, table)
        for look in DOUBTS.values():
            yield from look(seen)


def about_table(table: Columns, schema: Schema) -> tuple[Doubt, ...]:
    """Return the doubts about a table as read, with its identifiers."""
    return tuple(item for look in TABLE_DOUBTS.values() for item in look(table, schema))


def refuse(doubts: Sequence[Doubt], allowed: Mapping[str, Sequence[str]]) -> tuple[Doubt, ...]:
    """Raise for grave doubts that are not allowed by name; return those worth a warning.

    Parameters
    ----------
    doubts : sequence of Doubt
        All doubts.
    allowed : mapping
        From the name of a doubt to the columns for which it is allowed.
    """
    grave = [
        item for item in doubts if item.strength == "refuse" and item.column not in allowed.get(item.name, ())
    ]
    if grave:
        raise SchemaError("\n".join(item.text for item in grave))
    return tuple(entry for entry in doubts if entry.strength == "warn")
