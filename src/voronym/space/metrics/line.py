"""Numbers, times and ranks: points on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from voronym._kernels.mixed import LINE
from voronym.core.validate import checked
from voronym.space.metrics.base import Array, Geometry, metric, positions, ranks


def on_line(places: Array) -> Geometry:
    """Return points on a line; a missing value is as far from all of them as the two ends are apart."""
    span = float(places.max() - places.min()) if len(places) else 0.0
    return Geometry(LINE, places[:, None], span or 1.0)


@metric("absolute")
@dataclass(frozen=True)
class Absolute:
    """The absolute difference of two numbers. Its centroid is the median.

    Examples
    --------
    >>> import numpy as np
    >>> Absolute().geometry(np.array([20, 30, 50]), "age").far
    30.0
    """

    name: ClassVar[str] = "absolute"

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the numbers on a line."""
        return on_line(positions(values, column, self.name))


@metric("elapsed")
@dataclass(frozen=True)
class Elapsed(Absolute):
    """The days between two dates or times, given in days. Its centroid is the median."""

    name: ClassVar[str] = "elapsed"


@checked
@metric("rank")
@dataclass(frozen=True)
class Rank:
    """The number of steps between two levels of an order. Its centroid is the median.

    Parameters
    ----------
    order : sequence of str, optional
        All levels, lowest first. Without it the sorted values are the order.

    Examples
    --------
    >>> Rank(("low", "middle", "high")).geometry(["high", "low"], "grade").coords.tolist()
    [[2.0], [0.0]]
    """

    order: Sequence[str] | None = None
    name: ClassVar[str] = "rank"

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the places in the order, on a line."""
        return on_line(ranks(list(values), self.order, column))
