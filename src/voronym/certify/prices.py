"""The best valid prices so far for groups of a smallest size, and the groups behind them."""

from __future__ import annotations

import math
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import UNIT
from voronym.certify.centres import CentrePricer
from voronym.certify.costs import Costs
from voronym.certify.cuts import Fined
from voronym.certify.master import Master
from voronym.certify.priced import Priced
from voronym.certify.pricing import ModePricer, Pricer
from voronym.core.context import Context

Floats = NDArray[np.float64]


class Prices:
    """Valid prices: no group of k or more costs less than its records' prices, so their sum is a bound.

    Parameters
    ----------
    costs : Costs
        The costs of groups, scaled so that a record's price is about 1.
    k : int
        Least size of a group.
    near : array, shape (n, 2k - 1 or more)
        The argument of `Pricer`.
    start : array, shape (n,), optional
        Valid prices to begin with; by default half the least sum of distances.
    ctx : Context, optional
        Context of the surrounding work.
    """

    def __init__(
        self, costs: Costs, k: int, near: Floats, start: Floats | None = None, ctx: Context | None = None
    ) -> None:
        self.costs, self.k, self.n = costs, k, len(costs)
        self.D2, self.columns = costs.D2, costs.width + len(costs.weights)
        self.pricer = Pricer(costs.D2, k, near)
        self.sums = near
        self.ctx = ctx or Context()
        self.centres: CentrePricer | None = None
        """Prices groups of k instead of `quick`, where that is quicker."""
        self.master = Master(costs.group, self.n)
        self.center = near[:, k - 1] / (2 * k) if start is None else start
        self.fines = np.empty(0)
        self.bound = 0.0
        self.nodes = 0  # of a pricing, at most: how hard it is
        self.prove(self.center, np.zeros(self.n), np.empty(0))

    @cached_property
    def quick(self) -> ModePricer:
        """Prices groups of any size, with cuts, by their members."""
        return ModePricer(self.costs, self.k, self.sums, self.ctx)

    @property
    def closed(self) -> bool:
        """Whether better prices would no longer help."""
        return False

    @property
    def tight(self) -> bool:
        """Whether the bound is near enough, whatever the time."""
        return False

    def tell(self) -> None:
        """Report progress; does nothing here."""

    def prove(
        self, prices: Floats, falls: Floats, penalties: Floats, unseen: NDArray[np.bool_] | None = None
    ) -> float:
        """Return the bound that prices prove, and keep it if it is the best so far.

        Prices less ``falls`` do not exceed the cost of any group: a feasible dual, whose sum is a bound.
        A reduced cost is a sum of the group's distances and prices; its rounding errors are at most
        ``share`` times the sum of their magnitudes. Three times that share of the prices is subtracted:
        for the prices, for the cost (at most the prices where it matters), and for the falls.

        ``unseen``: records whose groups were not searched before the time was over; such groups have no
        other records. The best prices so far are valid for these groups, if they need no penalties; prices of
        0 are in any case. Lower prices never harm the other groups.
        """
        if unseen is not None and unseen.any():
            valid = 0.0 if self.fines.any() else self.center
            prices = np.where(unseen, np.minimum(prices, valid), prices)
        size = 2 * self.k - 1
        share = 3.0 * (8 * size * size + 8 * self.columns + 512) * UNIT
        repaired = prices - falls - share * (np.abs(prices) + self.k * falls)
        bound: float = math.fsum(repaired) - (1.0 + share) * math.fsum(penalties)
        if bound > self.bound:
            self.bound, self.center, self.fines = bound, repaired, penalties
        return bound

    def keep(self, prices: Floats, priced: Priced) -> None:
        """Prove the bound of a pricing without cuts, and add its groups to the master."""
        self.prove(prices, priced.falls(self.k), np.empty(0), priced.unseen)
        self.master.add(priced.groups)
        self.tell()

    def cuts(self, penalties: Floats) -> Fined:
        """Return the master's cuts with these penalties."""
        return Fined(self.master.cuts, penalties)

    def padded(self) -> Floats:
        """Return the penalties of the best proof, 0 for the cuts that came later."""
        return np.pad(self.fines, (0, len(self.master.cuts) - len(self.fines)))

    def price(
        self,
        ctx: Context,
        *,
        budget: int,
        share: float = 0.0,
        most: int = 3,
        limit: float = -1e-7,
        rough: bool = False,
        worth: float = 0.0,
    ) -> Priced:
        """Price groups by the master's prices; prove the resulting bound.

        With a ``share``, prices and penalties are mixed with so much of the best feasible ones.

        Without cuts, only groups of k matter. The k-subsets T of a group S of m cost on average at
        most ``k/m`` of the cost of S, because they could publish what S does; their prices are on
        average ``k/m`` of those of S. So if no T costs less than its prices, neither does S. With cuts,
        that is so for most larger groups, too (`Fined.suspects`); the others are priced at prices that
        are valid for groups of k.

        A ``rough`` pricing finds groups of k and proves nothing if there are cuts. With cuts, a proof needs
        all larger sizes, which take most of the time. So it is left out, too, if groups of k already show
        that it would close less than the share ``worth`` of the gap to the master's objective.
        """
        prices = share * self.center + (1.0 - share) * self.master.prices
        fines = self.fined(share)
        free, fined = not fines.any(), self.cuts(fines)
        price = partial(
            self.quick, ctx=ctx, budget=budget, most=most, limit=limit, cuts=fined, tell=self.tell
        )
        priced = (
            self.centres(prices, ctx, tell=self.tell) if self.centres is not None and free else price(prices)
        )
        self.nodes = max(self.nodes, priced.nodes)
        if free:
            self.prove(prices, priced.falls(self.k), fines, priced.unseen)
        elif not rough:
            falls = priced.falls(self.k, apart=False)
            hoped = math.fsum(prices - falls) - math.fsum(fines)
            if priced.groups and hoped - self.bound < worth * (self.master.objective - self.bound):
                return priced
            larger = price(prices - falls, larger=True)
            self.prove(prices, falls + larger.falls(self.k, apart=False), fines)
            return priced.with_groups(larger)
        return priced

    def fined(self, share: float = 0.0) -> Floats:
        """Return the master's penalties, mixed with a share of those of the best proof.

        They are rounded to multiples of 2^-20, so their sums are exact in any order; not down, so that the
        master's groups still cost no less than their prices.
        """
        fines = share * self.padded() + (1.0 - share) * self.master.penalties
        return np.ceil(fines * 2.0**20 - 0.05) / 2.0**20
