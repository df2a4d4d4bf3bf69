"""`voronym assign`: the cell of each record, by a quantizer from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import Columns, Output, Overwrite, Place, far, points
from voronym.errors import InputError

NAME = "cell"


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
    """Add the cell of each record as a column, by a quantizer. The table is as it was: no release."""
    import numpy as np
    import polars as pl

    from voronym.quantize.levels import load
    from voronym.table.read import read
    from voronym.table.write import write

    common.check_outputs([output], source=source, overwrite=overwrite)
    frame = read(source, **reading)
    X, space = points(frame, column, place)
    rule = load(quantizer)
    if rule.space.name != space.name:
        raise InputError(
            f"the quantizer is of the space {rule.space.name}: give "
            + ("--place LAT,LON" if rule.space.name == "sphere" else "--column")
        )
    if NAME in frame.columns:
        raise InputError(f"the table has a column {NAME!r} already; rename it first")
    labels = rule.assign(X)
    write(frame.with_columns(pl.Series(NAME, labels)), output, keys=[NAME], k=1, overwrite=overwrite)
    sizes = np.bincount(labels, minlength=rule.n_cells)
    figures = {"cells": rule.n_cells, "smallest": int(sizes.min()), "largest": int(sizes.max())}
    said = far(X, rule, labels)
    if json:
        common.emit(figures | said)
        return
    typer.echo(
        f"{len(labels):,} records in {rule.n_cells} cells of {sizes.min():,} to {sizes.max():,}, in {output}."
    )
    for name, value in said.items():
        typer.echo(f"{name.replace('_', ' ')}: {value:,.6g}")
