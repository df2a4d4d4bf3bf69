"""The two halves of a round of `pcl`: centroids that move, and points that are assigned again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.quantize import _start
from voronym.quantize.costs import SOLVERS
from voronym.quantize.costs.base import Assignment, Bounds, Floats, Integers
from voronym.quantize.costs.transport import Engine, Solved
from voronym.space import Space

TINY = 0.05
"""A cell below this share of its prescribed size is given up, and a large one is divided instead."""


def hurry(ctx: Context) -> None:
    """Give up an assignment when time is over, if there is another to return."""
    ctx.tell(0.0, whole=True)
    if ctx.over:
        raise Unfinished("the time was over before the assignment was made")


@dataclass(frozen=True, eq=False)
class Turn:
    """An assignment, the centroids and costs it belongs to, and the mean distance."""

    labels: Integers
    centroids: Floats
    costs: Floats
    distortion: float
    solved: Solved | None = None


class Exact:
    """Exact assignments, each to the centroids of the previous one."""

    def __init__(self, X: Floats, start: _start.Start, bounds: Bounds, engine: Engine, speed: float) -> None:
        self.X, self.bounds, self.engine, self.space, self.speed = X, bounds, engine, engine.space, speed
        self.C, self.labels = start.centroids, start.labels
        self.c = engine.tamed(start.costs, start.centroids, bounds)
        self.distances: float | None = None

    def step(self) -> Turn:
        """Move the centroids, except the first time, and assign the points again."""
        if self.distances is not None and self.labels is not None:
            means = centroids(self.X, self.labels, self.C, self.space)
            self.C = move(self.C, means, self.speed, self.space)
            if not self.space.quadratic and self.speed != 1.0:
                worse = self.space.paired(self.X, self.C, self.labels).sum() > self.distances
                self.C = means if worse else self.C
        solved = self.engine.solve(self.C, self.bounds, self.c, self.labels)
        self.labels, self.c = self.engine.labels(solved), solved.costs
        self.distances = self.engine.distances(solved)
        return Turn(self.labels, self.C, self.c, self.distances / len(self.X), solved)

    def settle(self, turn: Turn, ctx: Context) -> Turn:
        """Return a turn with a proven assignment, by costs without needless ties."""
        assert turn.solved is not None  # noqa: S101 - every step has one
        self.engine.tick = partial(ctx.tell, 0.0)  # short, and nothing can be returned before it
        self.engine.place(turn.centroids)
        answer = self.engine.settle(turn.solved, self.bounds, 1e-9)
        return replace(turn, labels=np.array(answer.labels), costs=answer.costs)


class Near:
    """Assignments by a solver that nearly meets the sizes; cells that vanish start again elsewhere."""

    def __init__(
        self,
        X: Floats,
        start: _start.Start,
        sizes: Integers,
        space: Space,
        solver: str,
        speed: float,
        ctx: Context,
    ) -> None:
        self.X, self.sizes, self.space, self.ctx = X, sizes, space, ctx.quiet()
        self.solver, self.speed = SOLVERS[solver], speed
        self.C, self.c = start.centroids, start.costs
        self.answer: Assignment | None = None
        self.rng = np.random.default_rng(len(X))  # for places where nothing better is known

    def step(self) -> Turn:
        """Move the centroids, except the first time, and assign the points again."""
        if self.answer is not None:
            means = centroids(self.X, self.answer.labels, self.C, self.space)
            self.C = move(self.C, means, self.speed, self.space)
            self.divide(self.answer)
        answer = self.solver(self.X, self.C, self.sizes, space=self.space, start=self.c, ctx=self.ctx)
        if self.answer is not None and self.ctx.over:
            raise Unfinished("the time was over before the assignment was made")
        self.answer, self.c = answer, np.array(answer.costs)
        return Turn(np.array(answer.labels), self.C, self.c, answer.cost / len(self.X))

    def settle(self, turn: Turn, ctx: Context) -> Turn:  # noqa: ARG002 - nothing is proven here
        """Return the turn unchanged: there is nothing to prove."""
        return turn

    def divide(self, answer: Assignment) -> None:
        """Move the centroid of a tiny cell halfway to the farthest point of a large cell."""
        lost = np.flatnonzero(answer.sizes < TINY * self.sizes)
        order = np.argsort(-answer.sizes, kind="stable")
        kept = order[(answer.sizes >= TINY * self.sizes)[order] & (answer.sizes >= 2)[order]]
        for cell, other in zip(lost, kept, strict=False):
            members = np.flatnonzero(answer.labels == other)
            far = members[np.argmax(self.space.cost(self.X[members], self.C[[other]])[:, 0])]
            half = 0.5 * (self.C[other] + self.X[far])
            self.C[cell] = half if self.space.linear else self.X[far]
            self.c[cell] = self.c[other]
        rest = lost[len(kept) :]  # more are lost than can be divided: any points, at the costs of their cells
        chosen = self.rng.permutation(len(self.X))[: len(rest)]
        self.C[rest], self.c[rest] = self.X[chosen], self.c[answer.labels[chosen]]


def move(C: Floats, means: Floats, speed: float, space: Space) -> Floats:
    """Move centroids part of the way to others, or beyond; all the way in spaces without points between."""
    return C + speed * (means - C) if space.linear else means


def centroids(X: Floats, labels: Integers, C: Floats, space: Space) -> Floats:
    """Return the centroid of each cell; an empty cell keeps its centroid."""
    means = space.centroids(X, labels, len(C))
    empty = np.bincount(labels, minlength=len(C)) == 0
    means[empty] = C[empty]
    return means
