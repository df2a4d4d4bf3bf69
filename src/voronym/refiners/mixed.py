"""Search for better cells of mixed records: what `exchange` and `anneal` do in a mixed space."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from voronym._kernels import exchange as counters
from voronym._kernels import mixed_cells
from voronym._kernels import mixed_scan as scans
from voronym._kernels import mixed_search as kernels
from voronym.partition import Partition
from voronym.partitioners.mixed import Codes, make_cells, make_scan, mdav_mixed, mixed_centroids
from voronym.progress import Stop, silent
from voronym.refiners import schedule
from voronym.refiners.moves import Clock, in_pieces
from voronym.space import Mixed

LEAST = 100.0
"""Proposals a record below which annealing only goes downhill."""

SPEED = 1e6
"""Proposals a second, roughly: to foresee what a budget of seconds is worth."""


class Work:
    """Mixed records, the cells they move between, and the records near each."""

    def __init__(self, space: Mixed, codes: Codes, k: int, part: Partition) -> None:
        self.space, self.codes, self.k = space, codes, k
        self.whole = mixed_centroids(space, codes, Partition(np.zeros(len(codes), np.int64))).total
        self.tiny = 1e-10 * self.whole / len(codes)
        self.start = part
        self.labels = split_large(space, codes, k, part).labels
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

    def better(self, labels: Codes) -> Partition:
        """Return the partition with these labels, or the start where it is no worse."""
        found = Partition(labels, k=self.k)
        new = mixed_centroids(self.space, self.codes, found).total
        old = mixed_centroids(self.space, self.codes, self.start).total
        return found if new < old else self.start


def exchange_mixed(
    space: Mixed,
    codes: Codes,
    k: int,
    part: Partition,
    *,
    rng: np.random.Generator,
    clock: Clock,
    width: int,
    kicks: int | None,
) -> Partition:
    """Shift, swap and dissolve while that costs less; then shake a few cells and try again."""
    work = Work(space, codes, k, part)
    if work.whole == 0.0:
        return part
    near = near_records(space, codes, width, clock)
    if near is None:
        return part
    work.open(near, int(rng.integers(1, 2**63)))
    for done in run(work, kicks):
        clock.tell(done, work.loss)
        if clock.over:
            break
    clock.tell(1.0, work.loss)
    return work.better(_labels(work))


def anneal_mixed(
    space: Mixed,
    codes: Codes,
    k: int,
    part: Partition,
    *,
    rng: np.random.Generator,
    clock: Clock,
    time_limit: float | None,
    sweeps: float,
    width: int,
    jumps: float,
) -> Partition:
    """Shift and swap at random, uphill by chance and ever less so; then downhill until nothing gains.

    One chain over all records. Ctrl-C and `voronym.progress.Stop` end it with the best seen.
    """
    work = Work(space, codes, k, part)
    if work.whole == 0.0:
        return part
    near = near_records(space, codes, width, clock)
    if near is None:
        return part
    work.open(near, int(rng.integers(1, 2**63)))
    best, least = _labels(work), work.cost
    try:
        for step in cool(work, sweeps, jumps, clock, time_limit):
            if work.cost < least:
                best, least = _labels(work), work.cost
            clock.tell(0.3 + 0.6 * step, 100.0 * least / work.whole)
        work.labels = best
        work.open(near, int(rng.integers(1, 2**63)))
        for done in run(work, 0):
            clock.tell(0.9 + 0.1 * done, work.loss)
            if clock.over:
                break
        best = _labels(work)
    except (KeyboardInterrupt, Stop):
        pass
    return work.better(best)


def cool(work: Work, sweeps: float, jumps: float, clock: Clock, time_limit: float | None) -> Iterator[float]:
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
    timed = time_limit is not None
    slice_ = _slice(work)
    budget, speed = sweeps * n, 0.0
    if time_limit is not None:  # seconds; the last tenth is for the search downhill
        budget = 0.9 * max(0.0, time_limit - clock.spent)
    if budget * (SPEED if timed else 1.0) < LEAST * n:
        heat = np.zeros(1)
    begun, spent = perf_counter(), 0.0
    for step, temperature in enumerate(heat):
        allowed = budget * (step + 1) / len(heat)
        while spent < allowed:
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


def run(work: Work, kicks: int | None) -> Iterator[float]:
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

    for _ in in_pieces(settle, len(work.codes)):
        yield 0.4
    while gained < -tiny:
        gained, cell = 0.0, 0
        for _ in in_pieces(dissolve, room):
            yield 0.5
    if kicks != 0:
        for _ in in_pieces(shake, 100):
            yield 0.5 + (0.5 * done / kicks if kicks else 0.0)
    work.wake()  # what was taken back may have left a gain unseen
    for _ in in_pieces(settle, len(work.codes)):
        yield 1.0


def near_records(space: Mixed, codes: Codes, width: int, clock: Clock) -> Codes | None:
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
        found = _nearest(space, distinct, others, clock)
        if found is None:
            return None
        columns += [order[first[c] + place % often[c]] for c in found[back].T]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _nearest(space: Mixed, distinct: Codes, width: int, clock: Clock) -> Codes | None:
    """Return the nearest other rows of each row, shape (u, K)."""
    u = len(distinct)
    out = np.empty((u, width), np.int64)

    def work(begin: int, end: int) -> None:
        scan = make_scan(space, distinct)
        scans.near_rows(space.pack, scan, distinct, begin, end, width, np.empty(width), out[begin:end])

    step = max(1, min(u, 10_000_000 // (u * distinct.shape[1])))
    blocks = [(begin, min(u, begin + step)) for begin in range(0, u, step)]
    threads = min(2, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        for at in range(0, len(blocks), threads):
            list(pool.map(lambda block: work(*block), blocks[at : at + threads]))
            clock.tell(0.3 * min(1.0, (at + threads) / len(blocks)))
            if clock.over and at + threads < len(blocks):
                return None
    return out


def split_large(space: Mixed, codes: Codes, k: int, part: Partition) -> Partition:
    """Split every cell of 2k records or more by MDAV."""
    new, top = part.labels.copy(), part.n_cells
    members = part.cells()
    for cell in np.flatnonzero(part.sizes >= 2 * k):
        inside = members[cell]
        labels = mdav_mixed(space, np.ascontiguousarray(codes[inside]), k, silent)
        new[inside] = top + labels
        top += int(labels.max()) + 1
    return Partition(new, k=k)


def _labels(work: Work) -> Codes:
    return work.search.cells.labels.copy()  # type: ignore[union-attr]
