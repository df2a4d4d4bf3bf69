"""A map of places with degrees and a scale, built-in outlines, and no network."""

from __future__ import annotations

import math

import numpy as np
from markupsafe import Markup

from voronym.dossier.places import PlaceMap
from voronym.report.axes import WIDE, Axes, Axis
from voronym.report.maps import corners, tints
from voronym.report.svg import circle, line, path, rect, spots, text, ticks

KM = 111.32
"""Kilometres in a degree of latitude."""
MOST_OUTLINES = 200


def atlas(place_map: PlaceMap, *, title: str, desc: str = "") -> Markup:
    """Draw published places as circles, with areas by the number of records.

    If original places are given, they are dots inside their outline, in the colour of their published
    place.
    """
    every = [*place_map.places, *(place for place, _ in place_map.originals)]
    lon, lat = np.array([p[0] for p in every]), np.array([p[1] for p in every])
    low, high = (np.array([lon.min(), lat.min()]), np.array([lon.max(), lat.max()]))
    room = np.maximum(0.04 * (high - low), 1e-4)
    low, high = low - room, high + room
    squeeze = math.cos(math.radians(float(lat.mean())))
    shape = (high[1] - low[1]) / max((high[0] - low[0]) * squeeze, 1e-9)
    if shape < 0.45:  # a strip: show more to the north and south rather than stretch
        more = (0.45 / shape - 1) * (high[1] - low[1]) / 2
        low[1], high[1], shape = low[1] - more, high[1] + more, 0.45
    elif shape > 1.2:
        more = (shape / 1.2 - 1) * (high[0] - low[0]) / 2
        low[0], high[0], shape = low[0] - more, high[0] + more, 1.2
    axes = Axes(
        Axis(float(low[0]), float(high[0])),
        Axis(float(low[1]), float(high[1])),
        height=12 + shape * (WIDE - 58) + 24,
        top=8,
        right=8,
        bottom=28,
        left=50,
    )
    axes.add(rect(axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top, "p"))
    _degrees(axes, low, high)
    region = corners(np.array(axes.at(every)))
    axes.add(path(region, "land", closed=True))
    if place_map.originals:
        _originals(axes, place_map)
    largest = max(place_map.sizes)
    grow = 5.0 if len(place_map.places) <= 400 else 2.5
    for (x, y), size in zip(axes.at(place_map.places), place_map.sizes, strict=True):
        radius = 1.4 + grow * math.sqrt(size / largest)
        look = "o" if place_map.originals else "u"
        axes.add(circle(x, y, 2.0 if place_map.originals else radius, look, f"{size:,} records"))
    _scale(axes, squeeze)
    return axes.draw(title, desc)


def _originals(axes: Axes, place_map: PlaceMap) -> None:
    own = np.array([label for _, label in place_map.originals])
    at = np.array(axes.at([place for place, _ in place_map.originals]))
    shown = np.unique(own)
    colours = tints(np.array(place_map.places), shown)
    for label in shown[:MOST_OUTLINES]:
        axes.add(path(corners(at[own == label]), f"h c{colours[int(label)]}", closed=True))
    for label in shown:
        axes.add(spots(map(tuple, at[own == label]), f"d c{colours[int(label)]}"))


def _degrees(axes: Axes, low: np.ndarray, high: np.ndarray) -> None:
    """Draw a few meridians and parallels, with their degrees."""
    for value in ticks(float(low[0]), float(high[0]), 4):
        axes.add(line(axes.x(value), axes.top, axes.x(value), axes.bottom, "gr"))
        axes.add(text(axes.x(value), axes.bottom + 14, _degree(value, "E", "W"), "t q", "middle"))
    for value in ticks(float(low[1]), float(high[1]), 4):
        axes.add(line(axes.left, axes.y(value), axes.right, axes.y(value), "gr"))
        axes.add(text(axes.left - 4, axes.y(value) + 4, _degree(value, "N", "S"), "t q", "end"))


def _degree(value: float, plus: str, minus: str) -> str:
    return f"{abs(value):.4g}° {plus if value >= 0 else minus}"


def _scale(axes: Axes, squeeze: float) -> None:
    """Draw a bar of a round number of kilometres."""
    across = (axes.across.high - axes.across.low) * KM * squeeze
    power = 10.0 ** math.floor(math.log10(across / 4))
    length = max(f * power for f in (1, 2, 5) if f * power <= across / 4)
    units = length / across * (axes.right - axes.start)
    words = f"{length:g} km" if length >= 1 else f"{1000 * length:g} m"
    x, y = axes.right - units - 8, axes.bottom - 8
    axes.add(line(x, y, x + units, y, "sc"))
    axes.add(text(x + units / 2, y - 5, words, "t s", "middle"))
