"""Singling out: describe a person so that the description fits nobody else in the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import Found, attack
from voronym.attacks.interval import judge, share
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.evaluate.pair import codes, common, numbers

GUESSES = 500
"""Largest number of descriptions tried; at most one for each released row."""
LEAST = 20
"""If fewer descriptions than this fit exactly one released row, the other descriptions are tried, too."""
TOGETHER = 3
"""Number of columns in a description."""
_TRIES = 15  # sets of columns to try for a row, until one fits only this row


@attack(
    "singling-out",
    level=0,
    knows="nothing but the published file",
    needs=("original",),
    cost="seconds",
    reference="Cohen, Nissim, PNAS 2020; Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023",
    instead="for people who are not in the table, or with values drawn column by column",
)
def singling(scene: Scene, ctx: Context) -> Found:
    """Describe a person by three columns of a released row so that nobody else in the table fits.

    A label must be equal; so must a number that is no key and was published unchanged. For a number that
    is a key, the description is "at least" or "at most" the row's value, away from the middle. Sets of
    columns are tried until the description fits no other released row; rows without such a description
    are skipped. If people outside the table are given, the control tests whether a description fits
    exactly one of as many of them. Otherwise it describes rows with values drawn column by column: it
    knows each column, but no relations between columns.
    """
    made = [_Column.of(name, scene) for name in scene.released.columns]
    before = [element.before for element in made]
    # Rows are in a random order: sorted, the same table is attacked in the same way each time.
    order = np.lexsort([member.after for member in made])
    made = [replace(member, after=member.after[order]) for member in made]
    after = [member.after for member in made]
    crowd = [item.strangers for item in made if item.strangers is not None]
    wide, m = min(TOGETHER, len(made)), len(scene.released)
    rows = ctx.rng.permutation(m)[: min(m, GUESSES)]

    def describe(source: list[Floats]) -> list[tuple[int, Ints, list[float]]]:
        seeds = ctx.rng.integers(0, 2**31 - 1, len(rows))
        result = ctx.map(
            lambda i: _describe(made, source, wide, int(rows[i]), int(seeds[i])), range(len(rows))
        )
        alone = [item for item in result if item[0] == 1]
        return alone if len(alone) >= LEAST else result

    mine = describe(after)
    others = mine if crowd else describe([ctx.rng.permutation(y) for y in after])
    right = [float(_fits(made, before, *entry[1:]) == 1) for entry in mine]
    chance = [float(_fits(made, crowd or before, *other[1:]) == 1) for other in others]
    unique = int((scene.classes.sizes == 1).sum())

    def says(success: float, control: float) -> str:
        alone = Sentence("no released row is unique on the keys")
        if unique:
            alone = Sentence("{rows} released rows are unique on the keys", rows=f"{unique:,}")
        return Sentence(
            "Of {many} descriptions by {wide} columns, {success} fit exactly one person ({control} in the "
            "control); {alone}.",
            many=str(len(mine)),
            wide=str(wide),
            success=percent(success, whole=True),
            control=percent(control, whole=True),
            alone=alone,
        )

    control = share(chance, confidence=scene.confidence)
    details = {
        "columns": _causes(scene, mine, right),
        "unique_by_keys": unique,
        "control": "strangers" if crowd else "columns drawn one by one",
    }
    return judge(right, control, says, confidence=scene.confidence, details=details)


def _causes(scene: Scene, mine: list[tuple[int, Ints, list[float]]], right: list[float]) -> list[str]:
    """Return the columns that descriptions need to single out a person, the most used first.

    A column is one of them where descriptions with it are right at least as often as all are.
    """
    used = np.zeros((len(mine), len(scene.released.columns)), bool)
    for number, (_, chosen, _) in enumerate(mine):
        used[number, chosen] = True
    hits, many = used[np.array(right) > 0].sum(axis=0), used.sum(axis=0)
    usual = float(np.mean(right)) if right else 0.0
    telling = [j for j in np.argsort(-hits) if hits[j] and hits[j] >= usual * many[j]]
    kept = [j for j in telling if scene.released.columns[j] not in scene.keys]
    return [scene.released.columns[j] for j in (kept or telling)[:TOGETHER]]


def _describe(
    made: list[_Column], source: list[Floats], wide: int, row: int, seed: int
) -> tuple[int, Ints, list[float]]:
    """Return the rarest of some descriptions of a row: the rows it fits, its columns and values."""
    rng = np.random.default_rng(seed)
    here: dict[int, NDArray[np.bool_]] = {}
    counts: dict[frozenset[int], tuple[int, Ints]] = {}
    for _ in range(_TRIES):
        chosen = rng.choice(len(made), wide, replace=False)
        columns = frozenset(chosen.tolist())
        if columns in counts:
            continue
        for j in columns - here.keys():
            here[j] = made[j].fits(source[j], float(source[j][row]))
        counts[columns] = _together([here[j] for j in columns]), chosen
        if counts[columns][0] == 1:
            break
    count, chosen = min(counts.values(), key=lambda item: item[0])
    return count, chosen, [float(source[j][row]) for j in chosen]


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of all tables as numbers, whether it is ordered, and its middle."""

    before: Floats
    after: Floats
    strangers: Floats | None
    ordered: bool
    middle: float

    @classmethod
    def of(cls, name: str, scene: Scene) -> _Column:
        """Take a column; use people outside the table only if there are at least as many as people in it."""
        before, after, others = scene.people[name], scene.released[name], scene.control
        n = len(before)
        known = (
            others is not None
            and len(others) >= n
            and all(c in others.columns for c in scene.released.columns)
        )
        if others is not None and known:
            before = pl.concat([*common(before, others[name].alias(name)[:n])[:2]])
            before, after, _ = common(before, after)
        x, y = numbers(before), numbers(after)
        ordered = x is not None and y is not None and name in scene.keys
        if x is None or y is None:
            a, b, _, _ = codes(before, after)
            x, y = a.astype(np.float64), b.astype(np.float64)
        middle = 0.0 if np.isnan(y).all() else float(np.nanmedian(y))
        return cls(x[:n], y, x[n:] if known else None, ordered, middle)

    def fits(self, x: Floats, value: float) -> NDArray[np.bool_]:
        """Return which values of the column fit a described value."""
        if np.isnan(value):
            return np.isnan(x)
        if not self.ordered:
            return np.asarray(x == value)
        with np.errstate(invalid="ignore"):
            return np.asarray(x >= value if value >= self.middle else x <= value)


def _fits(made: list[_Column], columns: list[Floats], chosen: Ints, values: list[float]) -> int:
    """Return the number of rows that fit a description."""
    return _together([made[j].fits(columns[j], value) for j, value in zip(chosen, values, strict=True)])


def _together(fits: list[NDArray[np.bool_]]) -> int:
    """Return how many rows fit all columns of a description."""
    return int(np.count_nonzero(reduce(np.logical_and, fits)))
