"""`voronym advise`: releases that satisfy a policy, at different prices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common, declared, files
from voronym.cli.verbs import verb
from voronym.errors import InputError
from voronym.request.choices import ColumnChoices, ReleaseChoices

TAKEN = (*ColumnChoices.names(), "k", "models", "policy", "facts", "steps", "weights", "strata", "seed")
"""Choices of `voronym anonymize` that this verb also takes."""


@verb(
    "advise",
    purpose="Make a release",
    examples=("voronym advise patients.csv --policy ema-0070 -o advice.html",),
    place=4,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ColumnChoices, ReleaseChoices, only=TAKEN)
    app.command("advise")(files.reads(choices(advise)))


def advise(
    source: common.Source,
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds for the search.")] = 60.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a page with the alternatives side by side.")
    ] = None,
    query: common.Query = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    progress: common.Progress = "auto",
    json: common.Json = False,
    reading: Any = None,
    typed: Any = None,
) -> None:
    """Look for three releases that satisfy a policy at different prices, and print the command of each.

    One keeps detail in ages, another in places (or in other keys of the table), a third leaves nobody
    out. Each is at least as good as the plain run in the part that it favours. Nothing is released.
    """
    from voronym.advice import advise as look
    from voronym.report.advice import render_advice
    from voronym.report.html import write_page
    from voronym.table.read import read

    common.show_progress(progress)
    if "policy" not in typed:
        raise InputError("name the policy: --policy NAME or FILE. `voronym policies` lists them")
    if output is not None and output.suffix != ".html":
        raise InputError(f"the alternatives are drawn on a page: {output} must end in .html")
    common.check_outputs([output], source=source, overwrite=overwrite)
    with common.ticker(not json) as bar:
        bar.begin("reading", 0.0)
        frame = read(source, query=query, **reading)
        made = look(
            frame,
            seconds=seconds,
            source=f"{source}{files.flags(reading)}" if reading else source,
            progress=bar.part(0.05, 0.95),
            **declared.choices_of(typed, frame.columns),
        )
        if output is not None:
            write_page(render_advice(made), output)
    if json:
        common.emit(made.to_dict())
    else:
        common.print_lines(str(made))
