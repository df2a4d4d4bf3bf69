"""The frozen partition of records into groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError


class Centring(Protocol):
    """A partition's demands on a space (see `voronym.space.Space`): centroids and costs."""

    def centroids(self, X: NDArray[np.float64], labels: NDArray[np.int64], cells: int) -> NDArray[np.float64]:
        """Return the centroid of each group."""
        ...

    def paired(
        self, X: NDArray[np.float64], Y: NDArray[np.float64], labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cost between each row of X and the row of Y with its label."""
        ...


@checked
@dataclass(frozen=True, eq=False)
class Partition:
    """Records divided into groups: labels ``0..m-1`` and the groups' sizes.

    Guarantee: every record is in exactly one group, no group is empty, and where ``k`` is stated every group
    has at least ``k`` records. All of it is checked here, when the object is built; the arrays are read-only.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of each record. Any integers; they are renumbered 0..m-1 in order of first appearance.
    k : int, optional
        The least size that every group must have.

    Examples
    --------
    >>> part = Partition([0, 0, 1, 1, 1], k=2)
    >>> part.n_cells, part.sizes.tolist()
    (2, [2, 3])
    >>> part
    Partition(5 records in 2 groups of 2..3, k=2)
    """

    labels: NDArray[np.int64]
    k: int | None = None
    sizes: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.labels)
        if given.ndim != 1 or given.size == 0:
            raise InputError(
                f"labels must be a non-empty vector, one group per record; got shape {given.shape}"
            )
        if not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"labels must be integers, not {given.dtype}")
        _, first, inverse = np.unique(given, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        labels = np.ascontiguousarray(rank[inverse.reshape(-1)])
        sizes = np.bincount(labels).astype(np.int64)
        if self.k is not None and sizes.min() < self.k:
            raise GuaranteeError(
                f"{int((sizes < self.k).sum())} of {len(sizes)} groups have fewer than k={self.k} records "
                f"(the smallest has {sizes.min()})"
            )
        labels.flags.writeable = sizes.flags.writeable = False
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "sizes", sizes)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.labels)

    @property
    def n_cells(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    def cells(self) -> list[NDArray[np.int64]]:
        """Return the record indices of each group, ascending."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1])

    def centroids(self, X: ArrayLike, space: Centring | None = None) -> NDArray[np.float64]:
        """Return the centroid of each group, shape (m, d): the mean, or the counterpart of another space."""
        X = self._points(X)
        if space is not None:
            return space.centroids(X, self.labels, self.n_cells)
        return group_means(X, self.labels, self.n_cells)

    def cost(self, X: ArrayLike, space: Centring | None = None) -> float:
        """Return the summed cost of the records to the centroids of their groups; by default `sse`."""
        if space is None:
            return self.sse(X)
        X = self._points(X)
        return float(space.paired(X, self.centroids(X, space), self.labels).sum())

    def sse(self, X: ArrayLike) -> float:
        """Return the sum of squared distances of the records to the mean of their group."""
        X = self._points(X)
        total = 0.0
        centroids = self.centroids(X)
        for start in range(0, self.n, 65536):  # blocks: memory stays O(block d)
            rows = slice(start, start + 65536)
            total += float(np.square(X[rows] - centroids[self.labels[rows]]).sum())
        return total

    def _points(self, X: ArrayLike) -> NDArray[np.float64]:
        points = np.asarray(X, dtype=np.float64)
        if points.ndim == 1:
            points = points[:, None]
        if points.ndim != 2 or len(points) != self.n:
            raise InputError(f"the partition is of {self.n} records, X has shape {np.shape(X)}")
        return points

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash(self.labels.tobytes())

    def __repr__(self) -> str:
        stated = "" if self.k is None else f", k={self.k}"
        sizes = f"{self.sizes.min()}..{self.sizes.max()}"
        return f"Partition({self.n} records in {self.n_cells} groups of {sizes}{stated})"


def group_means(X: NDArray[np.float64], labels: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Return the mean of each group, shape (groups, d); NaN for a group without rows.

    The sums run over deviations from the overall mean, in the order of the rows, so the result does not
    depend on chunks or threads, and a large common offset costs no digits.
    """
    sizes = np.bincount(labels, minlength=groups)
    origin = X.mean(axis=0)
    out = np.full((groups, X.shape[1]), np.nan)
    full = sizes > 0
    for j in range(X.shape[1]):
        sums = np.bincount(labels, X[:, j] - origin[j], groups)
        out[full, j] = sums[full] / sizes[full] + origin[j]
    return out
