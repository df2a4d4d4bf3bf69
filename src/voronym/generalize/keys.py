"""The key space "ranges": groups are made so that their published ranges are narrow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voronym.core.context import Context
from voronym.core.figures import Figures
from voronym.errors import InputError
from voronym.generalize.columns import RangeColumn
from voronym.generalize.publish import RANGES, ranges_of, ways_of, with_ranges
from voronym.keyspaces import Coordinates, Keys, Published, importance_of, key_space
from voronym.partition import Partition
from voronym.request.choices import ReleaseChoices
from voronym.space.ranges import Axis, Ranges
from voronym.space.records import Records
from voronym.table.table import Table


@dataclass(frozen=True)
class RangeFigures(Figures):
    """The loss of groups made for narrow ranges; unknown for several leaves."""

    space: str = "ranges"
    certainty_penalty: float | None = None
    """Percent of the penalty of a single range for all records; None without ranges."""

    @property
    def of_leaf(self) -> Figures:
        """Return the part that holds for all leaves: the space."""
        return replace(self, certainty_penalty=None)


@dataclass(frozen=True, eq=False)
class RangeKeys(Keys):
    """The keys of a table as lines, trees and sets.

    Parameters
    ----------
    table : Table
        The records.
    choices : ReleaseChoices
        The ways to publish keys, and their importance.
    k : int
        Smallest number of people behind an end of a range.
    """

    table: Table
    choices: ReleaseChoices
    k: int = 1

    def at(self, k: int) -> Keys:
        """Return the keys for groups of at least k."""
        return RangeKeys(self.table, self.choices, k)

    @cached_property
    def columns(self) -> list[RangeColumn]:
        """All keys; by default categories with hierarchies by those, and the rest as intervals.

        Groups are made of the ranges of all keys, of those, too, that publish a mean or a median instead.
        """
        ways = ways_of(self.choices, self.table.keys, "")
        trees = self.choices.hierarchies or {}
        chosen = {
            name: way if way in RANGES else "hierarchy" if name in trees else "interval"
            for name, way in ways.items()
        }
        return ranges_of(self.choices, self.table, self.k, chosen)

    @cached_property
    def records(self) -> Records:  # type: ignore[override]
        """The keys as rows of codes."""
        given = importance_of(self.table, self.choices)
        axes = [_axis(column, float(given.get(column.name, 1.0))) for column in self.columns]
        codes = np.stack([item.codes for item in self.columns], axis=1)
        return Ranges(tuple(axes)).records(codes)

    def publish(self, part: Partition) -> Published:
        """Return the ranges of the groups; their centres while k is unknown (k = 1)."""
        if self.k == 1:  # rows of a person become one record: no texts yet
            return Coordinates.of(self.table).publish(part)
        result = self.records.cost(part) / part.n
        whole = float(sum(axis.weight for axis in self.records.space.axes))  # type: ignore[attr-defined]
        loss = 100.0 * result / whole if whole > 0.0 else 0.0
        plain = Published(
            self.table.frame.head(0).select(self.table.keys),
            self.records.centroids(part),
            RangeFigures(certainty_penalty=loss),
            (f"Groups were made for narrow ranges: their certainty penalty is {loss:.2f} %.",),
        )
        return with_ranges(self.table, part, plain, self.columns)


def _axis(column: RangeColumn, weight: float) -> Axis:
    if not np.isfinite(weight) or weight < 0.0:
        raise InputError(f"the weight of {column.name!r} must be a finite number, 0 or more")
    often = np.bincount(column.codes, minlength=column.table.shape[1])
    middle = int(np.searchsorted(np.cumsum(often), len(column.codes) / 2))
    centre = middle if column.way == "interval" and len(column.table) == 2 else int(often.argmax())
    return Axis(column.shape, column.table, column.nodes, column.place, centre, weight)


@key_space("ranges")
def ranges(table: Table, ctx: Context, choices: ReleaseChoices) -> Keys:  # noqa: ARG001
    """Compare records by the smallest range that covers both."""
    return RangeKeys(table, choices)
