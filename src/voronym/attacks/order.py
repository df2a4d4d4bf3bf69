"""Row order: a row's place betrays its owner if the release kept the original's order."""

from __future__ import annotations

import numpy as np

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence

LEAST = 20
"""Smallest number of people in which an order can be recognised."""


@attack(
    "row-order",
    level=0,
    knows="the order of the original rows: by name, by admission, as in a list that they hold",
    needs=("original", "links"),
    cost="instant",
)
def order(scene: Scene, ctx: Context) -> Found:
    """Claim the row at the same position, from the top or the end, or the row after a neighbour's.

    The best of the three is chosen on half of the people and tested on the other half.
    """
    known = np.flatnonzero(scene.links >= 0)
    place, m = scene.links[known], len(scene.released)
    if len(known) < LEAST:
        raise Inapplicable(f"{len(known)} people are too few to see an order: it takes {LEAST}")
    behind = np.zeros(len(known), bool)
    behind[1:] = np.diff(place) == 1
    claims = np.column_stack([place == known, place == m - 1 - known, behind])
    half = ctx.rng.permutation(len(known)) % 2 == 0
    credit = claims[~half, claims[half].mean(axis=0).argmax()]
    turns = float(np.corrcoef(known, place)[0, 1])

    def says(success: float, control: float) -> str:
        del control
        if success * len(credit) < 4:
            return Sentence("The order of the rows tells nothing.")
        return Sentence(
            "{success} of the rows are where the original had them: shuffle before publishing.",
            success=percent(success, whole=True),
        )

    details = {"correlation_of_places": turns}
    return judge(credit, 1.0 / m, says, confidence=scene.confidence, details=details)
