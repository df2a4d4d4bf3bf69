"""Merge cells until every judge accepts them, the cheapest merge first."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import verdict
from voronym.core import later
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy.enforce.rules import Requirements
from voronym.problem import Problem
from voronym.space.records import Records

cKDTree = later.called("scipy.spatial", "cKDTree")  # noqa: N816 - its own name

NEAR = 8
"""Number of nearest cells that are candidates for a merge."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def merge(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Merge cells until every judge accepts them, the cheapest merge first.

    Merging A and B adds ``|A| |B| / (|A| + |B|) |c_A - c_B|²`` to the sum of squares. In a space without
    coordinates, the cost of the smaller cell at the centroid of the larger is used instead. A refused
    cell considers the cells with the nearest centroids; its partner has the lowest cost for the violation
    it repairs. The cheapest of all such merges is made, repeatedly.

    Guarantee: at the end every judge accepts every cell; sizes only grow. It ends, at worst with a single
    cell, if the judges accept that cell (see `refuse_impossible`).

    Cost: O(m log m) searches for m cells, and the codes of the candidates in each. Memory O(n d).

    References
    ----------
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez and S. Martínez, "t-Closeness through microaggregation:
    strict privacy with enhanced utility preservation", IEEE Transactions on Knowledge and Data Engineering,
    2015: microaggregation followed by merging, there with the nearest cell.
    """
    cells = Merging(problem.records, part.labels, asked)
    first = max(len(cells.bad()), 1)
    while True:
        heap: list[tuple[float, int, int, int, int]] = []
        for cell in cells.bad():
            cells.offer(heap, int(cell))
        if not heap:
            break
        turn = 0
        while heap and cells.asking:
            _, cell, age, other, other_age = heapq.heappop(heap)
            if not cells.alive[cell] or cells.age[cell] != age or not cells.refused(cell):
                continue
            if not cells.alive[other] or cells.age[other] != other_age:
                cells.offer(heap, cell)
                continue
            cells.join(cell, other)
            cells.offer(heap, cell)
            turn += 1
            if turn % 64 == 0:
                ctx.tell(1.0 - min(1.0, cells.asking / first))
        if not len(cells.bad()):
            break
    return Partition(cells.labels(part.labels), k=part.k)


class Merging:
    """Cells to merge: sizes, sums, sorted codes, and how far each violates the demands."""

    def __init__(self, records: Records, labels: Ints, asked: Requirements) -> None:
        self.asked, self.rules = asked, asked.rules
        part = Partition(labels)
        self.labels_now = part.labels
        m = part.n_cells
        self.unions = Means(records, part) if records.points is not None else Members(records, part)
        self.alive = np.ones(m, bool)
        self.age = np.zeros(m, np.int64)
        self.parent = np.arange(m)
        self.codes: list[list[Ints]] = []
        self.far = np.zeros((m, len(asked.judges)))
        ends = np.cumsum(part.sizes)
        for row in asked.codes:
            packed = row[np.lexsort((row, part.labels))]
            self.codes.append(np.split(packed, ends[:-1]))
        for j, judge in enumerate(asked.judges):
            if asked.foreign[j]:
                self.far[:, j] = judge.severity(judge.values(part.labels, m))
            else:
                packed = np.concatenate(self.codes[self.rules.column[j]])
                verdict.violations(self.rules, j, packed, ends, self.far[:, j])
        self.additive = np.array([bool(judge.additive) for judge in asked.judges])
        self.buffer = np.empty(asked.n, np.int64)
        self._sum()
        self._look()

    def _sum(self) -> None:
        self.total = self.far[self.alive].sum(axis=0)
        self.count = int(self.alive.sum())
        self.asking = int((self.far[self.alive][:, ~self.additive] > 0).any(axis=1).sum())
        self.asking += self.count if self._over() else 0

    def _over(self) -> bool:
        """Whether a judge refuses the sum over all cells."""
        for j in np.flatnonzero(self.additive):
            if self.total[j] > self.rules.need[j] / self.rules.scale[j]:
                return True
        return False

    def refused(self, cell: int) -> bool:
        """Return whether a cell must be merged."""
        return bool((self.far[cell, ~self.additive] > 0).any()) or self._over()

    def bad(self) -> Ints:
        """Return the cells that must be merged; empty if there is only one cell."""
        self._sum()
        if self.count == 1:
            return np.empty(0, np.int64)
        if self._over():
            return np.flatnonzero(self.alive)
        return np.flatnonzero(self.alive & (self.far[:, ~self.additive] > 0).any(axis=1))

    def offer(self, heap: list[tuple[float, int, int, int, int]], cell: int) -> None:
        """Put the best merge of a cell on the heap, if it must be merged and there is another cell."""
        if self.count == 1 or not self.refused(cell):
            return
        near = self._near(cell)
        cost = self.unions.cost(cell, near)
        gain = (self.far[near] + self.far[cell] - self._joined(cell, near)).sum(axis=1)
        # A merge that repairs nothing is the last choice; ties go to the cheaper.
        worth = np.where(gain > 0, cost / np.maximum(gain, 1e-9), np.inf)
        best = int(np.lexsort((cost, worth))[0])
        other = int(near[best])
        heapq.heappush(heap, (float(cost[best]), cell, int(self.age[cell]), other, int(self.age[other])))

    def _joined(self, cell: int, near: Ints) -> Floats:
        """Return the violations of the unions of a cell with others, shape (others, J)."""
        far = np.zeros((len(near), len(self.asked.judges)))
        for j, judge in enumerate(self.asked.judges):
            codes = self.codes[self.rules.column[j]]
            if self.asked.foreign[j]:
                for row, other in enumerate(near):
                    value = judge.value(np.concatenate([codes[cell], codes[other]]))
                    far[row, j] = max(value, 0.0) if judge.additive else judge.severity(value)
            else:
                packed = np.concatenate([codes[other] for other in near])
                ends = np.cumsum([len(codes[other]) for other in near])
                verdict.unions(self.rules, j, codes[cell], packed, ends, far[:, j], self.buffer)
        return far

    def join(self, cell: int, other: int) -> None:
        """Merge another cell into a cell."""
        for j, row in enumerate(self._joined(cell, np.array([other]))[0]):
            self.total[j] += row - self.far[cell, j] - self.far[other, j]
            self.far[cell, j] = row
        self.unions.join(cell, other)
        for codes in self.codes:
            both = np.concatenate([codes[cell], codes[other]])
            both.sort(kind="stable")
            codes[cell], codes[other] = both, both[:0]
        self.alive[other] = False
        self.parent[other] = cell
        self.age[cell] += 1
        self.count -= 1
        if 2 * self.count < self.built:
            self._sum()
            self._look()

    def _look(self) -> None:
        self.inside = np.flatnonzero(self.alive)
        self.built = len(self.inside)
        self.unions.look(self.inside)

    def _find(self, cell: int) -> int:
        while self.parent[cell] != cell:
            self.parent[cell] = self.parent[self.parent[cell]]
            cell = int(self.parent[cell])
        return cell

    def _near(self, cell: int) -> Ints:
        """Return cells with near centroids, by their positions at the last look."""
        width = NEAR + 1
        while True:
            width = min(width, self.built)
            result = self.unions.near(cell, width)
            near = {self._find(int(c)) for c in self.inside[result]} - {cell}
            if len(near) >= min(NEAR // 2, self.count - 1) or width == self.built:
                return np.array(sorted(near), np.int64)
            width *= 2

    def labels(self, start: Ints) -> Ints:
        """Return the cell of each record."""
        roots = np.array([self._find(cell) for cell in range(len(self.parent))])
        return np.asarray(roots[start])


class Means:
    """Groups of points that are merged: sizes and means."""

    def __init__(self, records: Records, part: Partition) -> None:
        assert records.points is not None  # noqa: S101 - asked before
        self.sizes, self.centroids = part.sizes.astype(np.float64), part.centroids(records.points)

    def cost(self, group: int, others: Ints) -> Floats:
        """Return the added cost of merging a group with each of ``others``."""
        sizes = self.sizes[others] * self.sizes[group] / (self.sizes[others] + self.sizes[group])
        return np.asarray(sizes * np.square(self.centroids[others] - self.centroids[group]).sum(axis=1))

    def join(self, group: int, other: int) -> None:
        """Merge another group into a group."""
        size = self.sizes[group] + self.sizes[other]
        weight = self.sizes[other] / size
        self.centroids[group] += weight * (self.centroids[other] - self.centroids[group])
        self.sizes[group] = size

    def look(self, inside: Ints) -> None:
        """Record the positions of some groups."""
        self.tree = cKDTree(self.centroids[inside])

    def near(self, group: int, many: int) -> Ints:
        """Return the nearest groups, as places among those recorded."""
        return np.atleast_1d(self.tree.query(self.centroids[group], many)[1])


class Members:
    """Groups in any space that are merged: members, centroids and costs."""

    def __init__(self, records: Records, part: Partition) -> None:
        self.records, self.rows = records, part.cells()
        self.centroids = np.ascontiguousarray(records.representatives(part))
        paired = records.space.paired(records.X, self.centroids, part.labels)
        self.own = np.bincount(part.labels, paired, part.n_cells)

    def _costs(self, rows: Ints, group: int) -> float:
        return float(self.records.space.cost(self.records.X[rows], self.centroids[[group]]).sum())

    def cost(self, group: int, others: Ints) -> Floats:
        """Return an upper bound on the added cost of merging a group with each of ``others``."""
        out = np.empty(len(others))
        for at, other in enumerate(others):
            small, large = sorted((group, int(other)), key=lambda item: len(self.rows[item]))
            out[at] = max(0.0, self._costs(self.rows[small], large) - self.own[small])
        return out

    def join(self, group: int, other: int) -> None:
        """Merge another group into a group."""
        self.rows[group] = np.concatenate([self.rows[group], self.rows[other]])
        self.centroids[group] = self.records.space.centroid(self.records.X[self.rows[group]])
        self.own[group] = self._costs(self.rows[group], group)

    def look(self, inside: Ints) -> None:
        """Record the positions of some groups."""
        self.stood = self.centroids[inside]

    def near(self, group: int, many: int) -> Ints:
        """Return the nearest groups, as places among those recorded."""
        costs = self.records.space.cost(self.centroids[[group]], self.stood)[0]
        return np.argsort(costs, kind="stable")[:many]
