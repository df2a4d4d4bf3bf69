"""How few values can be made missing: a proof for large tables, and the optimum for small ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.methods.blanks import SAME, Choices, Search

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ROUNDS = 12
SMALL = 4_000
"""Pairs of a combination and a class up to which the integer programme is solved."""
NODES = 2_000
"""Most nodes of the integer programme: a number instead of a time, so that the result is reproducible."""
LONGEST = 600.0
"""Seconds for the integer programme of a whole table, if no time limit is given."""
PARTS, PART, ENOUGH = 100, 80, 20
"""Parts of a large table that are solved, at most; combinations in each; parts without a gain that end it."""


def least(choices: Choices, ctx: Context) -> tuple[float, Floats]:
    """Return a lower bound on the cost of any choice of gaps, and the prices that prove it.

    Proof. Give every record r a price p_r so that in each class the k smallest of ``cost - p``, over all that
    could be in it, have a sum of 0 or more. Then whoever is in a class, k or more, costs there at least the
    sum of their prices, since a mean of more is no smaller than that of the k smallest; and all records
    together at least the sum of all prices. Prices begin with what each record costs where it is cheapest,
    and rise, all at once, by the least mean of the k smallest over the classes of each, until nothing rises.
    Where k counts households, a class has k records all the more.
    """
    c = choices
    price = c.cost[c.start[:-1]].copy()
    for number in range(ROUNDS):
        ctx.tell(number / ROUNDS, whole=False)
        room = _room(c, price)
        rise = np.full(len(c.counts), np.inf)
        np.minimum.at(rise, c.row, room[c.of])
        price += np.maximum(rise, 0.0)
        if rise.max(initial=0.0) < 1e-6:
            break
    price -= max(0.0, -float(_room(c, price).min(initial=0.0)))  # rounding
    return max(0.0, float(c.counts @ price) * (1.0 - 1e-12)), price


def _room(c: Choices, price: Floats) -> Floats:
    """Return for each class the mean of the k smallest of cost less price."""
    over = c.cost - price[c.row]
    order = np.lexsort((over, c.of))
    of, many = c.of[order], c.counts[c.row[order]]
    upto = np.cumsum(many) - many
    first = np.searchsorted(of, np.arange(len(c.kept)))
    taken = np.clip(c.k - (upto - upto[first[of]]), 0, many)
    return np.bincount(of, over[order] * taken, minlength=len(c.kept)) / c.k


def polish(search: Search, ctx: Context, *, exact: bool = False) -> float | None:
    """Solve a small table to the optimum and return the proof.

    A larger one is left as it is, unless ``exact`` is asked for: then parts of it are solved by themselves
    first, and all of it with the time that is left.
    """
    c = search.choices
    everybody = np.arange(len(c.counts))
    if len(c.row) <= SMALL:
        return _solved(search, everybody, NODES)
    if not exact:
        return None
    fails = 0
    parts = ctx.part(0.0, 0.4, time=0.4)
    for number in range(PARTS):
        parts.tell(number / PARTS, whole=False)
        before = search.cost
        _solved(search, _neighbours(search, ctx.rng), NODES // 20)
        fails = 0 if search.cost < before - SAME else fails + 1
        if fails == ENOUGH or parts.over:
            break
    if ctx.over:
        return None
    return _solved(search, everybody, None, min(ctx.left, LONGEST))


def _neighbours(search: Search, rng: np.random.Generator) -> Ints:
    """Return random combinations that share many values with a costly one."""
    c = search.choices
    costs = np.array([search.cost_of(row) for row in range(len(search.held))])
    if costs.sum() <= 0.0:
        return np.arange(0)
    row = int(rng.choice(len(costs), p=costs / costs.sum()))
    alike = ((c.codes == c.codes[row]) & (c.codes >= 0)) @ c.price
    near = np.lexsort((rng.random(len(costs)), -alike))
    return np.sort(near[:PART])


def _solved(search: Search, rows: Ints, nodes: int | None, seconds: float | None = None) -> float | None:
    """Solve the integer programme of some combinations with the others fixed; return its bound.

    A number of nodes ends it, or some seconds.

    The programme: each combination spreads its records over the classes that fit it, and a class has none of
    them, or k or more, those of the others counted.
    """
    from scipy import sparse  # takes a while to load
    from scipy.optimize import Bounds, LinearConstraint, milp

    c = search.choices
    if not len(rows):
        return None
    pairs = np.concatenate([np.arange(c.start[row], c.start[row + 1]) for row in rows.tolist()])
    names, of = np.unique(c.of[pairs], return_inverse=True)
    others = search.load[names]
    for row in rows.tolist():
        for item, n in search.held[row].items():
            others[np.searchsorted(names, item)] -= n
    able = np.bincount(of, c.counts[c.row[pairs]], minlength=len(names)) + others >= c.k
    pairs = pairs[able[of]]
    names, of, others = names[able], np.cumsum(able)[of[able[of]]] - 1, others[able]
    at = np.searchsorted(rows, c.row[pairs])
    e, m, y = len(pairs), len(rows), len(names)
    ones, entry, counts = np.ones(e), np.arange(e), c.counts[rows].astype(np.float64)
    most = counts[at]
    all_of = sparse.csr_array((ones, (at, entry)), shape=(m, e))
    where = sparse.csr_array((ones, (of, entry)), shape=(y, e))
    lacking = np.maximum(c.k - others, 0).astype(np.float64)
    use = sparse.csr_array((most, (entry, of)), shape=(e, y))
    result = milp(
        np.concatenate([c.cost[pairs], np.zeros(y)]),
        integrality=np.ones(e + y),
        bounds=Bounds(
            np.concatenate([np.zeros(e), (others > 0).astype(np.float64)]), np.concatenate([most, np.ones(y)])
        ),
        constraints=[
            LinearConstraint(sparse.hstack([all_of, sparse.csr_array((m, y))]), counts, counts),
            LinearConstraint(sparse.hstack([where, -sparse.diags_array(lacking)]), 0.0, np.inf),
            LinearConstraint(sparse.hstack([sparse.eye_array(e), -use]), -np.inf, 0.0),
        ],
        options={
            "mip_rel_gap": 0.0,
            **({} if nodes is None else {"node_limit": nodes}),
            **({} if seconds is None else {"time_limit": seconds}),
        },
    )
    if result.x is not None:
        _take(search, rows, pairs, np.rint(result.x[:e]).astype(np.int64))
    bound = result.mip_dual_bound
    return None if bound is None or not np.isfinite(bound) else float(bound) * (1.0 - 1e-9)


def _take(search: Search, rows: Ints, pairs: Ints, records: Ints) -> None:
    """Publish by a solution of the programme, if it is better and keeps its rules."""
    c = search.choices
    held = [(row, item, n) for row in rows.tolist() for item, n in search.held[row].items()]
    cost = sum(n * search.price(row, entry) for row, entry, n in held)
    if float(c.cost[pairs] @ records) > cost - 1e-7:
        return
    load = search.load.copy()
    for _, member, n in held:
        load[member] -= n
    np.add.at(load, c.of[pairs], records)
    spread = np.bincount(np.searchsorted(rows, c.row[pairs]), records, minlength=len(rows))
    if (spread != c.counts[rows]).any() or ((load > 0) & (load < c.k)).any() or (records < 0).any():
        return
    for row, element, n in held:
        search.put(row, element, -n)
    for e in np.flatnonzero(records).tolist():
        search.put(int(c.row[pairs[e]]), int(c.of[pairs[e]]), int(records[e]))
