"""Clusters of large tables: cut the table into cells within the limits, then let lonely records join others.

Nothing compares all pairs. Columns in which closeness is an equivalence (labels, subtrees) number the
blocks; columns on a line are cut by their span, which is exactly the largest distance of two members; a
circle is cut open at its widest gap, which can only lengthen distances; a globe is cut as a cube around it.
Few values under any other metric are grouped once, by complete linkage of the values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from voronym._kernels import records as kernels
from voronym._kernels.mixed import CIRCLE, DISCRETE, LINE, SPHERE, TREE
from voronym.progress import Progress, Step
from voronym.space.field import SMALL, Field
from voronym.space.mixed import Mixed


def in_blocks(space: Mixed, limits: NDArray[np.float64], m: int, progress: Progress) -> NDArray[np.int64]:
    """Return labels of clusters of which no two members differ by more than the limit in any column."""
    n = len(space.fields[0].codes)
    same = np.zeros(n, np.int64)  # what members of a cluster must have in common
    blocks = np.zeros(n, np.int64)  # and what they are made to
    cuts: list[tuple[NDArray[np.float64], float]] = []
    lines: list[tuple[NDArray[np.float64], float]] = []
    other: list[int] = []
    for k, field in enumerate(space.fields):
        limit, shape = float(limits[k]), field.geometry.shape
        if limit >= field.far:
            continue
        if shape in (LINE, CIRCLE, SPHERE) and (limit > 0.0 or shape == LINE):
            found = [(place[field.codes], span) for place, span in _places(field, limit)]
            cuts.extend(found)
            if shape == LINE:
                lines.extend(found)
        else:
            blocks = _refine(blocks, _classes(field, limit)[field.codes])
            if shape in (DISCRETE, TREE):
                same = _refine(same, _classes(field, limit)[field.codes])
        if shape not in (LINE, DISCRETE, TREE):
            other.append(k)
    labels = _cut(blocks, cuts, progress)
    return _join(space, labels, same, lines, np.array(other, np.int64), limits, m, progress)


def _refine(blocks: NDArray[np.int64], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    mixed = blocks * (int(classes.max()) + 1) + classes
    return np.asarray(np.unique(mixed, return_inverse=True)[1].reshape(-1), np.int64)


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
    blocks: NDArray[np.int64], cuts: list[tuple[NDArray[np.float64], float]], progress: Progress
) -> NDArray[np.int64]:
    """Return cells: the blocks, cut until no coordinate spans more than it may."""
    if not cuts:
        return blocks
    n = len(blocks)
    Z = np.ascontiguousarray(np.stack([place for place, _ in cuts], axis=1))
    order = np.argsort(blocks, kind="stable")
    bounds = np.flatnonzero(np.diff(blocks[order], prepend=-1, append=-1))
    stack = np.empty((n + len(bounds) + 2, 2), np.int64)
    stack[: len(bounds) - 1, 0], stack[: len(bounds) - 1, 1] = bounds[:-1], bounds[1:]
    labels = np.empty(n, np.int64)
    state = np.array([len(bounds) - 1, 0])
    limits = np.array([span for _, span in cuts])
    while state[0] > 0:
        kernels.split(Z, limits, order, stack, labels, state, 4_000_000)
        progress(Step("clusters", 0.0))
    return labels


def _join(
    space: Mixed,
    labels: NDArray[np.int64],
    same: NDArray[np.int64],
    lines: list[tuple[NDArray[np.float64], float]],
    other: NDArray[np.int64],
    limits: NDArray[np.float64],
    m: int,
    progress: Progress,
) -> NDArray[np.int64]:
    """Let records of small cells join larger ones that they fit; their values do not change."""
    sizes = np.bincount(labels).astype(np.int64)
    small = sizes[labels] <= m
    n, cells = len(labels), len(sizes)
    if not small.any() or cells == 1:
        return labels
    codes = space.codes
    Z = np.ascontiguousarray(np.stack([place for place, _ in lines], axis=1)) if lines else np.empty((n, 0))
    spans = np.array([span for _, span in lines], dtype=np.float64)
    low, high = np.full((cells, Z.shape[1]), np.inf), np.full((cells, Z.shape[1]), -np.inf)
    few = np.array([_is_few(space.fields[k]) for k in other], dtype=np.int64)
    widths = np.where(few == 1, [space.fields[k].levels for k in other], 0).astype(np.int64)
    has = np.zeros((cells, max(int(widths.sum()), 1)), np.int8)
    has_at = np.cumsum(widths) - widths
    rest = (other, few, np.full((cells, len(other)), -1), np.zeros((cells, len(other))), has, has_at)
    kernels.summarize(space.tables, codes, Z, labels, low, high, *rest)
    home = np.empty(cells, np.int64)
    home[labels] = same
    hint = np.lexsort((-sizes, home))
    hint_at = np.searchsorted(home[hint], np.arange(int(home.max()) + 2))
    rows = np.flatnonzero(small)
    rows = rows[np.lexsort((rows, labels[rows], sizes[labels[rows]]))]
    chunk = max(16, 10_000_000 // cells)
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        kernels.adopt(
            space.tables, codes, Z, part, labels, sizes, m, spans, low, high, same, hint, hint_at,
            limits[other], *rest
        )  # fmt: skip
        progress(Step("clusters", min(1.0, (start + chunk) / len(rows))))
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _is_few(field: Field) -> bool:
    return field.levels <= SMALL or field.geometry.table.size > 0
