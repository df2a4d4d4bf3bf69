"""`voronym design`: a quantizer for the points of a table, as a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import Columns, Map, Output, Overwrite, Place, Weight, far, numbers, points, write_map
from voronym.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("design")(files.reads(design))


def design(
    source: common.Source,
    output: Output,
    cells: Annotated[int, typer.Option("--cells", help="How many cells, of equal size.")],
    column: Columns = None,
    place: Place = None,
    weight: Weight = None,
    map: Map = None,  # noqa: A002 - what everybody calls it
    seed: common.Seed = 0,
    overwrite: Overwrite = False,
    json: common.Json = False,
    reading: Any = None,
) -> None:
    """Design cells of equal size for the points of a table; write the rule as a file. It is no release."""
    from voronym.quantize import design_measures, pcl
    from voronym.table.read import read

    common.check_outputs([output, map], source=source, overwrite=overwrite)
    if output.suffix.lower() != ".json":
        named = output.with_suffix(".json").name
        raise InputError(f"a quantizer is written as JSON: call the file {named!r}, not {output.name!r}")
    with common.ticker(not json) as bar:
        frame = read(source, **reading)
        X, space = points(frame, column, place)
        first = pcl(X, cells, space=space, seed=seed, progress=bar)
        quantizer, labels, sizes = first.quantizer, first.labels, first.sizes.astype(float)
        if weight is not None:
            found = design_measures(
                X, cells, weights=numbers(frame, weight), init=first.quantizer, space=space, progress=bar
            )
            quantizer, labels, sizes = found.quantizer(), found.labels, found.whole_loads
    quantizer.save(output)
    write_map(map, X, quantizer, f"{cells} cells of {len(X):,} points")
    figures = {"cells": cells, "smallest": float(sizes.min()), "largest": float(sizes.max())}
    figures |= far(X, quantizer, labels)
    if json:
        common.emit(figures)
        return
    what = "points" if weight is None else weight
    typer.echo(f"{cells} cells of {sizes.min():,.6g} to {sizes.max():,.6g} {what}, written to {output}.")
    for name, value in list(figures.items())[3:]:
        typer.echo(f"{name.replace('_', ' ')}: {value:,.6g}")
    typer.echo("The rule promises no k for other points. To release a table, use anonymize.")
