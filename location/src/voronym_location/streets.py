"""Streets from a directory of addresses: a line through the houses with the same street name."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from voronym_location.globe import RADIUS, Place

METRES = math.radians(RADIUS)
"""Metres per degree of latitude."""
PIECE = 40.0
"""Length in metres of a piece of a street; its houses give one corner of the street's line."""
GAP = 250.0
"""Metres without a house after which a street of the same name counts as another street."""
_NUMBER = re.compile(
    r"^\s*\d+\s*[a-zA-Z]?\s*,?\s+(?P<after>.+)$|^(?P<before>.+?)[\s,]+\d+\s*[a-zA-Z]?(?:\s*,.*)?$"
)


def street_of(address: str) -> str:
    """Return an address without the house number and the text after it.

    Examples
    --------
    >>> street_of("Station Road 12b, Upper Town"), street_of("12 Station Road"), street_of("The Mill")
    ('Station Road', 'Station Road', 'The Mill')
    """
    match = _NUMBER.match(address)
    return (match["after"] or match["before"]).strip() if match else address.strip()


def streets(rows: Iterable[tuple[str, float, float]], least: int) -> list[tuple[str, list[Place]]]:
    """Return streets with enough houses, as name and line, the longest first.

    A line goes through means of houses on both sides, so it shows no single house. Streets with fewer
    than ``least`` houses are omitted.

    Parameters
    ----------
    rows : iterable of (address, latitude, longitude)
    least : int
        Houses that a street must have.
    """
    houses: dict[str, list[Place]] = defaultdict(list)
    for address, latitude, longitude in rows:
        houses[street_of(address)].append((latitude, longitude))
    result = []
    for name, places in houses.items():
        if len(places) >= least:
            result += [(length, name, line) for length, line in _lines(np.array(places), least)]
    result.sort(key=lambda item: (-item[0], item[1]))
    return [(name, line) for _, name, line in result]


def _lines(places: NDArray[np.float64], least: int) -> list[tuple[float, list[Place]]]:
    """Return the lines of a street and their lengths in metres."""
    middle = places.mean(axis=0)
    scale = np.array([METRES, METRES * max(math.cos(math.radians(middle[0])), 1e-6)])
    flat = (places - middle) * scale
    axis = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2][0]
    along = flat @ axis
    order = np.argsort(along, kind="stable")
    out = []
    for part in np.split(order, np.flatnonzero(np.diff(along[order]) > GAP) + 1):
        if len(part) < least:
            continue
        piece = np.floor((along[part] - along[part[0]]) / PIECE).astype(int)
        corners = np.array([flat[part[piece == entry]].mean(axis=0) for entry in np.unique(piece)])
        if (
            len(corners) > 2
        ):  # houses do not face each other: each corner gives half of itself to its neighbours
            corners[1:-1] = 0.5 * corners[1:-1] + 0.25 * (corners[:-2] + corners[2:])
        length = float(np.sqrt(np.square(np.diff(corners, axis=0)).sum(axis=1)).sum())
        out.append((length, [(float(a), float(b)) for a, b in corners / scale + middle]))
    return [item for item in out if len(item[1]) > 1]
