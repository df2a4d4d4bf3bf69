"""The probability-constrained Lloyd algorithm: centroids and assignments in turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.context import Context, check_seed
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import check_points
from voronym.progress import Progress, Step
from voronym.quantize import _start
from voronym.quantize.costs import SOLVERS
from voronym.quantize.costs.base import Assignment, Sizes
from voronym.quantize.costs.transport import Engine, Solved
from voronym.quantize.quantizer import Quantizer
from voronym.space import Euclidean, Space

TINY = 0.05
"""A cell with a smaller share of the size it should have is given up, and a large one is divided instead."""

QUADRATIC = ("euclidean", "mahalanobis")
"""Spaces whose distances are squares, so that no speed up to 2 raises the distortion."""

LINEAR = (*QUADRATIC, "manhattan")
"""Spaces in which a centroid can be part of the way to another."""

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]


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
    labels: NDArray[np.int64]
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
    def sizes(self) -> NDArray[np.int64]:
        """How many points each cell has."""
        return np.bincount(self.labels, minlength=self.quantizer.n_cells).astype(np.int64)

    def __repr__(self) -> str:
        how = "exact sizes" if self.exact else "approximate sizes"
        return (
            f"Design({self.quantizer.n_cells} cells of {self.sizes.min()}..{self.sizes.max()}, distortion "
            f"{self.distortion:.6g} after {len(self.distortions)} assignments, {how})"
        )


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
    tolerance: float = 1e-6,
    iterations: int = 300,
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
        gives the sizes if there are no others, centroids, or an earlier quantizer, with its costs.
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
        Relative decrease of the distortion below which to stop.
    iterations : int
        Assignments at most.
    progress : callable, optional
        Called now and then with a `voronym.progress.Step`; it may raise to stop the work.

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
    points = check_points(X)
    where = Euclidean() if space is None else space
    check_numbers(speed, restarts, tolerance, iterations)
    if not isinstance(where, Space):
        raise InputError(f"space must be a Space, not {type(where).__name__}")
    if not isinstance(costs, str) or costs not in SOLVERS:
        raise InputError(f"no cost solver is called {costs!r}; there are: {', '.join(SOLVERS)}")
    ctx = progress if isinstance(progress, Context) else Context(progress=progress)
    rng = check_seed(seed)
    bounds = _start.bounds(len(points), cells, probabilities, sizes, init)
    if costs != "transport" and (bounds[0] != bounds[1]).any():
        raise InputError(f"bounds on sizes need the cost solver 'transport', not {costs!r}")
    engine = Engine(points, where, lambda: None) if costs == "transport" else None
    best: Design | None = None
    for turn in range(restarts):
        here = ctx.part(turn / restarts, (turn + 1) / restarts)
        note: Progress = here
        if best is None:
            start = _start.start(points, bounds, init, where, rng, here.part(0.0, 0.3))
            note = here.part(0.3, 1.0)
        else:
            start = _start.shake(points, best.quantizer, best.distortion, where.name in LINEAR, rng)
        steps: Exact | Near
        if engine is not None:
            repeat = Again(note)
            engine.tick, note = repeat.again, repeat
            steps = Exact(points, start, bounds, engine, where, speed)
        else:
            steps = Near(points, start, bounds[0], costs, where, speed)
        found = follow(steps, costs, tolerance, iterations, note)
        if best is None or found.distortion < best.distortion:
            best = found
    assert best is not None  # noqa: S101 - restarts is 1 or more
    return best


class Again:
    """A progress callback that can repeat what it told last, to show that work goes on."""

    def __init__(self, note: Progress) -> None:
        self.note, self.last = note, Step("design", 0.0)

    def __call__(self, step: Step) -> None:
        """Pass a step on."""
        self.last = step
        self.note(step)

    def again(self) -> None:
        """Tell the last step once more."""
        self.note(self.last)


@dataclass(frozen=True, eq=False)
class Turn:
    """An assignment, the centroids and costs it belongs to, and the mean distance."""

    labels: NDArray[np.int64]
    centroids: NDArray[np.float64]
    costs: NDArray[np.float64]
    distortion: float
    solved: Solved | None = None


class Exact:
    """Exact assignments, each to the centroids of the one before."""

    def __init__(
        self,
        X: NDArray[np.float64],
        start: _start.Start,
        bounds: Bounds,
        engine: Engine,
        space: Space,
        speed: float,
    ) -> None:
        self.X, self.bounds, self.engine, self.space, self.speed = X, bounds, engine, space, speed
        self.C, self.labels = start.centroids, start.labels
        self.c = engine.tamed(start.costs, start.centroids, *bounds)
        self.centroids = Centroids(X, space)
        self.distances: float | None = None

    def step(self) -> Turn:
        """Move the centroids, but for the first time, and assign the points anew."""
        if self.distances is not None and self.labels is not None:
            before, means = self.C, self.centroids.of(self.labels, self.C)
            self.C = move(before, means, self.speed, self.space)
            if self.space.name not in QUADRATIC and self.speed != 1.0:
                worse = spent(self.X, self.labels, self.C, self.space) > self.distances
                self.C = means if worse else self.C
        solved = self.engine.solve(self.C, *self.bounds, self.c, self.labels)
        self.labels, self.c = self.engine.labels(solved), solved.costs
        self.distances = self.engine.distances(solved)
        return Turn(self.labels, self.C, self.c, self.distances / len(self.X), solved)

    def settle(self, turn: Turn) -> Turn:
        """Return a turn with its assignment proven, by costs that leave no needless ties."""
        assert turn.solved is not None  # noqa: S101 - every step has one
        self.engine.place(turn.centroids)
        answer = self.engine.settle(turn.solved, *self.bounds, 1e-9)
        return replace(turn, labels=np.array(answer.labels), costs=answer.costs)


class Near:
    """Assignments by a solver that meets the sizes nearly; cells that vanish start again elsewhere."""

    def __init__(
        self,
        X: NDArray[np.float64],
        start: _start.Start,
        sizes: NDArray[np.int64],
        costs: str,
        space: Space,
        speed: float,
    ) -> None:
        self.X, self.sizes, self.solver, self.space, self.speed = X, sizes, SOLVERS[costs], space, speed
        self.C, self.c = start.centroids, start.costs
        self.centroids = Centroids(X, space)
        self.answer: Assignment | None = None
        self.rng = np.random.default_rng(len(X))  # for places where nothing better is known

    def step(self) -> Turn:
        """Move the centroids, but for the first time, and assign the points anew."""
        if self.answer is not None:
            self.C = move(self.C, self.centroids.of(self.answer.labels, self.C), self.speed, self.space)
            self.divide(self.answer)
        self.answer = self.solver(self.X, self.C, self.sizes, space=self.space, start=self.c)
        self.c = np.array(self.answer.costs)
        return Turn(np.array(self.answer.labels), self.C, self.c, self.answer.cost / len(self.X))

    def settle(self, turn: Turn) -> Turn:
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
            self.C[cell] = half if self.space.name in LINEAR else self.X[far]
            self.c[cell] = self.c[other]
        rest = lost[len(kept) :]  # more are lost than can be divided: any points, at the costs of their cells
        chosen = self.rng.permutation(len(self.X))[: len(rest)]
        self.C[rest], self.c[rest] = self.X[chosen], self.c[answer.labels[chosen]]


def move(
    C: NDArray[np.float64], means: NDArray[np.float64], speed: float, space: Space
) -> NDArray[np.float64]:
    """Return centroids part of the way to others, or beyond; all the way where nothing is in between."""
    return C + speed * (means - C) if space.name in LINEAR else means


def follow(steps: Exact | Near, costs: str, tolerance: float, iterations: int, note: Progress) -> Design:
    """Take steps until the distortion hardly falls, the last ones whole; return the best."""
    best = turn = steps.step()
    trace = [turn.distortion]
    converged = False
    while len(trace) < iterations and not converged:
        before, turn = turn, steps.step()
        trace.append(turn.distortion)
        if turn.distortion <= best.distortion:
            best = turn
        same = bool((turn.labels == before.labels).all())
        converged = same or abs(before.distortion - turn.distortion) <= tolerance * before.distortion
        if converged and steps.speed != 1.0:  # the centroids are not those of the cells yet
            steps.speed, converged = 1.0, False
        note(Step("design", min(0.99, len(trace) / iterations)))
    if costs == "transport":  # rounding may have raised it in the last digit
        trace = np.minimum.accumulate(trace).tolist()
    best = steps.settle(best)
    quantizer = Quantizer(best.centroids, best.costs, steps.space)
    note(Step("design", 1.0))
    return Design(quantizer, best.labels, tuple(trace), costs == "transport", converged)


class Centroids:
    """The centroids of the cells of points."""

    def __init__(self, X: NDArray[np.float64], space: Space) -> None:
        self.X = X
        self.space = space
        self.origin = X.mean(axis=0)  # sums of deviations: a large common offset costs no digits
        self.columns = [X[:, j] - self.origin[j] for j in range(X.shape[1])]

    def of(self, labels: NDArray[np.int64], C: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the centroid of each cell; an empty one keeps the centroid it has."""
        sizes = np.bincount(labels, minlength=len(C))
        full = sizes > 0
        means = C.copy()
        if self.space.name == "euclidean":
            for j, column in enumerate(self.columns):
                sums = np.bincount(labels, column, len(C))
                means[full, j] = sums[full] / sizes[full] + self.origin[j]
            return means
        order = np.argsort(labels, kind="stable")
        edges = np.concatenate([[0], np.cumsum(sizes)])
        for cell, (a, b) in enumerate(pairwise(edges)):
            if b > a:
                means[cell] = self.space.centroid(self.X[order[a:b]])
        return means


def spent(X: NDArray[np.float64], labels: NDArray[np.int64], C: NDArray[np.float64], space: Space) -> float:
    """Return the summed distance of points to the centroids of their cells."""
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(len(C) + 1))
    return float(
        sum(space.cost(X[order[a:b]], C[[q]]).sum() for q, (a, b) in enumerate(pairwise(edges)) if b > a)
    )


def check_numbers(speed: float, restarts: int, tolerance: float, iterations: int) -> None:
    """Refuse settings that make no sense."""
    for name, number in (("speed", speed), ("tolerance", tolerance)):
        if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
            raise InputError(f"{name} must be a number, not {type(number).__name__}")
    if not 0.0 < speed <= 2.0:
        raise InputError(f"speed must be above 0 and at most 2, not {speed!r}")
    for name, value in (("restarts", restarts), ("iterations", iterations)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} must be a whole number, 1 or more, not {value!r}")
    if not tolerance >= 0.0:
        raise InputError(f"tolerance must be 0 or more, not {tolerance!r}")
