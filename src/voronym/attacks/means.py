"""Means: an intruder who knows all other members of a group subtracts them from the published mean."""

from __future__ import annotations

import numpy as np

from voronym.attacks.attributes import Secret, corrected, worst
from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.evaluate.pair import numbers

CLOSE = 0.01
"""A key estimated within this share of a standard deviation counts as found."""


@attack(
    "means",
    level=3,
    knows="the keys of all other people in a group (k - 1 of them)",
    needs=("original", "links", "numeric"),
    cost="instant",
    instead="by the best single guess for everybody",
)
def means(scene: Scene, ctx: Context) -> Found:
    """Subtract the known members of a group from its published mean, which leaves the last one's key."""
    known = np.flatnonzero(scene.links >= 0)
    targets = scene.sample(ctx.rng, known)
    labels, sizes = scene.classes.labels, scene.classes.sizes
    group = labels[scene.links]
    names = [name for name in scene.numeric_keys if numbers(scene.released[name]) is not None]
    level = corrected(scene.confidence, len(names))
    result = []
    for name in names:
        x, y = numbers(scene.people[name]), numbers(scene.released[name])
        if x is None or y is None or _as_it_was(x[known], y[scene.links[known]]):
            continue
        guesses = _solved(x, y, group, known, labels, sizes)[targets]
        secret = Secret(name, x, y, CLOSE * float(np.nanstd(x)), np.empty(0))
        truth = x[targets]
        result.append(
            judge(
                secret.right(guesses, truth),
                secret.right(np.full(len(targets), secret.constant), truth),
                lambda s, _, name=name: Sentence(  # type: ignore[misc]
                    "An intruder who knows all others in a group finds {column} of the last one in {success} "
                    "of the cases, to a hundredth of a standard deviation.",
                    column=repr(name),
                    success=percent(s, whole=True),
                ),
                clusters=group[targets],
                confidence=level,
                details={"column": name},
            )
        )
    if not result:
        raise Inapplicable("no key is published as a mean")
    return worst(result)


def _as_it_was(true: Floats, published: Floats) -> bool:
    """Whether a key is published unchanged or not at all; then there is nothing to subtract."""
    near = 1e-9 * float(np.nanstd(true))  # not of the values: dates and numbers far from 0 differ by little
    return bool((np.isclose(true, published, rtol=0.0, atol=near) | np.isnan(published)).all())


def _solved(x: Floats, y: Floats, group: Ints, known: Ints, labels: Ints, sizes: Ints) -> Floats:
    """Return, for each person, the key that explains the group's published mean."""
    m = len(sizes)
    here = known[~np.isnan(x[known])]
    total = np.bincount(group[here], x[here], m)
    count = np.bincount(group[here], minlength=m)
    first = np.zeros(m, np.int64)
    first[labels] = np.arange(len(labels))
    mean = y[first]
    solved = mean[group] * count[group] - (total[group] - np.where(np.isnan(x), 0.0, x))
    # A group cannot be solved unless everybody in it is known.
    whole = np.bincount(group[known], minlength=m) == sizes
    return np.where(whole[group], solved, np.nan)
