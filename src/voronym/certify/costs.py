"""Costs of groups for column generation: squares, and members that differ from the mode."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import total_squares
from voronym.certify.exact import distances
from voronym.core.context import Context
from voronym.problem import Problem
from voronym.space.published import PublishedPoints

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Costs:
    """The cost of groups: squares about the mean, and a weight for each member without the mode of a column.

    The cost of a group is the least total loss of its members over all values it could publish. So the
    k-subsets of a group of m cost on average at most ``k/m`` of its cost, and prices that are valid for
    groups of k are valid for larger groups.

    Parameters
    ----------
    D2 : array, shape (n, n)
        Squared distances between the numbers.
    codes : array of int, shape (c, n)
        The categories of each column, numbered from 0.
    weights : array, shape (c,)
        The cost of a wrong category.
    numbers : array, shape (n, d)
        The columns of numbers, in the units of the data.
    total : float
        The total that losses are a share of: the sum of squares of all coordinates, in the units of the data.
    scale : float
        Factor on distances and weights.
    """

    D2: Floats
    codes: Integers
    weights: Floats
    numbers: Floats
    total: float
    scale: float = 1.0

    @classmethod
    def of(cls, problem: Problem, ctx: Context) -> Costs:
        """Return the costs of a problem: of its published values, or the squares about the means."""
        records = problem.records
        if not isinstance(records, PublishedPoints):
            return cls.plain(problem.points, ctx)
        shown = records.shown
        exact = np.flatnonzero(shown.exact)
        codes = np.ascontiguousarray(shown.codes[:, exact].T)
        codes -= codes.min(axis=1, keepdims=True, initial=np.iinfo(np.int64).max)
        order = np.argsort(-shown.weights[exact], kind="stable")  # what costs most decides first
        D2 = distances(shown.bounded, ctx) if shown.bounded.shape[1] else np.zeros((problem.n, problem.n))
        return cls(
            D2,
            np.ascontiguousarray(codes[order]),
            np.ascontiguousarray(shown.weights[exact][order]),
            shown.bounded,
            total_squares(records.points),
        )

    @classmethod
    def plain(cls, X: Floats, ctx: Context) -> Costs:
        """Return the costs of means only."""
        return cls(distances(X, ctx), np.zeros((0, len(X)), np.int64), np.zeros(0), X, total_squares(X))

    def __len__(self) -> int:
        return len(self.D2)

    @property
    def width(self) -> int:
        """Number of columns of numbers."""
        return int(self.numbers.shape[1])

    def scaled(self, factor: float) -> Costs:
        """Return the costs times a factor; changes the large distances in place."""
        self.D2[...] *= factor
        return replace(self, weights=self.weights * factor, scale=self.scale * factor)

    def group(self, group: Integers) -> float:
        """Return the cost of a group."""
        cost = float(self.D2[np.ix_(group, group)].sum()) / (2 * len(group))
        for codes, weight in zip(self.codes, self.weights.tolist(), strict=True):
            cost += weight * (len(group) - int(np.bincount(codes[group]).max()))
        return cost

    def cells(self, cells: list[Integers]) -> float:
        """Return the cost of all groups of a partition."""
        return math.fsum(self.group(cell) for cell in cells)

    def differing(self, most: int) -> Floats:
        """Return an upper bound on the distance that a differing pair adds, in groups of at most ``most``.

        If M of m records have the mode, at most ``(m - M) (m + M - 1) / 2`` pairs differ. M is at
        most m - 1 if any pair differs, so the number of members without the mode is at least the
        number of differing pairs divided by m - 1. A group costs the sum of its pairs divided by m.
        """
        return self.weights * most / (most - 1)

    def pairs(self, k: int, ctx: Context) -> Floats:
        """Return distances whose sum over the pairs of k records is at most k times their cost."""
        if not len(self.weights):
            return self.D2
        out = self.D2.copy()
        for start in range(0, len(self), 512):
            ctx.check()
            rows = slice(start, start + 512)
            for codes, pair in zip(self.codes, self.differing(k).tolist(), strict=True):
                out[rows] += pair * (codes[rows, None] != codes[None, :])
        return out
