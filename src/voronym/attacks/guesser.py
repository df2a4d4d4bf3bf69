"""A learned guesser: what can be learned about people *in* the table, beyond people in general."""

from __future__ import annotations

from typing import Any

import numpy as np

from voronym.attacks.attributes import Secret, corrected, secrets, worst
from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import excess, share
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.errors import MissingExtraError, SchemaError, hint
from voronym.evaluate.pair import common

TREES = 24
MOST_LEARNED = 10_000
"""Largest number of released records to learn from."""
_FOLDS = 2


@attack(
    "learned-guess",
    level=1,
    knows="the exact keys of the people they look for",
    needs=("original", "confidential"),
    cost="seconds",
    reference="Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023",
    instead="about people who are not in the table",
)
def learned(scene: Scene, ctx: Context) -> Found:
    """Learn confidential values from published keys by random forests, and guess them for people.

    The control guesses for people outside the table: given people, or else each person by a forest that
    did not see their row. Guesses that are right for them too are true of people in general.
    """
    X, Y = scene.points
    known = np.flatnonzero(scene.own >= 0) if scene.own is not None else None
    if scene.control is None and known is None:
        raise Inapplicable(
            f"it needs the person of each row (a Release, or {hint('aligned')}), or people who "
            "are not in "
            f"the table ({hint('control', 'FILE')})"
        )
    targets = scene.sample(ctx.rng, known)
    level = corrected(scene.confidence, len(scene.confidential))
    result, columns = [], secrets(scene)
    for i, item in enumerate(columns):
        part = ctx.part(i / len(columns), (i + 1) / len(columns))
        if scene.control is None:
            mine, others = _crossed(item, X, Y, targets, scene.links[targets], part)
            alike = np.unique(Y[scene.links[targets]], axis=0, return_inverse=True)[1].reshape(-1)
            success = share(mine, alike, confidence=level)
            control = share(others, alike, confidence=level)
        else:
            Z = _strangers(scene)
            rows = _some(part.rng, len(Y), np.empty(0, np.int64))
            guesses = forest(item, Y[rows], item.after[rows], [X[targets], Z], part)
            success = share(item.right(guesses[0], item.before[targets]), confidence=level)
            control = share(item.right(guesses[1], item.strangers), confidence=level)
        low, high = excess(success, control)
        says = Sentence(
            "Learned guesses of {column} are right for {success} of the people in the table, and for "
            "{control} of people who are not in it.",
            column=repr(item.name),
            success=percent(success.value, whole=True),
            control=percent(control.value, whole=True),
        )
        result.append(
            Found(success.value, control.value, low, high, len(targets), says, details={"column": item.name})
        )
    return worst(result)


def _crossed(
    secret: Secret, X: Floats, Y: Floats, targets: Ints, own: Ints, ctx: Context
) -> tuple[Floats, Floats]:
    """Guess each target by a forest that saw all rows, and by a forest that did not see the target's row."""
    rows = _some(ctx.rng, len(Y), own)
    fold = ctx.rng.permutation(len(targets)) % _FOLDS
    truth = secret.before[targets]
    seen = forest(secret, Y[rows], secret.after[rows], [X[targets]], ctx)[0]
    unseen = np.empty(len(targets))
    for part in range(_FOLDS):
        kept = rows[~np.isin(rows, own[fold == part])]
        if len(kept) == 0:
            raise Inapplicable("there are too few records to learn from")
        unseen[fold == part] = forest(secret, Y[kept], secret.after[kept], [X[targets[fold == part]]], ctx)[0]
    return secret.right(seen, truth), secret.right(unseen, truth)


def forest(
    secret: Secret, points: Floats, values: Floats, where: list[Floats], ctx: Context, *, trees: int = TREES
) -> list[Floats]:
    """Learn a column from points, and guess it at other points.

    Trees grow until each leaf is pure, so the forest remembers its training rows.
    """
    try:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    except ImportError as error:
        raise MissingExtraError(
            "learned guesses need scikit-learn: pip install 'voronym[sklearn]'"
        ) from error
    there = ~np.isnan(values)
    if not there.any():
        raise Inapplicable(f"column {secret.name!r} has no values to learn from")
    kind: Any = RandomForestClassifier if secret.width == 0.0 else RandomForestRegressor
    seeds = ctx.rng.integers(0, 2**31 - 1, 2)
    sizes = [trees // 2] * 2

    def grow(i: int) -> Any:
        return kind(sizes[i], random_state=int(seeds[i]), n_jobs=1).fit(points[there], values[there])

    grown = ctx.map(grow, range(len(sizes)))
    if secret.width > 0.0:
        return [np.mean([model.predict(Z) for model in grown], axis=0) for Z in where]
    out = []
    for Z in where:
        chances = np.mean([model.predict_proba(Z) for model in grown], axis=0)
        out.append(np.asarray(grown[0].classes_[chances.argmax(axis=1)], np.float64))
    return out


def _some(rng: np.random.Generator, m: int, needed: Ints) -> Ints:
    """Return the rows to learn from: the needed rows, and random others up to the limit."""
    if m <= MOST_LEARNED:
        return np.arange(m)
    others = np.setdiff1d(np.arange(m), needed)
    drawn = rng.choice(others, max(0, min(len(others), MOST_LEARNED - len(needed))), replace=False)
    return np.sort(np.concatenate([needed, drawn]))


def _strangers(scene: Scene) -> Floats:
    """Return the keys of people outside the table, encoded like the others."""
    others = scene.control
    lacking = [n for n in (*scene.keys, *scene.confidential) if others is None or n not in others.columns]
    if others is None or lacking:
        raise Inapplicable(f"the people who are not in the table lack {', '.join(map(repr, lacking))}")
    keys = others.select(common(scene.people[name], others[name])[1].alias(name) for name in scene.keys)
    try:
        return scene.codec.encode(keys)
    except SchemaError as error:
        raise Inapplicable(f"the keys of people who are not in the table do not fit: {error}") from None
