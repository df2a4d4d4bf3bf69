"""What MDAV would lose with groups of the same size: the yardstick for clusters that are shuffled."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.context import Context
from voronym.errors import SchemaError
from voronym.keyspaces import Coordinates
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.table.table import Table

_SAMPLE = 20_000
"""Records that MDAV is tried on. In a sample neighbours are farther, so that it loses more than in all."""


def alternative(table: Table, masked: nw.DataFrame[Any], m: int, ctx: Context) -> dict[str, float] | None:
    """Return the loss of a masked table and that of MDAV with k = m + 1, both as published, in percent.

    None where the keys are no numbers, or do not vary.
    """
    try:
        coordinates = Coordinates.of(table)
    except SchemaError:
        return None
    X = coordinates.X
    if not np.ptp(X, axis=0).any() or table.n < 2 * (m + 1):
        return None
    rows = np.arange(table.n)
    if table.n > _SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(table.n, _SAMPLE, replace=False))
    part = METHODS["mdav"].partition(Problem.of(X[rows], m + 1), ctx)
    # Of a sample the categories cannot be counted by label: the centroids say which are most frequent.
    labels = part.labels if len(rows) == table.n else None
    means = coordinates.codec.decode(part.centroids(X[rows]), labels)
    published = coordinates.codec.encode(means)[part.labels]
    total = np.square(X[rows] - X[rows].mean(axis=0)).sum()
    mdav = 100 * float(np.square(X[rows] - published).sum() / total)
    return {"loss": coordinates.loss(table.like(masked)), "mdav": mdav}
