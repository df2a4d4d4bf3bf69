"""An intruder who also knows how confidential columns depend on the keys.

Shuffling separates a person's keys from the rest of their record. If the rest reveals the keys, as years
insured reveal age, the intruder can join them again. This module measures how often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import LINE
from voronym.core.rate import Rate, rate
from voronym.partition import Partition
from voronym.space.field import Field

Floats = NDArray[np.float64]

_LEVELS = 12  # categories of a column that get a coordinate each
_RIDGE = 1e-3
TELLING = 0.3
"""Share of the variance of a key that a column must explain to be named."""


def coordinates(field: Field) -> Floats:
    """Return a column as coordinates of variance 1: ranks of numbers, indicators of frequent categories."""
    if field.geometry.shape == LINE and len(field.geometry.coords):
        place = np.full(field.levels, float(np.median(field.geometry.coords[:, 0])))
        place[: len(field.geometry.coords)] = field.geometry.coords[:, 0]
        values = place[field.codes]
        columns = [np.searchsorted(np.sort(values), values).astype(np.float64)]
    else:
        often = np.argsort(-np.bincount(field.codes), kind="stable")[:_LEVELS]
        columns = [(field.codes == level).astype(np.float64) for level in often]
    made = np.column_stack(columns)
    spread = made.std(axis=0)
    return np.asarray((made - made.mean(axis=0))[:, spread > 0] / spread[spread > 0])


def linkage_beyond(
    keys: Sequence[Field], others: Sequence[Field], part: Partition
) -> tuple[Rate, tuple[str, ...]] | None:
    """Attack by an intruder who knows everybody's keys and cluster, and guesses by the confidential columns.

    The intruder knows how these columns depend on the keys, by ridge regression on the originals; nobody
    can know more that is linear in ranks and categories. For each person they take the record of the
    cluster whose confidential columns fit the person's keys best.

    Returns
    -------
    tuple of Rate and names, or None
        The success rate, and the columns that explain much of a key; None if no column does.
    """
    confidential = [(other, coordinates(other)) for other in others]
    confidential = [(item, made) for item, made in confidential if made.shape[1]]
    known = [made for made in map(coordinates, keys) if made.shape[1]]
    if not confidential or not known:
        return None
    Z = np.column_stack(known)
    guessed = _guess(np.column_stack([made for _, made in confidential]), Z)
    missed = np.square(Z - guessed).mean(axis=0)
    weight = 1.0 / np.maximum(missed, _RIDGE)
    won = np.zeros(part.n)
    for rows in part.cells():
        away = (np.square(Z[rows][:, None] - guessed[rows][None]) * weight).sum(axis=2)
        best = away <= away.min(axis=1, keepdims=True) * (1.0 + 1e-12)
        won[rows] = best[np.arange(len(rows)), np.arange(len(rows))] / best.sum(axis=1)
    names = [
        entry.name
        for entry, made in confidential
        if float((1.0 - np.square(Z - _guess(made, Z)).mean(axis=0)).max()) >= TELLING
    ]
    return rate(won, population=part.n), tuple(names)


def _guess(C: Floats, Z: Floats) -> Floats:
    """Return the coordinates of the keys, predicted from the other columns."""
    gram = C.T @ C / len(C) + _RIDGE * np.eye(C.shape[1])
    return np.asarray(C @ np.linalg.solve(gram, C.T @ Z / len(C)))
