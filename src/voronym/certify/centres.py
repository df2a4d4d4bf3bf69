"""Pricing by what groups publish: quick for few columns of numbers, where listing members takes long."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import centre_boxes
from voronym._kernels import centres as kernels
from voronym.certify.costs import Costs
from voronym.certify.priced import Priced
from voronym.core.context import Context

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DIMENSIONS = 3
"""Largest number of columns of numbers: a box has 2^d corners."""

BOXES = 4
"""Number of boxes per column of numbers that are searched side by side."""

TOLERANCE, LEAST, SHARE = 5e-4, 5e-6, 0.1
"""Reduced cost per record that counts as nothing: at first, and in the end. A box is not divided if its bound
is within that, or within the share of the reduced cost, of a group's.
"""

AT_ONCE = 1000
"""Number of boxes after which a search looks at the time."""

MOST = 6
"""Number of groups with the same first record (the one of the highest price) that a pricing returns."""

ROOM = 4096
"""Number of groups that are kept from a box."""

BLOCK = 32
"""Number of starts that a thread takes at a time."""


class CentrePricer:
    """Search for groups of k by boxes of their centres; the result does not depend on the number of threads.

    Parameters
    ----------
    costs : Costs
        The costs of groups, with at most three columns of numbers.
    k : int
        Size of the groups.
    least : float
        Reduced cost per record that counts as nothing in the end.
    """

    def __init__(self, costs: Costs, k: int, least: float = LEAST) -> None:
        self.costs, self.k, self.n = costs, k, len(costs)
        self.X = np.ascontiguousarray(costs.numbers.T)
        self.categories = int(costs.codes.max(initial=-1)) + 1
        self.tolerance, self.limit = TOLERANCE, least

    def sharpen(self) -> bool:
        """Lower the tolerance to a tenth, if that can still matter; return whether it did."""
        self.tolerance /= 10.0
        return self.tolerance >= self.limit

    def room(self) -> kernels.Room:
        """Return the scratch of one thread."""
        return kernels.room(len(self.X), len(self.costs.weights), self.categories, self.n, self.k)

    def table(self, prices: Floats) -> kernels.Prices:
        """Return the records with their prices."""
        codes, weights, halt = self.costs.codes, self.costs.weights, np.zeros(1, np.int64)
        return kernels.Prices(self.X, codes, weights, prices, self.costs.scale, halt)

    def __call__(
        self,
        prices: Floats,
        ctx: Context,
        *,
        most: int = MOST,
        tell: Callable[[], None] | None = None,
    ) -> Priced:
        """Find groups of k that cost less than their prices; at most ``most`` with the same first record.

        Not all such groups: ``all_found`` is false. ``complete`` tells whether the time sufficed.

        ``lower`` of the result bounds the groups with a record, whatever its rank.
        """
        table, low, high = self.table(prices), *self.boxes()
        k, n, parts, enough = self.k, self.n, len(low), self.tolerance * self.k
        lower, late = np.full((parts, n), -enough), np.zeros((parts, n), np.bool_)
        values, sets = np.empty((parts, ROOM)), np.empty((parts, ROOM, k), np.int64)

        def work(part: int) -> tuple[int, int]:
            room = self.room()
            limits = low[part], high[part], -enough, enough, SHARE, AT_ONCE
            buffers = lower[part], late[part], values[part], sets[part]
            ended = False
            while not ended:
                if ctx.over:
                    table.halt[0] = 1
                ended = centre_boxes.search(table, room, *limits, *buffers)
            return int(room.place[2]), int(room.place[3])

        def wait() -> None:
            if ctx.over:
                table.halt[0] = 1
            (tell or (lambda: ctx.tell(0.0)))()

        counts = ctx.map(work, range(parts), tell=wait)
        rows = [slice(count) for count, _ in counts]
        groups, costs = chosen(
            np.concatenate([sets[part, row] for part, row in enumerate(rows)]),
            np.concatenate([values[part, row] for part, row in enumerate(rows)]),
            prices,
            most,
        )
        return Priced(
            groups,
            costs,
            lower.min(axis=0),
            self.least(groups, costs),
            np.asarray(late.any(axis=0)),
            sum(boxes for _, boxes in counts),
            complete=table.halt[0] == 0,
            all_found=False,
            members=True,
        )

    def glance(
        self,
        prices: Floats,
        starts: list[Integers],
        ctx: Context,
        *,
        most: int = MOST,
        tell: Callable[[], None] | None = None,
    ) -> Priced:
        """Find groups near every record, and near some groups, without a proof.

        Each start moves to the mean and the modes of the best group there, and so on.
        """
        table, n, columns = self.table(prices), self.n, len(self.costs.weights)
        means = (self.X[:, group].mean(axis=1)[None] for group in starts)
        centre = np.ascontiguousarray(np.concatenate([self.X.T, *means]))
        codes = np.empty((n + len(starts), columns), np.int64)
        codes[:n] = self.costs.codes.T
        for row, group in enumerate(starts, start=n):
            for column, own in enumerate(self.costs.codes):
                codes[row, column] = np.bincount(own[group]).argmax()
        rows = len(centre)
        values, sets = np.full(rows, np.inf), np.empty((rows, self.k), np.int64)

        def work(begin: int) -> None:
            if not ctx.over:
                end = min(begin + BLOCK, rows)
                kernels.descend(table, self.room(), centre, codes, begin, end, values, sets)

        ctx.map(work, range(0, rows, BLOCK), tell=tell)
        good = values < -self.tolerance * self.k
        groups, costs = chosen(sets[good], values[good], prices, most)
        least = self.least(groups, costs)
        return Priced(
            groups,
            costs,
            np.full(n, -np.inf),
            least,
            np.ones(n, np.bool_),
            0,
            complete=False,
            all_found=False,
            members=True,
        )

    def least(self, groups: list[Integers], costs: Floats) -> Floats:
        """Return the least reduced cost of the groups with each record; 0 without a group."""
        result = np.zeros(self.n)
        for group, cost in zip(groups, costs.tolist(), strict=True):
            result[group] = np.minimum(result[group], cost)
        return result

    def boxes(self) -> tuple[Floats, Floats]:
        """Return the ends of some boxes with all records, and so with the mean of any group."""
        low, high = [self.X.min(axis=1)], [self.X.max(axis=1)]
        for _ in range(BOXES ** len(self.X) - 1):
            sides = [float((above - below).max()) for below, above in zip(low, high, strict=True)]
            part = int(np.argmax(sides))
            axis = int(np.argmax(high[part] - low[part]))
            middle = 0.5 * (low[part][axis] + high[part][axis])
            low.append(low[part].copy())
            high.append(high[part].copy())
            high[part][axis] = low[-1][axis] = middle
        return np.array(low), np.array(high)


def chosen(sets: Integers, values: Floats, prices: Floats, most: int) -> tuple[list[Integers], Floats]:
    """Return the best distinct groups, at most ``most`` with the same record of the highest price."""
    if not len(sets):
        return [], np.empty(0)
    order = np.argsort(values, kind="stable")  # a group costs most with modes that are not its own
    sets, values = np.sort(sets[order], axis=1), values[order]
    first = np.sort(np.unique(sets, axis=0, return_index=True)[1])
    sets, values = sets[first], values[first]
    anchors = sets[np.arange(len(sets)), np.argmax(prices[sets], axis=1)]
    by_anchor = np.argsort(anchors, kind="stable")
    first = np.searchsorted(anchors[by_anchor], anchors[by_anchor])
    keep = np.zeros(len(sets), np.bool_)
    keep[by_anchor] = np.arange(len(sets)) - first < most
    return list(sets[keep]), values[keep]
