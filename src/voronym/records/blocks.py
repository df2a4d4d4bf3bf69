"""Clusters of large tables: cut the table into cells within the limits, then let lonely records join others.

Nothing compares all pairs. Columns in which closeness is an equivalence (labels, subtrees) number the
blocks; columns on a line are cut by their span, which is exactly the largest distance of two members; a
circle is cut open at its widest gap, which can only lengthen distances; a globe is cut as a cube around it.
Few values under any other metric are grouped once, by complete linkage of the values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from voronym._kernels import records as kernels
from voronym._kernels.mixed import CIRCLE, DISCRETE, LINE, SPHERE, TREE
from voronym.progress import Progress, Step
from voronym.space.field import SMALL, Field
from voronym.space.mixed import Mixed

_SPAN, _SUBTREE, _BALL, _FEW = range(4)  # how `kernels.adopt` tells whether a record fits


class _Boxes(NamedTuple):
    """What is known of the members of each cell, by column that limits."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    centre: NDArray[np.int64]
    reach: NDArray[np.float64]
    has: NDArray[np.int8]
    has_at: NDArray[np.int64]


def in_blocks(space: Mixed, limits: NDArray[np.float64], m: int, progress: Progress) -> NDArray[np.int64]:
    """Return labels of clusters of which no two members differ by more than the limit in any column."""
    n = len(space.fields[0].codes)
    columns = [k for k, field in enumerate(space.fields) if limits[k] < field.far]
    blocks = np.zeros(n, np.int64)
    coordinates: list[NDArray[np.float64]] = []
    spans: list[float] = []
    for k in columns:
        field, limit = space.fields[k], float(limits[k])
        if field.geometry.shape in (LINE, CIRCLE, SPHERE) and limit > 0.0:
            for place, span in _places(field, limit):
                coordinates.append(place[field.codes])
                spans.append(span)
        else:
            classes = _classes(field, limit)
            mixed = blocks * (int(classes.max()) + 1) + classes[field.codes]
            blocks = np.unique(mixed, return_inverse=True)[1].reshape(-1).astype(np.int64)
    kinds = [_kind(space.fields[k]) for k in columns]
    labels = _cut(blocks, coordinates, spans, progress)
    return _join(space, labels, np.array(columns, np.int64), np.array(kinds, np.int64), limits, m, progress)


def _kind(field: Field) -> int:
    if field.geometry.shape == LINE:
        return _SPAN
    if field.geometry.shape in (DISCRETE, TREE):
        return _SUBTREE
    return _FEW if field.levels <= SMALL or field.geometry.table.size else _BALL


def _classes(field: Field, limit: float) -> NDArray[np.int64]:
    """Return classes of levels that are within the limit of each other; a missing value is one of its own."""
    if field.geometry.shape == TREE:
        step = 0
        while (step + 1) / field.geometry.size <= limit:
            step += 1
        classes = np.unique(field.geometry.coords[:, step], return_inverse=True)[1].reshape(-1)
    elif field.geometry.table.size:
        return _cliques(field.table(), limit)
    else:
        classes = np.arange(field.geometry.levels)
    if field.missing >= 0:
        classes = np.append(classes, classes.max(initial=-1) + 1)
    return classes.astype(np.int64)


def _cliques(table: NDArray[np.float64], limit: float) -> NDArray[np.int64]:
    """Return groups of values of which no two are farther apart than the limit."""
    if len(table) < 2:
        return np.zeros(len(table), np.int64)
    far = np.where(
        table > limit, 2.0 + table / max(float(table.max()), 1e-300), table / max(2.0 * limit, 1e-300)
    )
    np.fill_diagonal(far, 0.0)
    found = fcluster(linkage(squareform((far + far.T) / 2.0, checks=False), "complete"), 1.0, "distance")
    return np.asarray(found - 1, np.int64)


def _places(field: Field, limit: float) -> list[tuple[NDArray[np.float64], float]]:
    """Return coordinates of the levels and the span that keeps their distances within the limit."""
    geometry = field.geometry
    if geometry.shape == SPHERE:
        chord = 2.0 * math.sin(min(limit / (2.0 * geometry.size), math.pi / 2.0))
        parts = [(geometry.coords[:, c], chord / math.sqrt(3.0) * (1.0 - 1e-9)) for c in range(3)]
    elif geometry.shape == CIRCLE:
        places = geometry.coords[:, 0]
        around = np.sort(places)
        gaps = np.diff(np.append(around, around[0] + geometry.size))
        opened = np.mod(places - around[(int(np.argmax(gaps)) + 1) % len(around)], geometry.size)
        parts = [(opened, limit * (1.0 - 1e-12))]
    else:
        parts = [(geometry.coords[:, 0], limit)]
    if field.missing < 0:
        return parts
    out = []
    for place, span in parts:  # a missing value lies beyond the limit of every other
        top = float(place.max()) if len(place) else 0.0
        width = top - float(place.min()) if len(place) else 0.0
        out.append((np.append(place, top + 2.0 * max(width, span) + 1.0), span))
    return out


def _cut(
    blocks: NDArray[np.int64], coordinates: list[NDArray[np.float64]], spans: list[float], progress: Progress
) -> NDArray[np.int64]:
    """Return cells: the blocks, cut until no coordinate spans more than it may."""
    if not coordinates:
        return blocks
    n = len(blocks)
    Z = np.ascontiguousarray(np.stack(coordinates, axis=1))
    order = np.argsort(blocks, kind="stable")
    bounds = np.flatnonzero(np.diff(blocks[order], prepend=-1, append=-1))
    stack = np.empty((n + len(bounds) + 2, 2), np.int64)
    stack[: len(bounds) - 1, 0], stack[: len(bounds) - 1, 1] = bounds[:-1], bounds[1:]
    labels = np.empty(n, np.int64)
    state = np.array([len(bounds) - 1, 0])
    limits = np.array(spans)
    while state[0] > 0:
        kernels.split(Z, limits, order, stack, labels, state, 4_000_000)
        progress(Step("clusters", 0.0))
    return labels


def _join(
    space: Mixed,
    labels: NDArray[np.int64],
    columns: NDArray[np.int64],
    kinds: NDArray[np.int64],
    limits: NDArray[np.float64],
    m: int,
    progress: Progress,
) -> NDArray[np.int64]:
    """Let records of small cells join larger ones that they fit; their values do not change."""
    sizes = np.bincount(labels).astype(np.int64)
    small = sizes[labels] <= m
    if not small.any() or len(sizes) == 1:
        return labels
    codes, cells = space.codes, len(sizes)
    has_at = np.full(len(columns), -1, np.int64)
    width = 0
    for f, k in enumerate(columns):
        if kinds[f] == _FEW:
            has_at[f] = width
            width += space.fields[k].levels
    shape = (cells, len(columns))
    boxes = _Boxes(
        np.zeros(shape),
        np.zeros(shape),
        np.full(shape, -1, np.int64),
        np.zeros(shape),
        np.zeros((cells, max(width, 1)), np.int8),
        has_at,
    )
    kernels.summarize(space.pack, codes, labels, kinds, columns, *boxes)
    rows = np.flatnonzero(small)
    rows = rows[np.lexsort((rows, labels[rows], sizes[labels[rows]]))]
    hint = np.argsort(-sizes, kind="stable")
    chunk = max(16, 4_000_000 // cells)
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        kernels.adopt(
            space.pack, codes, part, labels, sizes, m, limits[columns], kinds, columns, *boxes, hint
        )
        progress(Step("clusters", min(1.0, (start + chunk) / len(rows))))
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
