"""Cells of mixed records: MDAV and V-MDAV where every column has a metric of its own.

The problem: minimise ``sum_i cost(x_i, centroid of the cell of i)`` over partitions with cells of at least k,
where cost is that of `voronym.space.Mixed` and a centroid takes, in each column, the level with the least sum
of mapped distances to the members. It is what is lost when centroids are published. Pairwise sums inside
cells would need no centroid, but they are not what a reader of the release sees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import mixed_scan as kernels
from voronym.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space import Mixed
from voronym.space.centroids import mixed_centroids
from voronym.space.field import SMALL
from voronym.space.medoid import CANDIDATES

Codes = NDArray[np.int64]


def check_mixed(problem: Problem) -> tuple[Mixed, Codes]:
    """Return a mixed space and records of it as levels."""
    if not isinstance(problem.space, Mixed):
        raise InputError(f"there are no kernels for the space {problem.space!r}")
    return problem.space, problem.X


def make_scan(space: Mixed, codes: Codes) -> kernels.Scan:
    """Return what scans need; the sums are 0."""
    pack, d = space.pack, len(space.fields)
    has = pack.mapped_at >= 0
    sizes = np.where(has, pack.levels, 0)
    tried: list[Codes] = []
    for k, one in enumerate(space.fields):
        if one.levels <= SMALL:
            tried.append(np.arange(one.levels))
        else:  # spread over the records: in a column of numbers, its quantiles
            middle = np.sort(codes[:, k])
            tried.append(np.unique(middle[np.linspace(0, len(middle) - 1, CANDIDATES).astype(np.int64)]))
    ends = np.cumsum([0, *map(len, tried)])
    return kernels.Scan(
        np.zeros(int(sizes.sum())),
        np.where(has, np.cumsum(sizes) - sizes, -1).astype(np.int64),
        np.zeros(d, np.int64),
        np.concatenate(tried).astype(np.int64),
        ends.astype(np.int64),
        np.zeros(int(ends[-1])),
        np.zeros(int(ends[-1])),
    )


def start_sums(space: Mixed, scan: kernels.Scan, codes: Codes) -> None:
    """Add all records to the sums of a scan, in short calls."""
    step = max(1, 10_000_000 // max(1, len(scan.tried)))
    for begin in range(0, len(codes), step):
        kernels.add_records(space.pack, scan, codes, begin, min(len(codes), begin + step))


def mdav_mixed(space: Mixed, codes: Codes, k: int, ctx: Context) -> Codes:
    """Return the labels of MDAV over mixed records; ties go to the lowest index.

    The centroid of what remains is exact in columns with at most 512 distinct values; in others the best of
    256 values, spread over those of all records.
    """
    n = len(codes)
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0])
    costs, distances, members = np.empty(n), np.empty(k), np.empty(k, np.int64)
    scan = make_scan(space, codes)
    start_sums(space, scan, codes)

    def work(budget: int) -> float:
        kernels.mdav(space.pack, scan, codes, k, labels, alive, state, costs, distances, members, budget)
        return 1.0 - (float(state[0]) / n) ** 2

    ctx.pieces(work, budget=1_000_000)
    return labels


def vmdav_mixed(space: Mixed, codes: Codes, k: int, gamma: float, ctx: Context) -> Codes:
    """Return the labels of V-MDAV over mixed records; ties go to the lowest index.

    Costs are sums of distances, not of squares: they are compared as they are.
    """
    n = len(codes)
    labels, alive, state = np.full(n, -1, np.int64), np.arange(n), np.array([n, 0, 0])
    costs, near = np.empty(n), np.empty(n)
    distances, members = np.empty(k), np.empty(k, np.int64)
    scan = make_scan(space, codes)
    start_sums(space, scan, codes)
    kernels.to_centroid(scan)
    kernels.costs_to(space.pack, scan, codes, alive, n, costs)
    order = np.argsort(-costs, kind="stable")

    def work(budget: int) -> float:
        kernels.vmdav(
            space.pack, scan, codes, k, gamma, order, labels, alive, state, costs, near, distances, members,
            budget,
        )  # fmt: skip
        return 1.0 if state[0] < k else 1.0 - (float(state[0]) / n) ** 2

    ctx.pieces(work, budget=1_000_000)
    left = alive[: state[0]]
    if len(left):
        done = labels >= 0
        part = Partition(labels[done])
        centroids = mixed_centroids(space, codes[done], part).levels
        first = np.unique(labels[done], return_index=True)[1]  # cell c of the labels is number ... of part
        labels[left] = np.argmin(space.cost(codes[left], centroids[part.labels[first]]), axis=1)
    return labels
