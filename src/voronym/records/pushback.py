"""Blend: bring the members of small clusters into large ones, changing as few values as possible.

Equations 4 to 8 of the paper (see `voronym.records`). The cluster that costs least is found with mapped
distances to the centroids (equation 4); then only the values outside that cluster's radius around its
centroid are replaced (equation 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import mixed as kernels
from voronym.errors import GuaranteeError, InputError
from voronym.partition import Partition
from voronym.progress import Progress, Step, silent
from voronym.records.cluster import Clusters
from voronym.records.divergence import Measure
from voronym.records.noise import Noise
from voronym.space.mixed import Mixed

Mode = Literal["element", "centroid", "noise"]
Unit = Literal["record", "cluster"]


@dataclass(frozen=True, eq=False)
class Blended:
    """What became of the records of small clusters.

    Parameters
    ----------
    codes : array of int, shape (n, d)
        The records, as levels.
    partition : Partition
        Their clusters, each of more than m.
    moved : array of int
        Rows that came from small clusters.
    changed : array of int, shape (d,)
        Values replaced, by column.
    divergence : array, shape (d,)
        Largest divergence of a cluster's distances to its centroid, by column; of mode "noise" only, else 0.
    """

    codes: NDArray[np.int64]
    partition: Partition
    moved: NDArray[np.int64]
    changed: NDArray[np.int64]
    divergence: NDArray[np.float64]


def blend(
    space: Mixed,
    found: Clusters,
    *,
    m: int,
    mode: Mode = "element",
    unit: Unit = "record",
    measure: Measure = "kl",
    bound: float = 0.1,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Blended:
    """Move the members of clusters with at most m records to the clusters that cost least.

    Guarantee: afterwards every cluster has more than m members, every member is within its cluster's radius
    of the centroid in every column, every value is one that the column has, and records of large clusters
    are unchanged. With mode "noise" the divergence of the distances to the centroid, over the original
    members and with the drawn values added, is at most ``bound`` in each cluster and column. Cost: records
    moved times large clusters.

    Where no cluster is large, the largest are filled up with the records that cost least to move, whatever
    the unit: O(n²/m) distances.

    Parameters
    ----------
    space : Mixed
        The records.
    found : Clusters
        Their clusters.
    m : int
        Clusters of at most m records are dissolved.
    mode : {"element", "centroid", "noise"}
        A value outside the radius becomes that of a random member (equation 8), that of the centroid (7), or
        a value of the column about as far from the centroid as members are (6).
    unit : {"record", "cluster"}
        Move record by record, or small clusters as a whole. A whole one may also join another small one, if
        they have more than m together.
    measure, bound : {"kl", "emd"}, float
        For mode "noise".
    rng : Generator, optional
        Draws members and noise.
    progress : callable, optional
        Told after each block of records.
    """
    n = found.partition.n
    if mode not in get_args(Mode):
        raise InputError(f"blend is 'element', 'centroid' or 'noise', not {mode!r}")
    if unit not in get_args(Unit):
        raise InputError(f"unit is 'record' or 'cluster', not {unit!r}")
    if m >= n:
        raise InputError(
            f"m={m}, but there are {n} records: no cluster can have more than m; take a smaller m"
        )
    rng = np.random.default_rng(0) if rng is None else rng
    tell = silent if progress is None else progress
    labels = found.partition.labels.copy()
    small = np.flatnonzero(found.partition.sizes[labels] <= m)
    codes = space.codes
    changed, worst = np.zeros(len(space.fields), np.int64), np.zeros(len(space.fields))
    if not len(small):
        return Blended(codes, found.partition, small, changed, worst)
    move = _by_record if unit == "record" else _by_cluster
    target = move(space, codes, found, m, tell)
    moved = np.flatnonzero(target != labels)
    hosts = target[moved]
    members = np.flatnonzero(target == labels)
    members = members[np.argsort(labels[members], kind="stable")]
    start = np.searchsorted(labels[members], np.arange(found.partition.n_cells + 1))
    noise = Noise(space, found, members, start, measure, bound, rng)
    for k, field in enumerate(space.fields):
        centre = found.centroids[hosts, k]
        out = np.flatnonzero(field.distance(codes[moved, k], centre) > found.radii[hosts, k])
        changed[k] = len(out)
        if not len(out):
            continue
        if mode == "centroid":
            new = centre[out]
        elif mode == "element":
            size = start[hosts[out] + 1] - start[hosts[out]]
            new = codes[members[start[hosts[out]] + rng.integers(0, size)], k]
        else:
            new, worst[k] = noise.draw(k, hosts[out])
        codes[moved[out], k] = new
        tell(Step("blend", (k + 1) / len(space.fields)))
    part = Partition(target)
    if part.sizes.min() <= m:
        raise GuaranteeError(f"{int((part.sizes <= m).sum())} clusters still have at most m={m} records")
    return Blended(codes, part, small, changed, worst)


def _by_record(
    space: Mixed, codes: NDArray[np.int64], found: Clusters, m: int, progress: Progress
) -> NDArray[np.int64]:
    """Return the cluster of each record once those of small clusters went to the nearest large one."""
    target = found.partition.labels.copy()
    sizes = found.partition.sizes.copy()
    if sizes.max() <= m:
        _fill(space, codes, found, m, target, sizes)
    large = np.flatnonzero(sizes > m)
    rows = np.flatnonzero(sizes[target] <= m)
    target[rows] = large[nearest(space, codes[rows], found.centroids[large], progress=progress).index]
    return target


def _fill(
    space: Mixed,
    codes: NDArray[np.int64],
    found: Clusters,
    m: int,
    target: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Make large clusters where there are none: the largest take in the records that cost least."""
    alive = np.ones(len(codes), bool)
    for host in np.argsort(-sizes, kind="stable"):
        own = np.flatnonzero(alive & (target == host))
        others = np.flatnonzero(alive & (target != host))
        lacking = m + 1 - len(own)
        if not len(own) or len(others) < lacking:  # drained by earlier ones, or too few left
            continue
        cost = space.cost(codes[others], found.centroids[host : host + 1])[:, 0]
        taken = others[np.argsort(cost, kind="stable")[:lacking]]
        np.subtract.at(sizes, target[taken], 1)
        target[taken] = host
        sizes[host] = m + 1
        alive[own] = alive[taken] = False
        if alive.sum() <= m:
            break


def _by_cluster(
    space: Mixed, codes: NDArray[np.int64], found: Clusters, m: int, progress: Progress
) -> NDArray[np.int64]:
    """Return the cluster of each record after small clusters moved as a whole, the smallest first."""
    target = found.partition.labels.copy()
    sizes = found.partition.sizes.copy()
    if sizes.max() <= m:
        return _by_record(space, codes, found, m, progress)
    members: dict[int, NDArray[np.int64]] = dict(enumerate(found.partition.cells()))
    waiting = sorted(np.flatnonzero(sizes <= m).tolist(), key=lambda cell: (sizes[cell], cell))
    for done, cell in enumerate(waiting):
        if sizes[cell] > m:  # another one joined it
            continue
        allowed = (sizes > 0) & (sizes + sizes[cell] > m)
        allowed[cell] = False
        hosts = np.flatnonzero(allowed)
        cost = space.cost(codes[members[cell]], found.centroids[hosts]).sum(axis=0)
        host = int(hosts[np.argmin(cost)])
        target[members[cell]] = host
        members[host] = np.concatenate([members[host], members.pop(cell)])
        sizes[host] += sizes[cell]
        sizes[cell] = 0
        progress(Step("blend", done / len(waiting)))
    return target


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest rows: cost, the first of them, how many there are, whether one's own is among them."""

    cost: NDArray[np.float64]
    index: NDArray[np.int64]
    ties: NDArray[np.int64]
    own: NDArray[np.int64]


def nearest(
    space: Mixed,
    X: NDArray[np.int64],
    Y: NDArray[np.int64],
    *,
    own: NDArray[np.int64] | None = None,
    progress: Progress = silent,
    stage: str = "blend",
) -> Nearest:
    """Find for each row of X the rows of Y at the least cost; O(len(X) len(Y)) at worst, without memory."""
    n = len(X)
    cost, index, ties = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    mine = np.full(n, -1, np.int64) if own is None else own.copy()
    # Columns in which values differ most often come first: sums are left sooner.
    order = np.argsort([_equal(one.codes, one.levels) for one in space.fields], kind="stable")
    parts = [np.unique(Y[:, k], return_inverse=True) for k in order]
    start = np.cumsum([0, *(len(levels) for levels, _ in parts)])
    places = np.stack(
        [back.reshape(-1) + at for (_, back), at in zip(parts, start[:-1], strict=True)], axis=1
    )
    values = np.concatenate([levels for levels, _ in parts])
    column = np.repeat(order, np.diff(start))
    row = np.empty(len(values))
    step = max(1, 5_000_000 // (len(Y) + 20 * len(values)))
    for first in range(0, n, step):
        at = slice(first, first + step)
        part = np.ascontiguousarray(X[at])
        kernels.nearest(
            space.tables, part, places, values, column, row, 1e-9, cost[at], index[at], ties[at], mine[at]
        )
        progress(Step(stage, min(1.0, (first + step) / n)))
    return Nearest(cost, index, ties, mine)


def _equal(codes: NDArray[np.int64], levels: int) -> float:
    """Return the share of pairs with equal values: columns with few of them are looked at first."""
    share = np.bincount(codes, minlength=levels) / len(codes)
    return float(np.square(share).sum())
