"""The units that are grouped: rows, or people if a person has several rows.

A person becomes one record, the centre of their rows. All rows of a person are in one group and publish the
same keys. So at least k people share every published combination, an intruder who knows several rows of a
person finds the same group each time, and a person with many rows weighs no more than others. The change of
keys from row to row is lost, and counts: losses are of the rows, in percent of the rows' variance (see
`Crowd.loss`).

Households are counted, not grouped: every group has people of at least k households. If pseudonyms of
households are published, see `voronym.methods.households`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym._kernels import verdict
from voronym.core import numerics
from voronym.core.context import Context
from voronym.errors import GuaranteeError
from voronym.keyspaces import KEY_SPACES, Coordinates, Keys, Published, weights_of
from voronym.partition import Partition
from voronym.privacy.cells import Judge, Rule
from voronym.privacy.level import Levels
from voronym.privacy.p_sensitive import distinct
from voronym.request.choices import ReleaseChoices
from voronym.table.table import Table
from voronym.table.units import Units
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
CHANGING = 0.5
"""Share of a key's variance within people above which its loss is reported."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """The units to group, as records of a space.

    Parameters
    ----------
    table : Table
        One row for each record that is grouped, with keys at least.
    keys : Keys
        Its keys in the space.
    of_row : array, optional
        The record of each row of the original; None if the rows themselves are grouped.
    notes : tuple of str
        Remarks about the keys, and on keys that change between rows of a person.
    rows : Table, optional
        The original rows, if people are grouped instead.
    row_keys : Keys, optional
        Their keys in the space.
    """

    table: Table
    keys: Keys
    of_row: Ints | None = None
    notes: tuple[str, ...] = ()
    rows: Table | None = None
    row_keys: Keys | None = None

    @classmethod
    def of(cls, table: Table, ctx: Context, choices: ReleaseChoices) -> Crowd:
        """Determine the units to group."""
        make = KEY_SPACES[choices.space].function
        keys = make(table, ctx, choices)
        units = table.units
        if units is None or units.person is None or int(units.person.max()) + 1 == table.n:
            return cls(table, keys, notes=keys.notes)
        alone = Partition(units.person)  # a group for each person
        person, people = alone.labels, alone.n_cells
        frame = keys.publish(alone).frame
        homes = None
        if units.household is not None:
            homes = units.household[first_rows(person, people)]
        once = table.like(_with_weights(table, frame, alone, choices), units=Units(household=homes))
        people_keys = make(once, ctx, choices)
        notes = (*people_keys.notes, *_changing(keys, person))
        return cls(once, people_keys, person, notes, table, keys)

    def at(self, k: int) -> Crowd:
        """Return the crowd with keys for groups of at least k."""
        own = None if self.row_keys is None else self.row_keys.at(k)
        return replace(self, keys=self.keys.at(k), row_keys=own)

    def check(self, k: int) -> None:
        """Raise if there are fewer than k people (or households)."""
        check_heads(self.table.units, self.table.n, k)

    def demands(self, k: int) -> list[tuple[str, tuple[Judge, ...]]]:
        """Return the demands on groups that make k count households."""
        return household_demands(self.table.units, k)

    def only(self, rows: Ints) -> Crowd:
        """Return the crowd with some of its records, for the demands on their groups."""
        return Crowd(self.table.rows(rows), self.keys)

    def rows_of(self, records: Ints) -> Ints:
        """Return the rows of the table behind some of the records."""
        if self.of_row is None:
            return records
        chosen = np.zeros(self.table.n, bool)
        chosen[records] = True
        return np.flatnonzero(chosen[self.of_row])

    def spread(self, part: Partition) -> Partition:
        """Return the groups of the rows from those of the records."""
        return part if self.of_row is None else Partition(part.labels[self.of_row])

    @property
    def stage(self) -> str:
        """The stage while groups are made, in words; a search reports the loss of its groups."""
        return "grouping" if self.of_row is None else "grouping people's means"

    def loss(self, part: Partition) -> float:
        """Return the loss of the rows in these groups, in percent of the loss of a single group.

        This is before centres become possible values. The centre of a group is the mean of its
        people, whatever the number of their rows. Each row is compared with it, so changes between
        rows of a person are lost, too. Groups are made by the people's centres, whose loss is
        smaller.
        """
        if self.of_row is None or self.row_keys is None:
            return _percent(self.keys.records.cost(part), self.keys.records.total)
        own, groups = self.row_keys.records, self.spread(part)
        if own.points is None:  # costs of other spaces know no mean of means
            return _percent(own.cost(groups), own.total)
        centres = people_centres(own.points, groups, self.of_row)
        lost = float(numerics.error(own.points, centres, groups.labels).sum())
        return _percent(lost, float(numerics.spread(own.points).sum()))

    def published_loss(self, part: Partition, published: Published | None = None) -> float:
        """Return the loss of the rows as published, in percent of their variance: the loss of a release.

        ``published``: values that the groups publish; by default those of the space.
        """
        table = self.table if self.rows is None else self.rows
        shown = self.keys.publish(part) if published is None else published
        frame = shown.frame[self.spread(part).labels]
        coordinates = Coordinates.of(table)
        return coordinates.percent(coordinates.errors(table.like(frame), table))


def _with_weights(
    table: Table, frame: nw.DataFrame[Any], people: Partition, choices: ReleaseChoices
) -> nw.DataFrame[Any]:
    """Return the keys of people with the mean weight of their rows, if records have weights."""
    weights = weights_of(table, choices.weights)
    if weights is None or choices.weights is None:
        return frame
    means = np.bincount(people.labels, weights) / people.sizes
    made = nw.new_series(choices.weights, means.tolist(), nw.Float64(), backend=frame.implementation)
    return frame.with_columns(made)


def people_centres(X: Floats, groups: Partition, person: Ints) -> Floats:
    """Return the mean of the people in each group; a person counts as the mean of their rows.

    Parameters
    ----------
    X : array, shape (n, d)
        The rows.
    groups : Partition
        Their groups; all rows of a person are in one.
    person : array of int, shape (n,)
        The person of each row.

    Examples
    --------
    Three rows of one person count as one row of another:

    >>> X = np.array([[0.0], [0.0], [0.0], [4.0]])
    >>> people_centres(X, Partition([0, 0, 0, 0]), np.array([0, 0, 0, 1])).tolist()
    [[2.0]]
    """
    alone = Partition(person)
    return Partition(groups.labels[first_rows(alone.labels, alone.n_cells)]).centroids(alone.centroids(X))


def _percent(cost: float, total: float) -> float:
    return 100.0 * cost / total if total > 0.0 else 0.0


def check_heads(units: Units | None, people: int, k: int) -> None:
    """Raise if there are fewer people, or households, than k."""
    homes = None if units is None else units.household
    many = people if homes is None else len(np.unique(homes))
    if many < k:
        what = "people" if homes is None else "households"
        raise GuaranteeError(f"k={k} cannot be reached with {many} {what}: there are fewer than that in all")


def household_demands(units: Units | None, k: int) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return the demands on groups of people that make k count households; empty without households."""
    if units is None or units.household is None:
        return []
    codes = np.unique(units.household, return_inverse=True)[1].reshape(-1).astype(np.int64)
    homes = Levels("household", codes, False, tuple(range(int(codes.max()) + 1)))
    rule = Rule(verdict.DISTINCT, float(k))
    judge = Judge(homes, distinct, float(k), at_most=False, name="k-anonymity of households", rule=rule)
    return [(f"{k} households", (judge,))]


def _changing(keys: Keys, person: Ints) -> list[str]:
    """Name the keys that vary more within people than between them: that variation is lost."""
    if not isinstance(keys, Coordinates):
        return []
    means = Partition(person).centroids(keys.X)
    within, total = numerics.error(keys.X, means, person), numerics.spread(keys.X)
    result = []
    for block in keys.codec.blocks:
        here = slice(block.start, block.stop)
        share = float(within[here].sum()) / max(float(total[here].sum()), 1e-300)
        if share > CHANGING:
            result.append(
                f"key {block.name!r} changes from row to row of a person ({100 * share:.0f} % of its "
                "variance), and all rows of a person publish one value: if intruders do not know it, make it "
                "confidential or other"
            )
    return result
