"""The transportation problem with any weights, as a linear programme that grows by prices.

With loads ``b_i > 0`` and flows ``f_iq = b_i z_iq``, even two measures are a transportation problem, with
unit costs ``a_i / b_i * d_iq``. Its basic solutions are forests over points and places, with at most m - 1
points that have more than one edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voronym.core.context import Context
from voronym.core.linear import Programme
from voronym.errors import GuaranteeError
from voronym.quantize._assign import assign, blocks
from voronym.quantize.costs.base import Floats, Integers
from voronym.space import Space

WHOLE = 50_000
"""Up to this number of pairs of points and places, the programme starts with all pairs."""

SAMPLE = 8
"""Ratio of a larger programme to the sample whose prices it starts from."""

SOME = 4
"""Number of places examined for each point when pairs are added."""


@dataclass(frozen=True, eq=False)
class Task:
    """Points with weights and loads, and places with bounds on their load.

    Parameters
    ----------
    X, C : arrays, shape (n, d) and (m, d)
        Points and places.
    weights, loads : arrays, shape (n,)
        Weight of a point in the distance, and the room it takes.
    low, high : arrays, shape (m,)
        The least and the most that a place bears.
    space : Space
        The distance.
    old, moving : arrays, shape (n,), optional
        The earlier place of each point, -1 for none, and the cost of moving it.
    """

    X: Floats
    C: Floats
    weights: Floats
    loads: Floats
    low: Floats
    high: Floats
    space: Space
    old: Integers | None = None
    moving: Floats | None = None

    def subset(self, rows: Integers) -> Task:
        """Return the task of some points, with the same bounds."""
        return replace(
            self,
            X=self.X[rows],
            weights=self.weights[rows],
            loads=self.loads[rows],
            old=None if self.old is None else self.old[rows],
            moving=None if self.moving is None else self.moving[rows],
        )

    def tables(self, costs: Floats, loads: Floats | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of rows with ``weight * d + load * cost``; loads default to 1."""
        for rows in blocks(len(self.X), len(self.C)):
            paid = costs if loads is None else loads[rows, None] * costs
            table = self.weights[rows, None] * self.space.cost(self.X[rows], self.C) + paid
            if self.old is not None and self.moving is not None:
                away = self.old[rows, None] != np.arange(len(self.C))
                table += np.where(away & (self.old[rows, None] >= 0), self.moving[rows, None], 0.0)
            yield rows, table

    def prices(self, i: Integers, q: Integers) -> Floats:
        """Return ``weight * d`` of pairs of points and places, and the cost of moving."""
        prices = np.asarray(self.weights[i] * self.space.paired(self.X[i], self.C, q))
        if self.old is not None and self.moving is not None:
            prices = prices + np.where((self.old[i] != q) & (self.old[i] >= 0), self.moving[i], 0.0)
        return prices

    def dual(self, costs: Floats) -> float:
        """Return ``sum_i min_q (a_i d_iq + b_i c_q) - sum_q max(c_q low_q, c_q high_q)``, a lower bound."""
        total = sum(float(table.min(axis=1).sum()) for _, table in self.tables(costs, self.loads))
        paid = np.where(costs > 0, costs, 0.0) @ np.where(np.isfinite(self.high), self.high, self.loads.sum())
        return total - float(paid) - float(np.where(costs < 0, costs, 0.0) @ self.low)


class Plan(NamedTuple):
    """The share of each point in each place, and the costs of the places."""

    points: Integers
    places: Integers
    shares: Floats
    costs: Floats


def solve(task: Task, ctx: Context) -> Plan:
    """Return an optimal plan."""
    heavy = np.flatnonzero(task.loads > 0)
    light = np.flatnonzero(task.loads == 0)  # they take no room: each to its nearest place
    if task.moving is None:
        nearest = assign(task.X[light], task.C, np.zeros(len(task.C)), task.space)
    else:
        tables = task.subset(light).tables(np.zeros(len(task.C)))
        nearest = np.concatenate([np.empty(0, np.int64), *(table.argmin(axis=1) for _, table in tables)])
    if not len(heavy):
        return Plan(light, nearest, np.ones(len(light)), np.zeros(len(task.C)))
    unit = float(task.loads[heavy].mean())  # the solver's tolerances are absolute
    flow = task.loads[heavy] / unit
    scaled = replace(
        task.subset(heavy),
        weights=task.weights[heavy] / flow,
        loads=flow,
        low=task.low / unit,
        high=task.high / unit,
        moving=None if task.moving is None else task.moving[heavy] / flow,
    )
    i, q, result = _grow(scaled, ctx)
    keep = result.flows > 1e-9 * flow[i]
    i, q, share = i[keep], q[keep], result.flows[keep] / flow[i[keep]]
    share /= np.bincount(i, share, len(heavy))[i]
    # The programme's prices are for scaled flows: a·d + b·c is least, with b in the units that it came in.
    return Plan(
        np.concatenate([heavy[i], light]),
        np.concatenate([q, nearest]),
        np.concatenate([share, np.ones(len(light))]),
        result.costs / unit,
    )


class _Answer(NamedTuple):
    flows: Floats
    rents: Floats
    costs: Floats
    nowhere: float


def _grow(task: Task, ctx: Context) -> tuple[Integers, Integers, _Answer]:
    """Solve over some pairs, and add pairs by their prices until none is missing.

    A large programme starts with the pairs that are nearly the best by the prices of a sample.
    """
    n, m = len(task.X), len(task.C)
    if n * m <= WHOLE or n < 2 * SAMPLE:
        i, q = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    else:
        rows = np.sort(np.random.default_rng(n).permutation(n)[: n // SAMPLE])
        part = float(task.loads[rows].sum() / task.loads.sum())
        fewer = replace(task.subset(rows), low=task.low * part, high=task.high * part)
        i, q = _likely(task, _grow(fewer, ctx)[2].costs)
    worst = np.concatenate([table.max(axis=1) for _, table in task.tables(np.zeros(m))])
    scale = float(worst.mean()) or 1.0
    programme = _Pairs(task, scale)
    programme.add(i, q)
    penalty = 2.0
    while True:
        answer = programme.solve(penalty * (worst.max() / scale + 1.0), ctx)
        more, there = _missing(task, answer, 1e-9 * scale, np.sort(i * m + q))
        if len(more):
            i, q = np.concatenate([i, more]), np.concatenate([q, there])
            programme.add(more, there)
        elif answer.nowhere > 1e-7 * task.loads.sum():
            penalty *= 10.0  # staying away was cheaper than the farthest place
            if penalty > 1e8:
                raise GuaranteeError("the linear programme found no plan: scale the columns alike")
        else:
            return i, q, answer


class _Pairs:
    """The programme over some pairs of points and places; points without room stay unassigned at a penalty.

    Costs are divided by ``scale``, for the solver's tolerances.
    """

    def __init__(self, task: Task, scale: float) -> None:
        self.task, self.scale = task, scale
        n = len(task.X)
        low, high = np.concatenate([task.loads, task.low]), np.concatenate([task.loads, task.high])
        self.programme = Programme(low, high, presolve="choose")
        # A place may stay short of its minimum by as much as is nowhere.
        short = n + np.flatnonzero(task.low > 0)
        self.first = n + len(short)
        rows = [np.array([row]) for row in np.concatenate([np.arange(n), short])]
        self.programme.add_columns(np.zeros(self.first), rows)
        self.exact = bool((task.low == task.high).all())

    def add(self, i: Integers, q: Integers) -> None:
        """Add pairs."""
        rows = np.column_stack([i, len(self.task.X) + q])
        self.programme.add_columns(self.task.prices(i, q) / self.scale, list(rows))

    def solve(self, penalty: float, ctx: Context) -> _Answer:
        """Return flows, the points' rents and the places' costs."""
        n = len(self.task.X)
        self.programme.change_costs(np.full(self.first, penalty))
        solved = self.programme.run(ctx)
        ctx.check()
        if not solved:
            raise GuaranteeError("the linear programme was not solved: scale the columns alike")
        values, duals = self.programme.values, self.programme.duals
        rents, costs = duals[:n], -duals[n:]
        if self.exact:  # a common constant changes nothing
            rents, costs = rents - costs.min(), costs - costs.min()
        return _Answer(values[self.first :], rents * self.scale, costs * self.scale, float(values[:n].sum()))


def _likely(task: Task, costs: Floats) -> tuple[Integers, Integers]:
    """Return each point's best place at these costs, and as many next-best pairs."""
    n, some = len(task.X), min(SOME, len(task.C))
    best, slack = np.empty((n, some), np.int64), np.empty((n, some))
    for rows, table in task.tables(costs):
        best[rows] = np.argpartition(table, some - 1, axis=1)[:, :some]
        values = np.take_along_axis(table, best[rows], axis=1)
        slack[rows] = values - values.min(axis=1, keepdims=True)
    pairs = np.argpartition(slack.reshape(-1), min(2 * n, n * some) - 1)[: 2 * n]
    return pairs // some, best.reshape(-1)[pairs]


def _missing(task: Task, answer: _Answer, tiny: float, known: Integers) -> tuple[Integers, Integers]:
    """Return pairs, up to four per point, that are cheaper by the prices than the present ones."""
    n, m = len(task.X), len(task.C)
    if len(known) == n * m:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    some = min(SOME, m)
    result = []
    for rows, table in task.tables(answer.costs):
        reduced = table - answer.rents[rows, None]
        best = np.argpartition(reduced, some - 1, axis=1)[:, :some]
        below = np.take_along_axis(reduced, best, axis=1) < -tiny
        result.append((np.nonzero(below)[0] + rows.start) * m + best[below])
    new = np.setdiff1d(np.concatenate(result), known)
    return new // m, new % m
