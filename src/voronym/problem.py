"""The problem: records in a space, the least size of a group, and further demands on groups."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space import Euclidean, Space
from voronym.space.points import Points, records_of
from voronym.space.records import Records
from voronym.space.weighted import WeightedPoints, check_weights

if TYPE_CHECKING:
    from voronym.method import Method


class Problem:
    """Divide records into groups of at least k so that publishing the centroid of each group costs least.

    Minimise ``sum_i cost(x_i, centroid(group of i))`` over all partitions into groups of at least k records
    that every demand accepts. A method gets this object and a `voronym.core.context.Context`, nothing else.

    Parameters
    ----------
    records : Records
        The records in their space.
    k : int
        The least number of records in a group.
    demands : sequence of Judge
        Further demands on groups; only enforcement looks at them, partitioning methods do not.

    Examples
    --------
    >>> problem = Problem.of([[0.0], [1.0], [5.0], [6.0]], 2)
    >>> problem.cost(Partition([0, 0, 1, 1])), problem.total
    (1.0, 26.0)
    """

    def __init__(self, records: Records, k: int, demands: Sequence[Any] = ()) -> None:
        self.records = records
        self.k = check_k(k, len(records))
        self.demands = tuple(demands)

    @classmethod
    def of(
        cls, X: ArrayLike, k: int, *, space: Space | None = None, weights: ArrayLike | None = None
    ) -> Problem:
        """Return the problem of the rows of X in a space, Euclidean by default.

        Weights say how much each record counts in centroids and costs; k still counts records.
        """
        if space is not None and not isinstance(space, Space):
            raise InputError(
                f"space must be a Space, such as voronym.space.Euclidean(), not {type(space).__name__}"
            )
        records = records_of(Euclidean() if space is None else space, check_points(X))
        if weights is None:
            return cls(records, k)
        if not isinstance(records, Points):
            raise InputError(
                f"weights need a space with coordinates, such as voronym.space.Euclidean(), not {space!r}"
            )
        given = check_weights(weights, len(records))
        return cls(WeightedPoints(records.space, records.X, records.points, given), k)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.records)

    @property
    def space(self) -> Space:
        """The space of the records."""
        return self.records.space

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802 - the field's own name
        """The records in the form of the space: coordinates, or rows of levels."""
        return self.records.X

    @property
    def points(self) -> NDArray[np.float64]:
        """The records as coordinates whose squared distances are the costs."""
        points = self.records.points
        if points is None:
            raise InputError(f"the space {self.space!r} has no coordinates")
        return points

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each record in centroids and costs; None if all are equal."""
        return self.records.weights

    @property
    def total(self) -> float:
        """The cost of a single group of all records."""
        return self.records.total

    def cost(self, part: Partition) -> float:
        """Return the cost of publishing the centroids of these groups."""
        return self.records.cost(part)

    def loss(self, part: Partition) -> float:
        """Return the cost in percent of the cost of a single group."""
        return 100.0 * self.cost(part) / self.total if self.total > 0.0 else 0.0

    def centroids(self, part: Partition) -> NDArray[Any]:
        """Return the published centroids of the groups, in coordinates of the space, shape (m, d)."""
        return self.records.centroids(part)

    def neighbours(self, width: int, ctx: Context) -> NDArray[np.int64] | None:
        """Return near records of each record, shape (n, width); None if the time is over."""
        return self.records.neighbours(width, ctx)

    def subset(self, rows: NDArray[np.int64], *, k: int | None = None) -> Problem:
        """Return the same problem for some of the records, without demands."""
        return Problem(self.records.subset(rows), self.k if k is None else k)

    def unweighted(self) -> Problem:
        """Return the same problem with records that all count alike."""
        if not isinstance(self.records, WeightedPoints):
            return self
        return Problem(self.records.unweighted(), self.k, self.demands)

    def with_k(self, k: int) -> Problem:
        """Return the same problem with groups of another size."""
        return Problem(self.records, k, self.demands)

    def one_group(self) -> Partition:
        """Return the partition into a single group."""
        return Partition(np.zeros(self.n, np.int64), k=self.k)

    def checked(self, part: Partition) -> Partition:
        """Return the partition with k stated, after checking that every group has k."""
        return part if part.k == self.k else Partition(part.labels, k=self.k)

    def better(self, part: Partition, labels: NDArray[np.int64]) -> Partition:
        """Return the partition with these labels, or the given one if it is no worse."""
        partition = Partition(labels, k=self.k)
        return partition if self.cost(partition) < self.cost(part) else part

    def check_method(self, method: Method) -> None:
        """Refuse a method that does not work in this space, and name the methods that do."""
        if not method.model_free and not self.records.modelled:
            from voronym.method import algorithms

            serving = [name for name, item in algorithms().items() if item.model_free]
            raise InputError(
                f"method {method.name!r} does not work in {self.space!r}; these do: {', '.join(serving)}"
            )
        if method.squares and self.records.points is not None and not self.records.by_squares:
            raise InputError(
                f"method {method.name!r} needs groups that cost their squares about the mean, which they do "
                f"not in {self.space!r}; try 'exchange', 'anneal' or 'pairs'"
            )
        if not method.anywhere and self.records.points is None:
            from voronym.method import algorithms  # a table of everything, only to say what would do

            able = [name for name, item in algorithms().items() if item.anywhere]
            raise InputError(
                f"method {method.name!r} works on Euclidean coordinates only, not in {self.space!r}; "
                f"these also work without coordinates: {', '.join(able)}"
            )
        if self.weights is not None and not method.weighted:
            from voronym.method import algorithms

            weighted = [name for name, entry in algorithms().items() if entry.weighted]
            raise InputError(f"method {method.name!r} does not use weights; these do: {', '.join(weighted)}")
        if method.univariate and self.X.shape[1] != 1:
            raise InputError(
                f"method {method.name!r} takes one column, X has {self.X.shape[1]}; try 'mdav' or 'auto'"
            )

    def __repr__(self) -> str:
        return f"Problem({self.n} records in {self.space!r}, groups of {self.k} or more)"


def check_points(X: ArrayLike) -> NDArray[np.float64]:
    """Return X as an (n, d) float64 array in C order; raise if it is invalid."""
    try:
        points = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X must be numeric, with rows of equal length; encode other columns first") from None
    if points.ndim == 1:
        points = np.ascontiguousarray(points[:, None])
    if points.ndim != 2:
        raise InputError(f"X must have rows and columns; got {points.ndim} dimensions")
    if points.size == 0:
        raise InputError(f"X is empty: {points.shape[0]} rows, {points.shape[1]} columns")
    bad = ~np.isfinite(points)
    if bad.any():
        where = np.flatnonzero(bad.any(axis=0)).tolist()
        raise InputError(
            f"X has {int(bad.sum())} missing or infinite values, in columns {where}; "
            "fill or drop them, or use voronym.anonymize, which has a rule for missing values"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(len(points) * np.square(np.ptp(points, axis=0)).sum()):
            raise InputError("the values in X are too large to square; standardize the columns first")
    return points


def check_k(k: object, n: int) -> int:
    """Return k as an int between 2 and n; raise otherwise."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise InputError(f"k must be a whole number, not {k!r}")
    k = int(k)
    if k < 2:
        raise InputError(f"k={k} hides nobody: k must be 2 or more")
    if k > n:
        raise InputError(f"k={k} is more than the {n} records there are: no group can have that many")
    return k
