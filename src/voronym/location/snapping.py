"""Where a group's place is put: on a public grid, and where somebody might live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from voronym.location.population import RADIUS, Floats, Ints, degrees, points

if TYPE_CHECKING:
    from voronym.location.forming import Crowd


def snapped(crowd: Crowd, labels: Ints, groups: int) -> Floats:
    """Return the place of each new group, shape (groups, 2): the mean of its homes, on the grid."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=groups)
    sums = [np.bincount(labels[inside], column, groups) for column in crowd.points[inside].T]
    means = degrees(np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, None])
    return inhabited(on_grid(means, crowd.settings.grid), crowd.directory, crowd.settings.grid)


def on_grid(places: Floats, width: float) -> Floats:
    """Return the nearest points of a grid of about so many metres, which anybody can compute.

    Lines of latitude are ``width`` apart, and so are the points on each of them.

    Examples
    --------
    >>> on_grid(np.array([[48.13701, 11.57551]]), 1000.0).round(4).tolist()
    [[48.1406, 11.5768]]
    """
    if width <= 0.0 or not len(places):
        return places
    step = np.degrees(width / RADIUS)
    latitude = np.clip(np.rint(places[:, 0] / step) * step, -90.0, 90.0)
    around = np.maximum(np.rint(360.0 * np.cos(np.radians(latitude)) / step), 1.0)
    longitude = np.rint(places[:, 1] * around / 360.0) * 360.0 / around
    return np.stack([latitude, np.where(longitude > 180.0, longitude - 360.0, longitude)], axis=1)


def inhabited(places: Floats, directory: Floats | None, width: float) -> Floats:
    """Return each place, or the nearest grid point with a public address beside it where there is none.

    A place in a lake would tell everybody that it is no home, and a provider nothing useful.
    """
    if directory is None or not len(directory) or not len(places):
        return places
    known = np.unique(on_grid(directory, width), axis=0)
    nearest = cKDTree(points(*known.T)).query(points(*places.T))[1]
    return np.asarray(known[nearest])
