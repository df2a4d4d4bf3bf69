"""Annealing: random moves between neighbouring cells, hot at first, then ever colder."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._cells import split_large
from voronym.partitioners._run import share
from voronym.partitioners.mixed import check_mixed
from voronym.progress import Progress, Step, Stop
from voronym.refiners.blocks import cut
from voronym.refiners.chain import Chain, run_all
from voronym.refiners.exchange import exchange
from voronym.refiners.mixed import anneal_mixed
from voronym.refiners.moves import Clock
from voronym.refiners.registry import refiner
from voronym.space import Space

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


@refiner(
    "anneal",
    guarantee="every cell has k to 2k-1 records; no more loss than the start has",
    cost="O(d) a proposal, 1000 proposals a record unless a time is given; memory O(n d)",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
    spaces=("euclidean", "mixed"),
)
def anneal(
    X: NDArray[np.float64],
    k: int,
    part: Partition,
    *,
    rng: np.random.Generator,
    progress: Progress,
    time_limit: float | None = None,
    sweeps: float = 1000.0,
    candidates: int = 20,
    jumps: float = 0.003,
    threads: int = 2,
    space: Space | None = None,
) -> Partition:
    """Shift, swap and rotate records between neighbouring cells, uphill by chance and ever less so.

    The problem is that of `voronym.microaggregate`. A proposal takes a random record and the cell of one of
    its nearest neighbours, and shifts the record there, swaps it with one of that cell, or pushes
    a chain over three cells; a small share dissolves a cell into its neighbours or founds a new one. It is
    accepted if the loss falls, else with probability ``exp(-rise / temperature)``.

    Up to 6,000 records two chains run; the better one goes through `exchange` for the last part of the work,
    which finds what is left to gain among outliers. More records are cut into blocks of whole cells, annealed
    independently; the cut is drawn anew for every round, so a round costs O(n).

    Parameters
    ----------
    X, k, part, rng, progress
        As for every refiner.
    time_limit : float, optional
        Seconds of work. Without it the work is ``sweeps`` proposals a record, and the same seed gives the
        same partition, whatever the number of threads.
    sweeps : float
        Proposals a record, where no time limit is given. Below 300 the search only goes downhill.
    candidates : int
        How many nearest neighbours a record may follow.
    jumps : float
        Share of the proposals that change the number of cells.
    threads : int
        How many blocks or chains are worked on at a time.
    space : Space, optional
        Euclidean, or `voronym.space.Mixed`: then X are its codes, and one chain over all records minimises
        the cost to the centroids, by shifts, swaps and jumps; 1 to 2 µs a proposal.

    Returns
    -------
    Partition
        The best one seen. Ctrl-C and `voronym.progress.Stop` end the work early and return it too.

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
    if not 0.0 <= jumps <= 1.0 or candidates < 1 or sweeps <= 0 or threads < 1:
        raise InputError("anneal takes jumps from 0 to 1, sweeps above 0, candidates and threads from 1 on")
    if space is not None and space.name == "mixed":
        mixed, codes = check_mixed(space, X)
        clock = Clock(progress, time_limit)
        return anneal_mixed(
            mixed, codes, k, part, rng=rng, clock=clock, sweeps=sweeps, width=candidates, jumps=jumps,
            time_limit=time_limit,
        )  # fmt: skip
    alone = len(X) <= BLOCK
    begun = perf_counter()
    ends = None if time_limit is None else begun + time_limit * (1.0 - POLISH if alone else 1.0)
    best = split_large(X, k, part.labels)
    total = float(np.square(X - X.mean(axis=0)).sum())
    if best.n_cells == 1 or total == 0.0:
        return best
    rounds = 1 if alone else ROUNDS
    least = best.sse(X)
    for turn in range(rounds):
        blocks = cut(best.centroids(X), best.sizes, records=BLOCK, rng=rng)
        rows = _rows(best, blocks) * (CHAINS if alone else 1)
        unit = sweeps / rounds  # work for each record: proposals, or seconds
        if ends is not None:
            seconds = max(0.0, ends - perf_counter()) / (rounds - turn)
            unit = seconds * min(threads, len(rows)) / sum(map(len, rows))
        chains = [
            Chain(
                np.ascontiguousarray(X[own]),
                k,
                best.labels[own],
                seed=int(rng.integers(1, 2**63)),
                budget=unit * len(own),
                timed=ends is not None,
                heat=1.0 if turn == 0 else WARM,
                candidates=candidates,
                jumps=jumps,
            )
            for own in rows
        ]
        tell = _teller(
            share(progress, 0.0, 1.0 - POLISH) if alone else progress, chains, turn, rounds, least, total
        )
        stopped = run_all(chains, threads=threads, tell=tell)
        labels = min(chains, key=lambda chain: chain.least).best if alone else _join(chains, rows, len(X))
        found = Partition(labels, k=k)
        if found.sse(X) < least:
            best, least = found, found.sse(X)
        if stopped:
            return best
    if not alone:
        return best
    left = None if time_limit is None else max(0.0, begun + time_limit - perf_counter())
    kicks = None if left is not None else int(min(4 * len(X), 10_000) * sweeps / 1000)
    try:
        return exchange(
            X,
            k,
            best,
            rng=rng,
            progress=share(progress, 1.0 - POLISH, 1.0),
            time_limit=left,
            iterations=kicks,
        )
    except (KeyboardInterrupt, Stop):
        return best


def _teller(
    progress: Progress, chains: list[Chain], turn: int, rounds: int, sse: float, total: float
) -> Callable[[], None]:
    """Return a callback that says where a round stands; chains that compete count as their best."""

    def tell() -> None:
        gains = [chain.first - chain.least for chain in chains]
        done = sum(chain.done for chain in chains) / len(chains)
        loss = 100.0 * (sse - (max(gains) if rounds == 1 else sum(gains))) / total
        progress(Step("anneal", min(1.0, (turn + done) / rounds), loss))

    return tell


def _rows(part: Partition, blocks: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the records of each block of cells, ascending."""
    block_of = np.empty(part.n_cells, np.int64)
    for number, block in enumerate(blocks):
        block_of[block] = number
    return Partition(block_of[part.labels]).cells()


def _join(chains: list[Chain], rows: list[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """Return the labels of all records from those of the blocks."""
    labels = np.empty(n, np.int64)
    top = 0
    for chain, own in zip(chains, rows, strict=True):
        labels[own] = chain.best + top
        top += int(chain.best.max()) + 1
    return labels
