"""Model mode on a device, with Python alone. A home never leaves the device.

The same in JavaScript is in ``static/voronym-location.js``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FORMAT, VERSION = "voronym location model", 1


class Refused(ValueError):  # noqa: N818 - what was done to the file
    """A file that is no model."""


@dataclass(frozen=True)
class Client:
    """A published model, on a device.

    Parameters
    ----------
    cells : sequence of (x, y, z, cost)
        Unit vectors and costs.
    places : sequence of (latitude, longitude)
        The published place of each cell, in degrees.
    share, doubt : float
        Share of the population in each cell, and the uncertainty of this share.

    Examples
    --------
    >>> client = Client([(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)], [(0.0, 0.0), (0.0, 90.0)], 0.5, 0.3)
    >>> client.place(10.0, 80.0)
    (0.0, 90.0)
    """

    cells: Sequence[Sequence[float]]
    places: Sequence[Sequence[float]]
    share: float
    doubt: float

    @classmethod
    def load(cls, path: str | Path) -> Client:
        """Read a model; raise if the file is not a model."""
        try:
            result = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise Refused(f"the model cannot be read: {type(error).__name__}") from None
        if not isinstance(result, dict) or result.get("format") != FORMAT:
            raise Refused("the file is no location model")
        if result.get("version") != VERSION:
            raise Refused(
                f"the model has version {result.get('version')!r}, and this client reads {VERSION}: "
                "upgrade voronym"
            )
        return cls(
            _rows(result.get("cells"), 4),
            _rows(result.get("places"), 2, len(result["cells"])),
            _number(result.get("share")),
            _number(result.get("doubt")),
        )

    def assign(self, latitude: float, longitude: float) -> int:
        """Return the cell of a place: the least squared distance plus cost, first among ties (equation 4)."""
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 360.0):
            raise ValueError("a home is a latitude (-90..90) and a longitude (-360..360) in degrees")
        lat, lon = math.radians(latitude), math.radians(longitude)
        x, y, z = math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)
        best, cell = math.inf, -1
        for number, (a, b, c, cost) in enumerate(self.cells):
            value = (x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c) + cost
            if value < best:
                best, cell = value, number
        return cell

    def place(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return the published place of a home: latitude and longitude of its cell's centroid."""
        there = self.places[self.assign(latitude, longitude)]
        return there[0], there[1]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Refused("the model has a value that is no number")
    return float(value)


def _rows(value: object, width: int, many: int | None = None) -> list[tuple[float, ...]]:
    whole = isinstance(value, list) and len(value) > 0 and (many is None or len(value) == many)
    if not whole or not all(isinstance(row, list) and len(row) == width for row in value):  # type: ignore[attr-defined]
        raise Refused("the model’s cells and places differ in number, or have other columns")
    return [tuple(_number(item) for item in row) for row in value]  # type: ignore[attr-defined]
