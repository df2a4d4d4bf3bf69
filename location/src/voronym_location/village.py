"""A made-up small town with streets, addresses and pharmacies, for demonstrations and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym_location.globe import RADIUS
from voronym_location.population import Floats

MIDDLE = (48.2716, 11.4684)
SIDE = 1500.0
"""Width of the town in metres."""
BLOCK = 115.0
"""Distance between streets in metres."""
HOUSE, BACK = 21.0, 11.0
"""Metres between houses, and from a house to the middle of its street."""
PLACES = (
    "Station", "Mill", "Church", "Lime", "Garden", "Bridge", "School", "Orchard", "River", "Castle",
    "Market", "Chestnut", "Meadow", "Baker", "Hill", "Forest", "Rose", "Tanner", "Well", "Swan", "Abbey",
    "Juniper", "Smith", "Lark", "Granary", "Willow", "Potter", "Quarry",
)  # fmt: skip
WAYS = ("Road", "Street", "Lane", "Way")
SIGNS = ("Swan", "Lion", "Eagle", "Unicorn", "Stag", "Rose", "Anchor", "Bear")


@dataclass(frozen=True, eq=False)
class Village:
    """A small town. Places are rows of latitude and longitude, in degrees.

    Parameters
    ----------
    addresses : tuple of str
        One for each house.
    houses : array, shape (n, 2)
    pharmacies : dict of str to (latitude, longitude)
    centre : (latitude, longitude)
    """

    addresses: tuple[str, ...]
    houses: Floats
    pharmacies: dict[str, tuple[float, float]]
    centre: tuple[float, float]

    @classmethod
    def make(cls, seed: int = 0, *, side: float = SIDE) -> Village:
        """Generate a town: bent streets that cross, within an uneven outline, houses on both sides.

        Examples
        --------
        >>> town = Village.make(seed=1)
        >>> len(town.addresses) == len(town.houses) > 1000, len(town.pharmacies)
        (True, 8)
        """
        rng = np.random.default_rng(seed)
        turn = rng.uniform(0.1, 0.5)
        bend = rng.uniform(0.0, 2 * np.pi, 4)
        lines = np.arange(-side / 2 + BLOCK / 2, side / 2, BLOCK)
        ways = [(across, line + rng.normal(0.0, 12.0)) for across in (False, True) for line in lines]
        names = [
            f"{PLACES[i % len(PLACES)]} {WAYS[(i // len(PLACES) + i) % len(WAYS)]}" for i in range(len(ways))
        ]
        addresses: list[str] = []
        houses: list[Floats] = []
        for name, (across, line) in zip(rng.permutation(names), ways, strict=True):
            result = _along(line, across, side, turn, bend)
            addresses += [f"{name} {number}" for number in range(1, len(result) + 1)]
            houses.append(result)
        places = np.concatenate(houses)
        shops = places[_apart(places, len(SIGNS), rng)] + 8.0
        named = {f"{sign} Pharmacy": place for sign, place in zip(SIGNS, _globe(shops), strict=True)}
        return cls(
            tuple(addresses),
            _globe(places),
            {sign: (float(a), float(b)) for sign, (a, b) in named.items()},
            (float(MIDDLE[0]), float(MIDDLE[1])),
        )

    def citizens(self, count: int, seed: int = 0) -> np.ndarray:
        """Return the houses of a number of citizens, by number; most live near the centre, some together."""
        rng = np.random.default_rng(seed)
        far = np.hypot(*((self.houses - self.centre) * [1.0, 0.66]).T) * np.pi / 180 * RADIUS
        weight = np.exp(-far / 450.0)
        return rng.choice(len(self.houses), count, p=weight / weight.sum())


def _along(line: float, across: bool, side: float, turn: float, bend: Floats) -> Floats:
    """Return the houses on both sides of a street, in metres from the middle of the town."""
    steps = np.arange(-side / 2, side / 2, HOUSE)
    result = []
    for left in (-BACK, BACK):
        a, b = (
            (np.full_like(steps, line + left), steps) if across else (steps, np.full_like(steps, line + left))
        )
        x = a + 26.0 * np.sin(b / 260.0 + bend[0]) + 14.0 * np.sin(b / 97.0 + bend[1])
        y = b + 26.0 * np.sin(a / 240.0 + bend[2]) + 14.0 * np.sin(a / 110.0 + bend[3])
        crossing = np.abs((steps + side / 2) % BLOCK - BLOCK / 2) < 13.0
        angle = np.arctan2(y, x)
        edge = side / 2 * (0.86 + 0.1 * np.sin(3 * angle + bend[1]) + 0.06 * np.sin(5 * angle + bend[2]))
        kept = ~crossing & (np.hypot(x, y) < edge)
        turned = np.stack([x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)], axis=1)
        result.append(turned[kept])
    return np.concatenate(result)


def _apart(places: Floats, count: int, rng: np.random.Generator) -> list[int]:
    """Return places far from each other: each is, among a few candidates, the farthest from the others."""
    chosen = [int(rng.integers(len(places)))]
    while len(chosen) < count:
        some = rng.integers(len(places), size=6)
        far = [np.hypot(*(places[chosen] - places[item]).T).min() for item in some]
        chosen.append(int(some[int(np.argmax(far))]))
    return chosen


def _globe(places: Floats) -> Floats:
    """Return metres from the middle of the town as degrees."""
    north = np.degrees(places[:, 1] / RADIUS)
    east = np.degrees(places[:, 0] / (RADIUS * np.cos(np.radians(MIDDLE[0]))))
    return np.round(np.stack([MIDDLE[0] + north, MIDDLE[1] + east], axis=1), 6)
