"""A release as intruders meet it, and the quick attacks on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from voronym.attacks import Exposure, Scene, assault
from voronym.attacks.ladder import quick_attacks
from voronym.attacks.scene import Matrix
from voronym.channel.figures import ChannelFigures
from voronym.core.context import Context
from voronym.release import Release


def scene_of(release: Release, **beside: Any) -> Scene:
    """Build a scene from a release and its originals in memory.

    Parameters
    ----------
    release : Release
        A release with its evidence.
    **beside
        Further fields of the scene.
    """
    evidence = release._evidence
    assert evidence is not None  # noqa: S101 - whoever calls looked
    return Scene.of(
        release.unnamed.frame,
        release.recipe.schema,  # the kinds of the originals: ranges are read as such
        original=evidence.original,
        own=np.argsort(evidence.order),
        table=evidence.table,
        matrices=_matrices(release.figures.of(ChannelFigures)),
        **{"hierarchies": release.recipe.trees, **beside},
    )


def quick_exposure(release: Release, ctx: Context) -> Exposure:
    """Run the attacks that take seconds, as `voronym.attack` does, unless they were run already."""
    before = release.exposure
    known = set() if before is None else {outcome.attack for outcome in before.outcomes} | set(before.skipped)
    lacking = [name for name in quick_attacks() if name not in known]
    if before is not None and not lacking:
        return before
    return assault(scene_of(release), lacking, ctx).having(before)


def _matrices(figures: ChannelFigures | None) -> tuple[Matrix, ...]:
    """Return the rules that a channel published with its release."""
    return tuple(
        Matrix(
            part.columns,
            tuple(tuple(map(str, letter)) for letter in part.matrix.letters),
            np.asarray(part.matrix.rows, np.float64),
        )
        for part in (() if figures is None else figures.parts)
        if part.matrix is not None
    )
