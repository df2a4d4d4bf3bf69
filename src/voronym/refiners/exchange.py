"""Local search by shifts, swaps and dissolved cells, and its iterated form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voronym._kernels import exchange as kernels
from voronym.context import PIECE, Context
from voronym.options import Options, option, whole
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.mixed import exchange_mixed
from voronym.refiners.moves import Work
from voronym.refiners.registry import refiner

KICKS = 10_000
"""Perturbations, at most, where their number is not given."""

EXACT_BELOW = 10_000
"""Records from which on the lists of neighbours are approximate."""


@dataclass(frozen=True)
class ExchangeOptions(Options):
    """Options of the local search."""

    neighbours: int = option(20, "nearest records whose groups are candidates", check=whole(1))
    iterations: int | None = option(
        None,
        "perturbations; 0 is the local search alone; by default four for each record, 10,000 at most, or, "
        "with a time limit, as many as it allows",
        check=whole(0),
    )


@refiner(
    "exchange",
    guarantee="every group has k to 2k-1 records; at its end no shift or swap with near cells loses less",
    cost="O(n K k d) in a pass, K neighbours; O(K k² d) for a perturbation; memory O(n (K + d))",
    reference="Laszlo, Mukherjee: iterated local search for microaggregation, 2015",
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    options=ExchangeOptions,
)
def exchange(problem: Problem, part: Partition, ctx: Context, options: ExchangeOptions) -> Partition:
    """Shift records, swap them, dissolve cells while that loses less; then shake a few cells and try again.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` over partitions with cells of k to 2k-1
    records. The local search makes the best shift or swap of each record with the cells of its nearest
    records, and dissolves cells whose members lose less elsewhere, until nothing gains. A perturbation
    dissolves the cell of a random record (and may found another near it) or exchanges a few records; the
    search goes on from there, around the change only, and all is taken back unless it gained.

    Notes
    -----
    The authors search all pairs of near cells from 4,000 starts; candidate lists, the perturbations and the
    rule that accepts them are ours. A record is looked at again only when its cell or a candidate changed.

    References
    ----------
    M. Laszlo and S. Mukherjee, "Iterated local search for microaggregation", Journal of Systems and Software
    100 (2015).

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.9], [1.0], [1.1], [2.0], [2.1]]
    >>> start = vr.Partition([0, 1, 0, 1, 0, 1])
    >>> vr.refine(X, start, k=3, method="exchange").labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    kicks = options.iterations
    if kicks is None and not ctx.timed:
        kicks = min(4 * problem.n, KICKS)
    if problem.records.points is None:
        return exchange_mixed(problem, part, ctx, width=options.neighbours, kicks=kicks)
    work = Work(problem.points, problem.k, part.labels, ctx)
    near = nearest(work.points, min(options.neighbours, problem.n - 1), ctx)
    if near is not None:
        search = start(work, near, int(ctx.rng.integers(1, 2**63)))
        for share in run(work, search, kicks, ctx):
            ctx.tell(share, work.loss)
    return problem.better(part, work.cells.labels)


def nearest(points: NDArray[np.float64], width: int, ctx: Context) -> NDArray[np.int64] | None:
    """Return the nearest other records of each, shape (n, K); None where the time was up before.

    From 10,000 records on, one is taken for near where none can be nearer than half as far: in ten columns
    that is some 15 times faster, and the lists share nine in ten records with the exact ones.
    """
    n = len(points)
    slack = 0.0 if n < EXACT_BELOW else 1.0
    tree = cKDTree(points)
    near = np.empty((n, width), np.int64)
    begin, step = 0, 256
    while begin < n:
        before = perf_counter()
        rows = np.arange(begin, min(n, begin + step))
        found = np.atleast_2d(tree.query(points[rows], width + 1, eps=slack)[1])
        own = found == rows[:, None]
        own[~own.any(axis=1), -1] = True  # among many equal records it may be missing: drop the last
        near[rows] = found[~own].reshape(len(rows), width)
        begin += step
        step = int(step * min(4.0, max(0.25, PIECE / max(perf_counter() - before, 1e-6)))) + 1
        ctx.tell(0.3 * min(begin, n) / n)
        if ctx.over and begin < n:
            return None
    return near


def start(work: Work, near: NDArray[np.int64], seed: int) -> kernels.Search:
    """Return a search in which all records wait to be looked at."""
    n, room = len(work.points), len(work.cells.sizes)
    search = kernels.Search(
        work.cells,
        near,
        np.zeros(room, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.int64),
        np.empty((4096 + 4 * work.k, 3), np.int64),
        np.zeros(6, np.int64),
        np.array([seed], np.uint64),
    )
    wake(search)
    return search


def wake(search: kernels.Search) -> None:
    """Let all records wait, in order, and know nothing."""
    search.count[kernels.CLOCK] += 1
    search.touched[:] = search.count[kernels.CLOCK]
    search.queue[:] = np.arange(len(search.queue))
    search.queued[:] = 1
    search.count[kernels.HEAD], search.count[kernels.WAITING] = 0, len(search.queue)


def run(work: Work, search: kernels.Search, kicks: int | None, ctx: Context) -> Iterator[float]:
    """Search, in pieces after which the cells are whole; yield the share that is done."""
    points, k, tiny = work.points, work.k, work.tiny
    n, room = len(points), len(work.cells.sizes)
    gained, cell, done = -np.inf, 0, 0

    def settle(budget: int) -> bool:
        search.count[kernels.LOGGED] = 0
        kernels.settle(points, search, k, tiny, budget)
        return bool(search.count[kernels.WAITING] == 0)

    def dissolve(budget: int) -> bool:
        nonlocal cell, gained
        gained += kernels.dissolve_all(points, search, k, tiny, cell, min(room, cell + budget))
        cell = min(room, cell + budget)
        return cell == room

    def shake(budget: int) -> bool:
        nonlocal done
        budget = budget if kicks is None else min(budget, kicks - done)
        kernels.iterate(points, search, k, tiny, budget)
        done += budget
        return kicks is not None and done >= kicks

    for _ in ctx.search(settle, budget=n):
        yield 0.4
    while gained < -tiny and not ctx.over:
        gained, cell = 0.0, 0
        for _ in ctx.search(dissolve, budget=room):
            yield 0.5
    if kicks != 0:
        for _ in ctx.search(shake, budget=100):
            yield 0.5 + (0.5 * done / kicks if kicks else 0.0)
    wake(search)  # what was taken back may have left a gain unseen
    for _ in ctx.search(settle, budget=n):
        yield 1.0
