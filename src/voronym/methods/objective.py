"""The published values of groups, as the cost that a search minimises.

Groups are made in coordinates, in which the mean is the best centre. But a group publishes another value: the
most frequent category, a whole number, or a chosen median. A search that accounts for this loses less.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.generalize.publish import RANGES, ways_of
from voronym.keyspaces import Coordinates, Keys, Weighed
from voronym.request.choices import ReleaseChoices
from voronym.space import Euclidean
from voronym.space.published import PublishedPoints, Shown
from voronym.table.encoders import Location, Nominal, Numeric, Ordinal
from voronym.table.encoders.base import AWAY
from voronym.table.encoders.levels import ONE_HOT
from voronym.table.table import Table

Floats = NDArray[np.float64]

COARSE = 0.1
"""Width of a grid, in standard deviations, above which rounding is accounted for; below it, rounding costs
less than a thousandth of the variance.
"""


def published_points(table: Table, keys: Keys, choices: ReleaseChoices) -> PublishedPoints | None:
    """Return the keys with the cost of their published values; None if means are nearly the same.

    Also None for records with weights, for other spaces than coordinates, and for published ranges, which
    have no variance.

    Parameters
    ----------
    table : Table
        The records that are grouped.
    keys : Keys
        Their keys in the space.
    choices : ReleaseChoices
        The way to publish each key.
    """
    if isinstance(keys, Weighed) and keys.weights is None:
        plain, points = keys.plain, keys.records.points
    elif isinstance(keys, Coordinates):
        plain, points = keys, keys.records.points
    else:
        return None
    ways = ways_of(choices, table.keys)
    if points is None or any(way in RANGES for way in ways.values()):
        return None
    made = _Columns(points, plain.X, keys.scale if isinstance(keys, Weighed) else np.ones(points.shape[1]))
    for block, encoder in zip(plain.codec.blocks, plain.codec.encoders, strict=True):
        made.add(block.start, encoder, any(ways.get(name) == "median" for name in block.columns))
    if not (made.rounded or made.medians or made.codes):
        return None
    return PublishedPoints(Euclidean(), points, points, made.shown())


class _Columns:
    """Sorts the coordinates of a codec by how groups publish them."""

    def __init__(self, points: Floats, X: Floats, scale: Floats) -> None:
        self.points, self.X, self.scale = points, X, scale
        self.means: list[tuple[Floats, float, float]] = []
        self.rounded: list[tuple[Floats, float, float]] = []
        self.medians: list[tuple[Floats, float, float]] = []
        self.codes: list[tuple[NDArray[np.int64], float, bool]] = []
        self.inexact: list[Floats] = []
        self.gaps = False

    def add(self, start: int, encoder: Any, median: bool) -> None:
        """Add the coordinates of one encoder."""
        scale = float(self.scale[start])  # of a coordinate here to that of the codec
        if isinstance(encoder, Nominal):
            if encoder.scale > 0.0:
                apart = encoder.scale**2 * (1.0 if encoder.n_categories == 2 else 2.0) * scale**2
                codes = np.where(encoder.levels.codes < 0, len(encoder.levels.values), encoder.levels.codes)
                exact = encoder.n_categories <= ONE_HOT
                self.codes.append((codes, apart, exact))
                self.gaps |= encoder.levels.has_missing
                if not exact:
                    self.inexact.append(self.points[:, start : start + encoder.width])
            return
        absence = getattr(encoder, "absence", None)
        flag = int(absence.width) if absence is not None else 0
        width = encoder.width - flag
        column = self.points[:, start : start + width]
        if flag:  # missing or not is published as one of the two
            gone = (self.X[:, start + width] > 0.0).astype(np.int64)
            self.codes.append((gone, (AWAY * scale) ** 2, True))
            self.gaps = True
        step, origin = (0.0, 0.0) if isinstance(encoder, Location) else grid_of(encoder)
        for j in range(width):
            kind = self.means
            if median and not flag and not isinstance(encoder, Location):
                kind = self.medians
            elif step >= COARSE and not flag:
                kind = self.rounded
            kind.append((column[:, j], origin * scale, (step or 1.0) * scale))

    def shown(self) -> Shown:
        """Return all columns together."""
        n, numbers = len(self.points), [*self.means, *self.rounded, *self.medians]
        codes, begin = np.zeros((n, len(self.codes)), np.int64), 0
        for c, (column, _, _) in enumerate(self.codes):
            codes[:, c] = np.unique(column, return_inverse=True)[1].reshape(-1) + begin
            begin = int(codes[:, c].max()) + 1
        columns = np.ascontiguousarray(
            np.stack([element[0] for element in numbers], axis=1) if numbers else np.zeros((n, 0))
        )
        return Shown(
            columns,
            len(self.means),
            len(self.means) + len(self.rounded),
            np.array([number[1] for number in numbers]),
            np.array([item[2] for item in numbers]),
            codes,
            np.array([code[1] for code in self.codes]),
            np.array([entry[2] for entry in self.codes], bool),
            np.ascontiguousarray(np.concatenate([columns, *self.inexact], axis=1)),
            self.gaps,
        )


def grid_of(encoder: Numeric | Ordinal) -> tuple[float, float]:
    """Return the width of the rounding grid of means, and a value of it, in coordinates; or 0, 0."""
    if encoder.std <= 0.0:
        return 0.0, 0.0
    if isinstance(encoder, Ordinal):
        return 1.0 / encoder.std, -encoder.mean / encoder.std
    width = 0.0
    if encoder.form in ("float", "empty"):
        width = 10.0**-encoder.places if encoder.places is not None else 0.0
    elif encoder.form == "decimal":
        width = 10.0**-encoder.scale
    else:
        width = float(encoder.step)
    return math.ldexp(width, -encoder.unit) / encoder.std, -encoder.mean / encoder.std
