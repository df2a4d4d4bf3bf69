"""Places on the globe, and their distances."""

from __future__ import annotations

import math

RADIUS = 6_371_008.8
"""Mean radius of the earth, in metres."""
Place = tuple[float, float]
"""Latitude and longitude in degrees."""


def metres(a: Place, b: Place) -> float:
    """Return the distance between two places on the sphere.

    Examples
    --------
    >>> round(metres((48.0, 11.0), (48.001, 11.0)))
    111
    """
    (p, q), (r, s) = (tuple(map(math.radians, place)) for place in (a, b))
    half = math.sin((r - p) / 2) ** 2 + math.cos(p) * math.cos(r) * math.sin((s - q) / 2) ** 2
    return 2 * RADIUS * math.asin(min(1.0, math.sqrt(half)))
