"""An attack on private releases: is a record in the table? Tried on halves with known members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voronym.dp import BoundedRecords, Budget, Cells
from voronym.methods.differential import (
    AUTO,
    DifferentialOptions,
    cells_of,
    column_weights,
    encode,
    public_bounds,
    rows_of,
)
from voronym.privacy.differential import DifferentialPrivacy
from voronym.table.table import Table

WRONG = 0.01
"""The share of false alarms."""
HALVES, MOST = 4, 2000
"""Number of releases to attack, and of records in each."""


def membership(
    table: Table, model: DifferentialPrivacy, options: DifferentialOptions, k: int | None
) -> float:
    """Return the share of members that a test by the nearest published record finds at 1 % false alarms.

    Random halves of the table are released in the same way, without being shown. People of the other half
    are non-members; the threshold is set so that the test errs on 1 % of them.

    Parameters
    ----------
    table : Table
        The originals.
    model : DifferentialPrivacy
        The promise.
    options : DifferentialOptions
        The settings of the groups.
    k : int, optional
        Their size.
    """
    bounds = public_bounds(table, model, options)
    records, _ = encode(table, bounds)
    records = replace(records, weights=column_weights(bounds, options))
    budget = Budget(float(model.epsilon or 0.0), model.delta, rows_of(table, model))
    grouping = AUTO if options.grouping == "auto" else options.grouping
    rng = np.random.default_rng()
    caught = []
    for _ in range(HALVES):
        order = rng.permutation(records.n)
        inside, others = order[: records.n // 2], order[records.n // 2 :]
        half = _some(records, inside)
        cells, _, _ = cells_of(half, model, budget, grouping, k)
        near = [_nearest(_some(records, some[:MOST]), cells) for some in (inside, others)]
        limit = np.quantile(near[1], WRONG, method="lower")
        ties = np.mean(near[1] < limit), np.mean(near[1] <= limit)
        sure, maybe = np.mean(near[0] < limit), np.mean(near[0] <= limit)
        part = (WRONG - ties[0]) / (ties[1] - ties[0]) if ties[1] > ties[0] else 0.0
        caught.append(sure + min(max(part, 0.0), 1.0) * (maybe - sure))  # ties are decided by a coin
    return float(np.mean(caught))


def _some(records: BoundedRecords, rows: NDArray[np.int64]) -> BoundedRecords:
    return replace(records, ordered=records.ordered[rows], nominal=records.nominal[rows])


def _nearest(records: BoundedRecords, cells: Cells) -> NDArray[np.float64]:
    """Return the distance of each record from the nearest cell that is published."""
    shown = cells.counts > 0
    ordered, nominal = cells.ordered[shown], cells.nominal[shown]
    best = np.full(records.n, np.inf)
    for centre, modes in zip(ordered, nominal, strict=True):
        far = np.square(records.ordered - centre).sum(axis=1) + (records.nominal != modes).sum(axis=1)
        np.minimum(best, far, out=best)
    return best
