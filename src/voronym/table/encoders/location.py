"""Places on the globe."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.build import build
from voronym.table.encoders.base import Absence, Array
from voronym.table.exact import root
from voronym.table.frame import Series, form, sample
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.summaries import PlaceSummary


class Location:
    """Latitude and longitude: encoded as points on the unit sphere, decoded from their mean direction."""

    kind = "location"

    def __init__(self, lat: Values, lon: Values) -> None:
        self.columns: tuple[str, ...] = (lat.name, lon.name)
        self.like = (sample(lat.series), sample(lon.series))
        mask = lat.missing | lon.missing
        self.absence = Absence.fit(mask)
        angles = self._angles(lat, lon, mask)
        self.range = [(float(a.min()), float(a.max())) if len(a) else (0.0, 0.0) for a in angles]
        unit = _unit(*angles)
        self.mean = unit.mean(axis=0) if len(unit) else np.zeros(3)
        variance = float(np.square(unit - self.mean).sum(axis=1).mean()) if len(unit) else 0.0
        self.scale = 1.0 / np.sqrt(variance) if variance > 1e-30 else 0.0

    @classmethod
    def of(cls, columns: tuple[str, str], summary: PlaceSummary) -> Location:
        """Build the encoder from statistics over all parts of a data set."""
        made = cls.__new__(cls)
        made.columns = columns
        lat, lon = (nw.from_native(part, series_only=True) for part in summary.examples(columns))
        made.like = (lat, lon)
        made.absence = Absence(summary.missing / (summary.missing + summary.moments[0].count))
        made.range = list(summary.ranges or ((0.0, 0.0), (0.0, 0.0)))
        made.mean = np.array([part.mean for part in summary.moments])
        variance = sum((part.exact_variance for part in summary.moments), Fraction(0))
        made.scale = 1.0 / root(variance) if variance > Fraction(1, 10**30) else 0.0
        return made

    def _angles(self, lat: Values, lon: Values, mask: NDArray[np.bool_]) -> list[Array]:
        angles = []
        for column, low, high in ((lat, -90.0, 90.0), (lon, -180.0, 360.0)):
            degrees = np.full(len(column), np.nan)
            degrees[~column.missing] = column.numbers
            degrees = degrees[~mask]
            outside = int(((degrees < low) | (degrees > high)).sum())
            if outside:
                raise SchemaError(
                    f"location key {column.name!r} has {outside} of {len(degrees)} values outside "
                    f"{low:g}..{high:g} degrees; check the order (latitude, longitude) and the unit"
                )
            angles.append(degrees)
        return angles

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 3 + self.absence.width

    def encode(self, table: Columns) -> Array:
        """Return the coordinates of the rows, shape (n, width)."""
        lat, lon = table[self.columns[0]], table[self.columns[1]]
        mask = lat.missing | lon.missing
        out = np.zeros((len(mask), self.width))
        out[~mask, :3] = (_unit(*self._angles(lat, lon, mask)) - self.mean) * self.scale
        out[:, 3:] = self.absence.encode(mask, self.columns)
        return out

    def decode(self, C: Array) -> list[Series]:
        """Return one value per centroid for each column."""
        gone, observed = self.absence.decode(C)
        spread = 1.0 / self.scale if self.scale > 0.0 else 0.0
        x, y, z = (self.mean + spread * (C[:, :3] / observed[:, None])).T
        lat = np.degrees(np.arctan2(z, np.hypot(x, y)))
        lon = np.degrees(np.arctan2(y, x))
        low = self.range[1][0]
        lon = np.where(lon < low - 1e-9, lon + 360.0, lon) if self.range[1][1] > 180.0 else lon
        out = []
        for like, angle, (low, high) in zip(self.like, (lat, lon), self.range, strict=True):
            degrees = np.clip(np.round(angle, 9), low, high) + 0.0
            if form(like) == "integer":
                degrees = np.rint(degrees).astype(np.int64)
            plain = [round(Decimal(v), 9) for v in degrees.tolist()] if form(like) == "decimal" else degrees
            out.append(build(like, plain, gone))
        return out

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        return (
            f"{self.columns[0]}, {self.columns[1]}: location, as points on the sphere scaled to variance 1; "
            f"published as the direction of their mean{self.absence.describe()}"
        )


def _unit(lat: Array, lon: Array) -> Array:
    """Return degrees as points on the unit sphere, shape (n, 3)."""
    phi, theta = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)
