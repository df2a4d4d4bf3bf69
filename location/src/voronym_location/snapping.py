"""The published place of a group: on a public grid, near a public address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from voronym_location.globe import RADIUS
from voronym_location.population import Floats, Ints, degrees, points

if TYPE_CHECKING:
    from voronym_location.forming import Crowd


FINE = 2.0
"""The grid of a place is no finer than the rms distance of its homes divided by this, rounded down to a power
of two.

Then an intruder who knows all members of a group but one, and subtracts the others' homes, has about the same
error as the place itself: a sum of n homes is known to n times the rounding."""


def snapped(crowd: Crowd, labels: Ints, groups: int) -> Floats:
    """Return the place of each new group, shape (groups, 2): the mean of its homes, on a public grid."""
    inside = labels >= 0
    sizes = np.maximum(np.bincount(labels[inside], minlength=groups), 1)
    own = crowd.homes[inside]
    sums = [np.bincount(labels[inside], column, groups) / sizes for column in own.T]
    middle = np.stack(sums, axis=1)
    apart = np.square(own - middle[labels[inside]]).sum(axis=1)
    radius = np.sqrt(np.bincount(labels[inside], apart, groups) / sizes)
    width = widths(radius, crowd.settings.grid)
    return inhabited(on_grid(degrees(middle), width), crowd.directory, width, FINE * radius)


def widths(radius: Floats, least: float) -> Floats:
    """Return the grid width for groups of a radius: the least width, doubled as often as allowed.

    Examples
    --------
    >>> widths(np.array([5.0, 90.0, 200.0]), 10.0).tolist()
    [10.0, 40.0, 80.0]
    """
    if least <= 0.0:
        return np.zeros(len(radius))
    times = np.floor(np.log2(np.maximum(radius / (FINE * least), 1.0)))
    return np.asarray(least * 2.0**times)


def on_grid(places: Floats, width: float | Floats) -> Floats:
    """Return the nearest points of a public grid of about ``width`` metres.

    Lines of latitude, and the points on them, are ``width`` apart; 0 means no grid.

    Examples
    --------
    >>> on_grid(np.array([[48.13701, 11.57551]]), 1000.0).round(4).tolist()
    [[48.1406, 11.5768]]
    """
    if not len(places):
        return places
    wide = np.broadcast_to(np.asarray(width, np.float64), len(places))
    step = np.degrees(np.maximum(wide, 1e-3) / RADIUS)
    latitude = np.clip(np.rint(places[:, 0] / step) * step, -90.0, 90.0)
    around = np.maximum(np.rint(360.0 * np.cos(np.radians(latitude)) / step), 1.0)
    longitude = np.rint(places[:, 1] * around / 360.0) * 360.0 / around
    result = np.stack([latitude, np.where(longitude > 180.0, longitude - 360.0, longitude)], axis=1)
    return np.where(wide[:, None] > 0.0, result, places)


def inhabited(places: Floats, directory: Floats | None, width: Floats, reach: Floats) -> Floats:
    """Return each place, or the nearest grid point with a public address next to it, if one is in reach.

    A place in a lake is obviously no home, and useless for providers. Without an address in reach, the
    place stays.
    """
    if directory is None or not len(directory) or not len(places):
        return places
    gap, nearest = cKDTree(points(*directory.T)).query(points(*places.T))
    dry = on_grid(directory[nearest], width)
    move = (gap > width) & (gap <= np.maximum(reach, width))
    return np.where(move[:, None], dry, places)


def candidates(crowd: Crowd, labels: Ints, centroids: Floats) -> int | None:
    """Return the smallest number of public addresses within the reach of a new group; None without any.

    This is the number of possible homes for an intruder who knows the directory, the place, and the
    distance of its people.
    """
    if crowd.directory is None or not len(crowd.directory) or not len(centroids):
        return None
    inside = np.flatnonzero(labels >= 0)
    there = points(*centroids.T)
    reach = np.zeros(len(there))
    apart = np.sqrt(np.square(crowd.homes[inside] - there[labels[inside]]).sum(axis=1))
    np.maximum.at(reach, labels[inside], apart)
    tree = cKDTree(points(*crowd.directory.T))
    return int(tree.query_ball_point(there, reach + 1.0, return_length=True).min())
