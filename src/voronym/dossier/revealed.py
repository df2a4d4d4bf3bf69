"""The information of published keys about confidential columns, with upper and lower limits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.dossier.parts import Point, Told, ToldColumn
from voronym.evaluate.tradeoff import Plane, class_information, letters, plane
from voronym.privacy.mutual_information import MutualInformation
from voronym.table.table import Table

KINDS = ("floor", "reached", "normal", "by_lot")
_POINTS = 161


def told_of(
    original: Table,
    X: NDArray[np.float64],
    labels: NDArray[np.int64],
    loss: float,
    ctx: Context,
    *,
    clusters: bool = False,
    limits: bool = True,
    stated: float | None = None,
) -> Told | None:
    """Measure the information of published classes; None without a confidential column or a varying key.

    Parameters
    ----------
    original : Table
        The original records.
    X : array, shape (n, d)
        Its keys as coordinates.
    labels : array of int, shape (n,)
        The class or cluster of each original record, by its published keys.
    loss : float
        Percent of the keys' variance that is lost as published.
    limits : bool
        Whether to look for the least risk that randomised rules reach, by convex programmes.
    """
    schema = original.schema
    if not schema.confidential or not np.ptp(X, axis=0).any():
        return None
    columns = []
    for level in MutualInformation().levels(original):
        ctx.tell(0.0, whole=True)
        columns.append(
            ToldColumn(
                level.column,
                class_information(level, labels),
                class_information(level, original.classes.labels),
            )
        )
    worst = max(columns, key=lambda column: (column.now.excess, column.now.plug_in))  # not what chance shows
    result = plane(original, X, column=worst.name, ctx=ctx.part(0.1, 1.0), rules=limits)
    result = result.and_also([(loss / 100, worst.now.plug_in)])
    return Told(
        worst.name,
        result.levels.how,
        loss,
        result.unchanged,
        tuple(columns),
        curves(result, 100.0),
        result.notes,
        letters(result),
        clusters,
        stated,
    )


def curves(plane: Plane, right: float) -> Mapping[str, tuple[Point, ...]]:
    """Return the limits in the plane as points, by kind, up to a loss in percent; dense at small losses."""
    at = np.square(np.linspace(0.0, min(right / 100, 1.0) ** 0.5, _POINTS))
    made = {curve.kind: curve.points(at) for curve in plane.curves}
    made["by_lot"] = [(float(share), plane.upper(float(share))) for share in at]
    return {
        kind: tuple((100 * a, b) for a, b in made[kind] if np.isfinite(b)) for kind in KINDS if kind in made
    }
