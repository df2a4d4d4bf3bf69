"""The state of column generation: the best partition and the best proof."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import Bound, shave
from voronym.certify.costs import Costs
from voronym.certify.prices import Prices
from voronym.certify.pricing import nearest_table
from voronym.core.context import Context
from voronym.partition import Partition

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DRIFTED = 0.05
"""Scaled SSE per record below which the scale, chosen for 1, is too small for the solver's tolerances."""

NEARLY = 0.95
"""Other prices become the new start only if they reach this share of the best bound, because prices from an
interrupted search rise slowly.
"""

CLOSED = 1e-9
"""Relative gap below which a partition counts as optimal: only rounding is left."""


PATIENCE = 0.2
"""Share of the time before which no gap counts as out of reach."""

NEAR = 1.1
"""Expected gap, as a multiple of the goal, above which the goal is out of reach: a gap falls in leaps."""

LEAP, LOOKS = 0.85, 100
"""Share of the groups' cost to which the first prices are raised, and search nodes per record for repairing
them.
"""


@dataclass(frozen=True)
class Enough:
    """When a proof may end before its time.

    Parameters
    ----------
    gap : float
        Relative gap that is small.
    fair : float
        Relative gap that is enough if a small one is out of reach.
    """

    gap: float = 0.05
    fair: float = 0.1


def out_of_reach(steps: Sequence[tuple[float, float]], left: float, goal: float) -> bool:
    """Return whether a falling gap will not reach its goal in the time that is left.

    It falls ever more slowly. So it will not, if it would not at the speed of the last half of the time.

    Parameters
    ----------
    steps : sequence of (float, float)
        The gap at several times, in seconds.
    left : float
        The seconds that are left.
    goal : float
        The gap to reach.

    Examples
    --------
    >>> out_of_reach([(0.1, 0.9), (0.5, 0.08), (1.0, 0.07)], 2.0, 0.05)
    False
    >>> out_of_reach([(0.1, 0.9), (0.5, 0.072), (1.0, 0.07)], 2.0, 0.05)
    True
    """
    now, gap = steps[-1]
    before = [step for step in steps if step[0] <= 0.5 * now]
    if not before or now < PATIENCE * (now + left):
        return False
    speed = (before[-1][1] - gap) / (now - before[-1][0])
    return gap - speed * left > NEAR * goal


class State(Prices):
    """A table, its groups, the best partition and the best dual solution so far.

    Distances are scaled by a power of two, which causes no rounding, so that the SSE is near the number
    of records: solvers have absolute tolerances.
    """

    def __init__(
        self, costs: Costs, k: int, part: Partition, ctx: Context, enough: Enough | None = None
    ) -> None:
        self.enough = enough
        self.steps: list[tuple[float, float]] = []  # the gap at several times
        self.total = costs.total
        # From pairs, not about rounded means: cells of equal records cost exactly 0.
        sse = costs.cells(part.cells())
        self.partition, self.sse = part, sse / costs.scale
        most = float(costs.D2.max()) + float(costs.weights.sum())
        guess = max(sse if sse > 0.0 else most, 1e-250)
        costs = costs.scaled(2.0 ** round(math.log2(len(costs)) - math.log2(guess)))
        self.scale = costs.scale
        self.settled = False
        self.floor = 0.0  # proven before, in the units of the data
        largest = min(2 * k - 1, len(costs))
        near = nearest_table(costs.D2, largest, ctx)
        start = None
        if len(costs.weights):
            start = nearest_table(costs.pairs(k, ctx), k, ctx)[:, k - 1] / (2 * k)
        super().__init__(costs, k, near, start, ctx)
        self.add_partition(part)

    @property
    def flat(self) -> bool:
        """Whether groups cost squares alone; dives and regions need that."""
        return len(self.costs.weights) == 0

    @property
    def upper(self) -> float:
        """SSE of the best partition, scaled."""
        return self.sse * self.scale

    @property
    def optimal(self) -> bool:
        """Whether the best partition is proven optimal."""
        return self.settled or self.upper <= self.proven * (1.0 + CLOSED)

    @property
    def closed(self) -> bool:
        """Whether the best partition is proven optimal, or near enough."""
        return self.optimal or (self.enough is not None and self._fair(self.enough))

    @property
    def tight(self) -> bool:
        """Whether the gap is small, whatever the time."""
        return self.optimal or (
            self.enough is not None and self.upper <= (1.0 + self.enough.gap) * self.proven
        )

    def _fair(self, enough: Enough) -> bool:
        """Whether the gap is small, or fair with a small one out of reach."""
        gap = self.upper / max(self.proven, 1e-300) - 1.0
        self.steps.append((self.ctx.spent, gap))
        return gap <= enough.gap or (
            gap <= enough.fair and out_of_reach(self.steps, self.ctx.left, enough.gap)
        )

    def leap(self, ctx: Context) -> None:
        """Raise the first prices, which are far too low, to a share of the groups' loss."""
        total = math.fsum(self.center)
        if total > 0.0 and LEAP * self.upper > total:
            prices = LEAP * self.upper / total * self.center
            priced = self.quick(prices, ctx, budget=LOOKS, most=3, limit=-1e-7, tell=self.tell)
            self.keep(prices, priced)
            self.nodes = priced.nodes

    @property
    def proven(self) -> float:
        """The best bound, scaled: by the present or earlier prices."""
        return max(self.bound, self.floor * self.scale)

    def restart(self, prices: Floats) -> None:
        """Continue from other valid prices, if they are nearly as good; earlier proofs stay valid."""
        if math.fsum(prices) > NEARLY * self.bound:
            self.floor, self.bound = max(self.floor, self.bound / self.scale), 0.0
            self.prove(prices, np.zeros(self.n), np.empty(0))

    def settle(self) -> None:
        """Declare the best partition optimal: a search of all groups that a better one could use has ended.

        That search has absolute tolerances of a millionth, in rows and costs. Ten times that stays
        open for every record. If the costs are so small that the tolerances may hide them, the search
        proves nothing.
        """
        if not self.drifted:
            self.bound = max(self.bound, self.upper - 1e-5 * self.n)
            self.settled = True

    def rescaled(self) -> State:
        """Return a new start from the best partition, with a fitting scale; earlier proofs stay valid."""
        state = State(self.costs, self.k, self.partition, self.ctx, self.enough)
        state.floor = self.proven / self.scale
        return state

    @property
    def drifted(self) -> bool:
        """Whether the best partition improved so much that costs need another scale."""
        return 0.0 < self.upper < DRIFTED * self.n and self.bound < self.upper

    def tell(self) -> None:
        """Report loss and bound."""
        if self.total > 0.0:
            loss, bound = 100.0 * self.sse / self.total, 100.0 * self.proven / self.scale / self.total
            self.ctx.tell(0.0, loss, bound)
        else:
            self.ctx.tell(0.0)

    def offer(self, groups: Iterable[Integers]) -> bool:
        """Accept groups if they form a partition better than the best; return whether they did."""
        labels = np.full(self.n, -1, np.int64)
        covered = 0
        for cell, group in enumerate(groups):
            labels[group] = cell
            covered += len(group)
        if covered != self.n or labels.min() < 0:
            return False  # a solver's answer within its tolerances may overlap
        return self.add_partition(Partition(labels, k=self.k))

    def add_partition(self, part: Partition) -> bool:
        """Add the cells of a partition to the groups; keep the partition if it is the best."""
        small = [np.sort(cell) for cell in part.cells() if len(cell) < 2 * self.k]
        self.master.add(small)
        sse = self.costs.cells(part.cells()) / self.scale
        better = sse < self.sse
        if better:
            self.partition, self.sse = part, sse
        return better

    def result(self, kind: str = "columns") -> Bound:
        """Return the proof and the best partition."""
        sse = shave(min(self.proven / self.scale, self.sse))
        loss = shave(100.0 * sse / self.total) if self.total > 0.0 else 0.0
        return Bound(sse, loss, self.k, self.n, kind, self.optimal, self.ctx.spent, self.partition)
