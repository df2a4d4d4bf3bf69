"""Annealing: random moves between neighbouring cells, hot at first, then ever colder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options, number, option, whole
from voronym.method import split_large
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.blocks import cut
from voronym.refiners.chain import Boldness, Chain
from voronym.refiners.exchange import KICKS, ExchangeOptions, exchange
from voronym.refiners.registry import refiner
from voronym.refiners.work import Ints
from voronym.space.published import PublishedPoints

BLOCK = 6_000
"""Records annealed together: their data fit a core's cache."""
ROUNDS = 3
"""Number of cuts into blocks; the borders of one cut are inside the blocks of the next."""
WARM = 0.3
"""First temperature of later rounds: hot enough for the borders, without undoing the interior."""
POLISH = 0.15
"""Share of the time for `exchange` after annealing, on a table of a single block."""
SWEEPS = 2000.0
"""Proposals per record without a time limit."""
EFFORT = 2.5e7
"""Perturbations without a time limit, times k² coordinates, the cost of one: a few seconds."""
CHEAP, FEWEST = 4.2, 1000
"""Largest k, and number of perturbations, up to which all are made. One costs k² moves, so beyond that more
proposals gain more.
"""
SQUARES, MODES = 0.003, 0.03
"""Usual shares of jumps. Few shifts and swaps change the category that a group publishes; new groups do."""
MILD, LUKEWARM = 0.3, 0.03
"""Factor for the first temperature, and the last one in units of the loss per record, where groups publish
categories. A wrong one costs a fixed amount: far above it nothing is decided, and far below nothing moves.
"""
LIGHT = 6
"""Largest k for which longer annealing ends with more perturbations, because one perturbation costs k² moves.
"""


@dataclass(frozen=True)
class AnnealOptions(Options):
    """Options of annealing."""

    sweeps: float = option(
        SWEEPS,
        "proposals per record, without a time limit; below 300 the search only goes downhill",
        check=number(above=0.0),
    )
    candidates: int = option(20, "nearest neighbours that a record may follow", check=whole(1))
    jumps: float | None = option(
        None,
        "share of the proposals that change the number of groups; by default 0.003, and 0.03 where groups "
        "publish the most frequent category",
        check=number(0.0, 1.0),
    )


@refiner(
    "anneal",
    guarantee="every group has k to 2k-1 records; no more loss than the start has",
    cost="O(d) a proposal, 2000 proposals a record unless a time is given; memory O(n d)",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    weighted=True,
    options=AnnealOptions,
)
def anneal(problem: Problem, part: Partition, ctx: Context, options: AnnealOptions) -> Partition:
    """Shift, swap and rotate records between neighbouring cells, uphill with falling probability.

    The problem is that of `voronym.microaggregate`. A proposal takes a random record and the cell of one
    of its nearest neighbours. It shifts the record there, swaps it with a record of that cell, or pushes
    a chain over three cells; a small share dissolves a cell or opens a new one. A proposal is accepted if
    the loss falls, else with probability ``exp(-rise / temperature)``.

    Up to 6,000 records two chains run; the better one goes through `exchange` at the end, which finds the
    remaining gains among outliers. More records are cut into blocks of whole cells, annealed
    independently. The cut is redrawn for every round, so a round costs O(n). In a space with expensive
    proposals, such as `voronym.space.Mixed`, a single chain runs, by shifts, swaps and jumps.

    References
    ----------
    Kirkpatrick, S., Gelatt, C. D., Vecchi, M. P.: Optimization by simulated annealing. Science 220, 1983.

    Examples
    --------
    >>> import voronym as vr
    >>> X = vr.datasets.gaussian(200, 2, seed=1)
    >>> start = vr.microaggregate(X, 4, method="mdav")
    >>> better = vr.refine(X, start, method="anneal", sweeps=300)
    >>> better.sse(X) < start.sse(X)
    True
    """
    best = split_large(problem, part.labels, ctx.quiet())
    if best.n_cells == 1 or problem.total == 0.0:
        return best
    bold = Boldness(options.candidates, SQUARES)
    if isinstance(problem.records, PublishedPoints):
        bold = Boldness(options.candidates, MODES, MILD, LUKEWARM)
    if options.jumps is not None:
        bold = replace(bold, jumps=float(options.jumps))
    if problem.n > BLOCK:
        for turn in range(ROUNDS):
            here = ctx.part(turn / ROUNDS, (turn + 1) / ROUNDS, time=1.0 / (ROUNDS - turn))
            blocks = cut(best.centroids(problem.records.coordinates), best.sizes, records=BLOCK, rng=ctx.rng)
            result = _round(problem, best, _rows(best, blocks), here, bold, options.sweeps / ROUNDS)
            best, bold = problem.better(best, result), replace(bold, heat=WARM)
            if ctx.over:
                break
        return best
    pace, search = problem.records.pace, ctx.part(0.0, 1.0 - POLISH, time=1.0 - POLISH)
    rows = [np.arange(problem.n)] * pace.chains
    best = problem.better(best, _round(problem, best, rows, search, bold, options.sweeps))
    more = options.sweeps / SWEEPS
    share = more if problem.k <= LIGHT else min(1.0, more)
    wide = 1 if problem.records.points is None else problem.records.points.shape[1]
    whole = pace.kicks * problem.n
    some = max(min(whole, FEWEST), whole * min(1.0, (CHEAP / problem.k) ** 2))
    most = min(some, KICKS, EFFORT / (problem.k**2 * wide))
    kicks = None if ctx.timed and pace.kicks else int(most * share)
    polish = ExchangeOptions(neighbours=pace.near, iterations=kicks)
    return exchange(problem, best, ctx.part(1.0 - POLISH, 1.0), polish)


def _round(
    problem: Problem, part: Partition, rows: list[Ints], ctx: Context, boldness: Boldness, sweeps: float
) -> Ints:
    """Anneal blocks of records separately and return labels; blocks with all records compete.

    ``sweeps``: proposals per record without a deadline.
    """
    unit = sweeps
    if ctx.timed:
        unit = ctx.left * min(ctx.threads, len(rows)) / sum(map(len, rows))
    alone, near = len(rows[0]) == problem.n, None
    if alone and len(rows) > 1 and not ctx.timed:  # chains of the same records share their neighbours
        near = problem.records.unit().neighbours(boldness.candidates, ctx.quiet())
    chains = [
        Chain(
            problem.subset(inside),
            part.labels[inside],
            boldness=boldness,
            seed=int(ctx.rng.integers(1, 2**63)),
            budget=unit * len(inside),
            ctx=ctx,
            near=near,
        )
        for inside in rows
    ]
    first = problem.loss(part)

    def tell() -> None:
        gains = [chain.gained * chain.problem.n / problem.n for chain in chains]
        share = max(gains) if alone else sum(gains)
        ctx.tell(sum(chain.done for chain in chains) / len(chains), first * (1.0 - share))

    ctx.map(Chain.run, chains, whole=False, tell=tell)
    return max(chains, key=lambda chain: chain.gained).best if alone else _join(chains, rows, problem.n)


def _rows(part: Partition, blocks: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the records of each block of cells, ascending."""
    block_of = np.empty(part.n_cells, np.int64)
    for place, block in enumerate(blocks):
        block_of[block] = place
    return Partition(block_of[part.labels]).cells()


def _join(chains: list[Chain], rows: list[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """Return the labels of all records from the labels in blocks."""
    labels = np.empty(n, np.int64)
    top = 0
    for chain, own in zip(chains, rows, strict=True):
        labels[own] = chain.best + top
        top += int(chain.best.max()) + 1
    return labels
