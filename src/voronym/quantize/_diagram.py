"""The cells of a quantizer in the plane, as polygons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.space import SPACES, Space


def polygons(
    centroids: NDArray[np.float64],
    costs: NDArray[np.float64],
    space: Space,
    bounds: tuple[float, float, float, float],
) -> list[NDArray[np.float64]]:
    """Return the polygon of each cell within (left, bottom, right, top), counter-clockwise.

    A cell starts as the rectangle. While one of its corners is nearer to another cell, it is cut at the
    border with the nearest cell there. So few cuts are needed, whatever the number of cells.
    """
    if centroids.shape[1] != 2 or not space.quadratic:
        straight = [name for name, kind in SPACES.items() if kind.quadratic]
        raise InputError(
            f"a diagram is drawn in the plane and where borders are straight ({', '.join(straight)}); "
            f"this quantizer has {centroids.shape[1]} coordinates, {space.name}"
        )
    try:
        left, bottom, right, top = (float(value) for value in bounds)
    except (TypeError, ValueError, OverflowError):
        left = bottom = right = top = np.nan
    if not (left < right and bottom < top and np.isfinite([left, bottom, right, top]).all()):
        raise InputError(
            "bounds are four finite numbers (left, bottom, right, top), with left < right and bottom < top"
        )
    box = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    keys = np.column_stack([centroids, costs])
    first = np.unique(keys, axis=0, return_index=True)[1]  # a twin of an earlier cell never gets a point
    out = [np.empty((0, 2))] * len(costs)
    tiny = 1e-12 * (space.cost(box, centroids).max() + np.ptp(costs))
    for q in np.sort(first):
        out[q] = _cell(int(q), box, centroids, costs, space, float(tiny))
    return out


def _cell(
    q: int,
    corners: NDArray[np.float64],
    centroids: NDArray[np.float64],
    costs: NDArray[np.float64],
    space: Space,
    tiny: float,
) -> NDArray[np.float64]:
    near = np.argsort(space.cost(centroids[q : q + 1], centroids)[0], kind="stable")
    for others in (near[:32], near):  # cells nearby make nearly all the cuts; then all have their say
        others = others[others != q]
        while len(others) and len(corners):
            own = space.cost(corners, centroids[q : q + 1])[:, 0] + costs[q]
            excess = own[:, None] - space.cost(corners, centroids[others]) - costs[others]
            worst = int(np.argmax(excess.max(axis=0)))
            if excess[:, worst].max() <= tiny:
                break
            corners = _clip(corners, excess[:, worst])
            others = np.delete(others, worst)
    return corners


def _clip(corners: NDArray[np.float64], side: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the part of a convex polygon on which an affine function (given at its corners) is <= 0."""
    out = []
    for i in range(len(corners)):
        j = (i + 1) % len(corners)
        if side[i] <= 0:
            out.append(corners[i])
        if (side[i] < 0 < side[j]) or (side[j] < 0 < side[i]):
            t = side[i] / (side[i] - side[j])
            out.append(corners[i] + t * (corners[j] - corners[i]))
    return np.array(out) if len(out) > 2 else np.empty((0, 2))
