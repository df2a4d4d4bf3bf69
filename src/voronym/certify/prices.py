"""The best valid prices so far for groups of a smallest size, and the groups behind them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import UNIT
from voronym.certify.costs import Costs
from voronym.certify.master import Master
from voronym.certify.pricing import Cuts, ModePricer, Priced, Pricer
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
        self.quick = ModePricer(costs, k, near, ctx)
        self.master = Master(costs.group, self.n)
        self.center = near[:, k - 1] / (2 * k) if start is None else start
        self.fines = np.empty(0)
        self.bound = 0.0
        self.nodes = 0  # of a pricing, at most: how hard it is
        self.prove(self.center, np.zeros(self.n), np.empty(0))

    @property
    def closed(self) -> bool:
        """Whether better prices would no longer help."""
        return False

    def tell(self) -> None:
        """Report progress; does nothing here."""

    def prove(
        self, prices: Floats, lower: Floats, penalties: Floats, unseen: NDArray[np.bool_] | None = None
    ) -> float:
        """Return the bound that prices prove, and keep it if it is the best so far.

        ``lower[i]`` (at most 0) is a lower bound on the reduced cost of every group with anchor i. So
        prices + lower do not exceed the cost of any group: a feasible dual, whose sum is a bound.
        Prices less `repair` are feasible, too, and lose less. A reduced cost is a sum of the group's
        distances and prices; its rounding errors are at most ``share`` times the sum of their
        magnitudes. Three times that share of the prices is subtracted: for the prices, for the cost
        (at most the prices where it matters), and for the repair.

        ``unseen``: records whose groups were not searched before the time was over; no other record
        ranks below them, so such groups have no other records. Without cuts, the best prices so far
        are valid for these groups, and lower prices never harm the others.
        """
        if unseen is not None and unseen.any():
            prices = np.where(unseen, np.minimum(prices, self.center), prices)
            lower = np.where(unseen, 0.0, lower)
        size = 2 * self.k - 1
        share = 3.0 * (8 * size * size + 8 * self.columns + 512) * UNIT
        repaired = prices - repair(lower, self.k) - share * (np.abs(prices) + np.abs(lower))
        bound: float = math.fsum(repaired) - (1.0 + share) * math.fsum(penalties)
        if bound > self.bound:
            self.bound, self.center, self.fines = bound, repaired, penalties
        return bound

    def cuts(self, penalties: Floats) -> Cuts:
        """Return the master's cuts with these penalties."""
        return Cuts(np.array(self.master.triples, np.int64).reshape(-1, 3), penalties)

    def padded(self) -> Floats:
        """Return the penalties of the best proof, 0 for the cuts that came later."""
        return np.pad(self.fines, (0, len(self.master.triples) - len(self.fines)))

    def price(
        self, ctx: Context, *, budget: int, share: float = 0.0, most: int = 3, limit: float = -1e-7
    ) -> Priced:
        """Price groups by the master's prices; prove the resulting bound.

        With a ``share``, prices and penalties are mixed with so much of the best feasible ones.

        Without cuts, only groups of k matter. The k-subsets T of a group S of m cost on average at
        most ``k/m`` of the cost of S, because they could publish what S does; their prices are on
        average ``k/m`` of those of S. So if no T costs less than its prices, neither does S.
        """
        prices = share * self.center + (1.0 - share) * self.master.prices
        fines = self.fined(share)
        priced = self.quick(
            prices,
            ctx,
            budget=budget,
            most=most,
            limit=limit,
            cuts=self.cuts(fines),
            largest=self.pricer.largest if len(fines) else self.k,
            tell=self.tell,
        )
        self.prove(prices, priced.lower, fines, None if len(fines) else priced.unseen)
        self.nodes = max(self.nodes, priced.nodes)
        return priced

    def fined(self, share: float = 0.0) -> Floats:
        """Return the master's penalties, mixed with a share of those of the best proof.

        They are rounded to multiples of 2^-20, so their sums are exact in any order.
        """
        fines = share * self.padded() + (1.0 - share) * self.master.penalties
        return np.floor(fines * 2.0**20) / 2.0**20


def repair(lower: Floats, k: int) -> Floats:
    """Return the decrease of each price that is needed if groups with anchor i cost ``lower[i]`` less.

    All k or more records of a group share the decrease. Let each price fall by ``d``, and an anchor's
    price by the remainder after ``k d``. The total is least if one anchor in k falls by more.

    Examples
    --------
    >>> repair(np.array([-4.0, -4.0, -4.0, -12.0]), 2).tolist()
    [2.0, 2.0, 2.0, 10.0]
    """
    lacking = np.maximum(0.0, -lower)
    place = max(0, len(lacking) - 1 - len(lacking) // k)
    each = float(np.partition(lacking, place)[place]) / k
    return np.asarray(np.maximum(each, lacking - (k - 1) * each), np.float64)
