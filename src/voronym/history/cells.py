"""Figures computed over the people of a column, such as the mean of all values above a limit.

The difference of two such figures depends only on the people in one of them. If one person joined or left the
tail, it reveals their value. So a figure is computed again only if every such set of people has at least k
members, and none of them dominates it (p % rule). Otherwise the earlier figure is published again. The same
holds if the people are the same and some values were corrected, because the difference would be the
correction.

No ledger holds the values of people who left. So a release stores who has an ordinary value. If all leavers
were ordinary, none of them dominates the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import GuaranteeError
from voronym.history.ledger import Entry
from voronym.history.people import Prints
from voronym.history.sets import alike
from voronym.steps import numbers
from voronym.steps.base import ColumnStep
from voronym.steps.limits import DOMINANCE, Limit
from voronym.table.table import Table

_FAR = 0.2, 2.0
"""A person is ordinary if their value is between these multiples of the median: of three ordinary people the
smallest value is at least a tenth of the largest, as the p % rule demands.
"""


@dataclass(frozen=True, eq=False)
class Cell:
    """A figure over people.

    Parameters
    ----------
    step, column : str
        The step that computed it, and the column.
    value : float
        The published figure.
    people : array
        Fingerprints of the people in the figure, ascending.
    ordinary : array of bool
        Whether each person's distance from the end of the tail is ordinary: between a fifth and twice the
        median.
    """

    step: str
    column: str
    value: float
    people: Prints
    ordinary: NDArray[np.bool_]

    @property
    def about(self) -> dict[str, Any]:
        """The stored facts of the figure, without people."""
        return {"step": self.step, "column": self.column, "value": self.value}


@dataclass(eq=False)
class Cells:
    """The figures of earlier releases and of the present one.

    Parameters
    ----------
    entries : sequence of Entry
        The earlier releases.
    """

    entries: Sequence[Entry]
    k: int = 2
    now: list[Cell] = field(default_factory=list)
    tails: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    """The rows whose published value is such a figure, by column."""
    raw: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    """Keyed hashes of the rows' values before a step published their means, by column."""
    notes: list[str] = field(default_factory=list)

    @property
    def state(self) -> dict[str, Any]:
        """The findings as plain values and arrays, for `resume`."""
        return {
            "now": [{**cell.about, "people": cell.people, "ordinary": cell.ordinary} for cell in self.now],
            "tails": dict(self.tails),
            "raw": dict(self.raw),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue with the findings of another process."""
        self.now = [Cell(**cell) for cell in state["now"]]
        self.tails, self.raw = dict(state["tails"]), dict(state["raw"])

    def earlier(self, column: str) -> list[Cell]:
        """Return the figures of a column in earlier releases, from the first to the last."""
        out = []
        for entry in self.entries:
            figures = entry.about.get("cells", ())
            for at, about in enumerate(figures):
                if about["column"] == column and entry.cells is not None:
                    inside, other = entry.cells[:, at], at + len(figures)
                    nobody = np.zeros(len(inside), bool)  # is known to be, in old ledgers
                    ordinary = entry.cells[:, other] if other < entry.cells.shape[1] else nobody
                    out.append(Cell(**about, people=entry.people[inside], ordinary=ordinary[inside]))
        return out

    def members(self, people: Prints) -> NDArray[np.bool_]:
        """Return which people are in each figure, and which of them are ordinary, shape (n, 2 figures)."""
        columns = [np.isin(people, cell.people) for cell in self.now]
        columns += [np.isin(people, cell.people[cell.ordinary]) for cell in self.now]
        return np.stack(columns, axis=1) if columns else np.zeros((len(people), 0), bool)

    def watch(self, step: ColumnStep, before: Table, after: Table, rows: Prints) -> Table:
        """Store the figures of a step; replace them by those of earlier releases that must be kept.

        Parameters
        ----------
        step : ColumnStep
            The step.
        before, after : Table
            The records before and after it.
        rows : array
            The fingerprint of the person of each.
        """
        if not isinstance(step, Limit) or step.publish != "mean":
            return after
        made = {}
        for name in step.columns:
            tail = step.tail(before, name, self.k)
            if not tail.any():
                continue
            if len(tail) == len(self.tails.get(name, tail)):  # fewer rows are left after groups are made
                self.tails[name] = tail | self.tails.get(name, tail)
            values, gone = numbers.read(after, name)
            homes = None if before.units is None else before.units.household
            people = np.unique(rows[tail])
            far = _beyond(before, name, tail, rows, people)
            middle = float(np.median(far))
            ordinary = (far >= _FAR[0] * middle) & (far <= _FAR[1] * middle)
            cell = Cell(str(step), name, float(values[tail][0]), people, ordinary)
            old = self.earlier(name)
            if old and not (self._safe(old, cell, rows, homes) and self._even(old, cell, far)):
                cell = self._standing(old, cell)
                made[name] = numbers.write(before, name, np.where(tail, cell.value, values), gone, keep=~tail)
            self.now.append(cell)
        return after if not made else after.like(after.frame.with_columns(**made), after.source)

    def _safe(self, old: list[Cell], cell: Cell, rows: Prints, homes: NDArray[np.int64] | None) -> bool:
        """Whether everybody shares their set of figures with k or more people."""
        people = np.unique(np.concatenate([cell.people, *(entry.people for entry in old)]))
        kind = alike(np.column_stack([np.isin(people, item.people) for item in (*old, cell)]))
        if (np.bincount(kind) < self.k).any():
            return False
        if homes is None:
            return True
        at = np.searchsorted(people, rows)
        at[at == len(people)] = 0
        mine = people[at] == rows
        pairs = np.unique(np.column_stack([kind[at[mine]], homes[mine]]), axis=0)
        return bool((np.bincount(pairs[:, 0])[np.unique(pairs[:, 0])] >= self.k).all())

    @staticmethod
    def _even(old: list[Cell], cell: Cell, far: NDArray[np.float64]) -> bool:
        """Whether no single person dominates a difference to an earlier figure."""
        for earlier in old:
            new = ~np.isin(cell.people, earlier.people)
            left = ~np.isin(earlier.people, cell.people)
            if not new.any() and not left.any() and cell.value != earlier.value:
                return False
            if left.any() and not (earlier.ordinary[left].all() and left.sum() > 2):
                return False
            if new.any():
                largest = np.sort(far[new])[::-1]
                if largest[2:].sum() < DOMINANCE * largest[0]:
                    return False
        return True

    def _standing(self, old: list[Cell], cell: Cell) -> Cell:
        """Return the earlier figure, to be published again."""
        same = [item for item in old if item.step == cell.step]
        if not same:
            raise GuaranteeError(
                f"step '{cell.step}': earlier releases publish a mean of {cell.column!r} of nearly the same "
                f"people, and fewer than k={self.k} of them, or one of them alone, make the difference: "
                f"it would reveal their values. Nothing was released. Take the step of the release before "
                f"('{old[-1].step}'), or leave out publish=mean"
            )
        last = same[-1]
        self.notes.append(
            f"step '{cell.step}': the mean of {cell.column!r} is that of an earlier release, because fewer "
            f"than k={self.k} people, or one of them alone, make the difference to it and a new one would "
            "tell what they have"
        )
        return last


def _beyond(
    table: Table, name: str, tail: NDArray[np.bool_], rows: Prints, people: Prints
) -> NDArray[np.float64]:
    """Return the distance of each person of a tail from its inner end, over all their rows."""
    values = numbers.read(table, name)[0][tail]
    inner = values.min() if values.mean() >= np.median(numbers.read(table, name)[0]) else values.max()
    far = np.bincount(np.searchsorted(people, rows[tail]), np.abs(values - inner), len(people))
    return far.astype(np.float64)
