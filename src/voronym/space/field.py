"""A column of a mixed table: the codes of its values, and the distances between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voronym.space.metrics import Geometry, pairwise

SMALL = 512
"""Up to this number of distinct values, all distances of a column are tabulated (2 MB)."""


@dataclass(frozen=True, eq=False)
class Field:
    """A column (or the two of a location) as codes of distinct values with a metric.

    A missing value has distance 0 from another missing one. Its distance from every observed value is the
    largest distance between observed values (`Geometry.far`). So the distance stays a metric.

    Parameters
    ----------
    columns : tuple of str
        The columns of the table.
    metric : str
        Name of the metric.
    geometry : Geometry
        The observed values.
    codes : array of int, shape (n,)
        The level of each record; -1 if missing.

    Examples
    --------
    >>> from voronym.space.metrics import Absolute
    >>> made = Absolute().geometry(np.array([20, 30, 50]), "age")
    >>> age = Field(("age",), "absolute", made, np.array([0, 2, -1, 1]))
    >>> age.distance(np.array([0, 0]), np.array([1, 3])).tolist()
    [10.0, 30.0]
    """

    columns: tuple[str, ...]
    metric: str
    geometry: Geometry
    codes: NDArray[np.int64]
    missing: int = field(init=False)
    levels: int = field(init=False)

    def __post_init__(self) -> None:
        observed = self.geometry.levels
        gone = np.asarray(self.codes) < 0
        has = bool(gone.any())
        codes = np.where(gone, observed, self.codes).astype(np.int64)
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "missing", observed if has else -1)
        object.__setattr__(self, "levels", observed + has)

    @property
    def name(self) -> str:
        """The columns' names."""
        return ", ".join(self.columns)

    @property
    def far(self) -> float:
        """Distance of a missing value from every observed one."""
        return self.geometry.far

    def distance(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of levels ``a`` and ``b``, broadcast."""
        a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
        if self.missing < 0:
            return pairwise(self.geometry, a, b)
        observed = (a != self.missing) & (b != self.missing)
        out = np.where(a == b, 0.0, self.far)
        out[observed] = pairwise(self.geometry, a[observed], b[observed])
        return out

    def table(self) -> NDArray[np.float64]:
        """Return the distances between all levels; for few levels."""
        at = np.arange(self.levels)
        return self.distance(at[:, None], at[None, :])

    def first(self) -> NDArray[np.int64]:
        """Return the first row with each level."""
        rows = np.zeros(self.levels, np.int64)
        rows[self.codes[::-1]] = np.arange(len(self.codes) - 1, -1, -1)  # the last write wins
        return rows
