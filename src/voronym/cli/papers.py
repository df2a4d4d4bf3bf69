"""`voronym papers`: the tables and figures of published papers, beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common

if TYPE_CHECKING:
    from voronym.papers import Item, Table


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("papers")(papers)


def papers(
    name: Annotated[str | None, typer.Argument(help="The paper; without it, the papers are listed.")] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As far as the paper went, or about two minutes.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with every table and figure (HTML).")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that exists.")] = False,
    json: common.Json = False,
) -> None:
    """Compute the tables and figures of a paper again, beside the published ones."""
    from time import perf_counter

    from voronym.papers import PAPERS as known  # noqa: N811
    from voronym.papers import Table, reproduce

    if name is None:
        if json:
            common.emit({key: entry.reference for key, entry in known.items()})
        else:
            for key, entry in known.items():
                typer.echo(f"{key}  {entry.reference}")
        return
    common.check_outputs([report], source="", overwrite=overwrite)
    start = perf_counter()
    found: list[Item] = []
    with common.ticker(not json) as progress:
        for item in reproduce(name, full=full, progress=progress):
            found.append(item)
            if not json and isinstance(item, Table):
                _show(item)
    seconds = perf_counter() - start
    entry = known[name]
    if report is not None:
        from voronym.report import write_page
        from voronym.report.reproduction import render_paper

        write_page(render_paper(entry, found, full=full, seconds=seconds), report)
    if json:
        common.emit(
            _plain(found) | {"paper": name, "reference": entry.reference, "full": full, "seconds": seconds}
        )
        return
    typer.echo(f"{entry.reference}; {seconds:.0f} seconds")
    if report is not None:
        common.console().print(f"written: {report}")


def _plain(items: list[Item]) -> dict[str, Any]:
    """Return tables and figures as plain values."""
    from voronym.papers import Highlight, Table

    return {
        "tables": [item.to_dict() for item in items if isinstance(item, Table)],
        "figures": [item.to_dict() for item in items if not isinstance(item, Table | Highlight)],
    }


def _show(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as Grid

    out = Console(highlight=False)
    grid = Grid(title=table.title, title_justify="left", box=None, padding=(0, 1))
    for column in table.columns:
        grid.add_column(column, justify="right")
    for row in table.texts():
        grid.add_row(*row)
    out.print(grid)
    if table.note:
        out.print(f"[dim]{table.note}[/]")
    out.print()
