"""Exact pricing: the groups of k to 2k-1 records that cost less than their records' prices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import mode_pricing as modes
from voronym._kernels import pricing as kernels
from voronym.certify.costs import Costs
from voronym.certify.cuts import NONE, Fined
from voronym.certify.priced import Priced
from voronym.core.context import Context

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


CLOSE = 512
"""Number of nearest records that are listed."""


def nearest_table(D2: Floats, largest: int, ctx: Context) -> Floats:
    """Return the sum of the q smallest distances of each record, for q from 0 to ``largest`` - 1."""
    n = len(D2)
    near = np.empty((n, largest))
    for start in range(0, n, 256):
        ctx.check()
        rows = np.partition(D2[start : start + 256], min(largest, n - 1), axis=1)
        rows = np.sort(rows[:, :largest], axis=1)  # the first is the record itself, at distance 0
        near[start : start + 256] = np.cumsum(rows, axis=1)
    return near


def undecided_tables(costs: Costs, pairs: Floats, largest: int, ctx: Context) -> Floats:
    """Return `nearest_table` with the columns of categories from each on as pairs, shape (c, largest, n)."""
    n = len(costs)
    result = np.empty((len(pairs), largest, n))

    def block(first: int) -> None:
        ctx.check()
        rows = slice(first, first + 256)
        apart = costs.D2[rows].copy()
        for column in reversed(range(len(pairs))):
            codes = costs.codes[column]
            apart += pairs[column] * (codes[rows, None] != codes[None, :])
            least = np.sort(np.partition(apart, min(largest, n - 1), axis=1)[:, :largest], axis=1)
            result[column, :, rows] = np.cumsum(least, axis=1).T

    if len(pairs):
        ctx.map(block, range(0, n, 256))
    return result


class Pricer:
    """Branch and bound for one table; the result does not depend on the number of threads.

    Parameters
    ----------
    D2 : array, shape (n, n)
        Squared distances.
    k : int
        Least size of a group.
    near : array, shape (n, 2k - 1 or more)
        ``near[i, q - 1]``, summed over any q records, is at most twice the sum of the distances of their
        pairs: the sums of the q - 1 least distances (`nearest_table`), or something better.
    """

    def __init__(self, D2: Floats, k: int, near: Floats) -> None:
        self.D2, self.k, self.n, self.near = D2, k, len(D2), near
        self.largest = min(2 * k - 1, len(D2))

    def __call__(
        self,
        prices: Floats,
        ctx: Context,
        *,
        limit: float = 0.0,
        budget: int = 10**15,
        most: int = 1,
        cuts: Fined = NONE,
        largest: int | None = None,
        tell: Callable[[], None] | None = None,
    ) -> Priced:
        """Find groups of reduced cost below ``limit``.

        Parameters
        ----------
        prices : array, shape (n,)
            One per record; any sign.
        ctx : Context
            Once it is over no more nodes are spent: bounds stay valid, but poor.
        limit : float
            Usually 0 or a little less; above 0, groups that are nearly as good are found, too.
        budget : int
            Largest number of nodes for an anchor and a size; lower bounds stay valid if it ends a search.
        most : int
            Groups to keep for each anchor and size.
        cuts : Fined, optional
            Penalties on groups.
        largest : int, optional
            Largest size of a group; 2k - 1 by default.
        tell : callable, optional
            Called from time to time, instead of repeating the last report.
        """
        n, k = self.n, self.k
        largest = self.largest if largest is None else largest
        order = np.argsort(-prices, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        # A group's prices are at most its size times that of its anchor: too little, and no cost is below.
        anchors = order[np.maximum(k * prices[order], largest * prices[order]) + limit > 0.0]
        count, kinds = len(anchors), largest - k + 1
        halt = np.zeros(1, np.int64)
        table = kernels.Prices(self.D2, self.near, prices, rank, anchors, halt)
        out = kernels.Found(
            np.empty((count, kinds, most)),
            np.empty((count, kinds, most, 2 * k - 1), np.int64),
            np.zeros((count, kinds), np.int64),
            np.full((count, kinds), limit),
            np.zeros((count, kinds), np.int64),
        )
        having = cuts_of(cuts, n)
        step = max(1, min(64, count // (4 * ctx.threads) + 1, 20_000 // max(1, budget)))

        def work(first: int) -> None:
            if ctx.over:
                halt[0] = 1
            last, room = min(first + step, count), kernels.levels(largest, n)
            kernels.price(table, without_group(having, n), room, out, first, last, limit, budget)

        def wait() -> None:
            if ctx.over:
                halt[0] = 1
            if tell is None:
                ctx.tell(0.0)
            else:
                tell()

        ctx.map(work, range(0, count, step), tell=wait)
        a, s, q = np.nonzero(np.arange(most) < out.count[:, :, None])
        groups = [np.sort(out.sets[x, y, z, : k + y]) for x, y, z in zip(a, s, q, strict=True)]
        each = np.full(n, min(limit, 0.0))  # a record that is no anchor here may fall short by the limit
        each[anchors] = np.minimum(out.lower.min(axis=1, initial=0.0), 0.0)
        complete = halt[0] == 0 and bool((out.spent < budget).all())
        all_found = bool((out.count < most).all())
        values, unseen = out.values[a, s, q], np.full(n, halt[0] != 0)
        return Priced(
            groups,
            values,
            each,
            _least(n, anchors[a], values),
            unseen,
            int(out.spent.sum()),
            complete,
            all_found,
        )


class ModePricer:
    """Branch and bound for groups that may publish modes, one size after another.

    Parameters
    ----------
    costs : Costs
        The costs of groups.
    k : int
        Least size of a group.
    near : array, shape (n, 2k - 1 or more)
        As for `Pricer`, for the numbers.
    ctx : Context, optional
        For the nearest records by numbers and categories.
    """

    def __init__(self, costs: Costs, k: int, near: Floats, ctx: Context | None = None) -> None:
        self.costs, self.k, self.n, self.near = costs, k, len(costs), near
        self.pairs = costs.differing(2 * k - 1)
        self.undecided = undecided_tables(costs, self.pairs, min(2 * k - 1, self.n), ctx or Context())
        self.categories = int(costs.codes.max(initial=-1)) + 1

    @cached_property
    def close(self) -> Integers:
        """The nearest records of each; they pay with cuts, which call for more sizes."""
        n, width = self.n, min(CLOSE, self.n)
        result = np.empty((n, width), np.int64)
        for start in range(0, n, 256):
            rows = self.costs.D2[start : start + 256]
            nearest = np.argpartition(rows, width - 1, axis=1)[:, :width]
            order = np.argsort(np.take_along_axis(rows, nearest, axis=1), axis=1, kind="stable")
            result[start : start + 256] = np.take_along_axis(nearest, order, axis=1)
        return result

    def __call__(
        self,
        prices: Floats,
        ctx: Context,
        *,
        limit: float = 0.0,
        budget: int = 10**15,
        most: int = 1,
        cuts: Fined = NONE,
        larger: bool = False,
        tell: Callable[[], None] | None = None,
    ) -> Priced:
        """Find groups of reduced cost below ``limit``; see `Pricer`.

        These are groups of k; or ``larger`` ones, at prices that are valid for groups of k.
        """
        having = cuts_of(cuts, self.n)
        order = np.argsort(-prices, kind="stable")
        rank = np.empty(self.n, np.int64)
        rank[order] = np.arange(self.n)
        every: list[Priced] = []
        for m in range(self.k + 1, min(2 * self.k, self.n + 1)) if larger else (self.k,):
            suspect = cuts.suspects(prices, self.k, m, flat=not len(self.costs.weights))
            if suspect.any() or not every:
                every.append(
                    self._of_size(m, prices, order, rank, suspect, having, ctx, limit, budget, most, tell)
                )
        return reduce(Priced.with_groups, every)

    def _of_size(
        self,
        m: int,
        prices: Floats,
        order: Integers,
        rank: Integers,
        suspect: NDArray[np.bool_],
        having: kernels.Cuts,
        ctx: Context,
        limit: float,
        budget: int,
        most: int,
        tell: Callable[[], None] | None,
    ) -> Priced:
        """Price groups of m."""
        n, costs = self.n, self.costs
        anchors = order[m * prices[order] + limit > 0.0]
        count = len(anchors)
        halt = np.zeros(1, np.int64)
        near = np.concatenate([self.undecided[:, :m], self.near[:, :m].T[None]])
        table = modes.Prices(
            costs.D2,
            near,
            costs.codes,
            costs.weights,
            self.pairs,
            prices,
            rank,
            anchors,
            suspect,
            self.close if len(having.penalties) else np.empty((n, 0), np.int64),
            halt,
        )
        out = modes.Found(
            np.empty((count, most)),
            np.empty((count, most, m), np.int64),
            np.zeros(count, np.int64),
            np.full(count, limit),
            np.zeros(count, np.int64),
        )
        piece = 512 if m > self.k else min(64, 20_000 // max(1, budget))  # most larger groups end at once
        step = max(1, min(piece, count // (4 * ctx.threads) + 1))

        def work(first: int) -> None:
            if ctx.over:
                halt[0] = 1
            room = modes.scratch(len(costs.weights), self.categories, m, n)
            own, last = without_group(having, n), min(first + step, count)
            modes.price(table, own, *room, out, first, last, limit, budget)

        def wait() -> None:
            if ctx.over:
                halt[0] = 1
            if tell is None:
                ctx.tell(0.0)
            else:
                tell()

        ctx.map(work, range(0, count, step), tell=wait)
        a, q = np.nonzero(np.arange(most) < out.count[:, None])
        groups = [np.sort(out.sets[x, y]) for x, y in zip(a, q, strict=True)]
        each = np.full(n, min(limit, 0.0))  # a record that is no anchor here may fall short by the limit
        each[anchors] = np.minimum(out.lower, 0.0)
        complete = halt[0] == 0 and bool((out.spent < budget).all())
        values, all_found = out.values[a, q], bool((out.count < most).all())
        seen = int(np.argmax(out.spent < 0)) if (out.spent < 0).any() else n
        return Priced(
            groups,
            values,
            each,
            _least(n, anchors[a], values),
            rank >= seen,
            int(np.maximum(out.spent, 0).sum()),
            complete,
            all_found,
        )


def _least(n: int, anchors: Integers, costs: Floats) -> Floats:
    """Return the least reduced cost of the groups of each anchor; 0 without a group."""
    least = np.zeros(n)
    np.minimum.at(least, anchors, costs)
    return least


def cuts_of(fined: Fined, n: int) -> kernels.Cuts:
    """Return the cuts with a penalty, and the list of cuts of each record; each thread adds its own group.

    Shares are rounded down to multiples of 2^-30, so that their sums are exact in any order.
    """
    fined = fined.effective()
    sizes = np.array([len(cut.records) for cut in fined.cuts], np.int64)
    least = np.array([cut.least for cut in fined.cuts], np.int64)
    members = np.array([record for cut in fined.cuts for record in cut.records], np.int64)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(members, minlength=n), out=starts[1:])
    return kernels.Cuts(
        np.ascontiguousarray(fined.penalties),
        least,
        np.floor(fined.penalties / np.maximum(1, sizes - least + 1) * 2.0**30) / 2.0**30,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        members,
        starts,
        np.repeat(np.arange(len(sizes)), sizes)[np.argsort(members, kind="stable")],
        np.empty(0, np.int64),
        np.empty(0),
        np.empty(0),
    )


def without_group(cuts: kernels.Cuts, n: int) -> kernels.Cuts:
    """Return the cuts with room for the group of one thread, which is empty."""
    return cuts._replace(counts=np.zeros(len(cuts.penalties), np.int64), due=np.zeros(n), share=np.zeros(n))
