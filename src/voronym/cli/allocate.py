"""`voronym allocate`: points to fixed places with limited room."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import Columns, Map, Output, Overwrite, Place, Weight, far, numbers, points, write_map
from voronym.errors import InputError

NAME = "place"


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("allocate")(files.reads(files.reads(allocate), prefix="places"))


def allocate(
    source: common.Source,
    places: Annotated[str, typer.Argument(help="The table of places, with the same coordinates.")],
    output: Output,
    column: Columns = None,
    place: Place = None,
    capacity: Annotated[
        str | None, typer.Option("--capacity", help="The column of the places with their room.")
    ] = None,
    minimum: Annotated[
        str | None, typer.Option("--minimum", help="The column of the places with the least they must get.")
    ] = None,
    weight: Weight = None,
    map: Map = None,  # noqa: A002 - what everybody calls it
    overwrite: Overwrite = False,
    json: common.Json = False,
    reading: Any = None,
    places_reading: Any = None,
) -> None:
    """Send each record to one of some fixed places, at the least total cost, within their room."""
    import polars as pl

    from voronym import quantize
    from voronym.quantize import Quantizer
    from voronym.table.read import read
    from voronym.table.write import write

    common.check_outputs([output, map], source=source, overwrite=overwrite)
    frame, there = read(source, **reading), read(places, **places_reading)
    if NAME in frame.columns:
        raise InputError(f"the table has a column {NAME!r} already; rename it first")
    (X, space), (C, _) = points(frame, column, place), points(there, column, place)
    with common.ticker(not json) as bar:
        plan = quantize.allocate(
            X,
            C,
            capacities=None if capacity is None else numbers(there, capacity),
            minimum=None if minimum is None else numbers(there, minimum),
            weights=None if weight is None else numbers(frame, weight),
            space=space,
            progress=bar,
        )
    table = frame.with_columns(pl.Series(NAME, plan.labels + 1))
    write(table, output, keys=[NAME], k=1, overwrite=overwrite)
    write_map(map, X, plan.quantizer(), f"{len(C)} places for {len(X):,} points")
    figures: dict[str, Any] = {
        "cost": plan.cost,
        "gap": plan.gap,
        "loads": plan.loads.tolist(),
        "prices": plan.costs.tolist(),
        "divided": len(plan.divided),
    }
    ways = far(X, Quantizer(C, plan.costs, space), plan.labels)
    figures |= ways
    if json:
        common.emit(figures)
        return
    typer.echo(f"{len(X):,} records to {len(C)} places, numbered from 1 as in {places}: in {output}.")
    for number, (load, price) in enumerate(zip(plan.loads, plan.costs, strict=True), 1):
        typer.echo(f"  place {number}: {load:,.6g}" + (f", price of room {price:,.4g}" if price else ""))
    typer.echo(f"Total cost {plan.cost:,.6g}; none is less by more than {max(plan.gap, 0.0):.2g}.")
    for name, value in ways.items():
        typer.echo(f"{name.replace('_', ' ')}: {value:,.6g}")
    if len(plan.divided):
        typer.echo(
            f"{len(plan.divided)} records are divided between places; each is told with the largest share."
        )
