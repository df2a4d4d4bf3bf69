"""Recoding of categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.errors import InputError, SchemaError
from voronym.options import option, whole
from voronym.steps import picked
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.hierarchy import Hierarchy
from voronym.table.table import Table


@step("recode", guarantee="every value is one of the coarser ones")
@dataclass(frozen=True)
class Recode(ColumnStep):
    """Publish coarser categories: a level of a hierarchy, codes without their last signs, or values as one.

    Write ``level=N`` for codes without their last N signs, ``level=N hierarchy=FILE`` for a level of a
    hierarchy, or ``values=A,B to=C``.
    """

    level: int | None = option(
        None, "level of the hierarchy, 1 above the values; without one, signs that become *", check=whole(1)
    )
    hierarchy: str | None = option(None, "file of the hierarchy: value;level 1;level 2;... in a line")
    values: tuple[str, ...] = list_option("values that become one")
    to: str | None = option(None, "what those values become")

    def check(self) -> None:
        """Refuse none or several of the ways."""
        if (self.level is None) == (not self.values):
            raise InputError(
                f"step '{self}' needs one of: level=N (the last N signs of codes become *); level=N "
                "hierarchy=FILE; values=A,B to=C"
            )
        if (self.level is None and self.hierarchy) or bool(self.values) != (self.to is not None):
            raise InputError(f"step '{self}': hierarchy goes with level, and values go with to")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns recoded."""
        made = {}
        for name in self.columns:
            kind = table.schema[name].kind
            if kind not in ("nominal", "text"):
                raise SchemaError(
                    f"step '{self}': column {name!r} is {kind}, and recode takes categories. Take round, top "
                    f"or bottom, or declare it: --kind {name}=nominal"
                )
            made[name] = picked.texts(table, name, self._labels(table, name))
        return made

    def _labels(self, table: Table, name: str) -> list[str]:
        levels = [str(level) for level in table.levels(name)]
        if self.hierarchy is not None:
            tree = Hierarchy.read(self.hierarchy)
            counts = np.bincount(table.codes(name)[table.codes(name) >= 0], minlength=len(levels))
            tree.nodes(levels, column=name, counts=counts)  # says what it lacks
            return [tree.generalise(level, int(self.level)) for level in levels]  # type: ignore[arg-type]
        if self.level is not None:
            longest = max(map(len, levels), default=0)
            return [level[: max(longest - self.level, 0)].ljust(longest, "*") for level in levels]
        lacking = [value for value in self.values if value not in levels]
        if len(lacking) == len(self.values):
            raise InputError(
                f"step '{self}': column {name!r} has none of these values; write them as they stand in the "
                "table"
            )
        return [str(self.to) if level in self.values else level for level in levels]

    def says(self) -> str:
        """Return what it does."""
        if self.hierarchy is not None:
            what = f"recoded to level {self.level} of the hierarchy"
        elif self.level is not None:
            what = f"the last {self.level} signs of each code became *"
        else:
            what = f"{len(self.values)} values became {self.to!r}"
        return f"{', '.join(self.columns)}: {what}"
