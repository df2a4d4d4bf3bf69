"""A lower bound on the number of blanked values: a proof for large tables, the optimum for small ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.methods.blanks import SAME, Choices, Search, combinations

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ROUNDS = 12
SMALL = 16_000
"""Largest number of pairs of combination and class for which the integer programme is solved."""
LARGE = 200_000
"""Largest number of pairs for which it is tried on request; for more, reading them takes the solver seconds.
"""
NODES = 2_000
"""Largest number of nodes of the integer programme; unlike a time limit, it gives reproducible results."""
LONGEST = 600.0
"""Seconds for the integer programme of a whole table, if no time limit is given."""
PARTS, PART, ENOUGH = 100, 80, 20
"""Largest number of parts of a large table to solve; combinations in each part; parts without a gain after
which it stops.
"""


def least(choices: Choices, ctx: Context) -> tuple[float, Floats]:
    """Return a lower bound on the cost of any choice of gaps, and the prices that prove it.

    Proof. Give every record r a price p_r, so that in each class the k smallest values of ``cost - p``,
    over all records that could be in it, have a sum of at least 0. Then the records of a class, k or
    more, cost at least the sum of their prices, because a mean over more is no smaller than the mean of
    the k smallest. So all records cost at least the sum of all prices. Prices begin at the cheapest cost
    of each record, and rise together, by the least mean of the k smallest over the classes of each, until
    nothing rises. If k counts households, a class has at least k records, too.
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
    """Return for each class the mean of the k smallest differences of cost and price."""
    over = c.cost - price[c.row]
    order = np.lexsort((over, c.of))
    of, many = c.of[order], c.counts[c.row[order]]
    upto = np.cumsum(many) - many
    first = np.searchsorted(of, np.arange(len(c.kept)))
    taken = np.clip(c.k - (upto - upto[first[of]]), 0, many)
    return np.bincount(of, over[order] * taken, minlength=len(c.kept)) / c.k


def polish(search: Search, ctx: Context, *, exact: bool = False) -> float | None:
    """Solve a small table to the optimum, and return the proof.

    A larger table is left unchanged, unless ``exact`` is requested: then parts of it are solved first,
    and the whole with the remaining time.
    """
    c = search.choices
    everybody = np.arange(len(c.counts))
    if len(c.row) <= SMALL:
        return _solved(search, everybody, NODES, ctx)
    if not exact:
        return None
    fails = 0
    parts = ctx.part(0.0, 0.4, time=0.4)
    for number in range(PARTS):
        parts.tell(number / PARTS, whole=False)
        if fails == ENOUGH or parts.over:
            break
        before = search.cost
        _solved(search, _neighbours(search, ctx.rng), NODES // 20, parts)
        fails = 0 if search.cost < before - SAME else fails + 1
    return _solved(search, everybody, None, ctx) if len(c.row) <= LARGE else None


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


def _solved(search: Search, rows: Ints, nodes: int | None, ctx: Context) -> float | None:
    """Solve the integer programme of some combinations with the others fixed; return its bound."""
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
    of, others = np.cumsum(able)[of[able[of]]] - 1, others[able]
    at = np.searchsorted(rows, c.row[pairs])
    records, bound = _programme(c.cost[pairs], at, c.counts[rows], of, others, c.k, None, nodes, ctx)
    if records is not None:
        _take(search, rows, pairs, records)
    return bound


def solve_households(
    c: Choices, which: Ints, homes: Ints, labels: Ints, ctx: Context, exact: bool
) -> tuple[Ints, float | None]:
    """Solve a small table in which k counts households; return the class of each record and the proof.

    Parameters
    ----------
    c : Choices
        The combinations of keys, and the classes that fit them.
    which, homes, labels : arrays of int, shape (n,)
        The combination of each record, its household, and the class it is in so far.
    ctx : Context
        Time limit, progress and requests to stop.
    exact : bool
        Whether a large table is solved, too, as far as the time allows.
    """
    units, unit, counts = combinations(np.column_stack([which, homes]))
    spans = np.diff(c.start)[units[:, 0]]
    many = int(spans.sum())
    if many > (LARGE if exact else SMALL):
        return labels, None
    at = np.repeat(np.arange(len(units)), spans)
    pairs = np.arange(len(at)) - np.repeat(np.cumsum(spans) - spans, spans) + c.start[units[:, 0]][at]
    of, home = c.of[pairs], units[at, 1]
    heads = np.bincount(combinations(np.column_stack([of, home]))[0][:, 0], minlength=len(c.kept))
    able = heads[of] >= c.k
    pairs, at, home, of = pairs[able], at[able], home[able], np.unique(of[able], return_inverse=True)[1]
    others = np.zeros(int(of.max()) + 1, np.int64)
    nodes = None if many > SMALL else NODES
    records, bound = _programme(c.cost[pairs], at, counts, of, others, c.k, home, nodes, ctx)
    if records is None or (np.bincount(at, records, minlength=len(units)) != counts).any():
        return labels, bound
    new = np.empty_like(labels)
    new[np.argsort(unit, kind="stable")] = np.repeat(c.of[pairs], records)
    used = combinations(np.column_stack([new, homes]))[0][:, 0]
    keeps = np.unique(used, return_counts=True)[1].min() >= c.k
    return (new if keeps and c.worth[new].sum() > c.worth[labels].sum() + SAME else labels), bound


def _programme(
    cost: Floats,
    at: Ints,
    counts: Ints,
    of: Ints,
    others: Ints,
    k: int,
    home: Ints | None,
    nodes: int | None,
    ctx: Context,
) -> tuple[Ints | None, float | None]:
    """Solve the integer programme of local suppression; return the records of each pair and the bound.

    Each unit spreads its records over the classes that fit it. A class is empty, or has at least k heads:
    records, or households with a record in it. The work ends at a number of nodes, at the time limit, or
    after `LONGEST` seconds without either.

    Parameters
    ----------
    cost, at, of : arrays, shape (e,)
        For each pair of unit and class: the cost of a record, the unit and the class.
    counts : array of int
        Records of each unit.
    others : array of int
        Heads in each class that stay there.
    k : int
        Least number of heads of a class.
    home : array of int, optional
        The household of each pair's unit, if k counts households.
    """
    from scipy import sparse  # takes a while to load
    from scipy.optimize import Bounds, LinearConstraint, milp

    e, m, y = len(cost), len(counts), len(others)
    ones, entry = np.ones(e), np.arange(e)
    most = counts[at].astype(np.float64)
    needed = np.maximum(k - others, 0).astype(np.float64)
    all_of = sparse.csr_array((ones, (at, entry)), shape=(m, e))
    inside = sparse.csr_array((ones, (of, entry)), shape=(y, e))
    use = sparse.csr_array((most, (entry, of)), shape=(e, y))
    if home is None:
        places = sparse.csr_array((0, e))
        heads = [inside, -sparse.diags_array(needed), sparse.csr_array((y, 0))]
    else:
        lives, place, _ = combinations(np.column_stack([of, home]))
        z = len(lives)
        places = sparse.csr_array((ones, (place, entry)), shape=(z, e))
        there = sparse.csr_array((np.ones(z), (lives[:, 0], np.arange(z))), shape=(y, z))
        heads = [sparse.csr_array((y, e)), -sparse.diags_array(needed), there]
    z = places.shape[0]
    seconds = min(ctx.left, LONGEST) if nodes is None else ctx.left
    if seconds <= 0.0:
        return None, None
    result = milp(
        np.concatenate([cost, np.zeros(y + z)]),
        integrality=np.ones(e + y + z),
        bounds=Bounds(
            np.concatenate([np.zeros(e), others > 0, np.zeros(z)]), np.concatenate([most, np.ones(y + z)])
        ),
        constraints=[
            LinearConstraint(sparse.hstack([all_of, sparse.csr_array((m, y + z))]), counts, counts),
            LinearConstraint(sparse.hstack(heads), 0.0, np.inf),
            LinearConstraint(
                sparse.hstack([sparse.eye_array(e), -use, sparse.csr_array((e, z))]), -np.inf, 0.0
            ),
            LinearConstraint(
                sparse.hstack([-places, sparse.csr_array((z, y)), sparse.eye_array(z)]), -np.inf, 0.0
            ),
        ],
        options={
            "mip_rel_gap": 0.0,
            **({} if nodes is None else {"node_limit": nodes}),
            **({} if np.isinf(seconds) else {"time_limit": seconds}),
        },
    )
    records = None if result.x is None else np.rint(result.x[:e]).astype(np.int64)
    bound = result.mip_dual_bound
    proven = None if bound is None or not np.isfinite(bound) else float(bound) * (1.0 - 1e-9)
    return records, proven


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
