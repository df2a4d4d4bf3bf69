"""Local search by shifts, swaps and dissolved cells, and its iterated form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym._kernels import cells
from voronym._kernels import exchange as kernels
from voronym.core.context import Context
from voronym.core.options import Options, option, whole
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.registry import refiner
from voronym.refiners.work import Work

KICKS = 10_000
"""Default for the most perturbations."""


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
    weighted=True,
    options=ExchangeOptions,
)
def exchange(problem: Problem, part: Partition, ctx: Context, options: ExchangeOptions) -> Partition:
    """Shift and swap records and dissolve cells while that loses less; then shake a few cells and try again.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` over partitions with cells of k to 2k-1
    records. The local search makes the best shift or swap of each record with the cells of its nearest
    records, and dissolves cells whose members lose less elsewhere, until nothing gains. A perturbation
    dissolves the cell of a random record (and may open another near it) or exchanges a few records. The
    search continues around the change only, and everything is undone unless it gained.

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
    work = Work(problem, part.labels, ctx)
    if work.total == 0.0:
        return part
    near = work.records.neighbours(options.neighbours, ctx.part(0.0, 0.3), distinct=False)
    if near is not None:
        search = kernels.make(near, len(work.cells.sizes), int(ctx.rng.integers(1, 2**63)))
        run(work, search, kicks, ctx.part(0.3, 1.0))
    return problem.better(part, work.labels)


def run(work: Work, search: kernels.Search, kicks: int | None, ctx: Context) -> None:
    """Search in pieces; after each piece the groups are complete."""
    state, k, tiny = (work.model, work.cells, search), work.k, work.tiny
    n, room = len(work.records), len(work.cells.sizes)
    gained, cell, done = -np.inf, 0, 0

    def settle(budget: int) -> bool:
        cells.begin(work.cells)
        kernels.settle(*state, k, tiny, budget)
        return bool(search.count[kernels.WAITING] == 0)

    def dissolve(budget: int) -> bool:
        nonlocal cell, gained
        gained += kernels.dissolve_all(*state, k, tiny, cell, min(room, cell + budget))
        cell = min(room, cell + budget)
        return cell == room

    def shake(budget: int) -> bool:
        nonlocal done
        budget = budget if kicks is None else min(budget, kicks - done)
        kernels.iterate(*state, k, tiny, budget)
        done += budget
        return kicks is not None and done >= kicks

    for _ in ctx.search(settle, budget=n):
        ctx.tell(0.2, work.loss)
    while gained < -tiny and not ctx.over:
        gained, cell = 0.0, 0
        for _ in ctx.search(dissolve, budget=room):
            ctx.tell(0.3, work.loss)
    if kicks != 0:
        for _ in ctx.search(shake, budget=100):
            ctx.tell(
                0.3 + (0.7 * done / kicks if kicks else 0.7 * ctx.spent / (ctx.spent + ctx.left)), work.loss
            )
    kernels.wake(search)  # what was taken back may have left a gain unseen
    for _ in ctx.search(settle, budget=n):
        ctx.tell(1.0, work.loss)
