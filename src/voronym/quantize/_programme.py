"""The transportation problem with any weights, as a linear programme that grows where prices ask for it.

With loads ``b_i > 0`` and flows ``f_iq = b_i z_iq`` even two measures are a transportation problem, of unit
costs ``a_i / b_i * d_iq``: its basic solutions are forests over points and places, which have at most m - 1
points with more than one edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voronym.errors import GuaranteeError
from voronym.progress import Progress, Step
from voronym.quantize import _assign
from voronym.space import Space

WHOLE = 50_000
"""Pairs of points and places up to which the programme starts with all of them."""

SAMPLE = 8
"""How many times smaller the sample is whose prices a larger programme starts from."""

Plan = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


class _Bounds(NamedTuple):
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def solve(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    space: Space,
    progress: Progress,
) -> Plan:
    """Return points, places and shares of an optimal plan, and the places' costs."""
    m = len(C)
    heavy = np.flatnonzero(b > 0)
    light = np.flatnonzero(b == 0)  # they take no room: each to its nearest place
    nearest = _assign.by_space(X[light], C, np.zeros(m), space)
    if not len(heavy):
        return light, nearest, np.ones(len(light)), np.zeros(m)
    unit = float(b[heavy].mean())  # the solver's tolerances are absolute
    flow, bounds = b[heavy] / unit, _Bounds(low / unit, high / unit)
    points, rate = X[heavy], a[heavy] / flow
    i, q, answer, scale = _grow(points, C, rate, flow, bounds, space, progress)
    costs = answer.costs * scale
    keep = answer.flows > 1e-9 * flow[i]
    i, q, share = i[keep], q[keep], answer.flows[keep] / flow[i[keep]]
    share /= np.bincount(i, share, len(points))[i]
    places = np.concatenate([q, nearest])
    # Duals of shares are rents of flows: a·d + b·c is least, with b in the units that it came in.
    return (
        np.concatenate([heavy[i], light]),
        places,
        np.concatenate([share, np.ones(len(light))]),
        costs / unit,
    )


def _grow(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    rate: NDArray[np.float64],
    flow: NDArray[np.float64],
    bounds: _Bounds,
    space: Space,
    progress: Progress,
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Answer, float]:
    """Solve over some pairs, add those that the prices show to be missing, until there are none.

    The first pairs of a large programme are those that the prices of a sample make nearly the best.
    """
    n, m = len(X), len(C)
    if n * m <= WHOLE or n < 2 * SAMPLE:
        i, q = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    else:
        rows = np.sort(np.random.default_rng(n).permutation(n)[: n // SAMPLE])
        part = float(flow[rows].sum() / flow.sum())
        fewer = _Bounds(bounds.low * part, bounds.high * part)
        answer, scale = _grow(X[rows], C, rate[rows], flow[rows], fewer, space, progress)[2:]
        i, q = _likely(X, C, rate, answer.costs * scale, space)
    worst = _worst(X, C, rate, space)
    scale = float(worst.mean()) or 1.0
    penalty = 2.0
    while True:
        progress(Step("allocate", 0.5))
        price = rate[i] * distances(X, C, i, q, space)
        answer = _lp(i, q, price / scale, flow, bounds, penalty * (worst.max() / scale + 1.0))
        rents, costs = answer.rents * scale, answer.costs * scale
        more, there = _missing(X, C, rate, rents, costs, space, 1e-9 * scale, np.sort(i * m + q))
        if len(more):
            i, q = np.concatenate([i, more]), np.concatenate([q, there])
        elif answer.nowhere > 1e-7 * flow.sum():
            penalty *= 10.0  # staying away was cheaper than the farthest place
            if penalty > 1e8:
                raise GuaranteeError("the linear programme found no plan: scale the columns alike")
        else:
            return i, q, answer, scale


class _Answer(NamedTuple):
    flows: NDArray[np.float64]
    rents: NDArray[np.float64]
    costs: NDArray[np.float64]
    nowhere: float


def _lp(
    i: NDArray[np.int64],
    q: NDArray[np.int64],
    price: NDArray[np.float64],
    flow: NDArray[np.float64],
    bounds: _Bounds,
    penalty: float,
) -> _Answer:
    """Solve the programme over some pairs; what finds no room stays nowhere, at a penalty."""
    from scipy.optimize import linprog  # takes a while to load
    from scipy.sparse import coo_array, eye_array, hstack

    n, m, pairs = len(flow), len(bounds.low), len(i)
    ones = np.ones(pairs)
    exact = bounds.low == bounds.high
    upper, lower = ~exact & np.isfinite(bounds.high), ~exact & (bounds.low > 0)
    place = coo_array((ones, (q, np.arange(pairs))), shape=(m, pairs)).tocsr()
    point = coo_array((ones, (i, np.arange(pairs))), shape=(n, pairs)).tocsr()
    # An exact place may stay short by as much as is nowhere: a dummy, at no price, is counted there.
    short = eye_array(m, format="csr")[:, np.flatnonzero(exact | lower)]
    dummies = short.shape[1]
    from scipy.sparse import csr_array, vstack

    blank = csr_array((n, dummies))
    equal = hstack([point, eye_array(n), blank])
    places = hstack([place, csr_array((m, n)), short]).tocsr()
    A_eq = vstack([equal, places[exact]])
    b_eq = np.concatenate([flow, bounds.low[exact]])
    A_ub = vstack([places[upper], -places[lower]]) if upper.any() or lower.any() else None
    b_ub = np.concatenate([bounds.high[upper], -bounds.low[lower]]) if A_ub is not None else None
    c = np.concatenate([price, np.full(n, penalty), np.full(dummies, penalty)])
    found = linprog(c, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, method="highs-ds")
    if found.status != 0:
        raise GuaranteeError(
            f"the linear programme ended with status {found.status}: scale the columns alike"
        )
    costs = np.zeros(m)
    costs[exact] = -found.eqlin.marginals[n:]
    if A_ub is not None:
        marginals = found.ineqlin.marginals
        costs[upper] -= marginals[: upper.sum()]
        costs[lower] += marginals[upper.sum() :]
    if exact.all():
        costs -= costs.min()
    rents = found.eqlin.marginals[:n] + (0.0 if not exact.all() else (costs[0] + found.eqlin.marginals[n]))
    return _Answer(found.x[:pairs], rents, costs, float(found.x[pairs : pairs + n].sum()))


def _likely(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    rate: NDArray[np.float64],
    costs: NDArray[np.float64],
    space: Space,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each point's best place at these costs, and as many pairs again that come next to being best."""
    n, m = len(X), len(C)
    some = min(4, m)
    best, slack = np.empty((n, some), np.int64), np.empty((n, some))
    step = max(1, _assign.BLOCK // m)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        table = rate[rows, None] * space.cost(X[rows], C) + costs
        best[rows] = np.argpartition(table, some - 1, axis=1)[:, :some]
        values = np.take_along_axis(table, best[rows], axis=1)
        slack[rows] = values - values.min(axis=1, keepdims=True)
    pairs = np.argpartition(slack.reshape(-1), min(2 * n, n * some) - 1)[: 2 * n]
    return pairs // some, best.reshape(-1)[pairs]


def _worst(
    X: NDArray[np.float64], C: NDArray[np.float64], rate: NDArray[np.float64], space: Space
) -> NDArray[np.float64]:
    """Return what the farthest place would cost each point."""
    step = max(1, _assign.BLOCK // len(C))
    blocks = range(0, len(X), step)
    farthest = [space.cost(X[begin : begin + step], C).max(axis=1) for begin in blocks]
    return np.asarray(rate * np.concatenate(farthest))


def _missing(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    rate: NDArray[np.float64],
    rents: NDArray[np.float64],
    costs: NDArray[np.float64],
    space: Space,
    tiny: float,
    known: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs, up to four for each point, that the prices show to be cheaper than what the point has."""
    n, m = len(X), len(C)
    if len(known) == n * m:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    step = max(1, _assign.BLOCK // m)
    some = min(4, m)
    found = []
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        reduced = rate[rows, None] * space.cost(X[rows], C) + costs - rents[rows, None]
        best = np.argpartition(reduced, some - 1, axis=1)[:, :some]
        below = np.take_along_axis(reduced, best, axis=1) < -tiny
        row = np.nonzero(below)[0]
        found.append((row + begin) * m + best[below])
    new = np.setdiff1d(np.concatenate(found), known)
    return new // m, new % m


def distances(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    i: NDArray[np.int64],
    q: NDArray[np.int64],
    space: Space,
) -> NDArray[np.float64]:
    """Return the costs of pairs of points and places."""
    out = np.empty(len(i))
    order = np.argsort(q, kind="stable")
    start = np.searchsorted(q[order], np.arange(len(C) + 1))
    for place in np.flatnonzero(np.diff(start)):
        pairs = order[start[place] : start[place + 1]]
        out[pairs] = space.cost(X[i[pairs]], C[place : place + 1])[:, 0]
    return out


def dual(
    X: NDArray[np.float64],
    C: NDArray[np.float64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    costs: NDArray[np.float64],
    space: Space,
) -> float:
    """Return ``sum_i min_q (a_i d_iq + b_i c_q) - sum_q max(c_q low_q, c_q high_q)``: no plan costs less."""
    step = max(1, _assign.BLOCK // len(C))
    total = 0.0
    for begin in range(0, len(X), step):
        rows = slice(begin, begin + step)
        table = a[rows, None] * space.cost(X[rows], C) + b[rows, None] * costs
        total += float(table.min(axis=1).sum())
    paid = np.where(costs > 0, costs, 0.0) @ np.where(np.isfinite(high), high, b.sum())
    return total - float(paid) - float(np.where(costs < 0, costs, 0.0) @ low)
