"""Metrics: their interface, their geometry of a column's values, and their registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import TABLE, distances, one_column
from voronym.core.registry import Registry
from voronym.errors import InputError

TABLE_LEVELS = 2048
"""Largest number of distinct values with tabulated distances (32 MB); metrics with a table refuse more."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Geometry:
    """The distinct values of a column as points, or as a table of distances.

    Parameters
    ----------
    shape : int
        Which formula gives the distance: one of the constants of `voronym._kernels.mixed`.
    coords : array, shape (levels, width)
        Coordinates; without columns if there is a table.
    far : float
        Distance of a missing value from every other: at least the largest distance of observed values, and
        above 0.
    size : float
        Period of a circle, radius of a sphere, height of a tree.
    table : array, shape (levels, levels)
        Distances, if the shape is TABLE.
    notes : tuple of str
        Remarks for the data holder.
    """

    shape: int
    coords: Array
    far: float
    size: float = 1.0
    table: Array = field(default_factory=lambda: np.empty((0, 0)))
    notes: tuple[str, ...] = ()

    @property
    def levels(self) -> int:
        """Number of distinct values."""
        return len(self.table) if self.shape == TABLE else len(self.coords)


@runtime_checkable
class Metric(Protocol):
    """A distance between values of one column: symmetric, at least 0, and 0 between equal values."""

    @property
    def name(self) -> str:
        """Name of the metric in reports."""
        ...

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the distinct, observed values as a geometry; refuse unsuitable values, naming the column."""
        ...


METRICS: Registry[type] = Registry("metric")
metric = METRICS.register
"""Register a class of metrics under a name that can be used wherever metrics are chosen."""


def metrics() -> Mapping[str, type]:
    """Return the registered metrics, by name.

    Examples
    --------
    >>> sorted(metrics())[:3]
    ['absolute', 'circular', 'edit']
    """
    return METRICS


def pairwise(geometry: Geometry, a: NDArray[np.int64], b: NDArray[np.int64]) -> Array:
    """Return the distances between values ``a`` and ``b``, broadcast; both are levels of observed values."""
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    if geometry.shape == TABLE:
        return np.where(a == b, 0.0, geometry.table[a, b])
    out = np.empty(a.size)
    # The formulas stand in the kernel alone.
    column = one_column(geometry.shape, geometry.size, geometry.coords)
    distances(column, a.reshape(-1), b.reshape(-1), out)
    return out.reshape(a.shape)


def from_table(table: Array, *, notes: tuple[str, ...] = ()) -> Geometry:
    """Return the geometry of a table of distances."""
    far = float(table.max()) if table.size else 0.0
    return Geometry(TABLE, np.empty((len(table), 0)), far or 1.0, 1.0, np.ascontiguousarray(table), notes)


def check_levels(values: Sequence[Any], column: str, what: str) -> None:
    """Refuse more distinct values than a table has room for."""
    if len(values) > TABLE_LEVELS:
        raise InputError(
            f"column {column!r} has {len(values)} distinct values; {what} compares all of them with each "
            f"other, which is done for up to {TABLE_LEVELS}: group them, or choose the metric 'nominal'"
        )


def ranks(values: Sequence[Any], order: Sequence[Any] | None, column: str) -> Array:
    """Return the position of each value in an order, or among the sorted values."""
    if order is None:
        return np.arange(len(values), dtype=np.float64)
    place = {str(level): i for i, level in enumerate(order)}
    if isinstance(order, str) or len(place) != len(order):
        raise InputError(f"the order of column {column!r} must be a list of different levels")
    strange = sum(str(value) not in place for value in values)
    if strange:
        raise InputError(
            f"column {column!r} has {strange} distinct values that its order of {len(place)} levels lacks; "
            "add them to the order"
        )
    return np.array([place[str(value)] for value in values], dtype=np.float64)


def positions(values: Any, column: str, name: str) -> Array:
    """Return numbers as differences from the smallest; whole numbers above 2**53 keep their digits."""
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 1:
        raise InputError(
            f"the metric {name!r} of column {column!r} needs numbers or times; choose another, or declare "
            "the column numeric"
        )
    if not len(numbers):
        return np.empty(0)
    if numbers.dtype.kind == "f":
        bad = int((~np.isfinite(numbers)).sum())
        if bad:
            raise InputError(f"column {column!r} has {bad} infinite values; make them missing, or numbers")
        if float(numbers.max()) - float(numbers.min()) > 1e152:
            raise InputError(f"the values of column {column!r} are too large; change its unit")
    return np.asarray((numbers - numbers.min()), dtype=np.float64)
