"""Exact pricing: the groups of k to 2k-1 records that cost less than their records' prices."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import pricing as kernels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cuts:
    """Subset-row cuts: triples of records, each with the penalty on groups that have two or three of them."""

    triples: Integers
    penalties: Floats

    @staticmethod
    def none() -> Cuts:
        """Return no cuts."""
        return Cuts(np.empty((0, 3), np.int64), np.empty(0))


@dataclass(frozen=True)
class Priced:
    """What a pricing found.

    ``groups`` are arrays of records and ``costs`` their reduced costs, best first for each anchor and size;
    ``lower[i]`` is a proven lower bound (0 or less) on the reduced cost of every group whose anchor is i;
    ``complete`` says that no search ended at the node limit, ``all_found`` that none had more groups than it
    was asked to keep.
    """

    groups: list[Integers]
    costs: Floats
    lower: Floats
    nodes: int
    complete: bool
    all_found: bool


class Pricer:
    """Branch and bound for one table: owns the distances, and threads that the result does not depend on."""

    def __init__(self, D2: Floats, k: int, *, threads: int | None = None) -> None:
        n = len(D2)
        self.D2, self.k, self.n = D2, k, n
        self.largest = min(2 * k - 1, n)
        self.threads = threads or min(8, os.cpu_count() or 1)
        nearest = np.empty((n, self.largest))
        for start in range(0, n, 256):
            rows = np.partition(D2[start : start + 256], min(self.largest, n - 1), axis=1)
            rows = np.sort(rows[:, : self.largest], axis=1)  # the first is the record itself, at distance 0
            nearest[start : start + 256] = np.cumsum(rows, axis=1)
        self.near = nearest

    def __call__(
        self,
        prices: Floats,
        *,
        limit: float = 0.0,
        budget: int = 10**15,
        most: int = 1,
        cuts: Cuts | None = None,
        until: float = np.inf,
    ) -> Priced:
        """Find groups of reduced cost below ``limit``.

        Parameters
        ----------
        prices : array, shape (n,)
            One per record; any sign.
        limit : float
            Usually 0 or a little less; above 0, groups that are nearly as good are found, too.
        budget : int
            Most nodes for an anchor and a size; the lower bounds stay valid where it ends a search.
        most : int
            Groups to keep for each anchor and size.
        cuts : Cuts, optional
            Penalties on groups.
        until : float
            Time (of ``perf_counter``) from which on no nodes are spent: bounds stay valid, but poor.
        """
        n, k = self.n, self.k
        cuts = Cuts.none() if cuts is None else cuts
        order = np.argsort(-prices, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        # A group's prices are at most its size times that of its anchor: too little, and no cost is below.
        anchors = order[np.maximum(k * prices[order], self.largest * prices[order]) + limit > 0.0]
        count, kinds = len(anchors), self.largest - k + 1
        values = np.empty((count, kinds, most))
        sets = np.empty((count, kinds, most, 2 * k - 1), np.int64)
        found, spent = np.zeros((count, kinds), np.int64), np.zeros((count, kinds), np.int64)
        lower = np.full((count, kinds), limit)
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(cuts.triples.ravel(), minlength=n), out=starts[1:])
        of_record = np.argsort(cuts.triples.ravel(), kind="stable") // 3
        sigma = np.ascontiguousarray(cuts.penalties)

        late = False

        def run(first: int, last: int) -> None:
            nonlocal late
            depth, nodes = self.largest, budget
            if perf_counter() > until:
                late, nodes = True, 0
            kernels.price(
                self.D2, self.near, prices, rank, anchors, first, last, limit, nodes, values, sets, found,
                lower, spent, cuts.triples, sigma, starts, of_record, np.zeros(len(sigma), np.int64),
                np.zeros(n), np.empty(n, np.int64),
                np.empty((depth, n), np.int64), np.empty((depth, n)), np.empty((depth, n)),
                np.empty(depth, np.int64), np.empty(depth, np.int64), np.empty(depth, np.int64),
                np.empty(depth), np.empty(depth),
            )  # fmt: skip

        step = max(1, min(64, count // (4 * self.threads) + 1, 20_000 // max(1, budget)))  # short, for Ctrl-C
        if count:
            with ThreadPoolExecutor(self.threads) as pool:
                futures = [pool.submit(run, at, min(at + step, count)) for at in range(0, count, step)]
                try:
                    for future in futures:
                        future.result()
                except BaseException:
                    for future in futures:
                        future.cancel()
                    raise
        a, s, q = np.nonzero(np.arange(most) < found[:, :, None])
        groups = [np.sort(sets[x, y, z, : k + y]) for x, y, z in zip(a, s, q, strict=True)]
        each = np.full(n, min(limit, 0.0))  # a record that is no anchor here may fall short by the limit
        each[anchors] = np.minimum(lower.min(axis=1, initial=0.0), 0.0)
        complete, all_found = not late and bool((spent < budget).all()), bool((found < most).all())
        return Priced(groups, values[a, s, q], each, int(spent.sum()), complete, all_found)
