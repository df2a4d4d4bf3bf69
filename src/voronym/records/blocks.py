"""Clusters of large tables: cut the table into cells within the limits, then let isolated records join.

All pairs are never compared. Columns in which closeness is an equivalence (labels, subtrees) number the
blocks. Columns on a line are cut by their span, which is exactly the largest distance of two members. A
circle is cut open at its widest gap, which can only lengthen distances. A globe is cut as a cube around it.
Few values under any other metric are grouped once, by complete linkage.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import records as kernels
from voronym._kernels.mixed import CIRCLE, DISCRETE, LINE, SPHERE, TREE
from voronym.core import later
from voronym.core.context import Context
from voronym.space.field import SMALL, Field
from voronym.space.mixed import Mixed

fcluster = later.called("scipy.cluster.hierarchy", "fcluster")
linkage = later.called("scipy.cluster.hierarchy", "linkage")
squareform = later.called("scipy.spatial.distance", "squareform")

Ints = NDArray[np.int64]
Place = tuple[NDArray[np.float64], float]
"""Coordinates, and the largest span of a cluster in each."""


def in_blocks(space: Mixed, limits: NDArray[np.float64], m: int, ctx: Context) -> Ints:
    """Return labels of clusters whose members differ by at most the limit in every column."""
    n = len(space.fields[0].codes)
    same = np.zeros(n, np.int64)  # numbers the records that could be in one cluster
    blocks = np.zeros(n, np.int64)  # numbers those that will be cut further, and never put together
    cuts: list[Place] = []
    lines: list[Place] = []
    other: list[int] = []
    for k, field in enumerate(space.fields):
        limit, shape = float(limits[k]), field.geometry.shape
        if limit >= field.far:
            continue
        if shape in (LINE, CIRCLE, SPHERE) and (limit > 0.0 or shape == LINE):
            result = [(place[field.codes], span) for place, span in _places(field, limit)]
            cuts.extend(result)
            if shape == LINE:
                lines.extend(result)
        else:
            blocks = refined(blocks, _classes(field, limit)[field.codes])
            if shape in (DISCRETE, TREE):
                same = refined(same, _classes(field, limit)[field.codes])
        if shape not in (LINE, DISCRETE, TREE):
            other.append(k)
    labels = _cut(blocks, cuts, ctx)
    return _join(space, labels, same, lines, np.array(other, np.int64), limits, m, ctx)


def refined(blocks: Ints, classes: Ints) -> Ints:
    """Return numbers 0, 1, 2, ... for the distinct pairs of two numeric columns."""
    mixed = blocks * (int(classes.max()) + 1) + classes
    return np.asarray(np.unique(mixed, return_inverse=True)[1].reshape(-1), np.int64)


def _classes(field: Field, limit: float) -> Ints:
    """Return classes of levels within the limit of each other; missing is a separate class."""
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


def _cliques(table: NDArray[np.float64], limit: float) -> Ints:
    """Return groups of values within the limit of each other."""
    if len(table) < 2:
        return np.zeros(len(table), np.int64)
    far = np.where(
        table > limit, 2.0 + table / max(float(table.max()), 1e-300), table / max(2.0 * limit, 1e-300)
    )
    np.fill_diagonal(far, 0.0)
    result = fcluster(linkage(squareform((far + far.T) / 2.0, checks=False), "complete"), 1.0, "distance")
    return np.asarray(result - 1, np.int64)


def _places(field: Field, limit: float) -> list[Place]:
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


def _stacked(places: list[Place], n: int) -> kernels.Lines:
    """Return coordinates as columns, and their spans."""
    columns = [place for place, _ in places]
    Z = np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.empty((n, 0))
    return kernels.Lines(Z, np.array([span for _, span in places], dtype=np.float64))


def _cut(blocks: Ints, cuts: list[Place], ctx: Context) -> Ints:
    """Return cells: the blocks, cut until every coordinate is within its span."""
    if not cuts:
        return blocks
    n = len(blocks)
    order = np.argsort(blocks, kind="stable")
    bounds = np.flatnonzero(np.diff(blocks[order], prepend=-1, append=-1))
    stack = np.empty((n + len(bounds) + 2, 2), np.int64)
    stack[: len(bounds) - 1, 0], stack[: len(bounds) - 1, 1] = bounds[:-1], bounds[1:]
    labels = np.empty(n, np.int64)
    state = np.array([len(bounds) - 1, 0])
    lines = _stacked(cuts, n)
    while state[0] > 0:
        kernels.split(lines.places, lines.spans, order, stack, labels, state, 4_000_000)
        ctx.check()
    return labels


def _join(
    space: Mixed,
    labels: Ints,
    same: Ints,
    lines: list[Place],
    other: Ints,
    limits: NDArray[np.float64],
    m: int,
    ctx: Context,
) -> Ints:
    """Let records of small cells join larger cells with room for them; their values do not change."""
    sizes = np.bincount(labels).astype(np.int64)
    small = sizes[labels] <= m
    if not small.any() or len(sizes) == 1:
        return labels
    codes = space.codes
    places = _stacked(lines, len(labels))
    others, cells = _summaries(space, other, limits, (len(sizes), len(lines)))
    kernels.summarize(space.tables, codes, labels, places, others, cells)
    home = np.empty(len(sizes), np.int64)
    home[labels] = same
    order = np.lexsort((-sizes, home))
    hosts = kernels.Hosts(same, order, np.searchsorted(home[order], np.arange(int(home.max()) + 2)))
    rows = np.flatnonzero(small)
    rows = rows[np.lexsort((rows, labels[rows], sizes[labels[rows]]))]
    chunk = max(16, 10_000_000 // len(sizes))
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        kernels.adopt(space.tables, codes, part, labels, sizes, m, places, others, cells, hosts)
        ctx.check()
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _summaries(
    space: Mixed, other: Ints, limits: NDArray[np.float64], shape: tuple[int, int]
) -> tuple[kernels.Others, kernels.Cells]:
    """Return the columns that are no lines, and memory for facts about cells and lines."""
    cells, q = shape
    few = np.array([_is_few(space.fields[k]) for k in other], dtype=np.int64)
    widths = np.where(few == 1, [space.fields[k].levels for k in other], 0).astype(np.int64)
    return (
        kernels.Others(other, few, limits[other], np.cumsum(widths) - widths),
        kernels.Cells(
            np.full((cells, q), np.inf),
            np.full((cells, q), -np.inf),
            np.full((cells, len(other)), -1),
            np.zeros((cells, len(other))),
            np.zeros((cells, max(int(widths.sum()), 1)), np.int8),
        ),
    )


def _is_few(field: Field) -> bool:
    return field.levels <= SMALL or field.geometry.table.size > 0
