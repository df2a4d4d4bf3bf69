"""Differential privacy: ε, δ, the unit and the bounds, and their meaning for a person."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.methods.figures import Private
from voronym.report.section import Data, section
from voronym.report.write import Table


@section("private", "What ε means here", needs=("public.private",), place=20)
def private(d: Dossier, made: Private) -> Data:
    """Show the bounds behind a differentially private release, and the measured membership attack."""
    rows = [(item.column, item.bounds, item.origin) for item in made.bounds]
    return {
        "made": made,
        "bounds": Table.of(("column", "public bounds", "from"), rows, caption="Bounds", numeric=False),
        "measured": None if d.inside is None else d.inside.membership,
    }
