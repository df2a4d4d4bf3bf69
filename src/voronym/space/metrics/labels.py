"""Categories without structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym._kernels.mixed import DISCRETE
from voronym.space.metrics.base import Geometry, metric


@metric("nominal")
@dataclass(frozen=True)
class Nominal:
    """0 between equal values, 1 between different ones. Its centroid is the most frequent value."""

    name: ClassVar[str] = "nominal"

    def geometry(self, values: Any, column: str) -> Geometry:  # noqa: ARG002 - any value will do
        """Return as many points as there are values, all 1 apart."""
        return Geometry(DISCRETE, np.empty((len(values), 0)), 1.0)
