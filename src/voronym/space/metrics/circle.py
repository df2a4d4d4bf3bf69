"""Hours of the day, days of the year, angles: points on a circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym._kernels.mixed import CIRCLE
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.space.metrics.base import Geometry, metric, ranks


@checked
@metric("circular")
@dataclass(frozen=True)
class Circular:
    """The shorter way round a circle. Its centroid is the value with the least sum of distances to all.

    Parameters
    ----------
    period : float, optional
        Length of the circle: 24 for hours, 360 for degrees, 365.25 for days; by default the number of levels
        of the order.
    order : sequence of str, optional
        Levels in the order of the circle, such as the days of the week; one step between neighbours.

    Examples
    --------
    From eleven at night to one in the morning it is two hours.

    >>> from voronym.space.metrics import pairwise
    >>> import numpy as np
    >>> pairwise(Circular(24).geometry(np.array([1, 23]), "hour"), np.array(0), np.array(1)).item()
    2.0
    """

    period: float | None = None
    order: Sequence[str] | None = None
    name: ClassVar[str] = "circular"

    def __post_init__(self) -> None:
        period = len(self.order) if self.period is None and self.order is not None else self.period
        if period is None or isinstance(period, str) or not (0.0 < period < math.inf):
            raise InputError("the metric 'circular' needs a period above 0, such as 24 for hours")
        object.__setattr__(self, "period", float(period))

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the places on the circle."""
        assert self.period is not None  # noqa: S101 - set above
        if self.order is not None:
            places = ranks(list(values), self.order, column)
        else:
            numbers = np.asarray(values)
            if numbers.dtype.kind not in "iuf" or (
                numbers.dtype.kind == "f" and not np.isfinite(numbers).all()
            ):
                raise InputError(
                    f"the metric 'circular' of column {column!r} needs finite numbers or times, or an order"
                )
            places = numbers.astype(np.float64)
        return Geometry(CIRCLE, np.mod(places, self.period)[:, None], self.period / 2.0, self.period)
