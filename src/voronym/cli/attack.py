"""`voronym attack`: try to identify people in a release of any tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common, declared, files, recipes
from voronym.cli.verbs import verb
from voronym.errors import InputError
from voronym.request.choices import ColumnChoices

TAKEN = ("keys", "confidential", "kinds", "orders", "locations", "person", "household")
"""Choices about columns that this verb takes."""


@verb(
    "attack",
    purpose="Judge a release",
    examples=("voronym attack release.csv --key age,sex,zip --original patients.csv",),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ColumnChoices, only=TAKEN)
    app.command("attack")(files.reads(files.reads(choices(attack)), prefix="original"))


def attack(
    source: common.Source,
    original: Annotated[
        str | None,
        typer.Option("--original", help="The table it was made from, to check the claims of intruders."),
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Take row i of both tables for the same person.")
    ] = False,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            help="The recipe of the release. It names the columns; intruders can repeat the release with it.",
        ),
    ] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="People like these who are not in the table.")
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option("--earlier", help="An earlier release about some of the same people; repeat for more."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Names of the attacks to run. Default: all.")
    ] = None,
    targets: Annotated[int, typer.Option("--targets", help="Largest number of people to attack.")] = 2_000,
    seed: common.Seed = 0,
    progress: common.Progress = "auto",
    json: common.Json = False,
    reading: Any = None,
    original_reading: Any = None,
    typed: Any = None,
) -> None:
    """Attack a release as intruders would, from the least to the best informed."""
    from voronym.intruder import attack as assault
    from voronym.table.read import read

    common.show_progress(progress)
    written = recipes.load(None if recipe is None else Path(recipe))
    known = {} if written is None else written.reading
    with common.ticker(not json) as bar:
        frame = read(source, **recipes.reading(written, source, reading))
        result = assault(
            frame,
            file=source,
            original=None
            if original is None
            else files.read_beside(original, "original", **{**known, **original_reading}),
            aligned=aligned,
            recipe=recipe,
            control=control,
            earlier=earlier or (),
            attacks=common.names(only) or None,
            targets=targets,
            seed=seed,
            progress=bar,
            **declared.choices_of(typed, frame.columns),
        )
    if only and not result.outcomes:
        reasons = "; ".join(f"{name}: {why}" for name, why in result.skipped.items())
        raise InputError(f"no attack that you named could be made: {reasons}")
    if json:
        common.emit(result.to_dict())
    else:
        common.print_lines(result.text(common.width()))
