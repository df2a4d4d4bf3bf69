"""Cells of a partition of the plane: points, centroids, and the polygons of a power diagram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.report.plane import cell_colours
from voronym.report.svg import Scale, num, path, picture, text, tick_labels, ticks

SIDE = 340.0
MOST = 4000
Bounds = tuple[float, float, float, float]


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
) -> str:
    """Draw points in the colours of their cells, the cells as polygons, the centroids as large dots.

    Parameters
    ----------
    points : array, shape (n, 2)
        Of more than 4,000 points a fixed sample is shown.
    labels : array of int, shape (n,)
        Cell of each point.
    centroids : array, shape (m, 2)
    bounds : (left, bottom, right, top)
        The frame, which is drawn square; what lies outside is left out.
    polygons : sequence of arrays, shape (c, 2), optional
        Corners of each cell inside the frame, in order; an empty one where the cell is elsewhere.
    edges : bool
        Whether to join each point to its centroid: for cells that are not convex.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> drawn = cells([[0.2, 0.4]], [0], [[0.2, 0.4]], bounds=(0, 0, 1, 1), polygons=[square], title="one")
    >>> drawn.count("<circle"), drawn.count('class="pc')
    (1, 1)
    """
    dots = np.asarray(points, float).reshape(-1, 2)
    own = np.asarray(labels, np.int64)
    middle = np.asarray(centroids, float).reshape(-1, 2)
    x0, y0, x1, y1 = bounds
    marks = [ticks(low, high, 4) for low, high in ((x0, x1), (y0, y1))]
    foot, left = 20.0, 30.0
    x = Scale(x0, x1, left, left + SIDE)
    y = Scale(y0, y1, SIDE + 4, 4)
    colours = _neighbourly(middle)
    body = [f'<rect class="p" x="{num(left)}" y="4" width="{num(SIDE)}" height="{num(SIDE)}"/>']
    for cell, polygon in enumerate(polygons or ()):
        corners = np.asarray(polygon, float).reshape(-1, 2)
        body.append(path([(x(a), y(b)) for a, b in corners], f"pc c{colours[cell]}", closed=True))
    inside = np.all((dots >= [x0, y0]) & (dots <= [x1, y1]), axis=1)
    shown = _sample(np.flatnonzero(inside))
    if edges:
        body += _edges(dots, own, middle, shown, colours, x, y)
    weight = "dl" if len(shown) <= 50 else "d" if len(shown) <= 400 else "ds"
    for colour in range(8):
        members = shown[np.isin(own[shown], [cell for cell, c in colours.items() if c == colour])]
        spots = "".join(f"M{num(x(a))} {num(y(b))}h0" for a, b in dots[members])
        if spots:
            body.append(f'<path class="{weight} c{colour}" d="{spots}"/>')
    radius = 4.2 if len(middle) <= 20 else 3.2 if len(middle) <= 40 else 2.6
    for cell, (a, b) in enumerate(middle):
        if x0 <= a <= x1 and y0 <= b <= y1:
            place = f'cx="{num(x(a))}" cy="{num(y(b))}" r="{num(radius)}"'
            body.append(f'<circle class="cc c{colours[cell]}" {place}/>')
    body.append(f'<rect class="pf" x="{num(left)}" y="4" width="{num(SIDE)}" height="{num(SIDE)}"/>')
    for value, label in zip(marks[0], tick_labels(marks[0]), strict=True):
        body.append(text(x(value), SIDE + foot - 1, label, "t q", "middle"))
    for value, label in zip(marks[1], tick_labels(marks[1]), strict=True):
        body.append(text(left - 4, y(value) + 4, label, "t q", "end"))
    return picture(left + SIDE + 10, SIDE + 4 + foot, body, title=title, desc=desc)


def _neighbourly(middle: NDArray[np.float64]) -> dict[int, int]:
    """Colour the cells from the middle outwards, so that the crowded ones choose first."""
    order = np.argsort(np.square(middle - np.median(middle, axis=0)).sum(axis=1), kind="stable")
    return cell_colours(middle, order)


def _sample(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(rows) <= MOST:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))


def _edges(
    dots: NDArray[np.float64],
    own: NDArray[np.int64],
    middle: NDArray[np.float64],
    shown: NDArray[np.int64],
    colours: dict[int, int],
    x: Scale,
    y: Scale,
) -> list[str]:
    out = []
    for cell in np.unique(own[shown]):
        a, b = middle[cell]
        centre = f"L{num(x(a))} {num(y(b))}"
        spokes = "".join(f"M{num(x(p))} {num(y(q))}{centre}" for p, q in dots[shown[own[shown] == cell]])
        out.append(f'<path class="pe c{colours[int(cell)]}" d="{spokes}"/>')
    return out
