"""Limits in the plane of loss and risk, and how they are drawn. Shared by releases and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voronym.dossier.parts import Point
from voronym.report.curves import Line

MOSTLY = 0.8
"""If chance explains more than this share of the count, the page says so."""

LOOKS = {"floor": "no", "reached": "re", "normal": "nd", "by_lot": "mi"}
NAMES = {
    "floor": "no rule gets here: proven for this table",
    "reached": "least risk known to be reached",
    "by_lot": "each record keeps its keys or gets the mean, at random",
    "normal": "least risk of normal data like these",
}


def lines(curves: Mapping[str, Sequence[Point]], kinds: Sequence[str], top: float) -> list[Line]:
    """Return the limits to draw: those visible below a risk."""
    out = []
    for kind in kinds:
        points = curves.get(kind, ())
        if any(risk > 0 for _, risk in points) and any(risk <= top for _, risk in points):
            out.append(Line(NAMES[kind], LOOKS[kind], points))
    return out


def nats3(value: float | None) -> str:
    """Write nats with three decimals, for tables."""
    return "–" if value is None else f"{value:.3f}"
