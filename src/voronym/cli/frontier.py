"""`voronym frontier`: print how much keys reveal about a column at each cost of masking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, declared, files
from voronym.cli.verbs import verb
from voronym.request.choices import ColumnChoices

if TYPE_CHECKING:
    from voronym.evaluate.frontier import Frontier

TAKEN = ("keys", "kinds", "orders", "locations")


@verb(
    "frontier",
    purpose="Judge a release",
    examples=(
        "voronym frontier patients.csv --key age,sex --confidential diagnosis",
        "voronym frontier patients.csv --key age --confidential cost --release masked.csv --chart plane.svg",
    ),
    place=3,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ColumnChoices, only=TAKEN)
    app.command("frontier")(files.reads(choices(frontier)))


def frontier(
    source: common.Source,
    confidential: Annotated[
        str | None, typer.Option("--confidential", help="The confidential column. Required.")
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            help="A masked table of the same records, to show its point. Read like the table.",
        ),
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Take row i of both tables for the same person.")
    ] = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw the plane (SVG).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a drawing that exists.")] = False,
    json: common.Json = False,
    reading: Any = None,
    typed: Any = None,
) -> None:
    """Find the least that published keys must reveal about a column, at every distortion of the keys.

    Two lines enclose it: no rule gets below the first, and rules on this table reach the second.
    --release adds the point of a masked table.
    """
    from voronym.errors import InputError
    from voronym.evaluate.frontier import frontier as look
    from voronym.table.read import read

    files.refuse_stdout(chart=chart)
    common.check_outputs([chart], source=source, overwrite=overwrite)
    if chart is not None and chart.suffix.lower() != ".svg":
        raise InputError(f"the plane is drawn as SVG: call the file {chart.with_suffix('.svg').name!r}")
    if confidential is None:
        raise InputError("name the confidential column: --confidential NAME")
    frame = read(source, **reading)
    masked = None if release is None else read(release, **reading)
    given = {"keys": [], **declared.choices_of(typed, frame.columns)}
    (column,) = common.names([confidential], frame.columns)[:1]
    with common.ticker(not json) as progress:
        result = look(frame, confidential=column, release=masked, aligned=aligned, progress=progress, **given)
    if chart is not None:
        from voronym.report.plot import plot_frontier

        plot_frontier(result).save(chart)
    if json:
        common.emit(result.to_dict())
        return
    _show(result)
    if chart is not None:
        common.console().print(f"written: {chart}")


def _show(result: Frontier) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console(highlight=False)
    known = result.plane
    name = known.levels.column
    out.print(
        f"{name}: {known.unchanged.entropy:.3f} nats could be learned; the keys unchanged tell "
        f"{known.unchanged.plug_in:.3f} ({known.unchanged.corrected:.3f} in the population). "
        f"{name}: {known.levels.how}.",
        soft_wrap=True,
    )
    table = Table(box=None, padding=(0, 1))
    for heading in ("loss %", "proven: at least", "reached", "normal data"):
        table.add_column(heading, justify="right")
    for row in result.rows():
        normal = row["normal"]
        table.add_row(
            f"{100 * float(row['distortion'] or 0):.0f}", f"{row['proven']:.3f}", f"{row['reached']:.3f}",
            "–" if normal is None else f"{normal:.3f}",
        )  # fmt: skip
    out.print(table)
    out.print(
        "Nats. proven: no rule on this table, random or not, tells less. reached: the least that a known "
        "rule tells. normal data: the least for normal data with these covariances, for comparison.",
        soft_wrap=True,
    )
    if result.point is not None:
        point = result.point
        out.print(
            f"The release loses {100 * point.distortion:.2f} %"
            + ("" if point.aligned else " (the lost variance, because it is not known which rows correspond)")
            + f" and tells {point.risk:.3f} nats; at that loss "
            f"the least is between {point.proven:.3f} and {min(point.reached, point.risk):.3f}, "
            + (f"so {point.excess:.3f} less is known to be possible." if point.excess > 0.0005
               else "and no known rule tells less."),
            soft_wrap=True,
        )  # fmt: skip
    for note in known.notes:
        out.print(f"note: {note}", soft_wrap=True)
