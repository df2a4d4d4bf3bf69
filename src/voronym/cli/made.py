"""What is printed of a release that was made: its promises, what it cost, what was done, where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voronym.cli import common

if TYPE_CHECKING:
    from voronym.release import Release
    from voronym.table.write import WriteReceipt

SHOWN = 8
"""Solutions of uniform coding that are printed, at most."""
Lines = Iterator[tuple[str, Any]]
"""Names and what is said beside them; one without a name goes on with the one before."""


def show(release: Release, receipt: WriteReceipt, others: list[Path]) -> None:
    """Print what a release promises and what it cost."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    units = release.schema.units
    counted = "" if not units else " households" if "household" in units else " people"
    for part in (
        _promises(release, receipt, counted),
        _losses(release),
        _done(release),
        _files(release, receipt, counted, others),
    ):
        for name, text in part:
            grid.add_row(name, str(text))
    common.console().print(grid)


def _promises(release: Release, receipt: WriteReceipt, counted: str) -> Lines:
    from voronym.method import METHODS

    risk = release.risk
    classes = "1 class" if risk.n_classes == 1 else f"{risk.n_classes:,} classes"
    yield "records", f"{receipt.rows:,} in {classes} of {risk.k}{counted} or more"
    method = release.recipe.method
    if not release.recipe.makes_groups:
        yield "method", f"{method}, which promises: {METHODS[method].guarantee}"
    if "linkage" in release.figures:
        now = release.figures["linkage"]["after"]
        words = (
            f"{100 * now['low']:.1f} to {100 * now['high']:.1f} %, {100 * now['confidence']:.0f} % confidence"
        )
        yield "an attack", f"links {100 * now['value']:.1f} % of the records to the right one ({words})"
    for finding in release.findings:
        yield "holds" if finding.required is not None else "measured", str(finding).removesuffix(": holds")


def _losses(release: Release) -> Lines:
    loss = release.information_loss
    if loss is not None:
        yield "information loss", f"{loss:.2f} % of the keys' variance, as published"
    if loss is not None and loss > 100:
        yield "", "above 100 %: a wrong category is further from the truth than the average of all records is"
    within = release.group_loss
    if within is not None and loss is None:  # ranges are published, which have no variance
        yield "information loss", f"{within:.2f} % of the keys' variance in the groups, by their centres"
    elif within is not None:
        yield "", f"{within:.2f} % in the groups, before their centres became values that can occur"
    for cost in release.costs[:-1] if len(release.costs) > 1 else ():
        word = "alone" if cost is release.costs[0] else "added"
        yield "", f"{cost.loss:.2f} % with {cost.guarantee} {word}"
    if release.schema != release.recipe.schema:  # ranges are published
        yield "ranges", release.penalty
    if release.closeness is not None:
        yield "", release.closeness


def _done(release: Release) -> Lines:
    for number, effect in enumerate(release.effects):
        yield "" if number else "steps", effect
    for number, done in enumerate(release.log):
        yield "" if number else "what was done", done
    for number, one in enumerate(release.figures.get("lattice", {}).get("frontier", ())[::-1][1:SHOWN]):
        levels = ", ".join(f"{name} {level}" for name, level in one["levels"].items())
        text = f"{one['suppressed']:,} suppressed, penalty {one['loss']:.2f} %: {levels}"
        yield "" if number else "other levels", text
    if release.booking is not None:
        told = release.booking.figures
        yield (
            "with earlier releases",
            f"{told['known']:,} people are in the {told['earlier_releases']} before it; "
            f"{told['smallest_history']} or more share all groups of each since they were formed"
            if told["earlier_releases"]
            else "none yet: this is the first in the ledger",
        )


def _files(release: Release, receipt: WriteReceipt, counted: str, others: list[Path]) -> Lines:
    none = ", none promised" if release.recipe.k is None else ""
    yield "counted in the file", f"k = {receipt.k_counted}{counted}{none}"
    if receipt.guarded_cells:
        yield (
            "guarded",
            f"{receipt.guarded_cells:,} text cells that a spreadsheet might run got an apostrophe",
        )
    if release.source is not None and (said := release.source.says()):
        yield "read", said
    yield "written", "to standard output" if str(receipt.path) == "-" else receipt.path
    for path in others:
        yield "", path
