"""The interface of encoders, and the coordinate of missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.frame import Series, listing
from voronym.table.values import Columns

Array = NDArray[np.float64]


AWAY = 2.0
"""Distance of missing values from the others, in standard deviations of the column."""


class Encoder(Protocol):
    """The interface of a fitted encoder."""

    columns: tuple[str, ...]
    kind: str

    @property
    def width(self) -> int:
        """Number of coordinates."""
        ...

    def encode(self, table: Columns) -> Array:
        """Return the coordinates of the rows, shape (n, width)."""
        ...

    def decode(self, C: Array) -> list[Series]:
        """Return one value per centroid for each column."""
        ...

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        ...


@dataclass(frozen=True)
class Absence:
    """The coordinate for "missing"; none if no value or all values are missing.

    A missing value is two standard deviations away from the others, however rare it is. With variance 1,
    a single gap would weigh as much as all numbers of the table. If half of the values are missing, both
    scales agree.
    """

    share: float

    @classmethod
    def fit(cls, mask: NDArray[np.bool_]) -> Absence:
        """Take the share of missing values from a column."""
        return cls(float(mask.mean()))

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(0.0 < self.share < 1.0)

    def encode(self, mask: NDArray[np.bool_], names: tuple[str, ...]) -> Array:
        """Return the coordinate, shape (n, width)."""
        if not self.width:
            if self.share == 0.0 and mask.any():
                raise SchemaError(
                    f"{int(mask.sum())} values of {listing(names)} are missing; none was missing when it "
                    "was fitted"
                )
            return np.empty((len(mask), 0))
        return np.asarray(AWAY * (mask - self.share), dtype=np.float64)[:, None]

    def decode(self, C: Array) -> tuple[NDArray[np.bool_], Array]:
        """Return which centroids are missing, and the share of observed members for the others."""
        if not self.width:
            gone = np.full(len(C), self.share == 1.0)
            return gone, np.ones(len(C))
        share = C[:, -1] / AWAY + self.share
        gone = share > 0.5
        return gone, np.where(gone, 1.0, 1.0 - np.clip(share, 0.0, 0.5))

    def describe(self) -> str:
        """Return a sentence on how the column was encoded."""
        if self.share == 0.0:
            return ""
        if self.share == 1.0:
            return "; all values are missing"
        return (
            f"; missing in {100 * self.share:.3g} % of the rows: those get the mean and one more "
            "coordinate that says so; a group is published as missing when more than half of it is"
        )
