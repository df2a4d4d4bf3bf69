"""Centroids of cells by distances alone: the value of the column with the least sum of distances.

``c = argmin over values v of the column of sum over members i of d(v, a_i)``, for all cells at once and
without comparing all pairs: medians on a line, modes of labels, tables of counts for few values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import DISCRETE, LINE
from voronym.core import later
from voronym.space.field import SMALL, Field

csr_matrix = later.called("scipy.sparse", "csr_matrix")

CANDIDATES = 256
"""Values of a cell that are tried if the column has too many distinct values for a table."""

Array = NDArray[np.int64]


def medoids(field: Field, codes: Array, labels: Array, m: int) -> Array:
    """Return the centroid's level for each of m cells; the lowest level in a tie.

    Exact (equation 3 over all values of the column) on a line, for labels, and for any metric with at
    most 512 distinct values. Otherwise the best of up to 256 members of the cell, spread evenly over its
    sorted values; this is exact over the members if the cell has no more distinct ones.

    Parameters
    ----------
    field : Field
        The column.
    codes, labels : arrays of int, shape (n,)
        Level and cell of each record. Cells are 0..m-1, none of them empty.
    m : int
        Number of cells.

    Examples
    --------
    >>> from voronym.space.metrics import Absolute
    >>> made = Absolute().geometry(np.array([20, 21, 50]), "age")
    >>> age = Field(("age",), "absolute", made, np.array([0, 1, 2, 2, 2]))
    >>> medoids(age, age.codes, np.array([0, 0, 0, 1, 1]), 2).tolist()
    [1, 2]
    """
    if field.geometry.shape == DISCRETE:
        return _modes(codes, labels, m, field.levels)
    if field.geometry.shape == LINE:
        return _medians(field, codes, labels, m)
    if field.levels <= SMALL:
        return least(field.table(), codes, labels, m)
    return _tried(field, codes, labels, m)


def least(table: NDArray[np.float64], codes: Array, labels: Array, m: int) -> Array:
    """Return the level with the least sum of tabulated distances for each cell."""
    levels = len(table)
    out = np.empty(m, np.int64)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(m + 1))
    step = max(1, 4_000_000 // levels)
    for start in range(0, m, step):
        stop = min(m, start + step)
        rows = order[bounds[start] : bounds[stop]]
        counts = csr_matrix(
            (np.ones(len(rows)), (labels[rows] - start, codes[rows])), shape=(stop - start, levels)
        )
        out[start:stop] = np.argmin(counts @ table, axis=1)
    return out


def _modes(codes: Array, labels: Array, m: int, levels: int) -> Array:
    pairs, counts = np.unique(labels * levels + codes, return_counts=True)
    order = np.lexsort((-pairs, counts))  # the last write wins: the most frequent, then the lowest level
    out = np.empty(m, np.int64)
    out[pairs[order] // levels] = pairs[order] % levels
    return out


def _medians(field: Field, codes: Array, labels: Array, m: int) -> Array:
    places = field.geometry.coords[:, 0]
    seen = codes != field.missing
    observed = np.bincount(labels[seen], minlength=m)
    gone = np.bincount(labels[~seen], minlength=m)
    rows = np.flatnonzero(seen)
    rows = rows[np.lexsort((codes[rows], places[codes[rows]], labels[rows]))]
    start = np.concatenate([[0], np.cumsum(observed)[:-1]])
    at = np.minimum(start + np.maximum(observed - 1, 0) // 2, max(len(rows) - 1, 0))
    out = codes[rows[at]] if len(rows) else np.zeros(m, np.int64)
    if field.missing < 0:
        return np.asarray(out, np.int64)
    off = np.abs(places[codes[rows]] - places[out[labels[rows]]])
    cost = np.bincount(labels[rows], off, m) + gone * field.far
    return np.where((observed == 0) | (observed * field.far < cost), field.missing, out).astype(np.int64)


def _tried(field: Field, codes: Array, labels: Array, m: int) -> Array:
    order = np.argsort(labels, kind="stable")
    out = np.empty(m, np.int64)
    for cell, rows in enumerate(np.split(order, np.searchsorted(labels[order], np.arange(1, m)))):
        values, counts = np.unique(codes[rows], return_counts=True)
        tried = values[np.unique(np.linspace(0, len(values) - 1, CANDIDATES).astype(np.int64))]
        sums = np.zeros(len(tried))
        for part in range(0, len(values), 4096):
            block = slice(part, part + 4096)
            sums += field.distance(tried[:, None], values[None, block]) @ counts[block]
        out[cell] = tried[np.argmin(sums)]
    return out
