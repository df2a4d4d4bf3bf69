"""Distances of people from their place, by the density around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from voronym_location.epochs import Epoch
from voronym_location.population import Population, points

PARTS = ("most thinly", "rather thinly", "rather densely", "most densely")
SAMPLE = 20_000
"""Most people examined."""


def by_density(people: Population, made: Epoch, k: int) -> list[dict[str, Any]]:
    """Return the rms distance from home for four equal parts of the people, by density around their home.

    Density is measured by the distance to the k-th neighbour.

    Parameters
    ----------
    people : Population
    made : Epoch
        The epoch of these people.
    k : int

    Returns
    -------
    list of dict
        ``settled`` in words; ``people``; ``metres``. Empty if a quarter would be only a group or two.
    """
    served = np.flatnonzero(made.group >= 0)
    quarter = len(served) // len(PARTS)
    if quarter < 3 * k:
        return []
    homes = people.points
    rows = np.random.default_rng(0).choice(served, min(SAMPLE, len(served)), replace=False)
    reach = cKDTree(homes).query(homes[rows], [k])[0][:, 0]
    at = np.searchsorted(made.standing.groups, made.group[rows])
    off = np.square(homes[rows] - points(*made.standing.centroids[at].T)).sum(axis=1)
    order = np.argsort(-reach, kind="stable")
    return [
        {"settled": name, "people": quarter, "metres": round(float(np.sqrt(off[part].mean())))}
        for name, part in zip(PARTS, np.array_split(order, len(PARTS)), strict=True)
    ]
