"""Blend: bring the members of small clusters into large ones, changing as few values as possible.

Equations 4 to 8 of the paper (see `voronym.records`). The cheapest cluster is found with mapped distances to
the centroids (equation 4). Then only the values outside that cluster's radius around its centroid are
replaced (equation 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.partition import Partition
from voronym.records.cluster import Clusters
from voronym.records.nearest import nearest
from voronym.records.noise import Noise
from voronym.records.options import RecordsOptions
from voronym.space.mixed import Mixed

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blended:
    """The result for the records of small clusters.

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
        Largest divergence of a cluster's distances to its centroid, by column, if noise was drawn; otherwise
        0.
    """

    codes: Ints
    partition: Partition
    moved: Ints
    changed: Ints
    divergence: NDArray[np.float64]


def blend(space: Mixed, clusters: Clusters, options: RecordsOptions, ctx: Context | None = None) -> Blended:
    """Move the members of clusters with at most m records to the cheapest clusters.

    Guarantee: afterwards every cluster has more than m members, every member is within its cluster's
    radius of the centroid in every column, every value occurs in its column, and records of large
    clusters are unchanged. If noise is drawn, the divergence of the distances to the centroid, over the
    original members and with the drawn values added, is at most ``bound`` in each cluster and column.
    Cost: records moved times large clusters.

    If no cluster is large, the largest clusters take in the records that are cheapest to move: O(n²/m)
    distances.

    Parameters
    ----------
    space : Mixed
        The records.
    clusters : Clusters
        Their clusters.
    options : RecordsOptions
        Its m, blend and unit; for noise its divergence and bound.
    ctx : Context, optional
        Its generator draws members and noise.
    """
    m = options.m
    check_size(m, clusters.partition.n)
    ctx = Context() if ctx is None else ctx
    labels = clusters.partition.labels
    small = np.flatnonzero(clusters.partition.sizes[labels] <= m)
    codes = space.codes
    changed, worst = np.zeros(len(space.fields), np.int64), np.zeros(len(space.fields))
    if not len(small):
        return Blended(codes, clusters.partition, small, changed, worst)
    move = _by_record if options.unit == "record" or clusters.partition.sizes.max() <= m else _by_cluster
    target = move(space, codes, clusters, m, ctx)
    moved = np.flatnonzero(target != labels)
    hosts = target[moved]
    members = np.flatnonzero(target == labels)
    members = members[np.argsort(labels[members], kind="stable")]
    start = np.searchsorted(labels[members], np.arange(clusters.partition.n_cells + 1))
    noise = Noise(space, clusters, members, start, options, ctx)
    for k, field in enumerate(space.fields):
        centre = clusters.centroids[hosts, k]
        out = np.flatnonzero(field.distance(codes[moved, k], centre) > clusters.radii[hosts, k])
        changed[k] = len(out)
        if not len(out):
            continue
        if options.blend == "centroid":
            new = centre[out]
        elif options.blend == "element":
            size = start[hosts[out] + 1] - start[hosts[out]]
            new = codes[members[start[hosts[out]] + ctx.rng.integers(0, size)], k]
        else:
            new, worst[k] = noise.draw(k, hosts[out])
        codes[moved[out], k] = new
        ctx.check()
    part = Partition(target)
    if part.sizes.min() <= m:
        raise GuaranteeError(f"{int((part.sizes <= m).sum())} clusters still have at most m={m} records")
    return Blended(codes, part, small, changed, worst)


def check_size(m: int, n: int) -> None:
    """Refuse an m that leaves no cluster with more than m records."""
    if m >= n:
        raise InputError(
            f"m={m}, but there are {n} records: no cluster can have more than m; take a smaller m"
        )


def _by_record(space: Mixed, codes: Ints, clusters: Clusters, m: int, ctx: Context) -> Ints:
    """Return the cluster of each record, after records of small clusters moved to the nearest large one."""
    target, sizes = clusters.partition.labels.copy(), clusters.partition.sizes.copy()
    if sizes.max() <= m:
        _fill(space, codes, clusters, m, target, sizes, ctx)
    large = np.flatnonzero(sizes > m)
    rows = np.flatnonzero(sizes[target] <= m)
    target[rows] = large[nearest(space, codes[rows], clusters.centroids[large], ctx=ctx).index]
    return target


def _fill(
    space: Mixed, codes: Ints, clusters: Clusters, m: int, target: Ints, sizes: Ints, ctx: Context
) -> None:
    """Make large clusters if no cluster is large: the largest take in the records that cost least."""
    free = np.ones(len(codes), bool)
    for host in np.argsort(-sizes, kind="stable"):
        members = np.flatnonzero(free & (target == host))
        others = np.flatnonzero(free & (target != host))
        lacking = m + 1 - len(members)
        if not len(members) or len(others) < lacking:  # drained by earlier ones, or too few left
            continue
        cost = space.cost(codes[others], clusters.centroids[host : host + 1])[:, 0]
        taken = others[np.argsort(cost, kind="stable")[:lacking]]
        np.subtract.at(sizes, target[taken], 1)
        target[taken] = host
        sizes[host] = m + 1
        free[members] = free[taken] = False
        ctx.tell(1.0 - free.mean(), whole=True)
        if free.sum() <= m:
            break


def _by_cluster(space: Mixed, codes: Ints, clusters: Clusters, m: int, ctx: Context) -> Ints:
    """Return the cluster of each record after small clusters moved as a whole, the smallest first."""
    target, sizes = clusters.partition.labels.copy(), clusters.partition.sizes.copy()
    members = dict(enumerate(clusters.partition.cells()))
    waiting = sorted(np.flatnonzero(sizes <= m).tolist(), key=lambda cell: (sizes[cell], cell))
    for done, cell in enumerate(waiting):
        if sizes[cell] > m:  # another one joined it
            continue
        allowed = (sizes > 0) & (sizes + sizes[cell] > m)
        allowed[cell] = False
        hosts = np.flatnonzero(allowed)
        cost = space.cost(codes[members[cell]], clusters.centroids[hosts]).sum(axis=0)
        host = int(hosts[np.argmin(cost)])
        target[members[cell]] = host
        members[host] = np.concatenate([members[host], members.pop(cell)])
        sizes[host] += sizes[cell]
        sizes[cell] = 0
        ctx.tell(done / len(waiting), whole=True)
    return target
