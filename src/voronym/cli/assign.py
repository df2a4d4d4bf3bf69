"""`voronym assign`: the cell of each record, by a quantizer from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import Columns, Output, Overwrite, Place, between, count, far, points
from voronym.cli.verbs import verb
from voronym.errors import InputError

NAME = "cell"


@verb(
    "assign",
    purpose="Points and places",
    examples=("voronym assign newcomers.csv districts.json -o with-cells.csv --place lat,lon",),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("assign")(files.reads(assign))


def assign(
    source: common.Source,
    quantizer: Annotated[Path, typer.Argument(help="The file that `voronym design` wrote.")],
    output: Output,
    column: Columns = None,
    place: Place = None,
    overwrite: Overwrite = False,
    json: common.Json = False,
    reading: Any = None,
) -> None:
    """Add the cell of each record as a column, by a quantizer. The result is no release."""
    import numpy as np
    import polars as pl

    from voronym.quantize.levels import load
    from voronym.table.places import shown
    from voronym.table.read import read
    from voronym.table.write import write

    written = files.check_release(output, json=json, overwrite=overwrite)
    common.check_outputs(written, source=source, overwrite=overwrite, also=[quantizer])
    frame = read(source, **reading)
    X, space = points(frame, column, place)
    rule = load(quantizer)
    if rule.space.name != space.name:
        raise InputError(
            f"the quantizer is of the space {rule.space.name}: give "
            + ("--place LAT,LON" if rule.space.name == "sphere" else "--column")
        )
    if rule.centroids.shape[1] != X.shape[1]:
        raise InputError(
            f"the quantizer has {count(rule.centroids.shape[1], 'coordinate')}, and --column names "
            f"{X.shape[1]}: give the columns that it was made of, in the same order"
        )
    if NAME in frame.columns:
        raise InputError(f"the table has a column {NAME!r} already; rename it first")
    labels = rule.assign(X)
    write(frame.with_columns(pl.Series(NAME, labels)), output, keys=[NAME], k=1, overwrite=overwrite)
    sizes = np.bincount(labels, minlength=rule.n_cells)
    figures = {"cells": rule.n_cells, "smallest": int(sizes.min()), "largest": int(sizes.max())}
    result = far(X, rule, labels)
    if json:
        common.emit(figures | result)
        return
    aside = not written  # the table itself is on stdout
    typer.echo(
        f"{count(len(labels), 'record')} in {count(rule.n_cells, 'cell')} of "
        f"{between(sizes.min(), sizes.max())}" + ("." if aside else f", in {shown(output)}."),
        err=aside,
    )
    for name, value in result.items():
        typer.echo(f"{name.replace('_', ' ')}: {value:,.6g}", err=aside)
