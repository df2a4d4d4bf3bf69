"""`voronym allocate`: points to fixed places with limited room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.points import (
    Columns,
    Map,
    Output,
    Overwrite,
    Place,
    Weight,
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

if TYPE_CHECKING:
    from voronym.quantize import Allocation

NAME = "place"


@verb(
    "allocate",
    purpose="Points and places",
    examples=("voronym allocate patients.csv hospitals.csv -o plan.csv --place lat,lon --capacity beds",),
    place=3,
)
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
        str | None, typer.Option("--capacity", help="The column with the capacity of each place.")
    ] = None,
    minimum: Annotated[
        str | None, typer.Option("--minimum", help="The column with the minimum of each place.")
    ] = None,
    weight: Weight = None,
    map: Map = None,  # noqa: A002 - what everybody calls it
    overwrite: Overwrite = False,
    json: common.Json = False,
    reading: Any = None,
    places_reading: Any = None,
) -> None:
    """Assign each record to one of several fixed places, at the least total cost, within their capacity."""
    import numpy as np
    import polars as pl

    from voronym import quantize
    from voronym.quantize import Quantizer
    from voronym.space import Sphere
    from voronym.table.places import shown as address
    from voronym.table.read import read
    from voronym.table.write import write

    written = files.check_release(output, json=json, overwrite=overwrite)
    common.check_outputs([*written, map], source=source, overwrite=overwrite, also=[places])
    check_map(map)
    frame, there = read(source, **reading), files.read_beside(places, "places", **places_reading)
    if NAME in frame.columns:
        raise InputError(f"the table has a column {NAME!r} already; rename it first")
    (X, space), (C, _) = points(frame, column, place), points(there, column, place)
    shown = np.vstack([flat(map, X, space), flat(map, C, space)])
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
    title = f"{count(len(C), 'place')} for {count(len(X), 'point')}"
    write_map(map, shown, plan.quantizer(), title, first=1)  # numbers as in the table
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
    aside = not written  # the table itself is on stdout
    where = "." if aside else f": in {address(output)}."
    typer.echo(
        f"{count(len(X), 'record')} to {count(len(C), 'place')}, numbered from 1 as in {places}{where}",
        err=aside,
    )
    for line in _lines(plan, ways, isinstance(space, Sphere)):
        typer.echo(line, err=aside)


def _lines(plan: Allocation, ways: Mapping[str, float], globe: bool) -> Iterator[str]:
    """Yield a line per place: its load and the price of room, in km² on the globe; then the total cost."""
    from voronym.space.metrics.globe import EARTH

    scale, unit = (EARTH**2, " km²") if globe else (1.0, "")  # on a sphere of radius 1 before
    for number, (load, price) in enumerate(zip(plan.loads, plan.costs, strict=True), 1):
        yield f"  place {number}: {load:,.6g}" + (
            f", price of room {scale * price:,.4g}{unit}" if price else ""
        )
    near = f", to within {scale * plan.gap:.2g}{unit}" if plan.gap > 1e-9 * abs(plan.cost) else ""
    words = "Sum of squared distances" if globe else "Total cost"
    yield f"{words} {scale * plan.cost:,.6g}{unit}, the least possible{near}."
    for name, value in ways.items():
        yield f"{name.replace('_', ' ')}: {value:,.6g}"
    if len(plan.divided):
        some = "1 record is" if len(plan.divided) == 1 else f"{len(plan.divided)} records are"
        yield f"{some} divided between places; each is listed at the place with its largest share."
