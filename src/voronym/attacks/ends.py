"""Ends of ranges: the smallest and the largest value of a group belong to somebody.

The intruder knows a value that only one person has, such as an income or a date of birth. A range that ends
exactly at this value belongs to the person's group. Many other ranges merely contain the value.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Scene
from voronym.core.context import Context
from voronym.core.sentence import Sentence
from voronym.evaluate.pair import numbers
from voronym.generalize.spans import ends as read


@attack(
    "range-ends",
    level=0,
    knows="one value of a person that nobody else has: what they earn, when they were born",
    needs=("original", "links"),
    cost="instant",
    instead="by ranges that hold the value",
)
def ends(scene: Scene, ctx: Context) -> Found:
    """Claim, for a person with a unique value, the group whose range ends at that value."""
    if not scene.texts:
        raise Inapplicable("no key of numbers or dates is published as ranges")
    right: list[float] = []
    blind: list[float] = []
    who: list[int] = []
    exposed: dict[str, float] = {}
    for name, texts in scene.texts.items():
        value = numbers(scene.people[name])
        if value is None:
            continue
        low, high = _ends(texts, scene.people[name].dtype in (pl.Date, pl.Datetime))
        result, often = np.unique(value[~np.isnan(value)], return_counts=True)
        alone = np.flatnonzero(np.isin(value, result[often == 1]) & (scene.links >= 0))
        if not len(alone):
            continue
        here = []
        for person in scene.sample(ctx.rng, alone):
            own, at = scene.classes.labels[scene.links[person]], value[person]
            holding = np.unique(scene.classes.labels[(low <= at) & (at <= high)])
            ending = np.unique(scene.classes.labels[(low == at) | (high == at)])
            chance = float(own in holding) / max(len(holding), 1)
            here.append(float(own in ending) / len(ending) if len(ending) else chance)
            blind.append(chance)
            who.append(int(person))
        right += here
        exposed[name] = float(np.mean(here))
    if not right:
        raise Inapplicable("no key that is published as ranges has a value that only one person has")

    def says(success: float, control: float) -> str:
        if success <= control + 0.05:
            return Sentence("The ends of ranges reveal hardly more than the ranges themselves.")
        named = ", ".join(repr(name) for name, rate in exposed.items() if rate > control)
        return Sentence(
            "Ends of ranges are values of single people, and lead to their groups: {columns}. Round them.",
            columns=named,
        )

    return judge(
        right,
        np.array(blind),
        says,
        clusters=np.array(who),
        confidence=scene.confidence,
        details={"columns": exposed},
    )


def _ends(texts: pl.Series, times: bool) -> tuple[Floats, Floats]:
    """Return the two ends of every released row; infinite if the release does not give them."""
    low, high = {}, {}
    for text in texts.drop_nulls().unique().to_list():
        result, other = read(text, times=times) or (None, None)
        low[text] = -np.inf if result is None else result
        high[text] = np.inf if other is None else other
    nothing = float("nan")
    made = [
        np.array([nothing if text is None else side[text] for text in texts.to_list()])
        for side in (low, high)
    ]
    return made[0], made[1]
