"""Shuffle: flatten columns to the centroid, or permute them inside each cluster (equations 9 and 10).

Flattening and shuffling hide a record among the members of its cluster; the members of each cluster
stay visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import records as kernels
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.records.cluster import Clusters, distances_to
from voronym.records.divergence import divergence, edges, histogram
from voronym.records.options import RecordsOptions
from voronym.space.field import Field
from voronym.space.medoid import medoids
from voronym.space.mixed import Mixed

ROUNDS = 20
"""Rounds of 16 swaps per record that are tried before a column is restored."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shuffled:
    """Shuffled records, and the change of the clusters' distances to their centroids.

    Parameters
    ----------
    codes : array of int, shape (n, d)
        The records, as levels.
    divergence : array, shape (m,)
        The divergence of each cluster; at most the bound.
    first : array, shape (m,)
        The divergence by the random permutations, before any repair.
    put_back : int
        Number of columns, summed over clusters, that were restored because swaps did not suffice.
    """

    codes: Ints
    divergence: NDArray[np.float64]
    first: NDArray[np.float64]
    put_back: int


def flatten(codes: Ints, clusters: Clusters, columns: Sequence[int]) -> Ints:
    """Give every member of a cluster the centroid's value in the columns (equation 9).

    A cluster with a single value in a column does not change: see `single_valued`.
    """
    out = codes.copy()
    for k in columns:
        out[:, k] = clusters.centroids[clusters.partition.labels, k]
    return out


def single_valued(clusters: Clusters, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Return which clusters have a single value in each of the columns, shape (m, columns).

    Neither flattening nor shuffling does anything there: everybody known to be in the cluster has that value.
    """
    return np.asarray(clusters.radii[:, list(columns)] == 0.0)


def stir_alone(fields: Sequence[Field], flattened: Sequence[str], part: Partition, ctx: Context) -> Ints:
    """Flatten or permute confidential columns inside the clusters, each separately; shape (n, columns)."""
    labels = part.labels
    out = np.empty((part.n, len(fields)), np.int64)
    for k, item in enumerate(fields):
        ctx.check()
        if item.columns[0] in flattened:
            out[:, k] = medoids(item, item.codes, labels, part.n_cells)[labels]
        else:
            order = np.lexsort((ctx.rng.random(part.n), labels))
            out[np.argsort(labels, kind="stable"), k] = item.codes[order]
    return out


def shuffle(
    space: Mixed,
    codes: Ints,
    clusters: Clusters,
    columns: Sequence[int],
    options: RecordsOptions,
    ctx: Context | None = None,
    *,
    together: Sequence[Sequence[int]] = (),
) -> Shuffled:
    """Permute the values of each column among the members of each cluster (equation 10).

    Columns in ``together`` are permuted as one, so their relation stays.

    The distances of a cluster's records to its centroid, added up over the columns after mapping, have a
    distribution f before and g after. Guarantee: ``KL(f, g) <= bound`` (or the earth mover's distance) in
    every cluster, over the bins of `divergence.edges`. Every column keeps its values in every cluster, so
    all marginal distributions stay.

    Each column gets a random permutation. While the bound does not hold, two values of a column are swapped
    at random and the swap is kept if the divergence does not grow. If that does not suffice, columns go back
    to the original arrangement one by one; with all of them back the divergence is 0, so this ends.

    If all columns that distinguish records are shuffled, a last random permutation assigns the new
    combinations to the members, which changes no distance. Given the published table, the record of a person
    is then any one of the cluster's, with equal probability: no attack on these columns finds it with a
    probability above 1 / size of the cluster.

    Cost: O(size) per cluster and round.

    Parameters
    ----------
    space : Mixed
        The columns.
    codes : array of int, shape (n, d)
        The records, as levels.
    clusters : Clusters
        Their clusters.
    columns : sequence of int
        Which columns to shuffle.
    options : RecordsOptions
        Its divergence and bound.
    ctx : Context, optional
        Its generator draws permutations and swaps.
    together : sequence of sequences of int
        Columns to permute as one; each of the others is permuted separately.
    """
    ctx = Context() if ctx is None else ctx
    labels, m = clusters.partition.labels, clusters.partition.n_cells
    tied = [list(block) for block in together]
    chosen = [*tied, *([k] for k in columns if not any(k in block for block in tied))]
    away = np.stack(
        [
            distances_to(space, k, codes, clusters.centroids, labels, bent=True)
            for k in range(len(space.fields))
        ]
    )
    stays = [k for k in range(len(space.fields)) if k not in columns]
    base = away[stays].sum(axis=0)
    away = np.stack([away[block].sum(axis=0) for block in chosen]) if chosen else away[:0]
    out = codes.copy()
    reached, first = np.zeros(m), np.zeros(m)
    put_back = 0
    for cell, rows in enumerate(clusters.partition.cells()):
        if len(rows) == 1 or not chosen:
            continue
        D = np.ascontiguousarray(away[:, rows])
        places, reached[cell], first[cell], back = _one(D, base[rows], options, ctx)
        put_back += back
        # Columns that stay would tie a combination to its row, unless the cluster has one value there.
        if all((codes[rows, k] == codes[rows[0], k]).all() for k in stays):
            places = np.ascontiguousarray(places[:, ctx.rng.permutation(len(rows))])
        for at, block in enumerate(chosen):
            for k in block:
                out[rows, k] = codes[rows[places[at]], k]
        if cell % 64 == 0:
            ctx.tell(cell / m, whole=True)
    return Shuffled(out, reached, first, put_back)


def _one(
    D: NDArray[np.float64], base: NDArray[np.float64], options: RecordsOptions, ctx: Context
) -> tuple[Ints, float, float, int]:
    """Shuffle one cluster: the assignment of values, the divergence before and after, restored columns."""
    d, size = D.shape
    measure, bound = options.divergence, options.bound
    total = base + D.sum(axis=0)
    borders = edges(total)
    f = histogram(total, borders)
    h, sums = np.empty_like(f), np.empty(size)
    rng = ctx.rng
    places = np.stack([rng.permutation(size) for _ in range(d)])
    emd = measure == "emd"
    kernels.repair(D, base, places, borders, f, h, bound, emd, np.empty((0, 3), np.int64), sums, True)
    first = divergence(f, h, measure)
    order = rng.permutation(d)
    for back in range(d + 1):
        for _ in range(ROUNDS if back < d else 0):  # with all columns back there is nothing to swap
            if divergence(f, h, measure) <= bound:
                break
            ctx.check()
            draws = rng.integers(0, size, (16 * size, 3))
            draws[:, 0] = rng.integers(0, d, len(draws))
            kernels.repair(D, base, places, borders, f, h, bound, emd, draws, sums, False)
        now = histogram(base + np.take_along_axis(D, places, axis=1).sum(axis=0), borders)
        result = divergence(f, now, measure)  # counted again: the running sums may be off by a last digit
        if result <= bound or back == d:
            break
        # Swaps move values of columns that are back, too; so at last all of them are put back together.
        places[order[back] if back < d - 1 else slice(None)] = np.arange(size)
        kernels.repair(D, base, places, borders, f, h, bound, emd, np.empty((0, 3), np.int64), sums, True)
    return places, result, first, back
