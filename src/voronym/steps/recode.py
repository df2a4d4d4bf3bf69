"""Recoding of categories, and of numbers and dates to ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.options import option, read_value, whole
from voronym.errors import InputError, SchemaError, hint
from voronym.generalize import cuts
from voronym.generalize.hierarchy import Hierarchy
from voronym.steps import numbers, picked
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.encoders.numeric import _places
from voronym.table.frame import Series
from voronym.table.schema import Schema
from voronym.table.table import Table

WAYS = (
    "level=N (the last N characters of codes become *, or that level of its hierarchy); "
    "level=N hierarchy=FILE; values=A,B to=C; cuts=20,40,60 for numbers and dates"
)


@step("recode", guarantee="every value is one of the coarser ones")
@dataclass(frozen=True)
class Recode(ColumnStep):
    """Publish coarser values: a level of a hierarchy, shortened codes, several values as one, ranges.

    Write ``level=N`` for codes without their last N characters, ``level=N hierarchy=FILE`` for a level of a
    hierarchy (by default that of the recipe, if it has one for the column), ``values=A,B to=C``, or
    ``cuts=20,40,60`` for numbers and dates: *19 or less*, *20–39*, *40–59*, *60 or more*.
    """

    level: int | None = option(
        None,
        "level of the hierarchy, 1 above the values; without one, characters that become *",
        check=whole(1),
    )
    hierarchy: str | None = option(None, "file of the hierarchy: value;level 1;level 2;... in a line")
    values: tuple[str, ...] = list_option("values to merge into one")
    to: str | None = option(None, "the new value")
    cuts: tuple[str, ...] = list_option("where ranges of numbers or dates begin, in ascending order")

    def check(self) -> None:
        """Require exactly one kind of recoding."""
        if sum([self.level is not None, bool(self.values), bool(self.cuts)]) != 1:
            raise InputError(f"step '{self}' needs one of: {WAYS}")
        if self.level is None and self.hierarchy:
            raise InputError(f"step '{self}': name the level of the hierarchy: level=LEVEL")
        if bool(self.values) != (self.to is not None):
            lacking = "to=NAME says what the values become" if self.values else "values=A,B says which values"
            raise InputError(f"step '{self}' lacks a word: {lacking}")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns recoded."""
        made = {}
        for name in self.columns:
            kind = table.schema[name].kind
            if self.cuts:
                made[name] = self._ranged(table, name)
                continue
            if kind not in ("nominal", "text"):
                raise SchemaError(
                    f"step '{self}': column {name!r} is {kind}, and this recoding takes categories. Take "
                    f"cuts, round, top or bottom, or declare it: {hint('kinds', {name: 'nominal'})}"
                )
            made[name] = picked.texts(table, name, self._labels(table, name))
        return made

    def _labels(self, table: Table, name: str) -> list[str]:
        levels = [str(level) for level in table.levels(name)]
        if (tree := self.tree) is not None:
            counts = np.bincount(table.codes(name)[table.codes(name) >= 0], minlength=len(levels))
            tree.nodes(levels, column=name, counts=counts)  # raises with the missing word
            return [tree.generalise(level, int(self.level)) for level in levels]  # type: ignore[arg-type]
        if self.level is not None:
            return [_cut(level, self.level) for level in levels]
        lacking = [value for value in self.values if value not in levels]
        if len(lacking) == len(self.values):
            raise InputError(
                f"step '{self}': column {name!r} has none of these values; write them exactly as in the table"
            )
        return [str(self.to) if level in self.values else level for level in levels]

    def schema(self, table: Table) -> Schema | None:
        """Return the schema in which columns of ranges are ordinal; None if there is no range."""
        if not self.cuts:
            return None
        return cuts.ordinal_schema(table.schema, {name: self._ranges(table, name) for name in self.columns})

    def _ranged(self, table: Table, name: str) -> Series:
        """Return a column as ranges; a cut belongs to the range above it."""
        texts = np.array(self._ranges(table, name), dtype=object)  # refuses columns that have no numbers
        values, gone = numbers.read(table, name)
        result = texts[np.searchsorted(self._cuts(table, name), values, side="right")]
        result[gone] = None
        return nw.new_series(name, result.tolist(), nw.String(), backend=table.frame.implementation)

    def _ranges(self, table: Table, name: str) -> tuple[str, ...]:
        """Return the ranges of a column, the lowest first."""
        at, form = self._cuts(table, name), table.form(name)
        digits: int | None = 0
        if form != "integer":
            known = form not in ("date", "datetime") and not getattr(self, "public", False)
            digits = _places(table.numbers(name).astype(np.float64)) if known else None
        made = cuts.labels(at, self.cuts, days=form == "date", digits=digits)
        if made is None:
            raise InputError(
                f"step '{self}': between two of the cuts there is no value that {name!r} can have"
            )
        return made

    def _cuts(self, table: Table, name: str) -> NDArray[np.float64]:
        """Return the cuts as numbers of the column."""
        kind = table.schema[name].kind
        if kind not in ("numeric", "datetime"):
            raise SchemaError(
                f"step '{self}': column {name!r} is {kind}, and cuts are for numbers and dates. Take level "
                "or values"
            )
        numbers.check_line(table, name, self)
        at = np.array([numbers.number(table, name, read_value(cut), self) for cut in self.cuts])
        if (np.diff(at) <= 0).any():
            raise InputError(f"step '{self}': cuts must be in ascending order, each once")
        return at

    @property
    def by_row(self) -> bool:
        """Whether it depends only on the row: always."""
        return True

    @property
    def cuts_lines(self) -> bool:
        """Whether it makes ranges of numbers or dates."""
        return bool(self.cuts)

    def becomes(self, values: Sequence[str]) -> list[str]:
        """Return the new value of each category."""
        if self.level is not None:
            tree, level = self.tree, self.level
            return [_cut(value, level) if tree is None else tree.generalise(value, level) for value in values]
        return [str(self.to) if value in self.values else value for value in values]

    def in_public(self) -> Recode:
        """Return the step with labels of ranges made from the cuts alone, not from decimals in the data."""
        made = replace(self)
        if hasattr(self, "_given"):
            object.__setattr__(made, "_given", self._given)
        object.__setattr__(made, "public", True)
        return made

    def informed(self, trees: Mapping[str, Any]) -> Recode:
        """Return the step with the hierarchy of the recipe, if it names a level without a file."""
        if self.level is None or self.hierarchy is not None:
            return self
        if not set(self.columns) <= set(trees):
            return self
        result = [trees[name] for name in self.columns]  # no file is opened before there is a table
        if any(item != result[0] for item in result):
            raise InputError(f"step '{self}': its columns have different hierarchies; write a step for each")
        made = replace(self)
        object.__setattr__(made, "_given", result[0])
        return made

    @property
    def tree(self) -> Hierarchy | None:
        """The hierarchy of the step: from its file, or else from the recipe."""
        given = getattr(self, "_given", self.hierarchy)
        return None if given is None else Hierarchy.of(given)

    def left_of(self, trees: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hierarchies after the step; those of recoded columns start at the recoded level."""
        tree = self.tree if set(self.columns) & set(trees) else None
        if self.level is None or tree is None:
            return dict(trees)
        above = str(tree.above(self.level))
        return {name: above if name in self.columns else item for name, item in trees.items()}

    def says(self) -> str:
        """Describe the step."""
        if self.cuts:
            return f"{', '.join(self.columns)}: recoded to {len(self.cuts) + 1} ranges"
        if self.hierarchy is not None or hasattr(self, "_given"):
            what = f"recoded to level {self.level} of the hierarchy"
        elif self.level is not None:
            last = f"{self.level} characters" if self.level > 1 else "character"
            what = f"the last {last} of each code became *"
        else:
            what = f"{len(self.values)} values became {self.to!r}"
        return f"{', '.join(self.columns)}: {what}"


def _cut(code: str, length: int) -> str:
    """Replace the last characters of a code by stars; a short code becomes all stars.

    Characters are counted from the end: with one character less, 7, 36 and 126 become *, 3* and 12*. No
    code stays exact.
    """
    kept = max(len(code) - length, 0)
    return code[:kept] + "*" * (len(code) - kept)
