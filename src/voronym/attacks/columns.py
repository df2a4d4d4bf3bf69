"""Linkage by all columns: what else is published betrays the keys.

The intruder knows some people's records (colleagues, members of the family, a leaked part of the table). On
these they learn how every published column goes with the keys: years insured with age, an invoice number with
the date. From what is published of each record they predict its true keys, and claim the record whose
prediction is nearest to the keys of the person they look for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.attacks.smooth import Smoother
from voronym.context import Context
from voronym.evaluate.attacks import link
from voronym.evaluate.pair import numbers

LEAST = 20
"""People to learn from, at least."""
MOST = 20_000
_RIDGE = 1e-3
_TELLS = 0.05  # a column that explains less than this of what masking hid is not named
_SPREAD = 1e-3  # of a standard deviation: residuals below it are no better known


@attack(
    "linkage-columns",
    level=2,
    knows="the exact keys of the people they look for, and whole records of others in the table",
    needs=("original", "links"),
    cost="seconds",
)
def columns(scene: Scene, ctx: Context) -> Found:
    """Learn on half of the people how all published columns betray the keys; link the other half."""
    X, Y = scene.points
    known = np.flatnonzero(scene.links >= 0)
    if len(known) < 2 * LEAST:
        raise Inapplicable(
            f"it learns on half of the people, and {len(known)} whose rows are known are too few: "
            f"it takes {2 * LEAST}"
        )
    order = ctx.rng.permutation(known)
    half = order[: min(len(order) // 2, MOST)]
    targets = np.sort(order[len(order) // 2 :][: scene.targets])
    told = Told.learn(scene, X, Y, half)
    own = scene.links[targets]
    credit, near, classes = link(told.whitened(X[targets]), told.whitened(told.predicted), own, ctx)
    bare, near_bare, _ = link(told.by_keys(X[targets]), told.by_keys(told.from_keys), own, ctx)
    names = list(told.tells)
    return judge(
        credit * near,
        1.0 / len(Y),
        lambda s, c: _said(s, c, float((bare * near_bare).mean()), told),
        clusters=scene.classes.labels[own],
        confidence=scene.confidence,
        ceiling=1.0 / int(classes.sizes.min()),
        details={
            "columns": names,
            "explains": told.tells,
            "by_keys_alone": float((bare * near_bare).mean()),
            "learned_on": len(half),
        },
    )


def _said(success: float, control: float, alone: float, told: Told) -> str:
    if success <= 2 * control:
        return "All published columns together find hardly more records than a blind guess."
    found = f"1 person in {1 / success:,.0f}" if success < 0.5 else f"{success:.0%} of the people"
    if not told.tells or success < 1.2 * alone + 0.02:
        return f"Columns beside the keys add little: {found} is found, {alone:.1%} by the keys alone."
    named = ", ".join(f"{name!r} (tells {told.keys[name]!r})" for name in told.tells)
    return (
        f"Found: {found}, {alone:.1%} by the keys alone. What betrays them: {named}. "
        "Make that a key, or drop it."
    )


@dataclass(frozen=True, eq=False)
class Told:
    """What an intruder learned: predictions of the true keys of every released row.

    ``tells`` has, for each column that betrays a key, the share of what masking hid that it explains, and
    ``keys`` which key; ``spread`` and ``spread_keys`` turn errors into independent ones of size 1, with all
    columns and with the keys alone.
    """

    predicted: Floats
    from_keys: Floats
    spread: Floats
    spread_keys: Floats
    tells: dict[str, float]
    keys: dict[str, str]

    def whitened(self, points: Floats) -> Floats:
        """Return points in units of the prediction's errors."""
        return points @ self.spread

    def by_keys(self, points: Floats) -> Floats:
        """Return points in units of the errors of a prediction by published keys alone."""
        return points @ self.spread_keys

    @classmethod
    def learn(cls, scene: Scene, X: Floats, Y: Floats, half: Ints) -> Told:
        """Learn from the people in ``half``, whose released rows are known."""
        rows, truth = scene.links[half], X[half]
        plain = np.column_stack([np.ones(len(Y)), Y])
        from_keys = np.empty_like(Y)
        predicted = np.empty_like(Y)
        smooth = {name: Smoother.fit(_values(scene.released[name]), rows, truth) for name in scene.beside}
        rests, rests_keys = np.empty_like(truth), np.empty_like(truth)
        gains: dict[str, Floats] = {name: np.zeros(Y.shape[1]) for name in smooth}
        for j in range(Y.shape[1]):
            weights = _ridge(plain[rows], truth[:, j])
            from_keys[:, j] = plain @ weights
            rests_keys[:, j] = truth[:, j] - plain[rows] @ weights
            fits = [one.left_out[:, j] for one in smooth.values()]
            design = np.column_stack([plain[rows], *fits])
            weights = _ridge(design, truth[:, j])
            everywhere = np.column_stack([plain, *(one.everywhere[:, j] for one in smooth.values())])
            predicted[:, j] = everywhere @ weights
            rests[:, j] = truth[:, j] - design @ weights
            hidden = float((rests_keys[:, j] ** 2).sum())
            for name, fit in zip(smooth, fits, strict=True):  # alone: two columns may tell the same
                joined = np.column_stack([plain[rows], fit])
                left = truth[:, j] - joined @ _ridge(joined, truth[:, j])
                gains[name][j] = 1.0 - float((left**2).sum()) / hidden if hidden > 1e-12 * len(truth) else 0.0
        blocks = scene.codec.blocks
        of = {j: block.name for block in blocks for j in range(block.start, block.stop)}
        strong = sorted((name for name in gains if gains[name].max() > _TELLS), key=lambda n: -gains[n].max())
        return cls(
            predicted,
            from_keys,
            _whitening(rests),
            _whitening(rests_keys),
            {name: float(gains[name].max()) for name in strong},
            {name: of[int(gains[name].argmax())] for name in strong},
        )


def _ridge(design: Floats, target: Floats) -> Floats:
    """Return the weights of a regression, shrunk a little so that columns may depend on each other."""
    gram = design.T @ design
    shrink = _RIDGE * np.maximum(np.diag(gram), 1e-9)
    shrink[0] = 0.0
    return np.asarray(np.linalg.lstsq(gram + np.diag(shrink), design.T @ target, rcond=None)[0])


def _whitening(rests: Floats) -> Floats:
    """Return the matrix that makes errors independent and of size 1."""
    covariance = rests.T @ rests / len(rests) + _SPREAD**2 * np.eye(rests.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors / np.sqrt(np.maximum(values, _SPREAD**2)))


def _values(column: pl.Series) -> tuple[Floats, bool]:
    """Return a column as numbers, and whether their order means something."""
    found = numbers(column)
    if found is not None:
        return np.where(np.isnan(found), np.inf, found), True
    return column.cast(pl.String).rank("dense").fill_null(0).to_numpy().astype(np.float64), False
