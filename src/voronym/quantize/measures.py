"""Cells for points with weights, for two measures at once, and with a price of moving people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context, ProgressCallback
from voronym.core.options import number, whole
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import check_points
from voronym.quantize import _programme, _start
from voronym.quantize._planned import Planned, carried, in_order
from voronym.quantize._programme import Plan, Task
from voronym.quantize.allocate import check_measure, check_room
from voronym.quantize.costs.base import Floats, Integers, check_cells, check_centroids, check_space, numbers
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space

Init = str | ArrayLike | Partition | Quantizer


@dataclass(frozen=True, eq=False, repr=False)
class Measured(Planned):
    """Cells with the requested loads, by the plan; and nearly so by whole points.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The cell of each point; of a divided point, the one with its largest share.
    points, cells, shares : arrays, shape (n + divisions,)
        The whole plan: share of a point that goes to a cell, 1 unless the point is divided.
    centroids, costs : arrays, shape (m, d) and (m,)
        Each point is in the cell with the least ``weight * d(x, centroid) + load * cost`` plus the price of
        moving.
    loads : array, shape (m,)
        The load of each cell in the plan.
    whole_loads : array, shape (m,)
        The same by ``labels``: the error is at most the loads of the divided points.
    trace : tuple of float
        The objective after each assignment; it never rises.
    moved : array of int
        The points that are not in their old cells.
    """

    whole_loads: Floats
    trace: tuple[float, ...]
    moved: Integers

    @property
    def objective(self) -> float:
        """``sum of weight * d`` over the plan, plus the cost of moving."""
        return self.trace[-1]

    def _words(self) -> str:
        return f"objective {self.objective:.6g} after {len(self.trace)} assignments"


@checked
def design_measures(
    X: ArrayLike,
    cells: int | None = None,
    *,
    weights: ArrayLike | None = None,
    loads: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
    stay: ArrayLike | None = None,
    moving: float | ArrayLike = 0.0,
    init: Init = "random",
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    tolerance: float = 1e-6,
    iterations: int = 50,
    progress: ProgressCallback | None = None,
) -> Measured:
    """Design cells in which one measure counts in the distance and another one fills the cells.

    The problem: minimise ``sum_iq weight_i z_iq d(x_i, centroid_q)``, plus the price of moving, over
    centroids and shares z, with ``sum_q z_iq = 1`` and ``sum_i load_i z_iq`` as prescribed for each cell. So
    districts may be compact by people and equal by area, or have equal numbers of ill people. Lloyd's
    alternation: with the centroids fixed, an exact transportation problem; with the shares fixed, weighted
    centroids. Neither can raise the objective.

    Points are divided if whole points cannot give the exact loads, at most m - 1 of them; ``labels`` has them
    whole, and ``whole_loads`` has the resulting loads. With weights and loads of 1, whole bounds and a price,
    nobody is divided.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points, used as they are.
    cells : int, optional
        Number of cells of equal load, if neither probabilities nor bounds are given.
    weights : array, shape (n,), optional
        Weight of each point in the distance; 1 by default.
    loads : array, shape (n,), optional
        Load of each point in a cell; its weight by default.
    probabilities : array, shape (m,), optional
        The share of the total load of each cell; they sum to 1.
    bounds : pair of arrays, shape (m,), optional
        Smallest and largest load of each cell: for example ``(k, 2k - 1)``, with the number of cells.
    stay : array of int, shape (n,), optional
        The earlier cell of each point, -1 for newcomers; then ``init`` has the centroids of these cells.
    moving : float or array, shape (n,)
        The cost of moving a point out of its old cell, in units of the distance.
    init : "random", array, Partition or Quantizer
        The first centroids; "random" points are drawn by their loads. With ``stay``, the old cells'.
    space : Space, optional
        The distance and its weighted centroid; squared Euclidean by default.
    seed : int, Generator or None
        For random starts.
    tolerance : float
        Relative decrease of the objective below which to stop.
    iterations : int
        Assignments at most.
    progress : callable, optional
        Called now and then with a `voronym.Progress`; it may raise `voronym.FinishEarly` to finish with the
        best so far.

    Returns
    -------
    Measured

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), section 4.2.

    Examples
    --------
    >>> found = design_measures([0.0, 1.0, 2.0, 9.0], 2, loads=[1.0, 1.0, 1.0, 3.0], init=[[0.0], [9.0]])
    >>> found.labels.tolist(), found.loads.tolist()
    ([0, 0, 0, 1], [3.0, 3.0])
    """
    points, where = check_points(X), check_space(space)
    ctx = Context(seed=seed, progress=progress).part(0.0, 1.0, stage="designing")
    n = len(points)
    a = check_measure("weights", weights, n)
    b = a if loads is None else check_measure("loads", loads, n)
    low, high = _limits(float(b.sum()), cells, probabilities, bounds, n)
    old = None if stay is None else _old(stay, n, len(low))
    price = _price(moving, n) if old is not None else None
    C = _first(points, b, len(low), init, old, where, ctx)
    whole(1)("iterations", iterations)
    number(0.0)("tolerance", tolerance)
    task = Task(points, C, a, b, low, high, where, old, price)
    check_room(task, plain=False)
    task, plan, trace = _alternate(task, tolerance, iterations, ctx)
    ctx.done()
    result = old is None and (loads is None or np.array_equal(a, b))
    return _measured(task, plan, trace, result)


def _alternate(
    task: Task, tolerance: float, iterations: int, ctx: Context
) -> tuple[Task, Plan, tuple[float, ...]]:
    trace: list[float] = []
    while True:
        plan = _programme.solve(task, ctx)
        trace.append(float((plan.shares * task.prices(plan.points, plan.places)).sum()))
        slow = len(trace) > 1 and trace[-2] - trace[-1] <= tolerance * abs(trace[-2])
        if slow or len(trace) >= iterations or ctx.over:
            return task, plan, tuple(np.minimum.accumulate(trace).tolist())  # rounding may raise a last digit
        ctx.tell(len(trace) / iterations)
        task = replace(task, C=_centroids(task, plan))


def _centroids(task: Task, plan: Plan) -> Floats:
    """Return weighted centroids of the plan; a cell without weight keeps its own."""
    C = task.C.copy()
    for cell in range(len(C)):
        here = plan.places == cell
        weights = task.weights[plan.points[here]] * plan.shares[here]
        if weights.sum() > 0.0:
            C[cell] = task.space.weighted_centroid(task.X[plan.points[here]], weights)
    return C


def _measured(task: Task, plan: Plan, trace: tuple[float, ...], item: bool) -> Measured:
    labels, i, q, share = in_order(plan, len(task.X))
    moved = np.empty(0, np.int64)
    if task.old is not None:
        moved = np.flatnonzero((task.old >= 0) & (labels != task.old))
    return Measured(
        labels=labels,
        points=i,
        cells=q,
        shares=share,
        centroids=task.C,
        costs=plan.costs,
        loads=carried(task, i, q, share),
        space=task.space,
        one_measure=item,
        whole_loads=np.asarray(np.bincount(labels, task.loads, len(task.C)), np.float64),
        trace=trace,
        moved=moved,
    )


def _limits(
    total: float, cells: int | None, probabilities: ArrayLike | None, bounds: object, n: int
) -> tuple[Floats, Floats]:
    """Return the least and the most load of each cell, from whichever argument gives it."""
    if (probabilities is not None) + (bounds is not None) > 1:
        raise InputError("give probabilities or bounds, not both")
    if bounds is not None:
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise InputError("bounds are a pair: the smallest and the largest load of a cell")
        low, high = (numbers(side, "bounds must be numbers") for side in bounds)
        if low.ndim == 0 and high.ndim == 0 and cells is not None:
            low, high = np.full(check_cells(cells, n), low), np.full(cells, high)
        if low.ndim != 1 or low.shape != high.shape or not (low >= 0.0).all():
            raise InputError(
                "bounds are 0 or more, one pair for each cell; or one pair, and say how many cells"
            )
    elif probabilities is not None:
        low = numbers(probabilities, "probabilities must be numbers")
        if low.ndim != 1 or not (low > 0.0).all() or abs(float(low.sum()) - 1.0) > 1e-9:
            raise InputError("probabilities are above 0, one for each cell, and sum to 1")
        low = high = low / low.sum() * total
    elif cells is not None:
        low = high = np.full(check_cells(cells, n), total / cells)
    else:
        raise InputError("give the number of cells, or their probabilities or bounds")
    if cells is not None and len(low) != cells:
        raise InputError(f"cells is {cells}, but there are loads for {len(low)}")
    return low, high


def _old(stay: ArrayLike, n: int, m: int) -> Integers:
    old = np.asarray(stay)
    if old.shape != (n,) or not np.issubdtype(old.dtype, np.integer):
        raise InputError(f"stay is a cell for each of the {n} points, or -1; got shape {old.shape}")
    outside = int(((old < -1) | (old >= m)).sum())
    if outside:
        raise InputError(f"{outside} of {n} old cells are not among the {m}")
    return old.astype(np.int64)


def _price(moving: float | ArrayLike, n: int) -> Floats:
    price = numbers(moving, "moving must be a number, or one for each point")
    price = np.full(n, float(price)) if price.ndim == 0 else price
    if price.shape != (n,) or not (np.isfinite(price) & (price >= 0.0)).all():
        raise InputError(f"moving is 0 or more, for all points or for each of the {n}")
    return price


def _first(
    X: Floats, loads: Floats, m: int, init: Init, old: Integers | None, space: Space, ctx: Context
) -> Floats:
    """Return the first centroids: those of the old cells, given ones, or random points."""
    if isinstance(init, Quantizer):
        begin = _start.Start(init.centroids.copy(), np.array(init.costs))
        return _start.resized(X, begin, m, space).centroids
    if isinstance(init, Partition):
        return _start.count(space.centroids(X, init.labels, init.n_cells), m, "partition")
    if not isinstance(init, str):
        return _start.count(check_centroids(init, X.shape[1]), m, "init")
    if init != "random":
        raise InputError(f"init is 'random', centroids, a partition or a quantizer, not {init!r}")
    likely = loads / loads.sum() if int((loads > 0.0).sum()) >= m else None
    C = X[np.sort(ctx.rng.choice(len(X), m, replace=False, p=likely))].copy()
    if old is not None:
        there = np.unique(old[old >= 0])
        C[there] = [space.centroid(X[old == cell]) for cell in there]
    return C
