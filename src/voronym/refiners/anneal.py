"""Annealing: random moves between neighbouring cells, hot at first, then ever colder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.context import Context
from voronym.groups import split_large
from voronym.options import Options, number, option, whole
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.blocks import cut
from voronym.refiners.chain import Chain
from voronym.refiners.exchange import ExchangeOptions, exchange
from voronym.refiners.mixed import anneal_mixed
from voronym.refiners.registry import refiner

BLOCK = 6_000
"""Records annealed together: what the chain touches at random fits a core's cache."""
ROUNDS = 3
"""Cuts into blocks; the borders of one are inside the blocks of the next."""
WARM = 0.3
"""First temperature of later rounds: hot enough for the borders, not so hot that the inside is undone."""
CHAINS = 2
"""Runs over a table of a single block; the best counts."""
POLISH = 0.15
"""Share of the time for `exchange` after annealing, on a table of a single block."""


@dataclass(frozen=True)
class AnnealOptions(Options):
    """Options of annealing."""

    sweeps: float = option(
        1000.0,
        "proposals a record, where no time limit is given; below 300 the search only goes downhill",
        check=number(above=0.0),
    )
    candidates: int = option(20, "nearest neighbours that a record may follow", check=whole(1))
    jumps: float = option(
        0.003, "share of the proposals that change the number of groups", check=number(0.0, 1.0)
    )


@refiner(
    "anneal",
    guarantee="every group has k to 2k-1 records; no more loss than the start has",
    cost="O(d) a proposal, 1000 proposals a record unless a time is given; memory O(n d)",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    options=AnnealOptions,
)
def anneal(problem: Problem, part: Partition, ctx: Context, options: AnnealOptions) -> Partition:
    """Shift, swap and rotate records between neighbouring cells, uphill by chance and ever less so.

    The problem is that of `voronym.microaggregate`. A proposal takes a random record and the cell of one of
    its nearest neighbours, and shifts the record there, swaps it with one of that cell, or pushes
    a chain over three cells; a small share dissolves a cell into its neighbours or founds a new one. It is
    accepted if the loss falls, else with probability ``exp(-rise / temperature)``.

    Up to 6,000 records two chains run; the better one goes through `exchange` for the last part of the work,
    which finds what is left to gain among outliers. More records are cut into blocks of whole cells, annealed
    independently; the cut is drawn anew for every round, so a round costs O(n).

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
    if problem.records.points is None:
        return anneal_mixed(
            problem, part, ctx, sweeps=options.sweeps, width=options.candidates, jumps=options.jumps
        )
    best = split_large(problem, part.labels, ctx.quiet())
    if best.n_cells == 1 or problem.total == 0.0:
        return best
    if problem.n > BLOCK:
        return _in_blocks(problem, best, ctx, options)
    search = ctx.part(0.0, 1.0 - POLISH, time=1.0 - POLISH)
    rows = [np.arange(problem.n)] * CHAINS
    chains = _chains(problem, best, rows, search, options)
    _run(chains, search, _teller(search, chains, 0, 1, problem.cost(best), problem.total))
    labels = min(chains, key=lambda chain: chain.least).best
    best = problem.better(best, labels)
    kicks = None if ctx.timed else int(min(4 * problem.n, 10_000) * options.sweeps / 1000)
    return exchange(problem, best, ctx.part(1.0 - POLISH, 1.0), ExchangeOptions(iterations=kicks))


def _in_blocks(problem: Problem, best: Partition, ctx: Context, options: AnnealOptions) -> Partition:
    """Anneal blocks of whole groups by themselves; another cut has other borders."""
    for turn in range(ROUNDS):
        if ctx.over:
            break
        here = ctx.part(turn / ROUNDS, (turn + 1) / ROUNDS, time=1.0 / (ROUNDS - turn))
        blocks = cut(problem.centroids(best), best.sizes, records=BLOCK, rng=ctx.rng)
        rows = _rows(best, blocks)
        chains = _chains(
            problem,
            best,
            rows,
            here,
            options,
            sweeps=options.sweeps / ROUNDS,
            heat=1.0 if turn == 0 else WARM,
        )
        _run(chains, ctx, _teller(ctx, chains, turn, ROUNDS, problem.cost(best), problem.total))
        best = problem.better(best, _join(chains, rows, problem.n))
    return best


def _chains(
    problem: Problem,
    best: Partition,
    rows: list[NDArray[np.int64]],
    ctx: Context,
    options: AnnealOptions,
    *,
    sweeps: float | None = None,
    heat: float = 1.0,
) -> list[Chain]:
    """Return a run for each block of records, which together take the time or the work that is granted."""
    unit = options.sweeps if sweeps is None else sweeps  # work for each record: proposals, or seconds
    if ctx.timed:
        unit = ctx.left * min(ctx.threads, len(rows)) / sum(map(len, rows))
    X = problem.points
    return [
        Chain(
            np.ascontiguousarray(X[own]),
            problem.k,
            best.labels[own],
            seed=int(ctx.rng.integers(1, 2**63)),
            budget=unit * len(own),
            timed=ctx.timed,
            heat=heat,
            candidates=options.candidates,
            jumps=options.jumps,
        )
        for own in rows
    ]


def _run(chains: list[Chain], ctx: Context, tell: Callable[[], None]) -> None:
    """Run chains, several at a time; where somebody wishes to finish, each ends with its best so far."""
    ctx.map(lambda chain: chain.run(ctx), chains, whole=False, tell=tell)


def _teller(
    ctx: Context, chains: list[Chain], turn: int, rounds: int, sse: float, total: float
) -> Callable[[], None]:
    """Return a callback that says where a round stands; chains that compete count as their best."""

    def tell() -> None:
        gains = [chain.first - chain.least for chain in chains]
        done = sum(chain.done for chain in chains) / len(chains)
        loss = 100.0 * (sse - (max(gains) if rounds == 1 else sum(gains))) / total
        ctx.tell((turn + done) / rounds, loss)

    return tell


def _rows(part: Partition, blocks: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the records of each block of cells, ascending."""
    block_of = np.empty(part.n_cells, np.int64)
    for place, block in enumerate(blocks):
        block_of[block] = place
    return Partition(block_of[part.labels]).cells()


def _join(chains: list[Chain], rows: list[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """Return the labels of all records from those of the blocks."""
    labels = np.empty(n, np.int64)
    top = 0
    for chain, own in zip(chains, rows, strict=True):
        labels[own] = chain.best + top
        top += int(chain.best.max()) + 1
    return labels
