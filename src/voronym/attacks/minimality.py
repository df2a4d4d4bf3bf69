"""Minimality: an intruder who has the tool asks which worlds would have given the same release."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.scene import Scene
from voronym.attacks.worlds import BATCHES, Posteriors, posteriors
from voronym.core import later
from voronym.core.context import Context

special = later.module("scipy.special")

MOST_PEOPLE = 60
"""People beyond whom a walk through the worlds would say nothing within minutes."""


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
    """Rerun the tool on other worlds, and believe those that give the same release.

    Success is the expected share of right guesses of a confidential value by such an intruder; the control
    counts in the published groups. What exceeds it is what the method itself gave away.
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
    found = posteriors(table, rerun, released=aligned, ctx=ctx)
    worst = max(found, key=lambda one: one.success - one.control)
    return _said(worst, scene.confidence)


def _said(found: Posteriors, confidence: float) -> Found:
    quantile = float(special.stdtrit(BATCHES - 1, (1 + confidence) / 2))
    reach = 0.0 if found.exhaustive else quantile * found.error
    excess = found.success - found.control
    n = len(found.truth)
    if found.certain:
        told = f"certain about {found.column!r} of {found.certain} of {n} people whom their group leaves open"
    elif found.worst > 0.005:
        told = f"surer about {found.column!r} than the groups' counts say, by up to {found.worst:.0%}"
    else:
        told = f"no surer about {found.column!r} than the groups' counts say"
    begun = "" if found.fair else "; walks began at the true one, which makes it look likelier"
    tried = "all" if found.exhaustive else "drawn:"
    says = (
        f"An intruder who has the program is {told} ({found.consistent:,} of {tried} {found.worlds:,} worlds "
        f"give this release{begun})."
    )
    return Found(
        found.success,
        found.control,
        max(-1.0, excess - reach),
        min(1.0, excess + reach),
        n,
        says,
        details={
            "column": found.column,
            "worst_excess": found.worst,
            "certain": found.certain,
            "largest_posterior": float(np.max(found.posterior)),
            "worlds": found.worlds,
            "consistent": found.consistent,
            "exhaustive": found.exhaustive,
            "fair_start": found.fair,
        },
    )
