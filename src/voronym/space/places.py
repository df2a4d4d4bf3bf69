"""Places on a sphere as records: the direction of their mean is published, and kernels compute with it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from voronym._kernels import directions
from voronym.partition import Partition, group_means
from voronym.space.points import Points
from voronym.space.records import Array, Ints, Pace


class Places(Points):
    """Records that are unit vectors, with squared straight lines to the direction of the mean as cost.

    MDAV takes the record farthest from the mean. It is also farthest from the direction of the mean: for
    unit vectors both depend on ``x·c``. So scans and trees are those of points, but costs and centroids
    are not.
    """

    pace = Pace(chains=2, kicks=4.0, triples=0.0, speed=3e6, least=300.0)
    by_squares = False

    def unit(self) -> Places:
        """Return the records unchanged: of length 1."""
        return self

    def subset(self, rows: Ints) -> Places:
        """Return some of the records."""
        return Places(self.space, np.ascontiguousarray(self.X[rows]))

    @cached_property
    def total(self) -> float:
        """The cost of a single group of all records; exactly 0 if all are equal."""
        if not np.ptp(self.points, axis=0).any():
            return 0.0
        return self.cost(Partition(np.zeros(len(self), np.int64)))

    def model(self, room: int) -> directions.Directions:  # type: ignore[override] # kernels take any model
        """Return the cost model of directions."""
        return directions.make(self.points, room)

    def centroids(self, part: Partition) -> Array:
        """Return the direction of the mean of each group, shape (m, d)."""
        self.check(part)
        return self.space.centroids(self.X, part.labels, part.n_cells)

    def cost(self, part: Partition) -> float:
        """Return the sum of squared lines to the directions: ``2 S / (1 + |c|)``, S the squares about c."""
        self.check(part)
        means = group_means(self.points, part.labels, part.n_cells)
        squares = np.square(self.points - means[part.labels]).sum(axis=1)
        lengths = np.sqrt(np.square(means).sum(axis=1))
        return float((2.0 * squares / (1.0 + lengths[part.labels])).sum())
