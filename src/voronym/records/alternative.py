"""The loss of MDAV with groups of the same size: the yardstick for shuffled clusters."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.context import Context
from voronym.errors import SchemaError
from voronym.keyspaces import Coordinates
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.records.figures import Alternative
from voronym.table.table import Table

_WHOLE = 200_000
"""Most records that MDAV groups at once: about 15 seconds. More are cut into macrocells first."""


def alternative(table: Table, masked: nw.DataFrame[Any], m: int, ctx: Context) -> Alternative | None:
    """Return the loss of a masked table and of MDAV with k = m + 1, both as published, in percent.

    MDAV groups all records; in a sample neighbours are farther apart, and it would lose more. None if the
    keys are no numbers, or do not vary.
    """
    try:
        coordinates = Coordinates.of(table)
    except SchemaError:
        return None
    X = coordinates.X
    if not np.ptp(X, axis=0).any() or table.n < 2 * (m + 1):
        return None
    method = METHODS["mdav" if table.n <= _WHOLE else "prepartition"]  # whose macrocells MDAV groups
    part = method.partition(Problem.of(X, m + 1), ctx)
    means = coordinates.codec.decode(part.centroids(X), part.labels)
    published = coordinates.codec.encode(means)[part.labels]
    total = np.square(X - X.mean(axis=0)).sum()
    mdav = 100 * float(np.square(X - published).sum() / total)
    return Alternative(coordinates.loss(table.like(masked)), mdav)
