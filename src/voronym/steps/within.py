"""The strata within which a step is applied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.table.classes import equivalence_classes
from voronym.table.table import Table


def strata_rows(table: Table, by: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return the rows of each stratum; all rows without strata."""
    if not by:
        return [np.arange(table.n)]
    classes = equivalence_classes(table.frame, by)
    order = np.argsort(classes.labels, kind="stable")
    return np.split(order, np.cumsum(classes.sizes)[:-1])
