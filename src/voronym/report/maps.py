"""Drawings of records in the plane: groups, records before and after, cells of a power diagram."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from voronym.dossier.parts import Cloud, GroupMap, Point, ShiftMap
from voronym.report.axes import Axes, Axis
from voronym.report.svg import circle, escape, line, num, path, rect, spots, text

MANY, HEX = 400, 7.0
"""Above this number of circles hexagons are drawn; and the length of their sides, in pixels."""
MOST_CELL_POINTS = 4000
MOST_WAYS = 80
_SIDE = 340.0
Bounds = tuple[float, float, float, float]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _ground(
    points: Iterable[Point], axes: tuple[str, str], *, height: float, far: float, core: float
) -> Axes:
    """Return axes over nearly all points; outliers are drawn at the border."""
    listed = list(points)
    return Axes(
        Axis.around((a for a, _ in listed), axes[0], far=far, core=core),
        Axis.around((b for _, b in listed), axes[1], far=far, core=core),
        height=height,
        top=12,
        right=12,
        bottom=32,
        left=12,
    ).panel()


def cloud(result: Cloud, *, title: str, desc: str = "") -> Markup:
    """Draw published combinations of keys as circles, with areas by the number of records.

    Many circles would overlap, so the plane is then tiled with hexagons. A stronger colour means more
    records: darker on light ground, brighter on dark ground.
    """
    axes = _ground(result.points, result.axes, height=340, far=0.15, core=0.5)
    if len(result.points) > MANY:
        middles, counts = hexagons(np.array(axes.at(result.points)), np.array(result.sizes))
        turns = np.radians(np.arange(30.0, 390.0, 60.0))
        edge = HEX * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        for middle, count in zip(middles, counts, strict=True):
            shade = max(0.1, round(math.sqrt(count / counts.max()), 1))
            corner = "L".join(f"{num(x)} {num(y)}" for x, y in middle + edge)
            axes.add(f'<path class="hm" fill-opacity="{shade}" d="M{corner}Z"/>')
        axes.add(text(axes.width - 6, 15, f"strongest colour: {counts.max():,} records", "t", "end"))
        return axes.draw(title, desc)
    largest = max(result.sizes, default=1)
    grow = 5.0 if largest > 3 else 0.8  # hardly any are shared: many small ones
    for (x, y), size in zip(axes.at(result.points), result.sizes, strict=True):
        axes.add(circle(x, y, 1.6 + grow * math.sqrt(size / largest), "u"))
    return axes.draw(title, desc)


def hexagons(places: Floats, sizes: Ints) -> tuple[Floats, Ints]:
    """Return the centres of the occupied hexagons of a tiling, and the number of records in each.

    Examples
    --------
    >>> middles, counts = hexagons(np.array([[0.0, 0.0], [1.0, 1.0], [90.0, 0.0]]), np.array([5, 6, 7]))
    >>> counts.tolist()
    [11, 7]
    """
    step = HEX * np.array([math.sqrt(3.0), 3.0])  # of one of the two grids whose points are middles
    grids = np.stack([np.rint(places / step) * step, (np.floor(places / step) + 0.5) * step])
    nearer = np.square(grids - places).sum(axis=2).argmin(axis=0)
    own = grids[nearer, np.arange(len(places))]
    middles, at = np.unique(np.round(own, 6), axis=0, return_inverse=True)
    return middles, np.bincount(at.reshape(-1), sizes).astype(np.int64)


def groups(group_map: GroupMap, *, title: str, desc: str = "") -> Markup:
    """Draw records as dots, their groups as tinted hulls and the groups' centres as rings."""
    axes = _ground((*group_map.points, *group_map.centres), group_map.axes, height=340, far=0.15, core=0.5)
    own, places = np.array(group_map.labels), np.array(axes.at(group_map.points))
    shown = np.unique(own)
    colours = tints(np.array(group_map.centres), shown)
    members = [np.flatnonzero(own == group) for group in shown]
    if group_map.dimensions > 1:
        for group, rows in zip(shown, members, strict=True):
            axes.add(path(corners(places[rows]), f"h c{colours[int(group)]}", closed=True))
    for group, rows in zip(shown, members, strict=True):
        axes.add(spots(map(tuple, places[rows]), f"d c{colours[int(group)]}"))
    axes.add(*(circle(x, y, 1.8, "o") for x, y in axes.at(group_map.centres)))
    return axes.draw(title, desc)


def shift(shift_map: ShiftMap, *, words: tuple[str, str], title: str) -> Markup:
    """Draw records at their original and at their published places, side by side, with a caption each.

    Coloured groups have hulls. Marked records have a ring, and a line from their published to their
    original place.
    """
    marked, own = np.array(shift_map.marked, int), np.array(shift_map.groups)
    shown = np.unique(own[own >= 0])
    after = np.array(shift_map.after)
    middle = np.zeros((int(shown.max(initial=0)) + 1, 2))
    for group in shown:
        middle[group] = after[own == group].mean(axis=0)
    colours = tints(middle, shown)
    calm = np.setdiff1d(np.arange(len(own)), marked)
    drawn = []
    for name, points, item in zip(
        ("Before", "After"), (shift_map.before, shift_map.after), words, strict=True
    ):
        axes = _ground((*shift_map.before, *shift_map.after), shift_map.axes, height=322, far=0.6, core=1.0)
        places = np.array(axes.at(points))
        axes.add(spots(map(tuple, places[own < 0]), "dg"))
        for group in shown:
            rows = calm[own[calm] == group]
            axes.add(path(corners(places[rows]), f"h c{colours[int(group)]}", closed=True))
        for group in shown:
            axes.add(spots(map(tuple, places[own == group]), f"d c{colours[int(group)]}"))
        if name == "After":
            for row in marked[:MOST_WAYS]:
                (x0, y0), (x1, y1) = axes.at([shift_map.before[row]])[0], places[row]
                axes.add(line(x0, y0, x1, y1, "mv"))
        axes.add(*(circle(a, b, 3.2, "x") for a, b in places[marked]))
        drawn.append((axes.draw(f"{title}: {name.lower()}", item), f"{name}.", item))
    return panels(drawn)


def panels(drawn: Sequence[tuple[str, str, str]]) -> Markup:
    """Put drawings next to each other, each with a name and a few words under it."""
    made = (
        f'<div class="panel">{figure}<p><strong>{escape(name)}</strong> {escape(words)}</p></div>'
        for figure, name, words in drawn
    )
    return Markup(f'<div class="panels">{"".join(made)}</div>')  # noqa: S704


def cells(
    points: ArrayLike,
    labels: ArrayLike,
    centroids: ArrayLike,
    *,
    bounds: Bounds,
    polygons: Sequence[ArrayLike] | None = None,
    edges: bool = False,
    title: str,
    desc: str = "",
) -> Markup:
    """Draw points in the colours of their cells, the cells as polygons, the centroids as large dots.

    Parameters
    ----------
    points : array, shape (n, 2)
        Above 4,000 points, a fixed sample is shown.
    labels : array of int, shape (n,)
        Cell of each point.
    centroids : array, shape (m, 2)
    bounds : (left, bottom, right, top)
        The frame, which is drawn square; points outside are omitted.
    polygons : sequence of arrays, shape (c, 2), optional
        Corners of each cell inside the frame, in order; empty for a cell outside.
    edges : bool
        Whether to join each point to its centroid: for cells that are not convex.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> drawn = cells([[0.2, 0.4]], [0], [[0.2, 0.4]], bounds=(0, 0, 1, 1), polygons=[square], title="one")
    >>> drawn.count("<circle"), drawn.count('class="pc')
    (1, 1)
    """
    dots, middle = (np.asarray(given, float).reshape(-1, 2) for given in (points, centroids))
    own = np.asarray(labels, np.int64)
    x0, y0, x1, y1 = bounds
    axes = Axes(
        Axis.numbers(x0, x1, count=4),
        Axis.numbers(y0, y1, count=4),
        width=_SIDE + 40,
        height=_SIDE + 24,
        top=4,
        right=10,
        bottom=20,
        left=30,
    )
    frame = (axes.left, axes.top, _SIDE, _SIDE)
    axes.add(rect(*frame, "p"))
    order = np.argsort(np.square(middle - np.median(middle, axis=0)).sum(axis=1), kind="stable")
    colours = tints(middle, order)  # from the middle outwards, so that the crowded ones choose first
    for cell, polygon in enumerate(polygons or ()):
        corners = np.asarray(polygon, float).reshape(-1, 2)
        axes.curve([(a, b) for a, b in corners], f"pc c{colours[cell]}", closed=True)
    shown = _sample(np.flatnonzero(np.all((dots >= [x0, y0]) & (dots <= [x1, y1]), axis=1)))
    for cell in np.unique(own[shown]) if edges else ():
        (a, b), *ends = axes.at([middle[cell], *dots[shown[own[shown] == cell]]])
        spokes = "".join(f"M{num(p)} {num(q)}L{num(a)} {num(b)}" for p, q in ends)
        axes.add(f'<path class="pe c{colours[int(cell)]}" d="{spokes}"/>')
    weight = "dl" if len(shown) <= 50 else "d" if len(shown) <= 400 else "ds"
    for colour in range(8):
        members = shown[np.isin(own[shown], [cell for cell, c in colours.items() if c == colour])]
        axes.add(spots(axes.at(dots[members]), f"{weight} c{colour}"))
    radius = 4.2 if len(middle) <= 20 else 3.2 if len(middle) <= 40 else 2.6
    for cell, (a, b) in enumerate(middle):
        if x0 <= a <= x1 and y0 <= b <= y1:
            axes.add(circle(axes.x(a), axes.y(b), radius, f"cc c{colours[cell]}"))
    axes.add(rect(*frame, "pf"))
    axes.ticks()
    return axes.draw(title, desc)


def tints(middle: Floats, shown: Ints) -> dict[int, int]:
    """Give each group a tint that its nearest coloured neighbours do not have."""
    colours: dict[int, int] = {}
    for group in shown.tolist():
        near = list(colours)
        if len(shown) > 1500 or not near:
            colours[group] = group % 8
            continue
        distance = np.square(middle[near] - middle[group]).sum(axis=1)
        taken = [colours[near[i]] for i in np.argsort(distance, kind="stable")[:7]]
        colours[group] = next((c for c in range(8) if c not in taken), group % 8)
    return colours


def hull(points: Floats) -> Floats:
    """Return the corners of the convex hull, shape (c, 2); for points on a line, the two ends.

    Examples
    --------
    >>> len(hull(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]])))
    3
    """
    distinct = np.unique(points, axis=0)
    if len(distinct) < 3:
        return distinct if len(distinct) == 2 else distinct[:0]
    try:
        return np.asarray(distinct[ConvexHull(distinct).vertices])
    except QhullError:
        return distinct[[0, -1]]  # sorted by np.unique, so these are the ends


def corners(places: Floats) -> list[Point]:
    """Return the corners of the outline around places."""
    return [(float(a), float(b)) for a, b in hull(np.round(places.reshape(-1, 2), 1))]


def _sample(rows: Ints) -> Ints:
    if len(rows) <= MOST_CELL_POINTS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST_CELL_POINTS, replace=False))
