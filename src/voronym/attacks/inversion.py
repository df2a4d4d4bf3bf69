"""Matrix inversion: an intruder undoes the noise with the published matrix."""

from __future__ import annotations

import numpy as np
import polars as pl

from voronym.attacks.attributes import corrected, worst
from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Matrix, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence

_ROUNDS = 500


@attack(
    "matrix-inversion",
    level=0,
    knows="the published file and the published matrices",
    needs=("original", "links", "matrices"),
    cost="instant",
    instead="by taking published values for true",
)
def inversion(scene: Scene, ctx: Context) -> Found:
    """Guess the likeliest true value of each published value, from the matrix and the frequencies.

    How often the true values occur is estimated from the published counts and the matrix.
    """
    targets = scene.sample(ctx.rng, np.flatnonzero(scene.links >= 0))
    level = corrected(scene.confidence, len(scene.matrices))
    result = []
    for matrix in scene.matrices:
        truth = _letters(scene.people, matrix)[targets]
        published = _letters(scene.released, matrix)
        shares = recovered(np.bincount(published, minlength=len(matrix.rows)).astype(np.float64), matrix.rows)
        guess = (shares[:, None] * matrix.rows).argmax(axis=0)
        seen = published[scene.links[targets]]
        what = ", ".join(map(repr, matrix.columns))
        result.append(
            judge(
                guess[seen] == truth,
                seen == truth,
                lambda s, c, what=what: Sentence(  # type: ignore[misc]
                    "With the matrix the true {columns} of a row is guessed in {success} of the cases, "
                    "{control} without it.",
                    columns=what,
                    success=percent(s, whole=True),
                    control=percent(c, whole=True),
                ),
                confidence=level,
                details={"columns": list(matrix.columns), "letters": len(matrix.rows)},
            )
        )
    return worst(result)


def recovered(counts: Floats, rows: Floats) -> Floats:
    """Return shares of true values that explain the published counts best (expectation maximisation).

    Examples
    --------
    >>> recovered(np.array([20.0, 80.0]), np.array([[0.5, 0.5], [0.0, 1.0]])).round(3).tolist()
    [0.4, 0.6]
    """
    total = counts.sum()
    if total == 0:
        raise Inapplicable("the matrix lists none of the published values")
    shares = np.full(len(rows), 1.0 / len(rows))
    for _ in range(_ROUNDS):
        expected = shares @ rows
        ratio = np.divide(counts / total, expected, out=np.zeros_like(expected), where=expected > 0)
        new = shares * (rows @ ratio)
        new /= new.sum()
        if np.abs(new - shares).max() < 1e-10:
            break
        shares = new
    return np.asarray(new)


def _letters(frame: pl.DataFrame, matrix: Matrix) -> Ints:
    """Return the letter of each record; unlisted values get the last letter, if the matrix has one more."""
    number = {letter: i for i, letter in enumerate(matrix.letters)}
    texts = frame.select(pl.col(name).cast(pl.String) for name in matrix.columns)
    rest = len(matrix.letters) if len(matrix.rows) > len(matrix.letters) else -1
    result = [number.get(tuple(str(v) for v in row), rest) for row in texts.iter_rows()]
    out = np.array(result, np.int64)
    if (out < 0).any():
        raise Inapplicable("a table has values that the matrix does not list")
    return out
