"""Household pattern: join the rows of a household, and recognise the family by its members.

The intruder knows the keys of all members of a family. They join released rows by columns that a household
shares, such as the rent, and look for joined rows that resemble the family. The same works for a person with
several rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core import later
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.table.doubts.unit_columns import MANY, Joined, joining
from voronym.table.frame import as_frame
from voronym.table.units import distinct
from voronym.table.values import Columns

linear_sum_assignment = later.called("scipy.optimize", "linear_sum_assignment")
spatial = later.module("scipy.spatial")
cdist = later.called("scipy.spatial.distance", "cdist")

NEAREST = 40
"""Number of joined sets compared member by member: the nearest ones by centre and size."""
_MISSING = 4.0  # distance added by a member too many or too few, in squared standard deviations


@attack(
    "household-pattern",
    level=1,
    knows="the keys of all members of a household, or of all rows of a person",
    needs=("original", "links", "units"),
    cost="seconds",
    instead="by the group of a single member",
)
def pattern(scene: Scene, ctx: Context) -> Found:
    """Join rows by columns that a household shares, and claim the joined rows most like the family.

    The control takes the member whose nearest group has the fewest households, and guesses one of them.
    """
    assert scene.table is not None  # noqa: S101 - it needs units
    units = scene.table.units
    assert units is not None  # noqa: S101
    what, unit = list(units.known.items())[-1]  # households, if there are any
    if len(unit) != len(scene.people):
        raise Inapplicable("the release was made from other rows than those of the original")
    own = scene.released_units(unit)
    result = _columns(scene, own)
    if not result:
        raise Inapplicable(
            f"no kept column joins the rows of {MANY[what]}: no two rows of one share a value that few "
            f"others have"
        )
    X, Y = scene.points
    joined = Columns(as_frame(scene.released))
    names = sorted({name for item in result for name in item.columns})
    codes = np.column_stack([joined[name].codes for name in names])
    cluster = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    targets = _targets(scene, unit, ctx)
    members, rows = _Sets.of(unit), _Sets.of(cluster)
    tree, middles = _tree(Y, rows)
    groups = scene.classes.labels
    heads = distinct(groups, np.where(own < 0, own.max() + 1, own), len(scene.classes.sizes))
    near = _nearest_groups(X, Y)
    credit, alone = np.empty(len(targets)), np.empty(len(targets))

    def look(at: int) -> None:
        family = members.rows(int(targets[at]))
        some = _nearest(tree, middles, X[family])
        costs = np.array([_apart(X[family], Y[rows.rows(int(entry))]) for entry in some])
        best = some[costs <= costs.min() * (1 + 1e-9) + 1e-12]
        right = [float((own[rows.rows(int(item))] == targets[at]).mean()) for item in best]
        credit[at] = float(np.mean(right))
        group = groups[near[family]]
        least = int(group[np.argmin(heads[group])])
        inside = bool((own[groups == least] == targets[at]).any())
        alone[at] = float(inside) / int(heads[least])

    ctx.map(look, range(len(targets)))
    listed = ", ".join(map(repr, names))
    sought = Sentence("household") if what == "household" else Sentence("person")

    def says(success: float, control: float) -> str:
        return Sentence(
            "Rows joined by {columns} lead to the right {unit} in {success} of the cases, {control} by "
            "single members. Make that a key, round it, or drop it.",
            columns=listed,
            unit=sought,
            success=percent(success, whole=True),
            control=percent(control, whole=True),
        )

    return judge(
        credit,
        alone,
        says,
        confidence=scene.confidence,
        details={"columns": names, "unit": what, "sets": len(rows.starts) - 1},
    )


def _columns(scene: Scene, own: Ints) -> tuple[Joined, ...]:
    """Return the published columns that join rows; an intruder knows the meaning of a column."""
    known = np.flatnonzero(own >= 0)
    unit = np.unique(own[known], return_inverse=True)[1].reshape(-1)
    k = max(2, int(scene.classes.sizes.min()))
    return joining(Columns(as_frame(scene.released[known.tolist()])), scene.beside, unit, k)


def _targets(scene: Scene, unit: Ints, ctx: Context) -> Ints:
    """Draw units (people or households) whose rows are all in the release."""
    lost = np.unique(unit[scene.links < 0])
    return scene.sample(ctx.rng, np.setdiff1d(np.unique(unit), lost))


class _Sets:
    """Rows by a number that they share."""

    def __init__(self, order: Ints, starts: Ints) -> None:
        self.order, self.starts = order, starts

    @classmethod
    def of(cls, labels: Ints) -> _Sets:
        """Sort rows by their set number."""
        return cls(np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))]))

    def rows(self, number: int) -> Ints:
        """Return the rows of a number."""
        return self.order[self.starts[number] : self.starts[number + 1]]


def _tree(Y: Floats, rows: _Sets) -> tuple[Any, Floats]:
    """Return a tree over sets of rows, by their centre and size."""
    sizes = np.diff(rows.starts)
    sums = np.add.reduceat(Y[rows.order], rows.starts[:-1], axis=0)
    middles = np.column_stack([sums / sizes[:, None], np.sqrt(_MISSING) * sizes])
    return spatial.cKDTree(middles), middles


def _nearest(tree: Any, middles: Floats, family: Floats) -> Ints:
    at = np.append(family.mean(axis=0), np.sqrt(_MISSING) * len(family))
    return np.atleast_1d(np.asarray(tree.query(at, k=min(NEAREST, len(middles)))[1], np.int64))


def _apart(family: Floats, rows: Floats) -> float:
    """Return the distance of a family to some rows, each member to a different row."""
    costs = cdist(family, rows, "sqeuclidean")
    result, other = linear_sum_assignment(costs)
    return float(costs[result, other].sum()) + _MISSING * abs(len(family) - len(rows))


def _nearest_groups(X: Floats, Y: Floats) -> Ints:
    """Return a released row that is nearest to each original."""
    return np.asarray(spatial.cKDTree(Y).query(X)[1], np.int64)
