"""Who is grouped: the rows of a table or, where several rows are of one person, the people behind them.

A person becomes one record, the centre of their rows, and people are grouped; all rows of a person are in one
group and publish the same keys. So k people share every published combination, whoever knows several rows of
somebody finds the same group each time, and a person with many rows weighs no more than another in the mean.
What is lost is how the keys of a person change from row to row.

Households are counted, not grouped: every group has people of at least k of them, however large they are.
Where their pseudonyms are published, so that members can be seen together, see `voronym.methods.households`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym import sums
from voronym._kernels import verdict
from voronym.context import Context
from voronym.errors import GuaranteeError
from voronym.keys import KEY_SPACES, Coordinates, Keys
from voronym.options import Options
from voronym.partition import Partition
from voronym.privacy.cells import Judge, Levels, Rule
from voronym.privacy.p_sensitive import distinct
from voronym.table.table import Table
from voronym.table.units import Units
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
CHANGING = 0.5
"""Share of a key's variance inside of people, from where it is said that it is lost."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """What is grouped, as records of a space.

    Parameters
    ----------
    table : Table
        One row for each record that is grouped, with keys at least.
    keys : Keys
        Its keys in the space.
    of_row : array, optional
        The record of each row of the original; None where the rows themselves are grouped.
    notes : tuple of str
        What the keys have to say, and which of them change from row to row of a person.
    """

    table: Table
    keys: Keys
    of_row: Ints | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, space: str, ctx: Context, options: Options) -> Crowd:
        """Find who is to be grouped."""
        make = KEY_SPACES[space].function
        keys = make(table, ctx, options)
        units = table.units
        if units is None or units.person is None or int(units.person.max()) + 1 == table.n:
            return cls(table, keys, notes=keys.notes)
        person = units.person
        people = int(person.max()) + 1
        frame = keys.publish(Partition(person)).frame
        homes = None
        if units.household is not None:
            homes = units.household[first_rows(person, people)]
        rows = table.like(frame, units=Units(household=homes))
        people_keys = make(rows, ctx, options)
        return cls(rows, people_keys, person, (*people_keys.notes, *_changing(keys, person)))

    def at(self, k: int) -> Crowd:
        """Return the same with keys for groups of at least k."""
        return replace(self, keys=self.keys.at(k))

    def check(self, k: int) -> None:
        """Raise where there are fewer of those whom k counts than k."""
        check_heads(self.table.units, self.table.n, k)

    def demands(self, k: int) -> list[tuple[str, tuple[Judge, ...]]]:
        """Return what groups must obey so that k counts households."""
        return household_demands(self.table.units, k)

    def only(self, rows: Ints) -> Crowd:
        """Return some of the records, to ask what groups of them must obey."""
        return Crowd(self.table.rows(rows), self.keys)

    def spread(self, part: Partition) -> Partition:
        """Return the groups of the rows from those of the records."""
        return part if self.of_row is None else Partition(part.labels[self.of_row])


def check_heads(units: Units | None, people: int, k: int) -> None:
    """Raise where there are fewer people, or households, than k."""
    homes = None if units is None else units.household
    many = people if homes is None else len(np.unique(homes))
    if many < k:
        what = "people" if homes is None else "households"
        raise GuaranteeError(f"k={k} cannot be reached with {many} {what}: there are fewer than that in all")


def household_demands(units: Units | None, k: int) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return what groups of people must obey so that k counts households; nothing where there are none."""
    if units is None or units.household is None:
        return []
    codes = np.unique(units.household, return_inverse=True)[1].reshape(-1).astype(np.int64)
    homes = Levels("household", codes, False, tuple(range(int(codes.max()) + 1)))
    rule = Rule(verdict.DISTINCT, float(k))
    judge = Judge(homes, distinct, float(k), at_most=False, name="k-anonymity of households", rule=rule)
    return [(f"{k} households", (judge,))]


def _changing(keys: Keys, person: Ints) -> list[str]:
    """Say which keys change from row to row of a person more than from person to person: that is lost."""
    if not isinstance(keys, Coordinates):
        return []
    means = Partition(person).centroids(keys.X)
    within, total = sums.error(keys.X, means, person), sums.spread(keys.X)
    found = []
    for block in keys.codec.blocks:
        here = slice(block.start, block.stop)
        share = float(within[here].sum()) / max(float(total[here].sum()), 1e-300)
        if share > CHANGING:
            found.append(
                f"key {block.name!r} changes from row to row of a person ({100 * share:.0f} % of its "
                "variance), and all rows of a person publish one value: if intruders do not know it, make it "
                "confidential or other"
            )
    return found
