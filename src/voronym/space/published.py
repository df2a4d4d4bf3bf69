"""Points with the cost of their published values: the most frequent category, and rounded means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as states
from voronym._kernels import published as kernels
from voronym.core import numerics
from voronym.partition import Partition, group_means
from voronym.space.base import Space
from voronym.space.points import Points
from voronym.space.records import Array, Ints, Pace


@dataclass(frozen=True, eq=False)
class Shown:
    """The published values of each column, in the form of the kernels.

    Parameters
    ----------
    numbers : array, shape (n, d)
        Columns with plain means first, then rounded ones, then those with medians.
    rounded, medians : int
        First columns of the latter two.
    origin, step : arrays, shape (d,)
        The grid that means are rounded to: one of its values, and its width.
    codes : array of int, shape (n, c)
        Categories; codes of different columns differ.
    weights : array, shape (c,)
        The cost of a wrong category.
    exact : array of bool, shape (c,)
        Whether it costs just that, whichever category it is.
    bounded : array, shape (n, some)
        The numbers, and coordinates of inexact categories: the squares about their means are a lower bound on
        the cost as published.
    gaps : bool
        Whether values are missing. Each counts as a category of its own. The loss as published may be less
        where more than half of a group is missing.
    """

    numbers: Array
    rounded: int
    medians: int
    origin: Array
    step: Array
    codes: Ints
    weights: Array
    exact: NDArray[np.bool_]
    bounded: Array
    gaps: bool = False

    @property
    def publishes_medians(self) -> bool:
        """Whether a column publishes its median; the squares about it may grow when groups are split."""
        return bool(self.medians < self.numbers.shape[1])

    def subset(self, rows: Ints) -> Shown:
        """Return some of the records."""
        numbers, codes = np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows])
        bounded = np.ascontiguousarray(self.bounded[rows])
        return replace(self, numbers=numbers, codes=codes, bounded=bounded)

    def cost(self) -> float:
        """Return the loss of a single group of all these records."""
        middle = self.numbers.mean(axis=0)
        round_ = slice(self.rounded, self.medians)
        origin, step = self.origin[round_], self.step[round_]
        middle[round_] = origin + np.floor((middle[round_] - origin) / step + 0.5) * step
        middle[self.medians :] = np.median(self.numbers[:, self.medians :], axis=0)
        lost = float(np.square(self.numbers - middle).sum())
        for codes, weight in zip(self.codes.T, self.weights.tolist(), strict=True):
            lost += weight * (len(codes) - int(np.unique(codes, return_counts=True)[1].max()))
        return lost

    def scaled(self, factor: float) -> Shown:
        """Return the same with all coordinates multiplied by a factor."""
        return replace(
            self,
            numbers=self.numbers * factor,
            origin=self.origin * factor,
            step=self.step * factor,
            weights=self.weights * factor**2,
            bounded=self.bounded * factor,
        )


class PublishedPoints(Points):
    """Points whose groups cost the loss of their published values.

    Scans, trees and neighbours are those of points; costs are not.

    Parameters
    ----------
    space : Space
        Their space.
    X, points : arrays, shape (n, d)
        The records, as the space has them and as coordinates.
    shown : Shown
        The published columns.
    """

    pace = Pace(chains=2, kicks=4.0, triples=0.25, speed=4e6, least=300.0, near=12, near_in_blocks=8)
    by_squares = False

    def __init__(self, space: Space, X: Array, points: Array | None, shown: Shown) -> None:
        super().__init__(space, X, points)
        self.shown = shown
        self.truth: Callable[[Partition], float] | None = None
        """The exact loss as published, in percent; it differs for missing values and for columns with many
        categories. None if unknown, or if the cost weighs keys by importance.
        """

    def plain(self) -> Points:
        """Return the same points with the cost of their means."""
        return self._sharing(Points(self.space, self.X, self.points))

    def unit(self) -> PublishedPoints:
        """Return the points divided by the largest magnitude."""
        largest = float(np.abs(self.points - self.points.mean(axis=0)).max())
        factor = 1.0 / largest if largest > 0.0 else 1.0
        made = PublishedPoints(self.space, self.X, self.points * factor, self.shown.scaled(factor))
        made._near = self._near  # as for `Points`
        return made

    def subset(self, rows: Ints) -> PublishedPoints:
        """Return some of the records."""
        X = np.ascontiguousarray(self.X[rows])
        return PublishedPoints(self.space, X, self.points[rows], self.shown.subset(rows))

    @cached_property
    def total(self) -> float:
        """The cost of a single group of all records; exactly 0 if all are equal."""
        if not np.ptp(self.points, axis=0).any():
            return 0.0
        return self.cost(Partition(np.zeros(len(self), np.int64)))

    def model(self, room: int) -> kernels.Published:  # type: ignore[override]
        """Return the cost model of published values."""
        shown = self.shown
        grid = np.stack([shown.origin, shown.step])
        return kernels.make(
            shown.numbers,
            (shown.rounded, shown.medians),
            grid,
            shown.codes,
            shown.weights,
            room,
        )

    @property
    def comparable(self) -> bool:
        """Whether a lower bound on the cost is one on the loss as published."""
        return self.truth is not None and not self.shown.gaps

    def lost(self, part: Partition) -> float:
        """Return the loss as published in units of the cost; the cost if the two cannot be compared.

        The cost is never more than the loss: it counts numbers as exact that are rounded finely.
        """
        cost = self.cost(part)
        if self.truth is None or not self.comparable:
            return cost
        return max(cost, self.truth(part) / 100.0 * float(numerics.spread(self.points).sum()))

    def best(self, *parts: Partition) -> Partition:
        """Return the partition with the least loss as published; the first in a tie."""
        return min(parts, key=self.cost if self.truth is None else self.truth)

    def stand_ins(self, model: kernels.Published, cells: states.Cells) -> Array:
        """Return the means of groups under change, in all coordinates."""
        return np.nan_to_num(group_means(self.points, cells.labels, len(model.top)))

    def cost(self, part: Partition) -> float:
        """Return the loss when the groups publish."""
        self.check(part)
        model = self.model(part.n_cells)
        cells = states.make(part.labels, part.n_cells, int(part.sizes.max()))
        total = 0.0
        for first in range(0, part.n_cells, 1024):  # short calls, so that Ctrl-C works
            total += states.refresh_all(model, cells, first, min(part.n_cells, first + 1024))
        return total
