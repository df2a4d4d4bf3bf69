"""Search for better cells of mixed records: what `exchange` and `anneal` do in a mixed space."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from voronym._kernels import exchange as counters
from voronym._kernels import mixed_cells
from voronym._kernels import mixed_scan as scans
from voronym._kernels import mixed_search as kernels
from voronym.context import Context
from voronym.groups import split_large
from voronym.partition import Partition
from voronym.partitioners.mixed import Codes, check_mixed, make_scan
from voronym.problem import Problem
from voronym.refiners import schedule
from voronym.space import Mixed
from voronym.space.centroids import make_cells

LEAST = 100.0
"""Proposals a record below which annealing only goes downhill."""

SPEED = 1e6
"""Proposals a second, roughly: to foresee what a budget of seconds is worth."""


class Work:
    """Mixed records, the cells they move between, and the records near each."""

    def __init__(self, problem: Problem, part: Partition, ctx: Context) -> None:
        self.space, self.codes = check_mixed(problem)
        self.k, self.whole = problem.k, problem.total
        self.tiny = 1e-10 * self.whole / problem.n
        self.labels = split_large(problem, part.labels, ctx.quiet()).labels
        self.search: kernels.Search | None = None

    def open(self, near: Codes, seed: int) -> kernels.Search:
        """Return a search in which all records wait to be looked at."""
        n, room = len(self.codes), max(1, len(self.codes) // self.k)
        cells = make_cells(self.space, self.codes, self.labels, room, 2 * self.k)
        for first in range(0, room, 64):
            mixed_cells.refresh_all(self.space.pack, cells, first, min(room, first + 64), True)
        self.search = kernels.Search(
            cells,
            near,
            np.zeros(room, np.int64),
            np.zeros(n, np.int64),
            np.zeros(room, np.int64),
            np.empty(n, np.int64),
            np.zeros(n, np.int64),
            np.empty((4096 + 4 * self.k, 3), np.int64),
            np.zeros(6, np.int64),
            np.array([seed | 1], np.uint64),
        )
        self.wake()
        return self.search

    def wake(self) -> None:
        """Let all records wait, in order, and know nothing."""
        s = self.search
        assert s is not None  # noqa: S101 - opened before
        s.count[counters.CLOCK] += 1
        s.touched[:] = s.count[counters.CLOCK]
        s.queue[:] = np.arange(len(s.queue))
        s.queued[:] = 1
        s.count[counters.HEAD], s.count[counters.WAITING] = 0, len(s.queue)

    @property
    def cost(self) -> float:
        """Cost of the cells under change."""
        return float(self.search.cells.cost.sum()) if self.search is not None else np.inf

    @property
    def loss(self) -> float:
        """The same in percent of the cost to one centroid for all."""
        return 100.0 * self.cost / self.whole if self.whole > 0.0 else 0.0


def exchange_mixed(
    problem: Problem, part: Partition, ctx: Context, *, width: int, kicks: int | None
) -> Partition:
    """Shift, swap and dissolve while that costs less; then shake a few groups and try again."""
    work = Work(problem, part, ctx)
    near = None if work.whole == 0.0 else near_records(work.space, work.codes, width, ctx)
    if near is None:
        return part
    work.open(near, int(ctx.rng.integers(1, 2**63)))
    for done in run(work, kicks, ctx):
        ctx.tell(done, work.loss)
    return problem.better(part, _labels(work))


def anneal_mixed(
    problem: Problem, part: Partition, ctx: Context, *, sweeps: float, width: int, jumps: float
) -> Partition:
    """Shift and swap at random, uphill by chance and ever less so; then downhill until nothing gains.

    One chain over all records.
    """
    work = Work(problem, part, ctx)
    near = None if work.whole == 0.0 else near_records(work.space, work.codes, width, ctx)
    if near is None:
        return part
    work.open(near, int(ctx.rng.integers(1, 2**63)))
    best, least = _labels(work), work.cost
    for step in cool(work, sweeps, jumps, ctx):
        if work.cost < least:
            best, least = _labels(work), work.cost
        ctx.tell(0.3 + 0.6 * step, 100.0 * least / work.whole)
    work.labels = best
    work.open(near, int(ctx.rng.integers(1, 2**63)))
    for done in run(work, 0, ctx):
        ctx.tell(0.9 + 0.1 * done, work.loss)
    return problem.better(part, _labels(work))


def cool(work: Work, sweeps: float, jumps: float, ctx: Context) -> Iterator[float]:
    """Anneal from hot to cold; yield the share of the work done.

    Without a time limit the slices have a fixed number of proposals: the best is looked for between them, and
    must not depend on the machine's speed.
    """
    search = work.search
    assert search is not None  # noqa: S101 - opened before
    n, pack = len(work.codes), work.space.pack
    heat = schedule.temperatures(
        work.cost / n, float((search.cells.cost / np.maximum(search.cells.sizes, 1)).max())
    )
    timed = ctx.timed
    slice_ = _slice(work)
    budget, speed = sweeps * n, 0.0
    if timed:  # seconds; the last tenth is for the search downhill
        budget = 0.9 * ctx.left
    if budget * (SPEED if timed else 1.0) < LEAST * n:
        heat = np.zeros(1)
    begun, spent = perf_counter(), 0.0
    for step, temperature in enumerate(heat):
        allowed = budget * (step + 1) / len(heat)
        while spent < allowed and not ctx.over:
            proposals = slice_ if timed else int(min(slice_, np.ceil(allowed - spent)))
            if timed and speed:
                proposals = int(min(slice_, (allowed - spent) * speed)) + 1
            before = perf_counter()
            kernels.anneal(pack, search, work.k, temperature, jumps, proposals)
            now = perf_counter()
            speed = proposals / max(now - before, 1e-6)
            spent = now - begun if timed else spent + proposals
            yield min(1.0, spent / budget)


def _slice(work: Work) -> int:
    """Return how many proposals take some hundredths of a second, roughly, from the sizes alone."""
    wide = int((work.search.cells.at < 0).sum())  # type: ignore[union-attr]
    levels = work.search.cells.sums.shape[1]  # type: ignore[union-attr]
    return int(np.clip(1e7 / (100 + 2 * levels + 20 * wide * (2 * work.k) ** 2), 50, 50_000))


def run(work: Work, kicks: int | None, ctx: Context) -> Iterator[float]:
    """Search, in pieces after which the cells are whole; yield the share that is done."""
    search, pack, k, tiny = work.search, work.space.pack, work.k, work.tiny
    assert search is not None  # noqa: S101 - opened before
    room = len(search.cells.sizes)
    gained, cell, done = -np.inf, 0, 0

    def settle(budget: int) -> bool:
        search.count[counters.LOGGED] = 0
        kernels.settle(pack, search, k, tiny, budget)
        return bool(search.count[counters.WAITING] == 0)

    def dissolve(budget: int) -> bool:
        nonlocal cell, gained
        gained += kernels.dissolve_all(pack, search, k, tiny, cell, min(room, cell + budget))
        cell = min(room, cell + budget)
        return cell == room

    def shake(budget: int) -> bool:
        nonlocal done
        budget = budget if kicks is None else min(budget, kicks - done)
        kernels.iterate(pack, search, k, tiny, budget)
        done += budget
        return kicks is not None and done >= kicks

    for _ in ctx.search(settle, budget=len(work.codes)):
        yield 0.4
    while gained < -tiny and not ctx.over:
        gained, cell = 0.0, 0
        for _ in ctx.search(dissolve, budget=room):
            yield 0.5
    if kicks != 0:
        for _ in ctx.search(shake, budget=100):
            yield 0.5 + (0.5 * done / kicks if kicks else 0.0)
    work.wake()  # what was taken back may have left a gain unseen
    for _ in ctx.search(settle, budget=len(work.codes)):
        yield 1.0


def near_records(space: Mixed, codes: Codes, width: int, ctx: Context) -> Codes | None:
    """Return near records of each, shape (n, K); None where the time was up before.

    Neighbours are looked for among distinct records: in a table of categories the nearest ones would all be
    equal, and in few cells. Of equal records, each is a neighbour of another one. The first entry is a record
    equal to one's own, where there is one. O(u² d) for u distinct records, over a pool of threads.
    """
    distinct, back, often = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    back = back.reshape(-1)
    distinct = np.ascontiguousarray(distinct)
    n, u = len(codes), len(distinct)
    order = np.argsort(back, kind="stable")
    first = np.cumsum(often) - often
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - first[back[order]]
    others = min(width - 1, u - 1)
    columns = [order[first[back] + (place + 1) % often[back]]]
    if others > 0:
        found = _nearest(space, distinct, others, ctx)
        if found is None:
            return None
        columns += [order[first[c] + place % often[c]] for c in found[back].T]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _nearest(space: Mixed, distinct: Codes, width: int, ctx: Context) -> Codes | None:
    """Return the nearest other rows of each row, shape (u, K)."""
    u = len(distinct)
    out = np.empty((u, width), np.int64)

    def work(begin: int, end: int) -> None:
        scan = make_scan(space, distinct)
        scans.near_rows(space.pack, scan, distinct, begin, end, width, np.empty(width), out[begin:end])

    step = max(1, min(u, 10_000_000 // (u * distinct.shape[1])))
    blocks = [(begin, min(u, begin + step)) for begin in range(0, u, step)]
    for at in range(0, len(blocks), 64):  # the time is looked at between batches
        some = blocks[at : at + 64]
        ctx.part(0.3 * at / len(blocks), 0.3 * (at + len(some)) / len(blocks)).map(
            lambda block: work(*block), some, whole=False
        )
        if ctx.over and at + 64 < len(blocks):
            return None
    return out


def _labels(work: Work) -> Codes:
    return work.search.cells.labels.copy()  # type: ignore[union-attr]
