"""The probability-constrained Lloyd algorithm: centroids and assignments alternate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError, Unfinished
from voronym.partition import Partition
from voronym.problem import check_points
from voronym.quantize import _start
from voronym.quantize._cooling import cooled
from voronym.quantize._mixing import mixed
from voronym.quantize._steps import Exact, Near, hurry
from voronym.quantize.costs.base import Bounds, Floats, Integers, Sizes, check_space, round_sizes
from voronym.quantize.costs.transport import EPS, Engine
from voronym.quantize.quantizer import Quantizer
from voronym.quantize.settings import Settings, thorough
from voronym.space import Space

LARGE, FINE = 100_000, 2_000
"""Design starts with samples above this number of points, and above this number of points per cell."""

SAMPLES = (200, 1_000)
"""Number of points per cell in these samples."""

WALK, SLACK, HOME = 20, 0.5, 5
"""Number of designs above which they form a walk; how much worse the walk may become at its beginning, in
mean cell costs; and the number of last designs that may not be worse: docs/decisions/quantizers.md.
"""

HOT, WARM = 1.0, 0.3
"""Heat at which cooling begins, in units of the distortion: at first, and after a shake."""


@dataclass(frozen=True, eq=False)
class Design:
    """A quantizer, the partition from its design, and the course of the design.

    Parameters
    ----------
    quantizer : Quantizer
        Centroids and costs. It assigns the design's points as in ``labels``, except that equal points divided
        between cells, and other unbreakable ties, go to one cell.
    labels : array of int, shape (n,)
        The cell of each point, numbered as in the quantizer. Cells have exactly the requested sizes.
    distortions : tuple of float
        Mean distance of the points to their centroids after each assignment; never increasing with
        "transport", nor after "transport" takes over from another solver.
    converged : bool
        Whether the last decrease was within the tolerance.
    """

    quantizer: Quantizer
    labels: Integers
    distortions: tuple[float, ...]
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
        """Number of points in each cell."""
        return np.bincount(self.labels, minlength=self.quantizer.n_cells).astype(np.int64)

    def __repr__(self) -> str:
        return (
            f"Design({self.quantizer.n_cells} cells of {self.sizes.min()}..{self.sizes.max()}, distortion "
            f"{self.distortion:.6g} after {len(self.distortions)} assignments)"
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
    restarts: int | None = None,
    cooling: int | None = None,
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    tolerance: float | None = None,
    iterations: int = 300,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> Design:
    """Design a quantizer with prescribed cell sizes and a small mean distance; return a record of the run.

    The problem: minimise ``sum_i d(x_i, centroid of i's cell)`` over centroids and assignments with
    prescribed sizes. The problem is hard; this is Lloyd's alternation for it. With the centroids fixed, the
    assignment is found by a cost solver; with the assignment fixed, each centroid moves to the centroid of
    its cell.

    Guarantee: sizes are exact; with ``costs="transport"`` no step raises the distortion. The assignment is
    optimal for the centroids. A centroid C that moves to ``C + s (mean - C)`` changes its cell's sum of
    squares by ``size * ((1 - s)^2 - 1) |mean - C|^2``, which is not positive for any speed s from 0 to 2. In
    other spaces a step that would raise the sum is replaced by the whole step (on the sphere and in mixed
    spaces every step is whole). Started from a partition, with its sizes, the result is no worse than that
    partition. There is no guarantee about the optimum.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points, used as they are.
    cells : int, optional
        Number of cells of nearly equal size, if neither probabilities nor sizes are given.
    probabilities : array, shape (m,), optional
        The share of each cell; they sum to 1.
    sizes : array of int, shape (m,), or a pair ``(low, high)`` of them, optional
        Number of points of each cell, or bounds on it ("transport" only).
    costs : str
        The cost solver: "transport" (exact), "newton" or, with the distribution voronym-papers,
        "levenberg-marquardt". The last two only nearly meet the sizes. So "transport" finishes their design,
        from their centroids and costs, with at least one assignment. (The papers reassign surplus points by
        nearness.)
    init : str, Partition, array or Quantizer
        The start: the name of a partitioning method, "random" for random points, a partition, which also
        gives the sizes if there are no others, centroids, or an earlier quantizer, with its costs. A start
        with another number of cells is adapted first: near cells are joined, far points become new ones. With
        a name, very large data (100,000 points, 2,000 per cell) are designed on samples first.
    speed : float
        Step length of the centroids, above 0 and up to 2. The papers used 1/2; above 1 there are fewer steps,
        and the result is better, too. The last steps have length 1.
    restarts : int, optional
        Number of designs. All but the first start from the best so far, shaken, and are joined with it: the
        better of both in each region where they differ. With more than 20, a region may become a little worse
        for a while before the next shake. The best is returned. By default 8 if a method makes the first
        cells and there are up to 100,000 pairs of points and cells, fewer up to 500,000, which takes seconds;
        otherwise 1.
    cooling : int, optional
        Rounds of cooling: one additional design, and each design after the first, starts from assignments
        that are soft at first and harden slowly. Only in spaces whose centroids are means. By default 50 if
        there are several designs by default, otherwise 0. With 0, and one design, it is the papers'
        algorithm.
    space : Space, optional
        The distance and its centroid; squared Euclidean by default.
    seed : int, Generator or None
        For random starts.
    tolerance : float
        Relative decrease of the distortion below which to stop: by default 1e-6; above 100,000 points it
        grows with the square of their number, up to 1e-4 for a million, because the random error of the
        points is larger.
    iterations : int
        Largest number of assignments; the same number again if "transport" finishes the design of another
        solver.
    time_limit : float, optional
        Seconds; the first assignment is made in any case.
    progress : callable, optional
        Called now and then with a `voronym.Progress`; it may raise `voronym.FinishEarly` to finish
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
    Design(2 cells of 3..3, distortion 12.6667 after 2 assignments)
    """
    points, where = check_points(X), check_space(space)
    if tolerance is None:
        tolerance = 1e-6 * min(100.0, max(1.0, len(points) / LARGE) ** 2)
    bounds = _start.bounds(len(points), cells, probabilities, sizes, init)
    settings = Settings(costs, speed, 1, tolerance, iterations)
    settings = thorough(settings, restarts, cooling, bounds, init, where)
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress).part(0.0, 1.0, stage="designing")
    design = alternate(points, bounds, init, where, settings, ctx)
    ctx.done()
    return design


def alternate(
    X: Floats, bounds: Bounds, init: _start.Init, space: Space, settings: Settings, ctx: Context
) -> Design:
    """Design from a start, then repeatedly from the best so far, shaken; return the best.

    In each region the better of a new design and the best so far is kept (`mixed`). With many designs
    this soon gains nothing. So they go on walks, on which regions may become a little worse, and return
    with the improved ones. After the first assignment there is always a result: a request to finish or
    the deadline then ends the work.
    """
    if not settings.exact and not bounds.exact:
        raise InputError(f"bounds on sizes need the cost solver 'transport', not {settings.costs!r}")
    if settings.exact and isinstance(init, str) and init != "random" and _large(X, bounds):
        init = _coarse(X, bounds, init, space, settings, ctx.part(0.0, 0.2))
        ctx = ctx.part(0.2, 1.0)
    engine = Engine(X, space, ctx) if settings.exact else None
    best: Design | None = None
    here: Design | None = None
    turns = settings.restarts + (settings.cooling > 0)
    for turn in range(turns):
        part = ctx.part(turn / turns, (turn + 1) / turns)
        if best is None or here is None:
            start = _start.start(X, bounds, init, space, part.part(0.0, 0.3))
        elif ctx.over:
            break
        else:
            start = _again(X, here, bounds, space, settings, part.part(0.0, 0.3), first=turn == 1)
        part = part.part(0.3, 1.0)
        steps: Exact | Near
        if engine is not None:
            engine.tick = partial(ctx.tell, 0.0, whole=True) if best is None else partial(hurry, ctx)
            steps = Exact(X, start, bounds, engine, settings.speed)
        else:
            steps = Near(X, start, bounds.low, space, settings.costs, settings.speed, part)
        try:
            result = follow(steps, settings, part)
            if engine is None:
                result = _ended(X, result, bounds, space, settings, part)
            elif best is not None and here is not None:
                engine.tick = partial(hurry, ctx)
                join = partial(_joined, X, bounds, engine, settings, part)
                best, here = _onward(best, here, result, turn, settings, join)
                continue
        except Unfinished:
            if best is None:
                raise
            break
        best = here = result if best is None else _better(best, result)
    assert best is not None  # noqa: S101 - restarts is 1 or more
    return best


def _onward(
    best: Design, here: Design, design: Design, turn: int, settings: Settings, join: Callable[..., Design]
) -> tuple[Design, Design]:
    """Return the best design so far, and the one to shake next: the best, or one on a walk away from it."""
    if settings.restarts <= WALK:
        best = _better(best, join(best, design))
        return best, best
    left = WALK - turn % WALK
    here = join(here, design, SLACK * left / WALK if left > HOME else 0.0)
    best = _better(best, join(best, here))
    return best, best if left == 1 else here


def _better(design: Design, other: Design) -> Design:
    return other if other.distortion < design.distortion else design


def _joined(
    X: Floats,
    bounds: Bounds,
    engine: Engine,
    settings: Settings,
    ctx: Context,
    design: Design,
    other: Design,
    slack: float = 0.0,
) -> Design:
    """Return a design from the better of two in each region, if they differ; else the better one."""
    labels = mixed(X, design.labels, other.labels, len(bounds.low), engine.space, slack=slack, rng=ctx.rng)
    for whole in (design, other):
        if (labels == whole.labels).all():
            return whole
    means = engine.space.centroids(X, labels, len(bounds.low))
    begin = _start.Start(means, np.array(design.quantizer.costs), labels)
    return follow(Exact(X, begin, bounds, engine, settings.speed), settings, ctx.quiet())


def _ended(X: Floats, near: Design, bounds: Bounds, space: Space, settings: Settings, ctx: Context) -> Design:
    """Return a design with exact cell sizes, from one whose solver nearly met them.

    If sizes were off by a point or two, only these change. With few points per cell most sizes may be
    off, so centroids also move while that gains.
    """
    engine = Engine(X, space, ctx)
    engine.tick = partial(ctx.tell, 0.0)  # without one assignment there is nothing to return
    begin = _start.Start(np.array(near.quantizer.centroids), np.array(near.quantizer.costs))
    steps = Exact(X, begin, bounds, engine, settings.speed)
    result = follow(steps, replace(settings, costs="transport"), ctx.quiet())
    return replace(result, distortions=near.distortions + result.distortions)


def _again(
    X: Floats, best: Design, bounds: Bounds, space: Space, settings: Settings, ctx: Context, *, first: bool
) -> _start.Start:
    """Return the start of another design: the best so far, shaken, or cooled, or both in turn."""
    if not settings.cooling:
        return _start.shake(X, best.quantizer, best.distortion, space.linear, ctx.rng)
    begin = _start.Start(np.array(best.quantizer.centroids), np.array(best.quantizer.costs))
    if not first:
        begin = _start.shake(X, best.quantizer, best.distortion, True, ctx.rng, reach=0.5)
    heat, rounds = (HOT, settings.cooling) if first else (WARM, max(1, 3 * settings.cooling // 5))
    return cooled(X, begin, bounds.low, space, heat * best.distortion, rounds, ctx)


def _large(X: Floats, bounds: Bounds) -> bool:
    return len(X) >= LARGE and len(X) // len(bounds.low) >= FINE


def _coarse(
    X: Floats, bounds: Bounds, init: str, space: Space, settings: Settings, ctx: Context
) -> Quantizer:
    """Design on two samples in sequence, so that most rounds are spent on few points."""
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


def follow(steps: Exact | Near, settings: Settings, ctx: Context) -> Design:
    """Take steps until the distortion hardly falls, the last ones whole; return the best turn as a design."""
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
        if turn.distortion <= best.distortion or not settings.exact:  # wrong sizes may be lower
            best = turn
        same = bool((turn.labels == before.labels).all())
        converged = same or abs(before.distortion - turn.distortion) <= settings.tolerance * before.distortion
        if converged and steps.speed != 1.0:  # the centroids are not those of the cells yet
            steps.speed, converged = 1.0, False
        ctx.tell(len(trace) / settings.iterations)
    falling = np.minimum.accumulate(trace)
    hidden = 1e-9 * trace[0] + 100.0 * EPS * float(np.square(steps.X).max())
    if settings.exact and (trace <= falling + hidden).all():  # rounding may have raised it in the last digit
        trace = falling.tolist()
    best = steps.settle(best, ctx)
    quantizer = Quantizer(best.centroids, best.costs, steps.space)
    return Design(quantizer, best.labels, tuple(trace), converged)
