"""`voronym design`: a quantizer for the points of a table, as a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import (
    Columns,
    Map,
    Output,
    Overwrite,
    Place,
    Weight,
    between,
    check_map,
    count,
    far,
    flat,
    numbers,
    points,
    write_map,
)
from voronym.cli.verbs import verb
from voronym.errors import InputError


@verb(
    "design",
    purpose="Points and places",
    examples=("voronym design homes.csv -o districts.json --place lat,lon --cells 16 --map districts.svg",),
    place=1,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("design")(files.reads(design))


def design(
    source: common.Source,
    output: Output,
    cells: Annotated[
        str,
        typer.Option("--cells", help="Number of cells of equal size; 10,20 makes 10, each divided into 20."),
    ],
    column: Columns = None,
    place: Place = None,
    weight: Weight = None,
    map: Map = None,  # noqa: A002 - what everybody calls it
    seed: common.Seed = 0,
    overwrite: Overwrite = False,
    json: common.Json = False,
    reading: Any = None,
) -> None:
    """Design cells of equal size for the points of a table; write the rule to a file. It is no release."""
    from voronym.quantize import LevelQuantizer, Quantizer, design_levels, design_measures, pcl
    from voronym.table.read import read

    common.check_outputs([output, map], source=source, overwrite=overwrite)
    if output.suffix.lower() != ".json":
        named = output.with_suffix(".json").name
        raise InputError(f"a quantizer is written as JSON: call the file {named!r}, not {output.name!r}")
    check_map(map)
    levels = _counts(cells)
    if len(levels) > 1 and (weight is not None or map is not None):
        raise InputError("--weight and --map are for one level of cells: give one number")
    quantizer: Quantizer | LevelQuantizer
    with common.ticker(not json) as bar:
        frame = read(source, **reading)
        X, space = points(frame, column, place)
        shown = flat(map, X, space)
        if len(levels) > 1:
            quantizer = design_levels(X, levels, space=space, seed=seed)
            labels = quantizer.assign(X)
            sizes = quantizer.sizes(X).astype(float)
        else:
            first = pcl(X, levels[0], space=space, seed=seed, progress=bar)
            quantizer, labels, sizes = first.quantizer, first.labels, first.sizes.astype(float)
        if weight is not None:
            result = design_measures(
                X, levels[0], weights=numbers(frame, weight), init=first.quantizer, space=space, progress=bar
            )
            quantizer, labels, sizes = result.quantizer(), result.labels, result.whole_loads
    quantizer.save(output)
    if isinstance(quantizer, Quantizer):
        write_map(map, shown, quantizer, f"{count(levels[0], 'cell')} of {count(len(X), 'point')}")
    figures = {"cells": quantizer.n_cells, "smallest": float(sizes.min()), "largest": float(sizes.max())}
    figures |= far(X, quantizer, labels)
    if json:
        common.emit(figures)
        return
    held = between(figures["smallest"], figures["largest"])
    what = weight if weight is not None else "point" if held == "1" else "points"
    typer.echo(f"{count(quantizer.n_cells, 'cell')} of {held} {what}, written to {output}.")
    for name, value in list(figures.items())[3:]:
        typer.echo(f"{name.replace('_', ' ')}: {value:,.6g}")
    typer.echo("The rule promises no k for other points. To release a table, use anonymize.")


def _counts(cells: str) -> list[int]:
    """Return the number of cells on each level."""
    counts = [text.strip() for text in cells.split(",")]
    if not all(text.isascii() and text.isdigit() and int(text) > 0 for text in counts):
        raise InputError(
            f"--cells is a whole number from 1 on, or several with commas between them, not {cells!r}"
        )
    return [int(text) for text in counts]
