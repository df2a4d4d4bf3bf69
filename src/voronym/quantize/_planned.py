"""Shared parts of plans with divided points, whether their places move or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voronym.errors import InputError
from voronym.quantize._programme import Plan, Task
from voronym.quantize.costs.base import Floats, Integers
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space


@dataclass(frozen=True, eq=False, repr=False)
class Planned:
    """The shares of each point in each place, and the costs that prove it."""

    labels: Integers
    points: Integers
    cells: Integers
    shares: Floats
    centroids: Floats
    costs: Floats
    loads: Floats
    space: Space
    one_measure: bool

    WHERE: ClassVar[tuple[str, str]] = ("in", "cells")

    @property
    def divided(self) -> Integers:
        """The points that are divided between places; at most one fewer than there are places."""
        return np.flatnonzero(np.bincount(self.points, minlength=len(self.labels)) > 1)

    def quantizer(self) -> Quantizer:
        """Return the rule for future points; only if it depends on the point alone.

        It does not guarantee the loads.
        """
        if not self.one_measure:
            raise InputError(
                "with two measures, or a price of moving, the cell depends on a point's weight, load and "
                "old cell, too, so there is no rule by place alone"
            )
        return Quantizer(self.centroids, self.costs, self.space)

    def _words(self) -> str:
        """Describe the result in words."""
        return ""

    def __repr__(self) -> str:
        name, loads = type(self).__name__, f"{self.loads.min():.6g}..{self.loads.max():.6g}"
        into, places = self.WHERE
        return (
            f"{name}({len(self.labels)} points {into} {len(self.costs)} {places} with loads of {loads}, "
            f"{len(self.divided)} divided, {self._words()})"
        )


def in_order(plan: Plan, n: int) -> tuple[Integers, Integers, Integers, Floats]:
    """Return the place with the largest share of each point, and points, places and shares in order."""
    order = np.lexsort((plan.places, plan.points))
    i, q, share = plan.points[order], plan.places[order], plan.shares[order]
    labels = np.full(n, -1, np.int64)
    largest = np.lexsort((-q, share, i))  # the largest is written last; of equals the first place
    labels[i[largest]] = q[largest]
    return labels, i, q, share


def carried(task: Task, i: Integers, q: Integers, share: Floats) -> Floats:
    """Return the load of each place in a plan."""
    return np.asarray(np.bincount(q, task.loads[i] * share, len(task.C)), np.float64)
