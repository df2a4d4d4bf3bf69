"""Uniform coding: what other numbers of suppressed records would lose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voronym.dossier import Dossier
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table

MOST_ROWS = 25


@section("frontier", "Other levels", needs=("inside.figures",), place=24)
def frontier(_: Dossier, figures: Mapping[str, Any]) -> Data | None:
    """Show the best recoding for every number of suppressed records; nothing for other methods."""
    found = figures.get("lattice")
    if found is None:
        return None
    rows = found["frontier"][-MOST_ROWS:]
    drawn = bars.bars(
        [f"{one['suppressed']:,} suppressed" for one in rows],
        [one["loss"] for one in rows],
        title="Certainty penalty by records suppressed",
        write=percent,
        across=WIDE,
    )
    head = ("suppressed", "penalty", *found["heights"], "")
    cells = [
        (
            f"{one['suppressed']:,}",
            percent(one["loss"]),
            *(f"{level} of {found['heights'][name]}" for name, level in one["levels"].items()),
            "published" if one["chosen"] else "",
        )
        for one in rows
    ]
    return {"figure": drawn, "table": Table.of(head, cells), "found": found, "shown": len(rows)}
