"""Minimality: an intruder reruns the tool on other possible tables and keeps those with the same release."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.scene import Scene
from voronym.attacks.worlds import BATCHES, Posteriors, posteriors
from voronym.core import later
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence

special = later.module("scipy.special")

MOST_PEOPLE = 60
"""Above this number of people, a walk through the possible tables is too short to be informative."""


@attack(
    "minimality",
    level=5,
    knows="the keys of everybody in the table, the program and the recipe",
    needs=("original", "links", "confidential", "rerun"),
    cost="reruns",
    reference="Wong, Fu, Wang, Pei, VLDB 2007",
    instead="by counting in the groups",
)
def minimality(scene: Scene, ctx: Context) -> Found:
    """Rerun the tool on other possible tables, and keep those with the same release.

    Success is the expected share of right guesses of a confidential value. The control counts values in
    the published groups. The difference is the information that the method itself revealed.
    """
    table, rerun = scene.table, scene.rerun
    if table is None or rerun is None:
        raise Inapplicable(scene.lacks("rerun") or "")
    if table.n > MOST_PEOPLE:
        raise Inapplicable(
            f"{table.n:,} people are too many for rerunning on other worlds; try it on a part of the table "
            f"with at most {MOST_PEOPLE} of them, such as one ward"
        )
    if (scene.links < 0).any():
        raise Inapplicable("not everybody is in the release, so it cannot be made again from this table")
    aligned = nw.from_native(scene.released[scene.links.tolist()], eager_only=True)
    posteriors_by_column = posteriors(table, rerun, released=aligned, ctx=ctx)
    worst = max(posteriors_by_column, key=lambda beliefs: beliefs.success - beliefs.control)
    return _sentence(worst, scene.confidence)


def _sentence(beliefs: Posteriors, confidence: float) -> Found:
    quantile = float(special.stdtrit(BATCHES - 1, (1 + confidence) / 2))
    reach = 0.0 if beliefs.exhaustive else quantile * beliefs.error
    excess = beliefs.success - beliefs.control
    n = len(beliefs.truth)
    if beliefs.certain:
        clause = Sentence(
            "certain about {column} of {people} of {all} people whose group does not decide it",
            column=repr(beliefs.column),
            people=str(beliefs.certain),
            all=str(n),
        )
    elif beliefs.worst > 0.005:
        clause = Sentence(
            "surer about {column} than the groups’ counts say, by up to {worst}",
            column=repr(beliefs.column),
            worst=percent(beliefs.worst, whole=True),
        )
    else:
        clause = Sentence(
            "no more certain about {column} than the counts of the groups show", column=repr(beliefs.column)
        )
    begun = (
        "" if beliefs.fair else Sentence("; the search began at the true world, which makes it look likelier")
    )
    tried = Sentence("all") if beliefs.exhaustive else Sentence("drawn:")
    says = Sentence(
        "An intruder who has the program is {clause} ({consistent} of {tried} {worlds} worlds give this "
        "release{begun}).",
        clause=clause,
        consistent=f"{beliefs.consistent:,}",
        tried=tried,
        worlds=f"{beliefs.worlds:,}",
        begun=begun,
    )
    return Found(
        beliefs.success,
        beliefs.control,
        max(-1.0, excess - reach),
        min(1.0, excess + reach),
        n,
        says,
        details={
            "column": beliefs.column,
            "worst_excess": beliefs.worst,
            "certain": beliefs.certain,
            "largest_posterior": float(np.max(beliefs.posterior)),
            "worlds": beliefs.worlds,
            "consistent": beliefs.consistent,
            "exhaustive": beliefs.exhaustive,
            "fair_start": beliefs.fair,
        },
    )
