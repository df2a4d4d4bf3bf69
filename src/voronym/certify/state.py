"""What column generation knows at any moment: the best partition and the best proof."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import UNIT, Bound, percent, shave, total_squares
from voronym.certify.exact import distances
from voronym.certify.master import Master, group_cost
from voronym.certify.pricing import Cuts, Priced, Pricer
from voronym.context import Context
from voronym.partition import Partition

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DRIFTED = 0.05
"""Scaled SSE a record below which the scale, chosen for 1, is too small for the solver's tolerances."""

CLOSED = 1e-9
"""Relative gap below which a partition counts as optimal: rounding is what is left."""


class State:
    """A table, its groups, the best partition and the best dual solution so far.

    Distances are scaled by a power of two (which rounds nothing) so that the SSE is near the number of
    records: solvers have absolute tolerances.
    """

    def __init__(self, X: Floats, k: int, part: Partition, ctx: Context) -> None:
        self.X, self.k, self.n, self.ctx = X, k, len(X), ctx
        self.total = total_squares(X)
        D2 = distances(X, ctx)
        # From pairs, not about rounded means: cells of equal records cost exactly 0.
        self.partition, self.sse = part, math.fsum(group_cost(D2, cell) for cell in part.cells())
        guess = max(self.sse if self.sse > 0.0 else float(D2.max()), 1e-250)
        self.scale = 2.0 ** round(math.log2(self.n) - math.log2(guess))
        D2 *= self.scale
        self.D2 = D2
        self.pricer = Pricer(D2, k, ctx)
        self.master = Master(D2)
        self.center = self.pricer.near[:, k - 1] / (2 * k)  # the bound by neighbours: a feasible dual
        self.fines = np.empty(0)
        self.settled = False
        self.floor = 0.0  # proven before, in the units of the data
        self.bound = 0.0
        self.prove(self.center, np.zeros(self.n), np.empty(0))
        self.add_partition(part)

    @property
    def upper(self) -> float:
        """SSE of the best partition, scaled."""
        return self.sse * self.scale

    @property
    def closed(self) -> bool:
        """Whether the best partition is proven optimal."""
        return self.settled or self.upper <= self.bound * (1.0 + CLOSED)

    def settle(self) -> None:
        """Take the best partition as optimal: the search of all groups that a better one can have has ended.

        That search works to absolute tolerances of its solver, a millionth in rows and costs. Ten times that
        is left open for every record; and where the costs have become so small that the tolerances may hide
        them, the search proves nothing.
        """
        if not self.drifted:
            self.bound = max(self.bound, self.upper - 1e-5 * self.n)
            self.settled = True

    def rescaled(self) -> State:
        """Return a new start from the best partition, with a scale that fits it; what is proven stays so."""
        state = State(self.X, self.k, self.partition, self.ctx)
        state.floor = max(self.floor, self.bound / self.scale)
        return state

    @property
    def drifted(self) -> bool:
        """Whether the best partition became so much better that costs want another scale."""
        return 0.0 < self.upper < DRIFTED * self.n and self.bound < self.upper

    def tell(self) -> None:
        """Report loss and bound."""
        if self.total > 0.0:
            loss, bound = 100.0 * self.sse / self.total, 100.0 * self.bound / self.scale / self.total
            self.ctx.tell(0.0, loss, bound)
        else:
            self.ctx.tell(0.0)

    def prove(self, prices: Floats, lower: Floats, penalties: Floats) -> float:
        """Return the bound that prices prove, and keep it if it is the best.

        ``lower[i]`` (0 or less) is at most the reduced cost of every group whose anchor is i. So prices +
        lower are within the cost of every group: a feasible dual, and its sum a bound. A reduced cost is a
        sum of the group's distances and prices; its rounding errors are at most ``share`` times the sum of
        their magnitudes. Three times that share of the prices is given away: one part for the prices, one
        for the cost (which is no more than the prices where it matters), one for the repair itself.
        """
        size = 2 * self.k - 1
        share = (8 * size * size + 8 * self.X.shape[1] + 512) * UNIT
        repaired = prices + lower
        weight = math.fsum(np.abs(prices)) + math.fsum(np.abs(lower)) + math.fsum(penalties)
        bound: float = math.fsum(repaired) - math.fsum(penalties) - 3.0 * share * weight
        if bound > self.bound:
            self.bound, self.center, self.fines = bound, repaired, penalties
        return bound

    def cuts(self, penalties: Floats) -> Cuts:
        """Return the master's cuts with these penalties."""
        return Cuts(np.array(self.master.triples, np.int64).reshape(-1, 3), penalties)

    def padded(self) -> Floats:
        """Return the penalties of the best proof, 0 for the cuts that came later."""
        return np.pad(self.fines, (0, len(self.master.triples) - len(self.fines)))

    def mix(self, share: float) -> tuple[Floats, Floats]:
        """Return prices and penalties between the master's and, to a share, the best feasible ones.

        Penalties are rounded to multiples of 2^-20: sums of them are then exact, in any order.
        """
        fines = share * self.padded() + (1.0 - share) * self.master.penalties
        prices = share * self.center + (1.0 - share) * self.master.prices
        return prices, np.floor(fines * 2.0**20) / 2.0**20

    def price(
        self, share: float, ctx: Context, *, budget: int, most: int = 3, limit: float = -1e-7
    ) -> Priced:
        """Price groups between the master's prices and the best feasible, and prove what follows."""
        prices, fines = self.mix(share)
        cuts = self.cuts(fines)
        priced = self.pricer(prices, ctx, budget=budget, most=most, limit=limit, cuts=cuts, tell=self.tell)
        self.prove(prices, priced.lower, fines)
        return priced

    def offer(self, groups: Iterable[Integers]) -> bool:
        """Take a partition into groups if it is one, and better than the best; say whether it was."""
        labels = np.full(self.n, -1, np.int64)
        covered = 0
        for cell, group in enumerate(groups):
            labels[group] = cell
            covered += len(group)
        if covered != self.n or labels.min() < 0:
            return False  # a solver's answer within its tolerances may overlap
        return self.add_partition(Partition(labels, k=self.k))

    def add_partition(self, part: Partition) -> bool:
        """Add the cells of a partition to the groups; keep it if it is better than the best."""
        small = [np.sort(cell) for cell in part.cells() if len(cell) < 2 * self.k]
        self.master.add(small)
        sse = math.fsum(group_cost(self.D2, cell) for cell in part.cells()) / self.scale
        better = sse < self.sse
        if better:
            self.partition, self.sse = part, sse
        return better

    def result(self, kind: str = "columns") -> Bound:
        """Return what is proven and what is found."""
        sse = shave(min(max(self.floor, self.bound / self.scale), self.sse))
        return Bound(
            sse, percent(self.X, sse), self.k, self.n, kind, self.closed, self.ctx.spent, self.partition
        )
