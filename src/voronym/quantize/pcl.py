"""The probability-constrained Lloyd algorithm: centroids and assignments in turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from voronym.arguments import checked
from voronym.context import Context, Progress
from voronym.errors import InputError, Unfinished
from voronym.partition import Partition
from voronym.problem import check_points
from voronym.quantize import _start
from voronym.quantize.costs import SOLVERS
from voronym.quantize.costs.base import Assignment, Bounds, Floats, Integers, Sizes, check_space, round_sizes
from voronym.quantize.costs.transport import Engine, Solved
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space

LARGE, FINE = 100_000, 2_000
"""Points in all, and in a cell, from which on a design starts with samples."""

SAMPLES = (200, 1_000)
"""Points in a cell of these samples."""

TINY = 0.05
"""A cell with a smaller share of the size it should have is given up, and a large one is divided instead."""


@dataclass(frozen=True, eq=False)
class Design:
    """A quantizer, the partition it was designed with, and how the design went.

    Parameters
    ----------
    quantizer : Quantizer
        Centroids and costs. It assigns the design's points as in ``labels``, where the solver is exact; equal
        points that are divided between cells, and other ties that no costs can break, go to one of them.
    labels : array of int, shape (n,)
        The cell of each point, numbered as the quantizer's.
    distortions : tuple of float
        Mean distance of the points to their centroids after each assignment; never increasing with
        "transport".
    exact : bool
        Whether the sizes are those asked for.
    converged : bool
        Whether the last decrease was within the tolerance.
    """

    quantizer: Quantizer
    labels: Integers
    distortions: tuple[float, ...]
    exact: bool
    converged: bool
    partition: Partition = field(init=False)

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False
        object.__setattr__(self, "partition", Partition(self.labels))

    @property
    def distortion(self) -> float:
        """Mean distance of the points to their centroids at the end."""
        return self.distortions[-1]

    @property
    def sizes(self) -> Integers:
        """How many points each cell has."""
        return np.bincount(self.labels, minlength=self.quantizer.n_cells).astype(np.int64)

    def __repr__(self) -> str:
        how = "exact sizes" if self.exact else "approximate sizes"
        return (
            f"Design({self.quantizer.n_cells} cells of {self.sizes.min()}..{self.sizes.max()}, distortion "
            f"{self.distortion:.6g} after {len(self.distortions)} assignments, {how})"
        )


@checked
def pcl(
    X: ArrayLike,
    cells: int | None = None,
    *,
    probabilities: ArrayLike | None = None,
    sizes: Sizes | None = None,
    costs: str = "transport",
    init: str | Partition | ArrayLike | Quantizer = "mdav",
    speed: float = 1.8,
    restarts: int = 1,
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    tolerance: float | None = None,
    iterations: int = 300,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Design:
    """Design a quantizer whose cells have prescribed sizes, at a small mean distance, and tell how it went.

    The problem: minimise ``sum_i d(x_i, centroid of i's cell)`` over centroids and assignments with
    prescribed sizes. It is hard; this is Lloyd's alternation for it. With the centroids fixed, the
    assignment is found by a cost solver; with the assignment fixed, each centroid moves to the centroid of
    its cell.

    Guarantee, with ``costs="transport"``: sizes are exact, and no step raises the distortion. The assignment
    is optimal for the centroids. A centroid C that moves to ``C + s (mean - C)`` changes its cell's sum of
    squares by ``size * ((1 - s)^2 - 1) |mean - C|^2``, which is not positive for any speed s from 0 to 2. In
    other spaces a step that would raise the sum is replaced by the whole step (on the sphere and in mixed
    spaces every step is whole). Started from a partition, with its sizes, the result is no worse than that
    partition. Nothing is said about the optimum.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points, used as they are.
    cells : int, optional
        How many cells of sizes as equal as possible, where neither probabilities nor sizes are given.
    probabilities : array, shape (m,), optional
        The share of each cell; they sum to 1.
    sizes : array of int, shape (m,), or a pair ``(low, high)`` of them, optional
        Number of points of each cell, or bounds on it ("transport" only).
    costs : str
        The cost solver: "transport" (exact), "newton" or "levenberg-marquardt".
    init : str, Partition, array or Quantizer
        Where to start: the name of a partitioning method, "random" for random points, a partition, which also
        gives the sizes if there are no others, centroids, or an earlier quantizer, with its costs. One with
        another number of cells is fitted first: near cells become one, far points become new ones. By name,
        very large data (100,000 points, 2,000 a cell) are designed on samples first.
    speed : float
        How far centroids move, above 0 and up to 2. The papers took 1/2; beyond 1 there are fewer steps,
        which end lower, too. The last steps are whole in any case.
    restarts : int
        How many designs; all but the first start from the best so far, shaken. The best is returned.
    space : Space, optional
        The distance and its centroid; squared Euclidean by default.
    seed : int, Generator or None
        For random starts.
    tolerance : float
        Relative decrease of the distortion below which to stop: by default 1e-6, and more above 100,000
        points, with the square of their number, up to 1e-4 for a million: chance in the points is larger.
    iterations : int
        Assignments at most.
    time_limit : float, optional
        Seconds; the first assignment is made in any case.
    progress : callable, optional
        Called now and then with a `voronym.Step`; it may raise `voronym.Stop` to finish
        with the best so far.

    Returns
    -------
    Design

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), section 6.

    Examples
    --------
    >>> design = pcl([0.0, 1.0, 2.0, 9.0, 10.0, 20.0], 2, init=[[0.0], [20.0]], speed=1.0)
    >>> design.labels.tolist(), design.quantizer.centroids.ravel().tolist()
    ([0, 0, 0, 1, 1, 1], [1.0, 13.0])
    >>> design
    Design(2 cells of 3..3, distortion 12.6667 after 2 assignments, exact sizes)
    """
    points, where = check_points(X), check_space(space)
    if tolerance is None:
        tolerance = 1e-6 * min(100.0, max(1.0, len(points) / LARGE) ** 2)
    settings = Settings(costs, speed, restarts, tolerance, iterations)
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress).part(0.0, 1.0, stage="designing")
    bounds = _start.bounds(len(points), cells, probabilities, sizes, init)
    found = alternate(points, bounds, init, where, settings, ctx)
    ctx.done()
    return found


@dataclass(frozen=True)
class Settings:
    """How `pcl` works, as described there."""

    costs: str = "transport"
    speed: float = 1.8
    restarts: int = 1
    tolerance: float = 1e-6
    iterations: int = 300

    def __post_init__(self) -> None:
        for name, number in (("speed", self.speed), ("tolerance", self.tolerance)):
            if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
                raise InputError(f"{name} must be a number, not {type(number).__name__}")
        if not 0.0 < self.speed <= 2.0:
            raise InputError(f"speed must be above 0 and at most 2, not {self.speed!r}")
        for name, value in (("restarts", self.restarts), ("iterations", self.iterations)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} must be a whole number, 1 or more, not {value!r}")
        if not self.tolerance >= 0.0:
            raise InputError(f"tolerance must be 0 or more, not {self.tolerance!r}")
        if not isinstance(self.costs, str) or self.costs not in SOLVERS:
            raise InputError(f"no cost solver is called {self.costs!r}; there are: {', '.join(SOLVERS)}")

    @property
    def exact(self) -> bool:
        """Whether the cost solver meets the sizes exactly."""
        return self.costs == "transport"


def alternate(
    X: Floats, bounds: Bounds, init: _start.Init, space: Space, settings: Settings, ctx: Context
) -> Design:
    """Design from a start and then, as often as asked for, from the best so far, shaken; return the best.

    From the first assignment on there is a result: a wish to finish or the deadline then ends the work.
    """
    if not settings.exact and not bounds.exact:
        raise InputError(f"bounds on sizes need the cost solver 'transport', not {settings.costs!r}")
    if settings.exact and isinstance(init, str) and init != "random" and _large(X, bounds):
        init = _coarse(X, bounds, init, space, settings, ctx.part(0.0, 0.2))
        ctx = ctx.part(0.2, 1.0)
    engine = Engine(X, space, ctx) if settings.exact else None
    best: Design | None = None
    for turn in range(settings.restarts):
        part = ctx.part(turn / settings.restarts, (turn + 1) / settings.restarts)
        if best is None:
            start = _start.start(X, bounds, init, space, part.part(0.0, 0.3))
            part = part.part(0.3, 1.0)
        elif ctx.over:
            break
        else:
            start = _start.shake(X, best.quantizer, best.distortion, space.linear, ctx.rng)
        steps: Exact | Near
        if engine is not None:
            engine.tick = partial(ctx.tell, 0.0, whole=True) if best is None else partial(hurry, ctx)
            steps = Exact(X, start, bounds, engine, settings.speed)
        else:
            steps = Near(X, start, bounds.low, space, settings, part)
        try:
            found = follow(steps, settings, part)
        except Unfinished:
            if best is None:
                raise
            break
        if best is None or found.distortion < best.distortion:
            best = found
    assert best is not None  # noqa: S101 - restarts is 1 or more
    return best


def _large(X: Floats, bounds: Bounds) -> bool:
    return len(X) >= LARGE and len(X) // len(bounds.low) >= FINE


def _coarse(
    X: Floats, bounds: Bounds, init: str, space: Space, settings: Settings, ctx: Context
) -> Quantizer:
    """Design on samples, the second of which starts from the first: most rounds are spent on few points."""
    m = len(bounds.low)
    begin: str | Quantizer = init
    for number, each in enumerate(SAMPLES):
        rows = np.sort(ctx.rng.permutation(len(X))[: each * m])
        share = len(rows) / len(X)
        low, high = np.floor(bounds.low * share), np.ceil(bounds.high * share)
        fewer = Bounds(low.astype(np.int64), high.astype(np.int64))
        if bounds.exact:
            sizes = round_sizes(bounds.low / bounds.low.sum(), len(rows))
            fewer = Bounds(sizes, sizes)
        part = ctx.part(number / len(SAMPLES), (number + 1) / len(SAMPLES))
        once = replace(settings, restarts=1)
        begin = alternate(X[rows], fewer, begin, space, once, part).quantizer
    assert isinstance(begin, Quantizer)  # noqa: S101 - there are samples
    return begin


def hurry(ctx: Context) -> None:
    """Give up an assignment when the time is over, where there is another to return."""
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
    """Exact assignments, each to the centroids of the one before."""

    def __init__(self, X: Floats, start: _start.Start, bounds: Bounds, engine: Engine, speed: float) -> None:
        self.X, self.bounds, self.engine, self.space, self.speed = X, bounds, engine, engine.space, speed
        self.C, self.labels = start.centroids, start.labels
        self.c = engine.tamed(start.costs, start.centroids, bounds)
        self.distances: float | None = None

    def step(self) -> Turn:
        """Move the centroids, but for the first time, and assign the points anew."""
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
        """Return a turn with its assignment proven, by costs that leave no needless ties."""
        assert turn.solved is not None  # noqa: S101 - every step has one
        self.engine.tick = partial(ctx.tell, 0.0)  # short, and nothing can be returned before it
        self.engine.place(turn.centroids)
        answer = self.engine.settle(turn.solved, self.bounds, 1e-9)
        return replace(turn, labels=np.array(answer.labels), costs=answer.costs)


class Near:
    """Assignments by a solver that meets the sizes nearly; cells that vanish start again elsewhere."""

    def __init__(
        self, X: Floats, start: _start.Start, sizes: Integers, space: Space, settings: Settings, ctx: Context
    ) -> None:
        self.X, self.sizes, self.space, self.ctx = X, sizes, space, ctx.quiet()
        self.solver, self.speed = SOLVERS[settings.costs], settings.speed
        self.C, self.c = start.centroids, start.costs
        self.answer: Assignment | None = None
        self.rng = np.random.default_rng(len(X))  # for places where nothing better is known

    def step(self) -> Turn:
        """Move the centroids, but for the first time, and assign the points anew."""
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
        """Return the turn: there is nothing to prove."""
        return turn

    def divide(self, answer: Assignment) -> None:
        """Give the centroid of a tiny cell a new place, halfway to the farthest point of a large one."""
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
    """Return centroids part of the way to others, or beyond; all the way where nothing is in between."""
    return C + speed * (means - C) if space.linear else means


def centroids(X: Floats, labels: Integers, C: Floats, space: Space) -> Floats:
    """Return the centroid of each cell; an empty one keeps the centroid it has."""
    means = space.centroids(X, labels, len(C))
    empty = np.bincount(labels, minlength=len(C)) == 0
    means[empty] = C[empty]
    return means


def follow(steps: Exact | Near, settings: Settings, ctx: Context) -> Design:
    """Take steps until the distortion hardly falls, the last ones whole; return the best."""
    best = turn = steps.step()
    if isinstance(steps, Exact):
        steps.engine.tick = partial(hurry, ctx)
    trace = [turn.distortion]
    converged = False
    while len(trace) < settings.iterations and not converged and not ctx.over:
        before = turn
        try:
            turn = steps.step()
        except Unfinished:
            break
        trace.append(turn.distortion)
        if turn.distortion <= best.distortion:
            best = turn
        same = bool((turn.labels == before.labels).all())
        converged = same or abs(before.distortion - turn.distortion) <= settings.tolerance * before.distortion
        if converged and steps.speed != 1.0:  # the centroids are not those of the cells yet
            steps.speed, converged = 1.0, False
        ctx.tell(len(trace) / settings.iterations)
    if settings.exact:  # rounding may have raised it in the last digit
        trace = np.minimum.accumulate(trace).tolist()
    best = steps.settle(best, ctx)
    quantizer = Quantizer(best.centroids, best.costs, steps.space)
    return Design(quantizer, best.labels, tuple(trace), settings.exact, converged)
