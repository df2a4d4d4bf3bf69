"""The records of a table in a space: the interface for grouping methods.

A space makes its records (`Space.records`). They know the cost and the centroids of a partition and near
records, and build the *cost model* and the *scan* for kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import scan as scans
from voronym._kernels.cells import Cells
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.space.base import Space

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

PIVOTS = 4
"""Pairs of records that define coordinates if a space has none."""


@dataclass(frozen=True)
class Pace:
    """Settings of annealing that depend on the cost of a proposal.

    Parameters
    ----------
    chains : int
        Runs over a table of a single block; the best counts.
    kicks : float
        Perturbations of the local search afterwards, for each record and 1000 sweeps.
    triples : float
        Share of the proposals that involve three groups.
    speed : float
        Approximate proposals per second, to estimate the value of a time budget.
    least : float
        Proposals a record below which annealing ends worse than it began, and only goes downhill.
    near : int
        Number of nearest records whose groups the following local search tries. With fewer, a perturbation is
        cheaper, and more of them fit the same time.
    near_in_blocks : int
        The same number for blocks of a large table, which have less time.
    """

    chains: int = 1
    kicks: float = 0.0
    triples: float = 0.0
    speed: float = 1e6
    least: float = 100.0
    near: int = 20
    near_in_blocks: int = 20


class Records:
    """The records of a table in a space: their costs, their groups' centroids, their neighbours.

    This class asks the space for costs and centroids. A space in which methods make groups has its own
    records, with a cost model and a scan for kernels, made by a method ``records(X)``.

    Parameters
    ----------
    space : Space
        The cost and its centroid.
    X : array, shape (n, d)
        The records as the space takes them.
    """

    pace: ClassVar[Pace] = Pace()
    begin: ClassVar[str | None] = None
    """The method that starts searches in this space; None for the usual one."""
    by_squares: ClassVar[bool] = False
    """Whether a group's cost is just the squares about the mean of its coordinates."""

    def __init__(self, space: Space, X: NDArray[Any]) -> None:
        self.space, self.X = space, X

    def __len__(self) -> int:
        return len(self.X)

    @property
    def points(self) -> Array | None:
        """The records as coordinates whose squared distances are the costs; None without such coordinates."""
        return None

    @property
    def modelled(self) -> bool:
        """Whether kernels have a cost model; without one, few methods make groups."""
        return type(self).model is not Records.model

    @property
    def weights(self) -> Array | None:
        """The weight of each record; None if all are equal."""
        return None

    def model(self, room: int) -> Any:  # noqa: ARG002
        """Return the cost model of ``room`` groups (see `voronym._kernels.cells`)."""
        raise InputError(_no_kernels(self.space))

    def scan(self) -> Any:
        """Return a scan (see `voronym._kernels.scan`) without any record."""
        raise InputError(_no_kernels(self.space))

    def full_scan(self) -> Any:
        """Return a scan with all records."""
        scan = self.scan()
        for first in range(0, len(self), 10_000):  # short calls, so that Ctrl-C works
            scans.add_range(scan, first, min(len(self), first + 10_000))
        return scan

    def proposals(self, k: int) -> int:  # noqa: ARG002 - for spaces where it depends on the sizes
        """Return the approximate number of annealing proposals that take some hundredths of a second."""
        return 20_000

    def subset(self, rows: Ints) -> Records:
        """Return some of the records."""
        return type(self)(self.space, np.ascontiguousarray(self.X[rows]))

    def like(self, rows: NDArray[Any]) -> Records:
        """Return other records of the space, given in the form of `rows`."""
        return type(self)(self.space, np.ascontiguousarray(rows))

    def centroids(self, part: Partition) -> Array:
        """Return the centroid of each group, shape (m, d)."""
        self.check(part)
        return self.space.centroids(self.X, part.labels, part.n_cells)

    def representatives(self, part: Partition) -> Array:
        """Return a row of the space for each group to compare with others: its centroid."""
        return self.centroids(part)

    def stand_ins(self, model: Any, cells: Cells) -> Array:  # noqa: ARG002 - for models without centroids
        """Return the representatives of groups under change."""
        return np.asarray(model.centroids)

    def cost(self, part: Partition) -> float:
        """Return the summed cost of the records to the centroids of their groups."""
        return float(self.space.paired(self.X, self.centroids(part), part.labels).sum())

    @cached_property
    def total(self) -> float:
        """The cost of a single group of all records."""
        return self.cost(Partition(np.zeros(len(self), np.int64)))

    @property
    def tiny(self) -> float:
        """The least gain that exceeds rounding errors."""
        return 1e-10 * self.total / len(self)

    def unit(self) -> Records:
        """Return the records on a common scale, so that `tiny` fits any data."""
        return self

    def ratio(self, gamma: float) -> float:
        """Return the ratio of costs that belongs to a ratio of distances."""
        return gamma

    @property
    def rows(self) -> NDArray[Any]:
        """The records in the form of the cost model's centroids."""
        return self.X

    def nearest(self, X: NDArray[Any], Y: NDArray[Any], many: int, ctx: Context) -> Ints:
        """Return the rows of Y with the least costs to each row of X, shape (len(X), many), nearest first.

        Both are given in the terms of `rows`.
        """
        out, step = np.empty((len(X), many), np.int64), max(1, 1_000_000 // len(Y))
        for first in range(0, len(X), step):
            out[first : first + step] = self._nearest(X[first : first + step], Y, many)
            ctx.check(whole=False)
        return out

    def _nearest(self, X: NDArray[Any], Y: NDArray[Any], many: int) -> Ints:
        return np.argsort(self.space.cost(X, Y), axis=1, kind="stable")[:, :many]

    @cached_property
    def coordinates(self) -> Array:
        """Numbers that are close for near records, shape (n, some): for cutting, not for measuring.

        By default from pairs of distant records: the difference of a record's costs to both.
        """
        columns, apart = [], self.space.cost(self.X, self.X[:1])[:, 0]
        for _ in range(PIVOTS):
            result = int(np.argmax(apart))
            to_one = self.space.cost(self.X, self.X[result : result + 1])[:, 0]
            two = int(np.argmax(to_one))
            to_two = self.space.cost(self.X, self.X[two : two + 1])[:, 0]
            columns.append(to_one - to_two)
            apart = np.minimum(apart, np.minimum(to_one, to_two))
        return np.stack(columns, axis=1)

    def neighbours(self, width: int, ctx: Context, *, distinct: bool = True) -> Ints | None:  # noqa: ARG002
        """Return near records of each, shape (n, K); None if the time is over.

        Neighbours are sought among distinct records; otherwise, in a table of categories, the nearest
        would all be equal, and in few groups. Equal records are neighbours of each other, and the
        first entry is an equal record, if there is one. O(u² d) for u distinct records, on all
        threads.

        Parameters
        ----------
        width : int
            K at most.
        ctx : Context
            Time limit and progress.
        distinct : bool
            Whether equal records count once; only `Points` can do without.
        """
        result, back, often = np.unique(self.X, axis=0, return_inverse=True, return_counts=True)
        back = back.reshape(-1)
        u = len(result)
        order = np.argsort(back, kind="stable")
        first = np.cumsum(often) - often
        place = np.empty(len(self), np.int64)
        place[order] = np.arange(len(self)) - first[back[order]]
        others = min(width - 1, u - 1)
        columns = [order[first[back] + (place + 1) % often[back]]]
        if others > 0:
            near = type(self)(self.space, np.ascontiguousarray(result))._all_near(others, ctx)
            if near is None:
                return None
            columns += [order[first[c] + place % often[c]] for c in near[back].T]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def _all_near(self, width: int, ctx: Context) -> Ints | None:
        """Return the nearest other records of each, shape (n, width)."""
        n, d = self.X.shape
        out, everyone = np.empty((n, width), np.int64), np.arange(n)

        def work(rows: tuple[int, int]) -> None:
            if not ctx.over:
                scans.near_records(
                    self.scan(), *rows, everyone, np.empty(n), width, np.empty(width), out[slice(*rows)]
                )

        step = max(1, min(n, 10_000_000 // (n * d)))
        ctx.map(work, [(first, min(n, first + step)) for first in range(0, n, step)], whole=False)
        return None if ctx.over else out

    def check(self, part: Partition) -> None:
        """Refuse a partition of other records."""
        if part.n != len(self):
            raise InputError(f"the partition is of {part.n} records, X has {len(self)}")


def _no_kernels(space: Space) -> str:
    return (
        f"there are no kernels for the space {space!r}: groups are made in Euclidean, Mahalanobis and "
        "mixed spaces, and in spaces whose records have their own cost model"
    )
