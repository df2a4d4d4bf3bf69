"""Singling out: a description that fits exactly one person in the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from voronym.attacks.base import Found, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.context import Context
from voronym.evaluate.pair import codes, numbers

GUESSES = 500
"""Descriptions at most; one for each released row in a small table, since more would tell the same again."""
TOGETHER = 3
"""Columns in a description."""
_TRIES = 5  # sets of columns looked at for each description; the one that is rarest in the release is taken


@attack(
    "singling-out",
    level=0,
    knows="nothing but the published file",
    needs=("original",),
    cost="seconds",
    reference="Cohen, Nissim, PNAS 2020; Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023",
    instead="with the values of each column drawn for themselves",
)
def singling(scene: Scene, ctx: Context) -> Found:
    """Describe a person by three columns of a released row so that nobody else in the table fits.

    A label must be the same; a number at least (or at most) as large as in the row, away from the middle. Of
    a few descriptions the one that fits the fewest released rows is taken. The control describes rows whose
    values were drawn column by column: it knows what each column holds, and nothing of what goes together.
    """
    names = scene.released.columns
    made = [_Column.of(scene.people[name], scene.released[name]) for name in names]
    before, after = [one.before for one in made], [one.after for one in made]
    shuffled = [ctx.rng.permutation(y) for y in after]
    wide = min(TOGETHER, len(names))

    def single(source: list[Floats], row: int, seed: int) -> float:
        rng = np.random.default_rng(seed)
        tries: list[tuple[int, int, Ints, list[float]]] = []
        for _ in range(_TRIES):
            chosen = rng.choice(len(names), wide, replace=False)
            values = [float(source[j][row]) for j in chosen]
            tries.append((_fits(made, source, chosen, values), len(tries), chosen, values))
        _, _, chosen, values = min(tries, key=lambda one: one[:2])
        return float(_fits(made, before, chosen, values) == 1)

    m = len(scene.released)
    rows = ctx.rng.permutation(m)[: min(m, GUESSES)]
    seeds = ctx.rng.integers(0, 2**31 - 1, (2, len(rows)))
    mine = ctx.map(lambda i: single(after, int(rows[i]), int(seeds[0, i])), range(len(rows)))
    others = ctx.map(lambda i: single(shuffled, int(rows[i]), int(seeds[1, i])), range(len(rows)))
    unique = int((scene.classes.sizes == 1).sum())

    def says(success: float, control: float) -> str:
        alone = f"{unique:,} released rows are alone with their keys"
        return (
            f"Of {len(rows)} descriptions by {wide} columns, {success:.0%} fit exactly one person "
            f"({control:.0%} by chance); {alone if unique else 'no released row is alone with its keys'}."
        )

    return judge(mine, others, says, confidence=scene.confidence, details={"unique_by_keys": unique})


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of both tables as numbers, whether their order means something, and its middle."""

    before: Floats
    after: Floats
    ordered: bool
    middle: float

    @classmethod
    def of(cls, before: pl.Series, after: pl.Series) -> _Column:
        x, y = numbers(before), numbers(after)
        if x is not None and y is not None:
            return cls(x, y, True, 0.0 if np.isnan(y).all() else float(np.nanmedian(y)))
        a, b, _, _ = codes(before, after)
        return cls(a.astype(np.float64), b.astype(np.float64), False, 0.0)


def _fits(made: list[_Column], columns: list[Floats], chosen: Ints, values: list[float]) -> int:
    """Return how many rows fit a description."""
    here = np.ones(len(columns[0]), bool)
    for j, value in zip(chosen, values, strict=True):
        x = columns[j]
        if np.isnan(value):
            here &= np.isnan(x)
        elif not made[j].ordered:
            here &= x == value
        else:
            with np.errstate(invalid="ignore"):
                here &= x >= value if value >= made[j].middle else x <= value
    return int(here.sum())
