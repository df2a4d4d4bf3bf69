"""The exact assignment under prescribed sizes, and the costs that prove it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.quantize.costs.base import (
    Assignment,
    Bounds,
    Floats,
    Given,
    Integers,
    cost_solver,
    round_sizes,
)
from voronym.quantize.costs.centre import centre
from voronym.quantize.costs.guess import guess
from voronym.quantize.costs.repair import Repaired, repair, values
from voronym.quantize.costs.sources import BLOCK, Matrix, Merge, Source, Tick, Tree
from voronym.space import Space

EPS = float(np.finfo(np.float64).eps)

LARGE = 40
"""Points per cell above which costs are guessed from counts and only borders are repaired."""

WILD = 0.25
"""If a larger share of points is misplaced, costs are first sought with a part of the points."""

THIN = 16
"""This part has one point in 16."""

NEAREST = 12
"""Cells examined for each point, if cells are small."""

SMALL = 500_000
"""Points times cells up to which all cells are examined."""


@cost_solver
def transport(given: Given, ctx: Context, *, tolerance: float = 1e-9) -> Assignment:
    """Assign points to cells of prescribed sizes at the least total distance, exactly.

    The problem: minimise ``sum_i d(x_i, centroid of i's cell)`` over all assignments that give cell q
    ``sizes[q]`` points, or any number from ``low[q]`` to ``high[q]``. Its linear programme has an
    integral optimum, and the dual variables are the costs: at the optimum every point is in a cell that
    minimises ``d(x, centroid_q) + costs_q``. So the costs prove the assignment, and a quantizer uses
    them.

    Large cells: costs are guessed by Newton's method on the counts, then the points near the borders are
    repaired by shortest paths over the graph of cells. Small cells: the same repair, over the nearest
    cells of each point; then every point is compared with all cells, and the repair is repeated if some
    point prefers another cell. Equal points are one unit that may be divided.

    Many costs prove the assignment; those in the middle are returned. So a point ties between two cells
    only if it must, for example if equal points are divided.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points.
    centroids : array, shape (m, d)
        One per cell; they may coincide. Coinciding cells have the same cost, and share their points in any
        way.
    sizes : array of int, shape (m,), or a pair of them
        Exact sizes, which sum to n, or ``(low, high)``.
    space : Space, optional
        The distance; squared Euclidean by default. Others go through their matrix, in blocks.
    start : array, shape (m,), optional
        Costs to start from, such as those for centroids nearby. They change the running time, not the cost.
        They are clipped at the largest distance.
    tolerance : float
        Largest gap that counts as rounding, relative to the total distance, before ``gap`` is widened by what
        rounding may hide.
    progress : callable, optional
        Called now and then with a `voronym.Progress`; it may raise to stop the work.

    Returns
    -------
    Assignment
        With ``exact`` true; ``iterations`` counts the paths.

    Notes
    -----
    Guarantee: sizes are exact, and no assignment with these sizes has a total distance below ``cost - gap``.
    The gap includes possible rounding errors, about n times the largest cost times 1e-15. A point or centroid
    very far from all others causes large costs: with one at 1e9 the rest may be far from optimal, and the gap
    shows it. Check the gap, or remove such points. Cost: a few passes over the points, each O(n) times the
    cells near a point, then a shortest path in the graph of cells for each remaining point. Memory O(n d),
    plus the cells near each point for small cells.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), theorem 4 and appendix A.

    Examples
    --------
    >>> answer = transport([0.0, 1.0, 2.0, 10.0], [[0.0], [10.0]], [2, 2])
    >>> answer.labels.tolist(), answer.cost
    ([0, 0, 1, 1], 65.0)
    >>> answer.costs.round(9).tolist()  # 60 to 80 will do: the points in the middle are at 1, 81 and 4, 64
    [70.0, 0.0]
    """
    if not tolerance >= 0.0:
        raise InputError(f"tolerance must be 0 or more, not {tolerance!r}")
    X, C, sizes, space, start = given
    engine = Engine(X, space, ctx)
    solved = engine.solve(C, sizes, engine.tamed(start, C, sizes))
    return engine.settle(solved, sizes, tolerance)


@dataclass(frozen=True, eq=False)
class Solved:
    """An optimal assignment as pieces of units, and its costs."""

    pieces: Repaired
    costs: Floats
    labels: Integers
    paths: int


class Engine:
    """The points of a problem, prepared for assignments to several sets of centroids.

    An assignment must be complete: a request to finish raises `voronym.errors.Unfinished`, unless the
    owner of the engine sets another ``tick``, which is called between pieces of the work.
    """

    def __init__(self, X: Floats, space: Space, ctx: Context) -> None:
        self.X, self.space, self.ctx = X, space, ctx
        self.tick: Tick = partial(ctx.tell, 0.0, whole=True)
        self.merge = Merge(X)
        self.sample: Engine | None = None
        flat = space.coordinates(X)
        kind: type[Tree | Matrix] = Matrix if flat is None else Tree
        self.source: Source = kind(X if flat is None else flat, space, self.merge, ctx, lambda: self.tick())
        self.n = len(X)
        self.scale = 0.0 if flat is None else float(np.square(flat - flat.mean(axis=0)).sum())
        self.margin = self.widest = 0.0
        self.nearest = NEAREST

    def place(self, C: Floats) -> None:
        """Set the centroids."""
        self.C = C
        self.source.place(C)

    def solve(self, C: Floats, sizes: Bounds, c: Floats, labels: Integers | None = None) -> Solved:
        """Return an optimal assignment to centroids, starting from costs and perhaps labels.

        Cells with coinciding centroids are solved as one, and their points divided afterwards,
        because paths among them would lead nowhere.
        """
        places, first, cells = distinct(C)
        if len(places) < len(C):
            joint = None if labels is None else cells[labels]
            result = self.solve(places, sizes.merged(cells, self.n + 1), c[first], joint)
            self.place(C)
            return self._divided(result, cells, sizes)
        self.place(C)
        keep = None if labels is None else self.merge.join(labels)
        if not sizes.exact:
            return self._nearest(sizes, c, keep)
        if self.n >= LARGE * len(C):
            return self._borders(sizes, c - c.min(), keep)
        return self._nearest(sizes, c - c.min(), keep)

    def _borders(self, bounds: Bounds, c: Floats, keep: Integers | None) -> Solved:
        """Solve for large cells: guess, then repair the points within a margin of a border.

        Costs only rise in a repair. While none has risen by more than the margin, a cell outside the
        margin cannot become the best one, so it can be ignored.
        """
        sizes = bounds.low
        if self.widest <= 0.0:
            scan = self.source.scan(c, 0.0)
            mean = float((self.source.distances(scan.labels) * self.source.mass).sum()) / self.n
            self.margin = self.widest = max(0.5 * mean, 1e-300)
        scan = self.source.scan(c, self.margin)
        if np.abs(scan.counts - sizes).sum() > WILD * self.n:
            c = self._coarse(sizes, c)
            scan = self.source.scan(c, self.margin)
        c, off = guess(self.source, sizes, c, self.margin, scan)
        margin = max(min(2.0 * off, 0.25 * self.widest), 1e-9 * self.widest)
        paths = 0
        while True:
            arcs = self.source.arcs(c, margin, 1, keep)
            result = repair(self.source, arcs, bounds, c, margin)
            c = result.costs - result.costs.min()
            paths += result.paths
            if result.done:
                self.margin = max(min(4.0 * off, self.widest), 1e-9 * self.widest)
                return self._solved(result, c, paths)
            margin *= 2.0

    def _coarse(self, sizes: Integers, c: Floats) -> Floats:
        """Return the costs of the same problem with a sample of the points.

        Newton's method needs a start near the solution; the repair of few points finds one from any
        start.
        """
        if self.sample is None:
            stride = max(2, min(THIN, 2 * self.n // (LARGE * len(c))))
            rows = np.sort(self.merge.members[::stride])
            self.sample = Engine(self.X[rows], self.space, self.ctx)
            self.sample.tick = lambda: self.tick()
        few = round_sizes(sizes / self.n, self.sample.n)
        return self.sample.solve(self.C, Bounds(few, few), c).costs

    def _nearest(self, sizes: Bounds, c: Floats, keep: Integers | None) -> Solved:
        """Solve for small cells: repair over the nearest cells of each point, and over more if needed."""
        m = len(c)
        many = m if len(self.source.mass) * m <= SMALL else min(self.nearest, m)
        while True:
            arcs = self.source.arcs(c, 0.0, many, keep)
            result = repair(self.source, arcs, sizes, c, np.inf)
            if result.done:
                costs = result.costs - result.costs.min() if sizes.exact else result.costs
                return self._solved(result, costs, result.paths)
            self.nearest = many = min(4 * many, m)

    def _divided(self, solved: Solved, cells: Integers, bounds: Bounds) -> Solved:
        """Return an assignment with joint cells divided: each gets its need, and the rest in order."""
        pieces, m, (low, high) = solved.pieces, len(cells), bounds
        sizes = low.copy()
        left = np.bincount(pieces.cell, pieces.amount, len(solved.costs)).astype(np.int64)
        left -= np.bincount(cells, low, len(left)).astype(np.int64)
        for q in np.flatnonzero(low < high):
            more = min(int(high[q] - low[q]), int(left[cells[q]]))
            sizes[q] += more
            left[cells[q]] -= more
        unit, joint = np.repeat(pieces.unit, pieces.amount), np.repeat(pieces.cell, pieces.amount)
        cell = np.empty_like(joint)
        turns = np.argsort(cells, kind="stable")
        cell[np.argsort(joint, kind="stable")] = np.repeat(turns, sizes[turns])
        every, amount = np.unique(unit * m + cell, return_counts=True)
        repaired = Repaired(
            True, solved.costs[cells], every // m, every % m, amount.astype(np.int64), solved.paths
        )
        return self._solved(repaired, repaired.costs, solved.paths)

    def _solved(self, repaired: Repaired, c: Floats, paths: int) -> Solved:
        labels = np.empty(len(self.source.mass), np.int64)
        labels[repaired.unit] = repaired.cell
        return Solved(repaired, c, labels, paths)

    def centred(self, solved: Solved, sizes: Bounds) -> Solved:
        """Return the same assignment to the last placed centroids, with costs without needless ties."""
        places, first, cells = distinct(self.C)
        if len(places) == len(self.C):
            return replace(solved, costs=centre(self.source, solved.pieces, sizes, solved.costs))
        C = self.C
        self.place(places)
        pieces = replace(solved.pieces, cell=cells[solved.pieces.cell])
        costs = centre(self.source, pieces, sizes.merged(cells, self.n + 1), solved.costs[first])
        self.place(C)
        return replace(solved, costs=costs[cells])

    def _objections(self, solved: Solved) -> float:
        """Return the total gain if each point could go to its best cell."""
        c, pieces = solved.costs, solved.pieces
        best = self.source.scan(c, 0.0).labels
        least = self.source.distances(best) + c[best]
        mine = values(self.source, pieces.unit, pieces.cell) + c[pieces.cell]
        return float((np.maximum(mine - least[pieces.unit], 0.0) * pieces.amount).sum())

    def labels(self, solved: Solved) -> Integers:
        """Return the cell of each point."""
        pieces = solved.pieces
        return self.merge.spread(pieces.cell, pieces.amount)

    def distances(self, solved: Solved) -> float:
        """Return the summed distance of the points to the centroids of their cells."""
        pieces = solved.pieces
        return float((values(self.source, pieces.unit, pieces.cell) * pieces.amount).sum())

    def tamed(self, c: Floats, C: Floats, sizes: Bounds) -> Floats:
        """Return starting costs within the largest distance of 0; larger costs carry no information."""
        if not c.any():
            return c
        c = np.clip(c, -1e300, 1e300)
        if sizes.exact:
            c = c - np.median(c)
        self.place(C)
        far = 0.0
        step = max(1, BLOCK // len(C))
        for begin in range(0, len(self.source.mass), step):
            units = np.arange(begin, min(len(self.source.mass), begin + step))
            far = max(far, float(self.source.rows(units).max()))
            self.tick()
        return np.clip(c, -far, far)

    def settle(self, solved: Solved, sizes: Bounds, tolerance: float) -> Assignment:
        """Return a proven assignment to the last centroids; if the proof fails, solve without starting costs.

        Possible rounding errors are added to the gap at the end; they do not count as a failure.
        """
        for last in (False, True):
            answer = self.prove(self.centred(solved, sizes), sizes)
            first = self.source.distances(np.zeros(len(self.source.mass), np.int64))
            scale = float((first * self.source.mass).sum())
            if answer.gap <= tolerance * (1.0 + 1e-3 * len(self.C)) * max(answer.cost, self.scale, scale):
                return replace(answer, gap=answer.gap + self._rounding(answer))
            if not last:
                solved = self.solve(self.C, sizes, np.zeros(len(self.C)))
        raise GuaranteeError(
            f"rounding leaves a gap of {answer.gap:.3g}, at a cost of {answer.cost:.6g}: scale the columns"
        )

    def _rounding(self, answer: Assignment) -> float:
        """Return the largest rounding error of the sums of distances and costs, over all points."""
        most = self.source.distances(answer.labels[self.merge.first]).max() + np.abs(answer.costs).max()
        return 4.0 * EPS * self.n * float(most)

    def prove(self, solved: Solved, sizes: Bounds) -> Assignment:
        """Return the assignment with its cost and its gap, both computed again.

        The gap has two non-negative parts: the gain of points in their best cell, and the distance of
        cells with a cost from the bound that the cost stands for.
        """
        labels, c, (low, high) = self.labels(solved), solved.costs, sizes
        counts = np.bincount(labels, minlength=len(c)).astype(np.int64)
        if (counts < low).any() or (counts > high).any():
            raise GuaranteeError(
                "the prescribed sizes were not met: this is a fault of voronym, please report it"
            )
        slack = np.maximum(high * c, low * c) - counts * c
        cost = self.distances(solved)
        gap = self._objections(solved) + float(slack.sum())
        return Assignment(labels, c, counts, cost, gap, True, solved.paths, "transport")


def distinct(C: Floats) -> tuple[Floats, Integers, Integers]:
    """Return the distinct centroids, the first cell of each, and the centroid of each cell."""
    places, first, cells = np.unique(C, axis=0, return_index=True, return_inverse=True)
    return places, first, cells.reshape(-1)
