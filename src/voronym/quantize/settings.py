"""The settings of `pcl`, and the default numbers of restarts and cooling rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voronym.errors import InputError
from voronym.quantize import _start
from voronym.quantize.costs import SOLVERS
from voronym.quantize.costs.base import Bounds
from voronym.space import Space

SMALL = 500_000
"""Up to this number of pairs of points and cells, several cooled designs take seconds, and are the default.
"""

ROUNDS, DESIGNS, BUDGET = 50, 8, 800_000
"""Cooling rounds of each design, largest number of designs, and approximate number of pairs over all of them.

docs/decisions/quantizers.md has the data they are from.
"""


@dataclass(frozen=True)
class Settings:
    """The settings of `pcl`; see there."""

    costs: str = "transport"
    speed: float = 1.8
    restarts: int = 1
    tolerance: float = 1e-6
    iterations: int = 300
    cooling: int = 0

    def __post_init__(self) -> None:
        for name, number in (("speed", self.speed), ("tolerance", self.tolerance)):
            if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
                raise InputError(f"{name} must be a number, not {type(number).__name__}")
        if not 0.0 < self.speed <= 2.0:
            raise InputError(f"speed must be above 0 and at most 2, not {self.speed!r}")
        for name, value, least in (
            ("restarts", self.restarts, 1),
            ("iterations", self.iterations, 1),
            ("cooling", self.cooling, 0),
        ):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
        if not self.tolerance >= 0.0:
            raise InputError(f"tolerance must be 0 or more, not {self.tolerance!r}")
        SOLVERS[self.costs]  # says which there are, where this is none

    @property
    def exact(self) -> bool:
        """Whether the cost solver meets the sizes exactly."""
        return self.costs == "transport"


def thorough(
    settings: Settings,
    restarts: int | None,
    cooling: int | None,
    bounds: Bounds,
    init: _start.Init,
    space: Space,
) -> Settings:
    """Fill in the default number of restarts and cooling rounds.

    A given start, or a large problem, is continued only once: more is left to users who choose it.
    """
    named = isinstance(init, str) and init != "random"
    pairs = int(bounds.low.sum()) * len(bounds.low)
    usual = named and pairs <= SMALL and settings.exact and bounds.exact and space.quadratic
    if cooling is None:
        cooling = ROUNDS if usual and restarts != 1 else 0
    elif cooling and not (settings.exact and bounds.exact and space.quadratic):
        raise InputError(
            "cooling needs exact sizes, the cost solver 'transport', and a space whose centroids are means: "
            "leave it out, or give 0"
        )
    if restarts is None:
        restarts = max(1, min(DESIGNS, BUDGET // pairs)) if usual else 1
    return replace(settings, restarts=restarts, cooling=cooling)
