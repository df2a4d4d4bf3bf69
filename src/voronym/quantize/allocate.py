"""Points to fixed places with limited capacity: hospitals, reviewers, agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points
from voronym.quantize import _programme
from voronym.quantize._assign import assign
from voronym.quantize._planned import Planned, carried, in_order
from voronym.quantize._programme import Plan, Task
from voronym.quantize.costs.base import Bounds, Floats, check_centroids, check_space, numbers
from voronym.quantize.costs.transport import transport
from voronym.space import Space

COPIES = 2_000_000
"""Number of points, including copies, up to which whole weights are solved by exact transport."""


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Planned):
    """The place of each point, the cost, and the costs per place that prove it.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The place of each point; of a divided point, the one with its largest share.
    points, cells, shares : arrays, shape (n + divisions,)
        The whole plan, sorted: share of a point that goes to a cell, 1 unless the point is divided.
    costs : array, shape (m,)
        The price of capacity. Every point goes to the place with the least ``weight * d(x, place) + load *
        cost``. It is positive only if a place is full, negative only if a place has just its minimum. If
        minimum and capacity are equal it may be either; if they are equal everywhere, the least cost is 0.
    loads : array, shape (m,)
        The load of each place in the plan.
    cost : float
        Sum of ``weight * share * d``.
    gap : float
        ``cost`` less the dual value of ``costs``: no plan costs less than ``cost - gap``.
    """

    cost: float
    gap: float

    WHERE: ClassVar[tuple[str, str]] = ("to", "places")

    def _words(self) -> str:
        return f"cost {self.cost:.6g}, gap {self.gap:.2g}"


@checked
def allocate(
    X: ArrayLike,
    centroids: ArrayLike,
    *,
    capacities: ArrayLike | None = None,
    minimum: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    loads: ArrayLike | None = None,
    space: Space | None = None,
    progress: ProgressCallback | None = None,
) -> Allocation:
    """Send points to fixed places with limited capacity, at the least total distance.

    The problem: minimise ``sum_iq weight_i z_iq d(x_i, place_q)`` over shares z, with ``sum_q z_iq = 1`` and
    ``minimum_q <= sum_i load_i z_iq <= capacity_q``. It is a transportation problem, solved exactly; the
    costs are its dual variables and prove it.

    Points without weights are never divided. Points with weights may be divided: avoiding that would be
    NP-hard (two places of equal capacity are already the partition problem). At most m - 1 points are
    divided, where m is the number of places, and `Allocation.divided` names them. Whole weights with whole
    capacities are divided into whole parts.

    Two measures: ``weights`` count in the distance, ``loads`` against the capacity. For example, each patient
    travels once but needs a bed for several days. By default they are the same.

    Parameters
    ----------
    X : array, shape (n, d)
        Points: patients, documents, clients.
    centroids : array, shape (m, d)
        Fixed places, such as hospitals, reviewers or agents.
    capacities : array, shape (m,), or a number, optional
        Largest load of each place; unlimited by default.
    minimum : array, shape (m,), or a number, optional
        Smallest load of each place; 0 by default. Equal to ``capacities`` means an exact load.
    weights : array, shape (n,), optional
        Weight of each point in the distance; 1 by default.
    loads : array, shape (n,), optional
        The load of each point; by default its weight.
    space : Space, optional
        The distance; squared Euclidean by default. Only its cost is used, as places do not move.
    progress : callable, optional
        Called now and then; it may raise to stop the work.

    Returns
    -------
    Allocation

    Notes
    -----
    Cost: without weights, that of `transport`, and so with whole weights up to two million in total. Other
    weights are solved by a linear programme (HiGHS) over pairs that the prices of a sample make likely, and
    again with missing pairs: seconds for 10,000 points and 100 places.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), section 4.2.

    Examples
    --------
    >>> found = allocate([0.0, 1.0, 2.0, 9.0], [[0.0], [10.0]], capacities=2)
    >>> found.labels.tolist(), found.cost
    ([0, 0, 1, 1], 66.0)
    >>> found = allocate([0.0, 4.0], [[0.0], [10.0]], capacities=[1.5, 9.0], weights=[1.0, 1.0])
    >>> found.labels.tolist(), found.divided.tolist(), found.shares.tolist()
    ([0, 0], [1], [1.0, 0.5, 0.5])
    """
    points = check_points(X)
    C = check_centroids(centroids, points.shape[1])
    n, m = len(points), len(C)
    high = _bounds("capacities", capacities, m, np.inf)
    low = _bounds("minimum", minimum, m, 0.0)
    a = check_measure("weights", weights, n)
    b = a if loads is None else check_measure("loads", loads, n)
    result = loads is None or np.array_equal(a, b)
    task = Task(points, C, a, b, low, high, check_space(space))
    check_room(task, plain=weights is None and loads is None)
    ctx = Context(progress=progress).part(0.0, 1.0, stage="allocating")
    whole = result and all(map(_whole, (a, low, high[np.isfinite(high)]))) and 0 < a.sum() <= COPIES
    plan = _by_transport(task, ctx) if whole else _programme.solve(task, ctx)
    labels, i, q, share = in_order(plan, n)
    loaded = carried(task, i, q, share)
    costs = _lawful(task, plan.costs, loaded)
    cost = float((share * task.prices(i, q)).sum())
    ctx.done()
    return Allocation(
        labels, i, q, share, C, costs, loaded, task.space, result, cost=cost, gap=cost - task.dual(costs)
    )


def _by_transport(task: Task, ctx: Context) -> Plan:
    """Copy each point by its weight, and let `transport` divide the copies."""
    total, m = int(task.weights.sum()), len(task.C)
    bounds = Bounds(task.low.astype(np.int64), np.minimum(task.high, total).astype(np.int64))
    sizes = bounds.low if bounds.exact else tuple(bounds)
    copies = np.repeat(np.arange(len(task.X)), task.weights.astype(np.int64))
    result = transport(task.X[copies], task.C, sizes, space=task.space, ctx=ctx)
    pairs, count = np.unique(copies * m + result.labels, return_counts=True)
    i, q = pairs // m, pairs % m
    free = np.flatnonzero(task.weights == 0)  # points without weight go to the nearest place
    nearest = assign(task.X[free], task.C, np.zeros(m), task.space)
    share = np.concatenate([count / task.weights[i], np.ones(len(free))])
    return Plan(np.concatenate([i, free]), np.concatenate([q, nearest]), share, np.array(result.costs))


def _lawful(task: Task, costs: Floats, loads: Floats) -> Floats:
    """Return the costs without rounding errors: positive if not full, negative above a minimum.

    Complementary slackness has them 0. Where both bounds are the same, both signs are right.
    """
    slack = 1e-7 * float(task.loads.sum())
    odd = ((costs > 0) & (loads < task.high - slack)) | ((costs < 0) & (loads > task.low + slack))
    return np.where(odd & (task.low < task.high), 0.0, costs)


def _bounds(what: str, given: ArrayLike | None, m: int, default: float) -> Floats:
    if given is None:
        return np.full(m, default)
    bounds = numbers(given, f"{what} must be a number, or one for each of the {m} places")
    if bounds.ndim == 0:
        bounds = np.full(m, float(bounds))
    if bounds.shape != (m,) or np.isnan(bounds).any() or (bounds < 0).any():
        raise InputError(
            f"{what} must be a number of 0 or more, or one for each of the {m} places; got {bounds.shape}"
        )
    return bounds


def check_measure(what: str, given: ArrayLike | None, n: int) -> Floats:
    """Return weights or loads of n points, 1 each by default; raise if they are invalid."""
    if given is None:
        return np.ones(n)
    measure = numbers(given, f"{what} must be numbers, one for each point")
    if measure.shape != (n,):
        raise InputError(f"{what} must be one for each of the {n} points; got shape {measure.shape}")
    bad = int((~(np.isfinite(measure) & (measure >= 0))).sum())
    if bad:
        raise InputError(f"{bad} of {n} {what} are negative, missing or infinite")
    return measure


def check_room(task: Task, *, plain: bool) -> None:
    """Refuse bounds that no plan can meet; points may go everywhere, so all other bounds can be met."""
    low, high, total = task.low, task.high, float(task.loads.sum())
    above = int((low > high).sum())
    if above:
        raise InputError(f"{above} of {len(low)} places have a minimum above their capacity")
    if np.isinf(low).any():
        raise InputError("a minimum must be finite")
    slack, what = 1e-9 * total, "points" if plain else "loads"
    if high.sum() < total - slack:
        raise InputError(
            f"there is room for {high.sum():.10g} in all, and the {what} come to {total:.10g}: "
            f"{total - high.sum():.10g} too many; raise capacities"
        )
    if low.sum() > total + slack:
        raise InputError(
            f"the minima ask for {low.sum():.10g} in all, and the {what} come to {total:.10g}: "
            f"{low.sum() - total:.10g} too few; lower the minima"
        )
    if plain and not (_whole(low) and _whole(high[np.isfinite(high)])):
        raise InputError("points that count 1 are not divided: capacities and minima must be whole numbers")


def _whole(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())
