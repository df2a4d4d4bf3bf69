"""Uniform coding: the loss at other numbers of suppressed records."""

from __future__ import annotations

from voronym.core.figures import Figures
from voronym.dossier import Dossier
from voronym.methods.figures import LatticeFigures
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table

MOST_ROWS = 25


@section("frontier", "Other levels", needs=("inside.figures",), place=24)
def frontier(_: Dossier, figures: Figures) -> Data | None:
    """Show the best recoding for every number of suppressed records; None for other methods."""
    measured = figures.of(LatticeFigures)
    if measured is None:
        return None
    result = measured.lattice
    rows = result.frontier[-MOST_ROWS:]
    drawn = bars.bars(
        [f"{item.suppressed:,} suppressed" for item in rows],
        [entry.loss for entry in rows],
        title="Certainty penalty by records suppressed",
        write=percent,
        across=WIDE,
    )
    head = ("suppressed", "penalty", *result.heights, "")
    cells = [
        (
            f"{row.suppressed:,}",
            percent(row.loss),
            *(f"{level} of {result.heights[name]}" for name, level in row.levels.items()),
            "published" if row.chosen else "",
        )
        for row in rows
    ]
    return {"figure": drawn, "table": Table.of(head, cells), "found": result, "shown": len(rows)}
