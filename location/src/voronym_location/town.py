"""Made-up towns: homes along streets, a lake, a river, pharmacies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym_location.globe import RADIUS
from voronym_location.population import Floats

SIDE = 10_000.0
"""Metres across a town."""
CENTRES = 40
"""Number of quarters of a town."""
MIDDLE = (48.137, 11.575)
"""The centre of towns on the globe, in degrees."""


@dataclass(frozen=True, eq=False)
class Town:
    """A town on the globe. Places are rows of latitude and longitude, in degrees.

    Parameters
    ----------
    homes : array, shape (n, 2)
        Homes of the town, more than are in use at a time, so that people can join.
    pharmacies : array, shape (p, 2)
        Places that a provider knows.
    water : tuple of arrays, shape (corners, 2)
        The outlines of lakes; nobody lives there.
    streets : tuple of arrays, shape (2, 2)
        Straight streets, from end to end.
    side : float
        Metres across.
    """

    homes: Floats
    pharmacies: Floats
    water: tuple[Floats, ...]
    streets: tuple[Floats, ...]
    side: float

    @classmethod
    def make(cls, homes: int, *, seed: int = 0, side: float = SIDE, centres: int = CENTRES) -> Town:
        """Generate a town: quarters of different sizes and densities, and a lake among them.

        Examples
        --------
        >>> town = Town.make(1000, seed=1)
        >>> town.homes.shape, len(town.pharmacies)
        ((1000, 2), 12)
        """
        rng = np.random.default_rng(seed)
        middle = rng.uniform(0.0, side, (centres, 2))
        weight = rng.dirichlet(np.full(centres, 0.6))
        spread = rng.uniform(0.012, 0.07, centres) * side
        lake = rng.uniform(0.3, 0.7, 2) * side
        reach = rng.uniform(0.05, 0.09, 2) * side
        quarter = rng.choice(centres, homes, p=weight)
        places = np.clip(middle[quarter] + rng.normal(size=(homes, 2)) * spread[quarter, None], 0.0, side)
        places = _ashore(places, lake, reach, rng)
        angles = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
        shore = lake + reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        shops = places[rng.choice(homes, min(homes, 12), replace=False)] + rng.normal(
            0.0, 60.0, (min(homes, 12), 2)
        )
        roads = [middle[[item, two]] for item, two in _roads(middle)]
        return cls(
            _globe(places, side),
            _globe(shops, side),
            (_globe(shore, side),),
            tuple(_globe(road, side) for road in roads),
            side,
        )


def _ashore(places: Floats, lake: Floats, reach: Floats, rng: np.random.Generator) -> Floats:
    """Move homes out of the lake, away from its centre, to just beyond its shore."""
    apart = (places - lake) / reach
    far = np.sqrt(np.square(apart).sum(axis=1))
    beyond = 1.02 + 0.2 * rng.random(len(places))
    out = places.copy()
    wet = far < 1.02
    out[wet] = lake + reach * apart[wet] / np.maximum(far[wet], 1e-9)[:, None] * beyond[wet, None]
    return out


def _roads(middle: Floats) -> list[tuple[int, int]]:
    """Return the shortest roads that connect all quarters."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import cdist

    tree = minimum_spanning_tree(cdist(middle, middle)).tocoo()
    return [(int(item), int(two)) for item, two in zip(tree.row, tree.col, strict=True)]


def _globe(places: Floats, side: float) -> Floats:
    """Return metres from a corner of the town as degrees."""
    north = (places[:, 1] - side / 2.0) / RADIUS
    east = (places[:, 0] - side / 2.0) / (RADIUS * np.cos(np.radians(MIDDLE[0])))
    return np.stack([MIDDLE[0] + np.degrees(north), MIDDLE[1] + np.degrees(east)], axis=1)
