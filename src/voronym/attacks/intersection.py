"""Two releases of overlapping people: together they can reveal more than each alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from voronym.attacks.attributes import Members, Secret, corrected, secrets, worst
from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.errors import InputError
from voronym.evaluate.attacks import link, nearest_released
from voronym.evaluate.pair import common, make_pair
from voronym.table.classes import equivalence_classes
from voronym.table.frame import as_frame

_EARLIER = "the exact keys of the people they look for, and the earlier releases"


@attack(
    "intersection",
    level=4,
    knows=_EARLIER,
    needs=("original", "confidential", "earlier"),
    cost="seconds",
    reference="Ganta, Kasiviswanathan, Smith, KDD 2008",
    instead="from this release alone",
)
def intersection(scene: Scene, ctx: Context) -> Found:
    """Keep the records of a person's group that were in their earlier groups, too."""
    X, Y = scene.points
    targets = scene.sample(ctx.rng)
    joint = [name for name in scene.beside if all(name in release.columns for release in scene.earlier)]
    if not joint:
        raise Inapplicable("the earlier releases have no column in common with this one except the keys")
    now = _Groups(scene, scene.released, joint, X, Y, targets, ctx.part(0.0, 0.5))
    before = []
    for release in scene.earlier:
        pair = _typed(scene, release)
        Z, W, _ = scene.encoded(scene.people, pair)
        before.append(_Groups(scene, pair, joint, Z, W, targets, ctx.part(0.5, 1.0)))
    kept = [_both(now.rows(i), now, [groups.records(i) for groups in before]) for i in range(len(targets))]
    level = corrected(scene.confidence, len(scene.confidential))
    outcomes = []
    for secret in secrets(scene):
        together = np.array([secret.best(secret.after[rows]) for rows in kept])
        alone = np.array([secret.best(secret.after[now.rows(i)]) for i in range(len(targets))])
        truth = secret.before[targets]
        outcomes.append(
            judge(
                secret.right(together, truth),
                secret.right(alone, truth),
                lambda s, c, secret=secret: _sentence(secret, s, c, kept),  # type: ignore[misc]
                clusters=now.group,
                confidence=level,
                details={"column": secret.name, "one_left": int(sum(len(rows) == 1 for rows in kept))},
            )
        )
    return worst(outcomes)


def _sentence(secret: Secret, success: float, control: float, kept: list[Ints]) -> str:
    single = sum(len(rows) == 1 for rows in kept)
    return Sentence(
        "All releases together leave a single record for {single} of {people} people; {column} is guessed "
        "for {success} of them, {control} from this release alone.",
        single=f"{single:,}",
        people=f"{len(kept):,}",
        column=repr(secret.name),
        success=percent(success, whole=True),
        control=percent(control, whole=True),
    )


class _Groups:
    """The groups of one release that are nearest to the targets, and the records in them."""

    def __init__(
        self,
        scene: Scene,
        frame: pl.DataFrame,
        joint: list[str],
        X: Floats,
        Y: Floats,
        targets: Ints,
        ctx: Context,
    ) -> None:
        classes = equivalence_classes(as_frame(frame), list(scene.keys))
        self.group = classes.labels[nearest_released(X[targets], Y, ctx)]
        self._members = Members.of(classes.labels)
        self._records = list(map(tuple, frame.select(joint).rows()))

    def rows(self, i: int) -> Ints:
        """Return the rows of the group of a target."""
        return self._members.rows(int(self.group[i]))

    def records(self, i: int) -> Counter[tuple[object, ...]]:
        """Return the published values other than keys in the group of a target, counted."""
        return Counter(self.of(row) for row in self.rows(i))

    def of(self, row: int) -> tuple[object, ...]:
        """Return the published values of a row other than its keys."""
        return self._records[row]


def _both(rows: Ints, now: _Groups, earlier: list[Counter[tuple[object, ...]]]) -> Ints:
    """Return the rows whose records are in all earlier groups; all rows if no row is."""
    left = np.array([row for row in rows if all(now.of(row) in records for records in earlier)], np.int64)
    return left if len(left) else rows


def _typed(scene: Scene, frame: pl.DataFrame) -> pl.DataFrame:
    """Return an earlier release with the types of this one."""
    lacking = [name for name in scene.keys if name not in frame.columns]
    if lacking:
        raise Inapplicable(f"an earlier release lacks the keys {', '.join(map(repr, lacking))}")
    try:
        shared = [name for name in scene.released.columns if name in frame.columns]
        pair = make_pair(scene.people.select(shared), frame.select(shared), scene.schema)
    except InputError as error:
        raise Inapplicable(f"an earlier release cannot be compared: {error}") from None
    return pair.released


@attack(
    "differencing",
    level=4,
    knows=f"{_EARLIER}, and the new people in this one",
    needs=("original", "links", "confidential", "earlier"),
    cost="seconds",
    instead="from this release alone",
)
def differencing(scene: Scene, ctx: Context) -> Found:
    """Claim the new records for the new people."""
    X, Y = scene.points
    earlier = scene.earlier[-1]
    joint = [name for name in scene.beside if name in earlier.columns]
    if not joint:
        raise Inapplicable("the earlier release has no column in common with this one except the keys")
    pairs = [common(scene.released[name], earlier[name].alias(name)) for name in joint]
    now, before = (pl.DataFrame([pair[side] for pair in pairs]).rows() for side in (0, 1))
    left = Counter(before)
    new = []
    for row, record in enumerate(now):
        left[record] -= 1
        if left[record] < 0:
            new.append(row)
    people = np.flatnonzero(np.isin(scene.links, new))
    if len(people) == 0:
        raise Inapplicable("nobody is new in this release")
    if len(new) > len(now) / 2:
        raise Inapplicable(
            "most records of this release are not in the earlier one, so there is no difference"
        )
    targets = scene.sample(ctx.rng, people)
    rows = np.array(new, np.int64)
    records = np.unique(np.array([hash(record) for record in now]), return_inverse=True)[1].reshape(-1)
    mine = _same(X[targets], Y[rows], records[rows], records[scene.links[targets]])
    alone, near, _ = link(X[targets], Y, scene.links[targets], ctx)

    def says(success: float, control: float) -> str:
        return Sentence(
            "{new} records are new since the earlier release: the confidential values of {success} of the "
            "new people are found among them, {control} without it.",
            new=f"{len(new):,}",
            success=percent(success, whole=True),
            control=percent(control, whole=True),
        )

    return judge(
        mine,
        np.asarray(alone * near),
        says,
        clusters=scene.classes.labels[scene.links[targets]],
        confidence=scene.confidence,
        details={"new_records": len(new)},
    )


def _same(X: Floats, Y: Floats, records: Ints, own: Ints) -> Floats:
    """Return the probability that the nearest of some rows is the person's own record."""
    out = np.empty(len(X))
    for i, x in enumerate(X):
        distance = ((Y - x) ** 2).sum(axis=1)
        tied = distance <= distance.min() * (1 + 1e-9)
        out[i] = float((records[tied] == own[i]).mean())
    return out
