"""Exchanges of records between near groups, checked by the judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import cells as groups
from voronym._kernels import enforce as kernels
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem

NEAR = 10
"""Number of nearest groups to which a record may move."""

DONORS = 12
"""Number of nearest records with a value that a refused group lacks, from groups with more than their share.
"""

KINDS = 16
"""Most kinds of a column with many levels for donors."""

LEAST_GAIN = 5e-3
"""A pass that gains less than this share of the cost ends the search."""

Ints = NDArray[np.int64]


class Search:
    """Groups during the search: every move lowers the cost, the violations, or both.

    Records have a common scale, so one threshold separates gains from rounding. Groups have at least k
    records; a group may grow by half.

    Parameters
    ----------
    problem : Problem
        The records, and k.
    labels : array of int, shape (n,)
        The start.
    asked : Requirements
        The judges.
    ctx : Context
        The search ends when it is over; groups are complete between two records.
    """

    def __init__(self, problem: Problem, labels: Ints, asked: Requirements, ctx: Context) -> None:
        self.records, self.k, self.asked, self.ctx = problem.records.unit(), problem.k, asked, ctx
        self.tiny = max(self.records.tiny, 1e-312)
        part = Partition(labels)
        room = part.sizes + np.maximum(part.sizes // 2, 4)
        self.cells = groups.make(part.labels, part.n_cells, room)
        self.model = self.records.model(part.n_cells)
        self.watch = _watch(self.cells, asked)
        for first in range(0, part.n_cells, 64):  # short calls, so that Ctrl-C works
            last = min(part.n_cells, first + 64)
            kernels.judge_all(self.model, self.cells, self.watch, first, last)

    @property
    def cost(self) -> float:
        """Cost of the groups, on the common scale."""
        out = np.empty(len(self.cells.sizes))
        groups.costs(self.model, self.cells, out)
        return float(out.sum())

    @property
    def refused(self) -> int:
        """Number of groups that some rule refuses, plus 1 if an additive model exceeds its limit."""
        rules, watch = self.asked.rules, self.watch
        additive = np.array([bool(judge.additive) for judge in self.asked.judges])
        refused = int((watch.violated[:, ~additive] > 0).any(axis=1).sum())
        over = watch.totals[additive] > rules.need[additive] / rules.scale[additive]
        return refused + int(over.any())

    def run(self, *, passes: int, weight: float = 0.0, hard: bool = True, donors: bool = False) -> None:
        """Visit all records ``passes`` times, or until the gain is small or the time is over.

        A unit of violation costs ``weight``. With ``hard``, a satisfied demand stays satisfied.
        """
        near = np.hstack([self._near(), self._donors()]) if donors else self._near()
        terms = kernels.Terms(self.k, float(weight), hard, self.tiny)
        watch = self.watch
        watch.changed[:] = watch.clock[0] = watch.clock[0] + 1
        watch.checked[:] = 0
        before = self._price(weight)
        for turn in range(passes):
            if self._pass(near, terms) == 0 or self.ctx.over:
                break
            after = self._price(weight)
            if before - after < LEAST_GAIN * abs(before):
                break
            before = after
            if turn % 3 == 2 and not donors:
                near = self._near()
                watch.checked[:] = 0

    def _price(self, weight: float) -> float:
        return self.cost + weight * float(self.watch.weight.sum())

    def _near(self) -> Ints:
        """Return the groups with the nearest centroids for each record, shape (n, K)."""
        width = min(NEAR, len(self.cells.sizes))
        return self.records.nearest(
            self.records.rows, self.records.stand_ins(self.model, self.cells), width, self.ctx
        )

    def _donors(self) -> Ints:
        """Return, for records of refused groups, groups that can give the missing values, shape (n, K).

        Near groups tend to lack the same values. So each refused group determines the values it lacks
        most, compared with the table, and finds the nearest records with these values in groups that
        have more of them. Records of other groups get their own group, which is no candidate.
        """
        cells, watch = self.cells, self.watch
        judge = int(np.argmax(watch.totals))
        kinds = _coarse(self.asked.codes[self.asked.rules.column[judge]])
        many, width = len(cells.sizes), int(kinds.max()) + 1
        counts = np.bincount(cells.labels * width + kinds, minlength=many * width).reshape(many, width)
        over = counts / cells.sizes[:, None] - np.bincount(kinds) / len(kinds)
        lacks = np.argmin(over, axis=1)
        result = np.repeat(np.arange(many)[:, None], DONORS, axis=1)
        for kind in range(width):
            ask = np.flatnonzero((watch.weight > 0) & (lacks == kind))
            give = np.flatnonzero((kinds == kind) & (over[cells.labels, kind] > 0))
            if len(ask) and len(give):
                some = min(DONORS, len(give))
                centres = np.ascontiguousarray(self.records.stand_ins(self.model, self.cells)[ask])
                nearest = self.records.nearest(centres, self.records.rows[give], some, self.ctx)
                result[ask[:, None], np.arange(some)] = cells.labels[give][nearest]
        return np.asarray(result[cells.labels])

    def _pass(self, near: Ints, terms: kernels.Terms) -> int:
        done, moves, n = 0, 0, len(self.records)

        def work(budget: int) -> bool:
            nonlocal done, moves
            last = min(n, done + budget)
            moves += kernels.settle(self.model, self.cells, self.watch, near, terms, done, last)
            done = last
            return done == n

        for _ in self.ctx.search(work, budget=64):
            self.ctx.tell(0.0)
        return moves

    def partition(self) -> Partition:
        """Return the present groups."""
        return Partition(self.cells.labels, k=self.k)


def _coarse(codes: Ints) -> Ints:
    """Return codes in at most `KINDS` groups of about equal size."""
    counts = np.bincount(codes)
    if len(counts) <= KINDS:
        return codes
    middle = np.cumsum(counts) - counts / 2
    group = np.unique((KINDS * middle / len(codes)).astype(np.int64), return_inverse=True)[1]
    return np.asarray(group.reshape(-1)[codes], np.int64)


def _watch(cells: groups.Cells, asked: Requirements) -> kernels.Watch:
    """Return the state of the rules before groups are judged."""
    n, m, rules, profiles = asked.n, len(cells.sizes), len(asked.judges), int(asked.profile.max()) + 1
    ordered = np.zeros((len(asked.codes), len(cells.members)), np.int64)
    place = (cells.start[cells.labels] + cells.slot)[np.argsort(cells.labels, kind="stable")]
    for c, row in enumerate(asked.codes):
        ordered[c, place] = row[np.lexsort((row, cells.labels))]
    return kernels.Watch(
        asked.rules,
        asked.codes,
        asked.profile,
        ordered,
        np.zeros((m, rules)),
        np.zeros((m, rules)),
        np.zeros(m),
        np.zeros(rules),
        np.zeros(m, np.int64),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
        np.zeros(profiles + 1),
        np.zeros(profiles + 1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(int(cells.capacity.max()) + 2, np.int64),
        np.zeros((2, rules)),
    )
