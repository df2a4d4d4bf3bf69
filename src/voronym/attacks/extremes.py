"""Extremes: everybody knows the oldest, the best paid and the longest in hospital."""

from __future__ import annotations

import numpy as np

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.evaluate.pair import numbers

RANKS = 5
"""Number of people at either end of each column."""


@attack(
    "extremes",
    level=0,
    knows="which people have the largest or smallest values of a column: the oldest, the best paid",
    needs=("original", "links"),
    cost="instant",
)
def extremes(scene: Scene, ctx: Context) -> Found:
    """Claim the rows with the largest and smallest values of a column for the people known to have them."""
    del ctx
    credit: list[float] = []
    who: list[int] = []
    exposed: dict[str, float] = {}
    for name in scene.released.columns:
        x, y = numbers(scene.people[name]), numbers(scene.released[name])
        if x is None or y is None or len(np.unique(x[~np.isnan(x)])) < 4 * RANKS:
            continue
        here = [_ends(sign * x, sign * y, scene.links) for sign in (1.0, -1.0)]
        result = [c for credits_, _ in here for c in credits_]
        if not result:
            continue
        credit += result
        who += [person for _, people in here for person in people]
        exposed[name] = float(np.mean(result))
    if not credit:
        raise Inapplicable(
            "no published numeric column has a largest or smallest value that only one person has"
        )
    strong = [name for name, value in sorted(exposed.items(), key=lambda item: -item[1]) if value > 0.5]

    def says(success: float, control: float) -> str:
        del control
        if not strong:
            return Sentence(
                "Of the rows with the largest and smallest values of a column, {success} belong to the "
                "people known to have them.",
                success=percent(success, whole=True),
            )
        named = ", ".join(map(repr, strong))
        return Sentence(
            "The largest and smallest values of {columns} are published: they identify the people who have "
            "them.",
            columns=named,
        )

    return judge(
        credit,
        1.0 / len(scene.released),
        says,
        clusters=np.array(who),
        confidence=scene.confidence,
        details={"columns": exposed},
    )


def _ends(x: Floats, y: Floats, own: Ints) -> tuple[list[float], list[int]]:
    """Claim the row of the same rank, for each person with one of the largest values if it is unique."""
    filled, published = np.where(np.isnan(x), -np.inf, x), np.where(np.isnan(y), -np.inf, y)
    order = np.argsort(-filled, kind="stable")
    ranked = np.sort(published)[::-1]
    credit, people = [], []
    for rank, person in enumerate(order[: min(RANKS, len(ranked))]):
        if own[person] < 0 or (filled == filled[person]).sum() > 1:
            continue  # people with equal values have no certain rank
        tied = np.flatnonzero(published == ranked[rank])
        credit.append(float(own[person] in tied) / len(tied))
        people.append(int(person))
    return credit, people
