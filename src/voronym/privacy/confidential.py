"""Shared parts of the models of confidential columns: the columns, every class, the worst of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from voronym.errors import InputError
from voronym.privacy.base import Finding
from voronym.privacy.cells import Judge
from voronym.privacy.level import Floats, Levels, levels
from voronym.privacy.people import held_by_all, of_people, of_rows, once, pairs, with_known
from voronym.privacy.text import TextModel
from voronym.table.classes import Classes, check_columns
from voronym.table.table import Table

_WORST = 5


class ConfidentialModel(TextModel):
    """A model that measures confidential columns, class by class.

    A subclass is a frozen dataclass with a field ``column`` and offers `judge`. It applies to the named
    column, or to all confidential columns; the finding is that of the worst column.
    """

    column: str | None
    confidential: ClassVar[bool] = True
    merging: ClassVar[bool] = True  # type: ignore[misc]
    knows: ClassVar[bool] = False
    """Whether a value that all people of a class share counts as their only value, if people have several
    values: see `voronym.privacy.people`.
    """

    def __post_init__(self) -> None:
        if self.column is not None and not isinstance(self.column, str):
            raise InputError(f"{self.name}: column must be the name of a column, a text, not {self.column!r}")

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column."""
        raise NotImplementedError

    def judges(self, table: Table) -> tuple[Judge, ...]:
        """Return a judge for every column of the model; for people, if rows are not people."""
        if table.persons is None:
            return tuple(self.judge(column) for column in self.levels(table))
        made = [pairs(column, table.persons) for column in self.levels(table)]
        return tuple(of_people(self.judge(column), owner, knows=self.knows) for column, owner in made)

    def row_judges(self, table: Table) -> tuple[Judge, ...]:
        """Return a judge of partitions of the rows for every column; people count once for each value."""
        persons = table.persons
        if persons is None:
            return self.judges(table)
        return tuple(of_rows(self.judge(column), persons, knows=self.knows) for column in self.levels(table))

    def levels(self, table: Table) -> tuple[Levels, ...]:
        """Return the model's columns as levels; kinds and orders come from the schema."""
        names = table.confidential if self.column is None else (self.column,)
        if not names:
            raise InputError(
                f"{self.name} needs a confidential column and none is named; "
                "name the columns that an intruder wants to learn"
            )
        check_columns(table.frame, names, "confidential" if self.column is None else f"column of {self.name}")
        return tuple(levels(table, name) for name in names)

    def measure(self, table: Table) -> Finding:
        """Measure every class of the table, for each column; O(n log n) per column.

        ``worst`` lists the classes furthest from the requirement by size and value; without a requirement,
        the worst of all. ``detail`` has the figures of each column.
        """
        seen = [self._seen(column, table) for column in self.levels(table)]
        judges, result = [judge for judge, _, _ in seen], [values for _, _, values in seen]
        totals = [_total(judge, values) for judge, _, values in seen]
        at_most = judges[0].at_most
        # Ties go to the first column, in the order of the schema.
        worst = int(np.argmax(totals) if at_most else np.argmin(totals))
        columns = {
            judge.levels.column: self.describe(judge, classes, values) for judge, classes, values in seen
        }
        detail: dict[str, object] = {
            "column": judges[worst].levels.column,
            "records": table.n,
            "classes": len(table.classes.sizes),
            "k": int(table.heads.min()),
            "keys": list(table.keys),
            "columns": columns,
        }
        return Finding(
            self.name,
            totals[worst],
            self.required,
            all(_all_hold(judge, values) for judge, values in zip(judges, result, strict=True)),
            _places(judges, table.classes, result),
            detail,
            self.about(judges[worst]),
            judges[worst].strict,
            at_most,
            judges[worst].additive,
        )

    def _seen(self, column: Levels, table: Table) -> tuple[Judge, Classes, Floats]:
        """Measure the classes of a table by one column; count each distinct value of a person once."""
        classes, persons = table.classes, table.persons
        if persons is None:
            judge = self.judge(column)
            return judge, classes, judge.values(classes.labels, len(classes.sizes))
        column, classes, owner = once(column, classes, persons)
        judge = self.judge(column)
        values = judge.values(classes.labels, len(classes.sizes))
        if self.knows:
            known = held_by_all(column, classes.labels, owner, len(classes.sizes))
            values = with_known(judge, values, known)
        return judge, classes, values

    def about(self, judge: Judge) -> str:
        """Return a few words on the value, for the printed finding."""
        return judge.levels.column

    def describe(self, judge: Judge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column as plain types."""
        below = np.zeros(len(values), bool) if judge.additive else ~np.asarray(judge.holds(values), bool)
        out: dict[str, object] = {
            "value": _total(judge, values),
            "holds": _all_hold(judge, values),
            "levels": judge.levels.size,
            "missing": int(judge.total[-1]) if judge.levels.missing else 0,
            "discretisation": judge.levels.how,
        }
        if not judge.additive:
            out["classes_failing"] = int(below.sum())
            out["records_failing"] = int(classes.sizes[below].sum())
            out["mean"] = math.fsum(classes.sizes * values) / int(classes.sizes.sum())
        return out


def _total(judge: Judge, values: Floats) -> float:
    if judge.additive:
        return math.fsum(values)  # exactly rounded: the order of rows numbers the classes
    return float(values.max() if judge.at_most else values.min())


def _all_hold(judge: Judge, values: Floats) -> bool:
    return bool(np.all(judge.holds(values)))


def _places(
    judges: Sequence[Judge], classes: Classes, floatss: Sequence[Floats]
) -> tuple[dict[str, object], ...]:
    """Return the worst classes over all columns: column, size and value, without anybody's values."""
    rows = []
    for order, (judge, values) in enumerate(zip(judges, floatss, strict=True)):
        if judge.required is not None:
            far = np.asarray(judge.severity(values))
            bad = np.flatnonzero(far > 0)
        else:
            far = values if judge.at_most else -values
            bad = np.arange(len(values))
        # Size breaks ties, never the position, which depends on the order of the rows.
        first = bad[np.lexsort((classes.sizes[bad], -far[bad]))][:_WORST]
        rows += [(-float(far[i]), order, int(classes.sizes[i]), float(values[i])) for i in first]
    rows.sort()
    return tuple(
        {"column": judges[order].levels.column, "size": size, "value": value}
        for _, order, size, value in rows[:_WORST]
    )
