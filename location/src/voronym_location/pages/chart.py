"""The map of a town: streets, water, a home, and the point that providers see.

Coordinates are metres from the middle of the town, with east to the right and south down; a view is a square.
Nothing is downloaded, because a map service would learn the places that people look at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from voronym.report.svg import escape, num, rect, width
from voronym_location.globe import RADIUS, Place

Corner = tuple[float, float]
"""Metres east and south of the middle."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in metres."""

METRES = math.radians(RADIUS)
"""Metres in a degree of latitude, on the sphere."""
WIDE, NARROW = 640, 320
"""Width of the map on a desktop and on a phone, in pixels, as in the style sheet."""
PIN = (
    '<path d="M0 0C-3-8-11-14-11-23a11 11 0 1 1 22 0C11-14 3-8 0 0Z"/><circle class="dot" cy="-23" r="4.5"/>'
)
RING = '<circle r="13"/><circle class="dot" r="4"/>'
DOT = ('<circle r="6"/>', '<path d="M0-8 8 6H-8Z"/>')
"""The mark of a group's point, and of a selected point; they differ in shape, not only in colour."""
LEAST, MOST = 150.0, 200_000.0
"""Smallest and largest width of a map, in metres."""
EDGE = 89.9


@dataclass(frozen=True)
class Outline:
    """The public facts about a town: its bounds, its inhabited squares, and its streets by name."""

    south: float
    west: float
    north: float
    east: float
    squares: int = 1
    """Number of raster squares along each side."""
    inhabited: tuple[tuple[int, int], ...] = ()
    """Rows from the south and columns from the west of squares with many houses."""
    streets: tuple[tuple[str, tuple[Place, ...]], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Outline:
        """Read an outline from the service's answer."""
        return cls(
            float(given["south"]),
            float(given["west"]),
            float(given["north"]),
            float(given["east"]),
            int(given["squares"]),
            tuple((int(row), int(column)) for row, column in given["inhabited"]),
            tuple((str(name), tuple((a, b) for a, b in line)) for name, line in given.get("streets", ())),
        )

    @property
    def middle(self) -> Place:
        """The origin of metres."""
        return (self.south + self.north) / 2, (self.west + self.east) / 2

    @property
    def whole(self) -> View:
        """A view of the whole town."""
        (left, bottom), (right, top) = self.at((self.south, self.west)), self.at((self.north, self.east))
        return View(*self.middle, 1.06 * max(right - left, bottom - top)).kept()

    def at(self, place: Place) -> Corner:
        """Return a place in metres."""
        lat0, lon0 = self.middle
        return (place[1] - lon0) * METRES * math.cos(math.radians(lat0)), (lat0 - place[0]) * METRES

    def back(self, corner: Corner) -> Place:
        """Return the place of a point in metres."""
        lat0, lon0 = self.middle
        longitude = lon0 + corner[0] / (METRES * math.cos(math.radians(lat0)))
        return min(max(lat0 - corner[1] / METRES, -EDGE), EDGE), (longitude + 540) % 360 - 180


@dataclass(frozen=True)
class View:
    """A square of the map: its centre, and its width in metres."""

    latitude: float
    longitude: float
    span: float

    def kept(self) -> View:
        """Return the view with a drawable width."""
        return replace(self, span=min(max(self.span, LEAST), MOST))

    @property
    def place(self) -> Place:
        """The place in the middle."""
        return self.latitude, self.longitude

    def clicked(self, outline: Outline, x: float, y: float, pixels: float) -> Place:
        """Return the place under a pixel of a map this wide."""
        east, south = outline.at(self.place)
        across = self.span / pixels
        return outline.back((east + (x - pixels / 2) * across, south + (y - pixels / 2) * across))


NOWHERE = Outline(-0.1, -0.1, 0.1, 0.1)
"""The outline of a town without a directory."""


def around(places: Sequence[Place], outline: Outline, least: float = 600.0) -> View:
    """Return a view of these places with space around them."""
    corners = [outline.at(place) for place in places]
    (left, right), (top, bottom) = ((min(c), max(c)) for c in zip(*corners, strict=True))
    middle = outline.back(((left + right) / 2, (top + bottom) / 2))
    return View(*middle, max(least, 1.8 * max(right - left, bottom - top))).kept()


def draw(
    outline: Outline,
    view: View,
    *,
    home: Place | None = None,
    seen: Place | None = None,
    put: bool = True,
    groups: Sequence[tuple[Place, bool]] = (),
    title: str,
    desc: str,
) -> Markup:
    """Draw a part of a town: a home as a pin and its published point as a ring, or the points of groups.

    Parameters
    ----------
    outline : Outline
    view : View
    home, seen : (latitude, longitude), optional
        With both, a dashed line joins them.
    put : bool
        Whether the user placed the pin; otherwise it is invisible, for the script only.
    groups : sequence of (place, bool)
        Points of groups, and whether each is marked.
    title, desc : str
        The text for screen readers.

    Returns
    -------
    Markup
        An SVG element; every text in it is escaped.
    """
    x, y = outline.at(view.place)
    half, unit = view.span / 2, view.span / WIDE
    box = (x - half, y - half, x + half, y + half)
    body = [rect(*box[:2], view.span, view.span, "land"), _blocks(outline, box), _streets(outline, box, unit)]
    if home is not None and seen is not None:
        (a, b), (c, d) = outline.at(home), outline.at(seen)
        body.append(f'<path class="way" d="M{num(a)} {num(b)}L{num(c)} {num(d)}"/>')
    if seen is not None:
        body.append(_mark(outline.at(seen), unit, "seen", RING))
    if home is not None:
        body.append(_mark(outline.at(home), unit, "pin" if put else "pin unset", PIN))
    for place, marked in groups:
        body.append(_mark(outline.at(place), unit, "group tight" if marked else "group", DOT[marked]))
    body.append(_scale(box, unit))
    frame = " ".join(num(value) for value in (*box[:2], view.span, view.span))
    return Markup(  # noqa: S704
        f'<svg class="town" viewBox="{frame}" role="img" aria-labelledby="map-title map-desc">'
        f'<title id="map-title">{escape(title)}</title><desc id="map-desc">{escape(desc)}</desc>'
        f"{''.join(body)}</svg>"
    )


def _mark(at: Corner, unit: float, cls: str, shape: str) -> str:
    return f'<g class="{cls}" transform="translate({num(at[0])} {num(at[1])}) scale({unit:.4g})">{shape}</g>'


def _blocks(outline: Outline, box: Box) -> str:
    """Draw the squares with many houses."""
    (x0, y0), (x1, y1) = outline.at((outline.south, outline.west)), outline.at((outline.north, outline.east))
    wide, high = (x1 - x0) / outline.squares, (y0 - y1) / outline.squares
    left, top, right, bottom = box
    places = ((x0 + column * wide, y0 - (row + 1) * high) for row, column in outline.inhabited)
    body = "".join(
        f"M{num(x)} {num(y)}h{num(wide)}v{num(high)}h-{num(wide)}z"
        for x, y in places
        if left - wide < x < right and top - high < y < bottom
    )
    return f'<path class="blocks" d="{body}"/>' if body else ""


def _streets(outline: Outline, box: Box, unit: float) -> str:
    """Draw streets in their width, with names if there is room."""
    left, top, right, bottom = box
    size, broad = 11.5 * unit, max(9.0, 1.6 * unit)
    lines, names, taken = [], [], [(box[0] + 60 * unit, box[3] - 14 * unit)]
    for number, (name, places) in enumerate(outline.streets):
        line = [outline.at(place) for place in places]
        if len(line) < 2:
            continue
        if line[-1][0] < line[0][0]:
            line.reverse()  # so that names stand upright
        xs, ys = zip(*line, strict=True)
        if max(xs) < left or min(xs) > right or max(ys) < top or min(ys) > bottom:
            continue
        body = "L".join(f"{num(x)} {num(y)}" for x, y in line)
        lines.append(f'<path id="street-{number}" d="M{body}"/>')
        length, (x, y) = _middle(line)
        inside = left < x < right and top < y < bottom
        if (
            inside
            and length > width(name, size) * 1.7
            and all(math.dist((x, y), t) > 70 * unit for t in taken)
        ):
            taken.append((x, y))
            names.append(
                f'<text dy="{num(size * 0.35)}"><textPath href="#street-{number}" startOffset="50%">'
                f"{escape(name)}</textPath></text>"
            )
    if not lines:
        return ""
    return (
        f'<g class="streets" stroke-width="{num(broad)}">{"".join(lines)}</g>'
        f'<g class="names" font-size="{num(size)}" aria-hidden="true">{"".join(names)}</g>'
    )


def _middle(line: Sequence[Corner]) -> tuple[float, Corner]:
    """Return the length of a line, and the point halfway."""
    parts = [math.dist(a, b) for a, b in pairwise(line)]
    length, gone = sum(parts), 0.0
    for (a, b), part in zip(pairwise(line), parts, strict=True):
        if part and gone + part >= length / 2:
            share = (length / 2 - gone) / part
            return length, (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
        gone += part
    return length, line[0]


def _scale(box: Box, unit: float) -> str:
    """Draw a scale bar of a round number of metres, at the lower left."""
    room = 110 * unit
    power = 10 ** math.floor(math.log10(room))
    long = max(step * power for step in (1, 2, 5) if step * power <= room)
    x, y, tick = box[0] + 14 * unit, box[3] - 16 * unit, num(5 * unit)
    result = f"{long:.0f} m" if long < 1000 else f"{long / 1000:.0f} km"
    return (
        f'<g class="scale" font-size="{num(12 * unit)}">'
        f'<path d="M{num(x)} {num(y - 5 * unit)}v{tick}h{num(long)}v-{tick}"/>'
        f'<text x="{num(x + long / 2)}" y="{num(y - 7 * unit)}">{result}</text></g>'
    )
