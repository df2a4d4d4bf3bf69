"""Maps of a quantizer's cells as SVG: cells and their centroids."""

from __future__ import annotations

from collections.abc import Callable
from colorsys import hls_to_rgb
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voronym.quantize.quantizer import Quantizer
from voronym.space import Sphere

WIDE = 720  # pixels
NUMBERED = 100  # cells up to which each has its number
METRES = 111_195.08  # of a degree of latitude on the sphere
GRID = 180  # squares in a row, where borders are not straight

Box = tuple[float, float, float, float]
Placing = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def cell_map(
    quantizer: Quantizer,
    box: Box,
    *,
    title: str = "Cells",
    first: int = 0,
    points: NDArray[np.float64] | None = None,
) -> str:
    """Return a map of the cells within (left, bottom, right, top), as the text of an SVG file.

    In the plane, with straight borders, cells are polygons. On the sphere the box is in degrees,
    longitude and latitude, and cells are drawn as small squares. Dots are the centroids; up to a hundred
    cells are numbered, from ``first``. A bar shows a round length: metres on the sphere, units of the
    columns in the plane. Points of people are drawn only if ``points`` gives them, in the coordinates of
    the box. Do not publish such a map.

    Examples
    --------
    >>> text = cell_map(Quantizer([[0.0, 0.0], [1.0, 0.0]]), (0.0, 0.0, 1.0, 1.0))
    >>> text.count("<polygon"), text.count("<circle")
    (2, 2)
    """
    left, bottom, right, top = box
    globe = isinstance(quantizer.space, Sphere)
    scale = WIDE / (right - left)
    if globe:  # a degree of longitude is shorter than one of latitude
        scale /= max(0.1, float(np.cos(np.radians(0.5 * (bottom + top)))))
    tall = min(4.0 * WIDE, max(0.1 * WIDE, scale * (top - bottom)))

    def place(points: NDArray[np.float64]) -> NDArray[np.float64]:
        x = (points[:, 0] - left) / (right - left) * WIDE
        return np.column_stack([x, (top - points[:, 1]) / (top - bottom) * tall])

    shapes = _squares(quantizer, box, tall) if globe else _polygons(quantizer, box, place, first)
    centres = quantizer.centroids
    if globe:
        latitude, longitude = Sphere.to_degrees(centres)
        centres = np.column_stack([longitude, latitude])
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>cell {cell}</title></circle>'
        + (f'<text x="{x + 6:.1f}" y="{y + 5:.1f}">{cell}</text>' if len(centres) <= NUMBERED else "")
        for cell, (x, y) in enumerate(place(centres), first)
    ]
    people = (
        []
        if points is None
        else [
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="1.5" fill="#222" fill-opacity="0.55"/>'
            for x, y in place(np.asarray(points, np.float64))
        ]
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {tall:.0f}" role="img" '
            'font-family="sans-serif" font-size="15">',
            f"<title>{_escaped(title)}</title>",
            *shapes,
            *people,
            *dots,
            _bar(right - left, tall, 0.5 * (bottom + top) if globe else None),
            "</svg>\n",
        ]
    )


def _bar(across: float, tall: float, latitude: float | None) -> str:
    """Return a scale bar of a round length at the lower left, labelled."""
    if latitude is not None:
        across *= METRES * max(0.1, float(np.cos(np.radians(latitude))))
    room = across / 5
    power = 10.0 ** np.floor(np.log10(room))
    length = max(step * power for step in (1, 2, 5) if step * power <= room)
    label = f"{length:g}"
    if latitude is not None:
        label = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    long, y = length / across * WIDE, tall - 14
    return (
        f'<g class="scale"><path d="M14 {y - 6:.1f}v6h{long:.1f}v-6" fill="none" stroke="#111" '
        f'stroke-width="1.5"/><text x="{14 + long + 6:.1f}" y="{y:.1f}">{label}</text></g>'
    )


def _polygons(quantizer: Quantizer, box: Box, place: Placing, first: int) -> list[str]:
    out = []
    for cell, corners in enumerate(quantizer.diagram(box)):
        if len(corners):
            drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in place(corners))
            out.append(
                f'<polygon points="{drawn}" fill="{_colour(cell)}" stroke="#444" stroke-width="1">'
                f"<title>cell {first + cell}</title></polygon>"
            )
    return out


def _squares(quantizer: Quantizer, box: Box, tall: float) -> list[str]:
    """Return one rectangle per row for each run of squares of the same cell."""
    left, bottom, right, top = box
    x = left + (np.arange(GRID) + 0.5) / GRID * (right - left)
    rows = max(1, round(GRID * tall / WIDE))
    side, height = WIDE / GRID, tall / rows
    out = []
    for row in range(rows):
        y = np.full(GRID, top - (row + 0.5) / rows * (top - bottom))
        cells = quantizer.assign(Sphere.from_degrees(y, x))
        edges = np.concatenate([[0], np.flatnonzero(np.diff(cells)) + 1, [GRID]])
        out += [
            f'<rect x="{side * a:.1f}" y="{height * row:.1f}" width="{side * (b - a) + 0.2:.1f}" '
            f'height="{height + 0.2:.1f}" shape-rendering="crispEdges" fill="{_colour(int(cells[a]))}"/>'
            for a, b in pairwise(edges)
        ]
    return out


def _colour(cell: int) -> str:
    red, green, blue = hls_to_rgb((0.61803398875 * cell) % 1.0, 0.82, 0.5)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
