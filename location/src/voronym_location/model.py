"""Model mode: devices find their cell by a quantizer made from public figures.

Nobody's home is collected. A quantizer is designed once, on a density or a census grid, with an equal share
of the population in every cell, and published. A device applies equation 4 to its home and uses the centroid
of the cell. The number of users in a cell is random, so the model gives a *probability* with an interval, and
no guarantee of k.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.atomic import placed
from voronym.core.context import ProgressCallback
from voronym.core.formats import program_version
from voronym.errors import InputError, ReadError, WriteError
from voronym.quantize.density import design_density
from voronym.quantize.quantizer import Quantizer
from voronym.space import Sphere
from voronym_location.globe import RADIUS
from voronym_location.population import Floats, degrees

FORMAT, VERSION = "voronym location model", 1
LEAST = 50.0
"""Least inhabitants of a cell, by the census: a finer quantizer would reveal single homes."""
SAYS = (
    "How many users share a cell is a matter of chance: this file gives a probability, with an interval, and "
    "promises no k. Hide the IP address, too."
)


@dataclass(frozen=True, eq=False)
class Census:
    """Number of people in each square of a public grid.

    Parameters
    ----------
    places : array, shape (m, 2)
        The middles of the squares, latitude and longitude.
    people : array, shape (m,)
        Number of people in each square.
    width : float
        Metres across a square.
    """

    places: Floats
    people: Floats
    width: float

    def __post_init__(self) -> None:
        good = self.places.ndim == 2 and self.places.shape == (len(self.people), 2)
        if (
            not good
            or not np.isfinite(self.people).all()
            or (self.people < 0).any()
            or self.people.sum() <= 0
        ):
            raise InputError("a census grid has latitude, longitude and a number of people for each square")
        off = int((~(np.abs(self.places) <= np.array([90.0, 180.0])).all(axis=1)).sum())
        if off:
            raise InputError(
                f"{off} squares of the census grid have no latitude (-90..90) and longitude (-180..180) in "
                "degrees; check the order and the unit"
            )
        if not self.width > 0.0:
            raise InputError(f"the squares of a census grid have a width in metres, not {self.width!r}")

    @classmethod
    def read(cls, path: str | Path, width: float) -> Census:
        """Read a table with the columns latitude, longitude and people."""
        from voronym.table.read import read

        frame = read(str(path))
        missing = [name for name in ("latitude", "longitude", "people") if name not in frame.columns]
        if missing:
            raise InputError(f"the census grid has no column {', '.join(missing)}")
        texts = [name for name in ("latitude", "longitude", "people") if not frame[name].dtype.is_numeric()]
        if texts:
            raise InputError(f"in the census grid, {', '.join(texts)} must be numbers, and some are not")
        latitude, longitude, people = (
            np.array(frame[name].to_numpy(), np.float64) for name in ("latitude", "longitude", "people")
        )
        return cls(np.stack([latitude, longitude], axis=1), people, width)

    def sampler(self) -> Callable[[int, np.random.Generator], Floats]:
        """Return a sampler of people's homes by the census: uniform within a square."""
        share = self.people / self.people.sum()

        def draw(n: int, rng: np.random.Generator) -> Floats:
            at = self.places[rng.choice(len(share), n, p=share)]
            north = np.degrees((rng.random(n) - 0.5) * self.width / RADIUS)
            east = np.degrees((rng.random(n) - 0.5) * self.width / RADIUS) / np.cos(np.radians(at[:, 0]))
            return Sphere.from_degrees(at[:, 0] + north, at[:, 1] + east)

        return draw


@dataclass(frozen=True, eq=False)
class Chance:
    """An estimate of the number of users in a cell.

    Parameters
    ----------
    users : int
        Number of users of the model.
    least : int
        The number asked about.
    probability : float
        Probability that a user's cell has at least ``least`` users, including that user.
    low, high : float
        The same probability if cells have a smaller or a larger share of the users than in the census.
    interval : (int, int)
        The number of users of any cell is in this interval with probability ``level``.
    level : float
        Confidence of the interval.
    """

    users: int
    least: int
    probability: float
    low: float
    high: float
    interval: tuple[int, int]
    level: float

    def __str__(self) -> str:
        return (
            f"Of {self.users:,} users, one shares a cell with {self.least - 1:,} others or more with "
            f"probability {self.probability:.3f} ({self.low:.3f} to {self.high:.3f}); a cell has "
            f"{self.interval[0]:,} to {self.interval[1]:,} users with probability {self.level:g}. "
            "This is a probability, not a promise of k."
        )


@dataclass(frozen=True, eq=False)
class Model:
    """A published quantizer of places.

    Parameters
    ----------
    quantizer : Quantizer
        Unit vectors and costs, on the sphere.
    share : float
        The share of the population that a cell was designed to have.
    doubt : float
        Relative uncertainty of the shares of users: the census may be old, and users differ from the
        population.

    Examples
    --------
    >>> squares = Census(np.array([[48.1, 11.5], [48.1, 11.6]]), np.array([900.0, 300.0]), 1000.0)
    >>> model = Model.design(squares, 4, samples=2000)
    >>> model.place(48.1, 11.5).shape
    (2,)
    >>> chance = model.chance(400, 100)
    >>> chance.low < chance.probability < chance.high
    True
    """

    quantizer: Quantizer
    share: float
    doubt: float

    @classmethod
    def design(
        cls,
        census: Census,
        cells: int,
        *,
        doubt: float = 0.3,
        samples: int | None = None,
        seed: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Model:
        """Design cells of equal shares of the population, by probability-constrained Lloyd."""
        inside = float(census.people.sum()) / max(cells, 1)
        if inside < LEAST:
            raise InputError(
                f"{cells} cells of {census.people.sum():,.0f} people have {inside:.0f} each: cells of fewer "
                f"than {LEAST:.0f} would reveal single homes; use fewer cells"
            )
        if not 0.0 <= doubt < 1.0:
            raise InputError(f"doubt is a share, from 0 to below 1, not {doubt!r}")
        made = design_density(
            census.sampler(), cells, samples=samples, space=Sphere(), seed=seed, progress=progress
        )
        return cls(made, 1.0 / cells, doubt)

    @property
    def places(self) -> Floats:
        """The centroids, latitude and longitude, shape (m, 2)."""
        return degrees(self.quantizer.centroids)

    def assign(self, latitude: ArrayLike, longitude: ArrayLike) -> Any:
        """Return the cell of each place: the least squared distance plus cost (equation 4)."""
        return self.quantizer.assign(Sphere.from_degrees(latitude, longitude))

    def place(self, latitude: float, longitude: float) -> Floats:
        """Return the centroid in place of a home, latitude and longitude."""
        return np.asarray(self.places[self.assign(latitude, longitude)[0]])

    def chance(self, users: int, least: int, *, level: float = 0.95) -> Chance:
        """Return an estimate of the number of users in a cell.

        Users come independently. The share of a cell is between ``1 - doubt`` and ``1 + doubt`` times
        its designed share. The probability is for the designed share; ``low`` and ``high`` are for
        the smallest and largest share. The interval holds for every share in between.
        """
        from scipy.stats import binom

        if users < 1 or least < 1 or not 0.0 < level < 1.0:
            raise InputError("users and least are 1 or more, and level is between 0 and 1")
        shares = np.clip(self.share * (1.0 + self.doubt * np.array([-1.0, 0.0, 1.0])), 0.0, 1.0)
        reach = binom.sf(least - 2, users - 1, shares)  # of the others
        tail = (1.0 - level) / 2.0
        ends = int(binom.ppf(tail, users, shares[0])), int(binom.ppf(1.0 - tail, users, shares[2]))
        return Chance(users, least, float(reach[1]), float(reach[0]), float(reach[2]), ends, level)

    def to_dict(self) -> dict[str, Any]:
        """Return the published data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "voronym": program_version(),
            "says": SAYS,
            "share": self.share,
            "doubt": self.doubt,
            "cells": np.column_stack([self.quantizer.centroids, self.quantizer.costs]).tolist(),
            "places": self.places.tolist(),
        }

    def save(self, path: str | Path) -> Path:
        """Write the file that clients read."""
        target = Path(path)
        try:
            with placed(target) as temporary:
                temporary.write_text(json.dumps(self.to_dict(), allow_nan=False), encoding="utf-8")
        except OSError as error:
            raise WriteError(f"cannot write the model {target}: {error.strerror}") from None
        return target

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model from a file."""
        from voronym_location.client import Client, Refused

        try:
            client = Client.load(path)
        except Refused as error:
            raise ReadError(str(error)) from None
        cells = np.array(client.cells)
        return cls(Quantizer(cells[:, :3], cells[:, 3], Sphere()), client.share, client.doubt)
