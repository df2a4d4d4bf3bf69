"""Places on the globe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym._kernels.mixed import SPHERE
from voronym.errors import InputError
from voronym.space.metrics.base import Geometry, metric

EARTH = 6371.0088  # mean radius, in km


@metric("geographic")
@dataclass(frozen=True)
class Geographic:
    """Kilometres along the great circle between two pairs (latitude, longitude), in degrees.

    Its centroid is the place of the table with the least sum of distances.

    Examples
    --------
    From the equator to a pole it is a quarter of the way around.

    >>> from voronym.space.metrics import pairwise
    >>> import numpy as np
    >>> made = Geographic().geometry(np.array([[0.0, 10.0], [90.0, 0.0]]), "home")
    >>> round(pairwise(made, np.array(0), np.array(1)).item())
    10008
    """

    name: ClassVar[str] = "geographic"

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the places as points on the unit sphere."""
        degrees = np.asarray(values, dtype=np.float64).reshape(-1, 2)
        for axis, (low, high) in enumerate(((-90.0, 90.0), (-180.0, 360.0))):
            outside = int((~((degrees[:, axis] >= low) & (degrees[:, axis] <= high))).sum())
            if outside:
                raise InputError(
                    f"location {column!r} has {outside} distinct values outside {low:g}..{high:g} degrees; "
                    "check the order (latitude, longitude) and the unit"
                )
        phi, theta = np.radians(degrees).T
        points = np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)
        far = 1.0
        if len(points):
            chord = np.sqrt(np.square(points - points[0]).sum(axis=1)).max()
            reach = 2.0 * math.asin(min(1.0, chord / 2.0))
            far = EARTH * min(math.pi, 2.0 * reach) or 1.0  # twice the radius around any place: a diameter
        return Geometry(SPHERE, points, far, EARTH)
