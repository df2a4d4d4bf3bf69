"""Distances between original and published places, in metres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.evaluate.pair import Pair, numbers
from voronym.space import Sphere

RADIUS = 6_371_008.8
"""Metres: the mean radius of the earth."""


@dataclass(frozen=True)
class Way(Plain):
    """Distances between the original and the published places of a location, in metres along the globe.

    Parameters
    ----------
    location : str
        The columns, latitude and longitude.
    mean, largest : float
        Over the records that have a place in both tables.
    """

    location: str
    mean: float
    largest: float

    def __str__(self) -> str:
        return f"{self.location}: moved by {self.mean:,.0f} m on average, {self.largest:,.0f} m at most"


def ways(pair: Pair, rows: NDArray[np.int64]) -> tuple[Way, ...]:
    """Return the distances that each location moved; ``rows`` has the original row of each released row."""
    result = []
    for column in pair.schema:
        if column.kind != "location" or column.axis != "lat" or column.partner not in pair.schema:
            continue
        names = (column.name, str(column.partner))
        outcome = [numbers(frame[name]) for frame in (pair.original, pair.released) for name in names]
        known = [item for item in outcome if item is not None]
        if len(known) < len(outcome):
            continue  # published as something else than degrees
        degrees = np.stack([known[0][rows], known[1][rows], known[2], known[3]])
        degrees = degrees[:, np.isfinite(degrees).all(axis=0)]
        latitudes, longitudes = degrees[::2], degrees[1::2]
        if not degrees.size or np.abs(latitudes).max() > 90.0 or np.abs(longitudes).max() > 360.0:
            continue
        far = metres_between(Sphere.from_degrees(*degrees[:2]), Sphere.from_degrees(*degrees[2:]))
        result.append(Way(",".join(names), float(far.mean()), float(far.max())))
    return tuple(result)


def metres_between(X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances along the globe between places given as unit vectors, row by row."""
    lines = np.sqrt(np.square(X - Y).sum(axis=1))
    return np.asarray(2.0 * RADIUS * np.arcsin(np.minimum(1.0, 0.5 * lines)))
