"""The set-partitioning problem over the groups known so far, kept alive in HiGHS."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from voronym.certify.cuts import Cut, majorities, triples, worst
from voronym.core.context import Context
from voronym.core.linear import Programme

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Master:
    """Minimise ``sum_S cost(S) x_S`` so that each record is in groups of total weight 1, x >= 0.

    Groups are added to a live model, so the simplex method continues from its last basis. Cuts are rows
    ``sum of x_S over groups with more than half of some records <= 1``.
    """

    def __init__(self, cost: Callable[[Integers], float], n: int) -> None:
        self.cost, self.n = cost, n
        self.groups: list[Integers] = []
        self.costs: list[float] = []
        self.cuts: list[Cut] = []
        self._index: dict[bytes, int] = {}
        self._of_record: dict[int, list[int]] = {}
        self._having: list[list[int]] = [[] for _ in range(n)]
        self.programme = Programme(np.ones(self.n), np.ones(self.n))
        # Artificial columns: one too few of a record, one too many. Their costs are a box around its price.
        each = [np.array([i]) for i in range(self.n)]
        self.programme.add_columns(np.zeros(self.n), each)
        self.programme.add_columns(np.zeros(self.n), each, entry=-1.0)
        self.objective = np.inf
        self.artificial = np.inf
        self.prices = np.zeros(self.n)
        self.penalties = np.empty(0)
        self.weights = np.empty(0)

    def add(self, groups: Iterable[Integers]) -> int:
        """Add new groups (each sorted); return their number."""
        new: list[Integers] = []
        for group in groups:
            key = np.ascontiguousarray(group, dtype=np.int64).tobytes()
            if key not in self._index:
                number = len(self.groups) + len(new)
                self._index[key] = number
                for i in group.tolist():
                    self._having[i].append(number)
                new.append(group)
        if not new:
            return 0
        costs = [self.cost(group) for group in new]
        self.programme.add_columns(costs, [self.rows(group) for group in new])
        self.groups += new
        self.costs += costs
        return len(new)

    def rows(self, group: Integers) -> Integers:
        """Return the rows of a group: its records, and the cuts that it meets."""
        met: dict[int, int] = {}
        for i in group.tolist():
            for cut in self._of_record.get(i, ()):
                met[cut] = met.get(cut, 0) + 1
        cuts = [self.n + cut for cut, count in met.items() if count >= self.cuts[cut].least]
        return np.concatenate([group, np.array(sorted(cuts), np.int64)])

    def meeting(self, cut: int) -> Integers:
        """Return the groups that meet a cut."""
        counts: dict[int, int] = {}
        for i in self.cuts[cut].records:
            for s in self._having[i]:
                counts[s] = counts.get(s, 0) + 1
        least = self.cuts[cut].least
        return np.array(sorted(s for s, count in counts.items() if count >= least), np.int64)

    def cut(self, cuts: Iterable[Cut]) -> None:
        """Add cuts."""
        for cut in cuts:
            number = len(self.cuts)
            self.cuts.append(cut)
            for i in cut.records:
                self._of_record.setdefault(i, []).append(number)
            self.programme.add_row(1.0, self.meeting(number) + 2 * self.n)

    def violated(self, most: int) -> list[Cut]:
        """Return up to ``most`` new cuts that the weights break, the worst first."""
        parts = np.flatnonzero((self.weights > 1e-6) & (self.weights < 1.0 - 1e-6))
        groups, weights = [self.groups[s] for s in parts], self.weights[parts]
        cuts = worst(majorities(groups, weights, self.n), self.cuts, most)
        return cuts + worst(triples(groups, weights), self.cuts, most - len(cuts))

    def fix(self, groups: Integers) -> None:
        """Give groups a weight of 1 at least."""
        for s in groups:
            self.programme.change_lower(2 * self.n + int(s), 1.0)

    def release(self, groups: Iterable[int]) -> None:
        """Undo `fix`."""
        for s in groups:
            self.programme.change_lower(2 * self.n + int(s), 0.0)

    def box(self, center: Floats, width: float) -> None:
        """Keep the prices within a share of the feasible prices ``center``, with a little slack near 0.

        The lower ends are then feasible too, without which the problem would be unbounded.
        """
        spread = width * (np.abs(center) + 0.2 * float(np.median(np.abs(center))) + 1e-6)
        self._ends(center - spread, center + spread)

    def unbox(self) -> None:
        """Remove the box: artificial columns cost more than any group."""
        far = np.full(self.n, 2.0 * max(self.costs) + 1.0)
        self._ends(-far, far)

    def _ends(self, low: Floats, high: Floats) -> None:
        self.programme.change_costs(np.concatenate([high, -low]))

    def solve(self, ctx: Context, tell: Callable[[], None] | None = None) -> None:
        """Re-optimise from the last basis. If time runs out, the prices are poor but valid."""
        self.programme.run(ctx, tell=tell)
        duals, values = self.programme.duals, self.programme.values
        self.objective = self.programme.objective
        self.prices, self.penalties = duals[: self.n], np.maximum(0.0, -duals[self.n :])
        self.artificial = float(values[: 2 * self.n].sum())
        self.weights = values[2 * self.n :]
