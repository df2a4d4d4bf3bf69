"""`voronym papers`: the tables of published papers, beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from voronym.cli import common

if TYPE_CHECKING:
    from voronym.papers import Table


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("papers")(papers)


def papers(
    name: Annotated[str | None, typer.Argument(help="The paper; without it, the papers are listed.")] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As far as the paper went, or about two minutes.")
    ] = False,
    json: common.Json = False,
) -> None:
    """Compute the tables of a paper again and print them beside the published figures."""
    from time import perf_counter

    from voronym.papers import papers as known
    from voronym.papers import reproduce

    if name is None:
        if json:
            common.emit({key: entry.reference for key, entry in known().items()})
        else:
            for key, entry in known().items():
                typer.echo(f"{key}  {entry.reference}")
        return
    start = perf_counter()
    found = []
    with common.ticker(not json) as progress:
        for table in reproduce(name, full=full, progress=progress):
            found.append(table)
            if not json:
                _show(table)
    seconds = perf_counter() - start
    if json:
        entry = known()[name]
        common.emit(
            {
                "paper": name,
                "reference": entry.reference,
                "full": full,
                "seconds": seconds,
                "tables": [table.to_dict() for table in found],
            }
        )
    else:
        typer.echo(f"{known()[name].reference}; {seconds:.0f} seconds")


def _show(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as Grid

    out = Console(highlight=False)
    grid = Grid(title=table.title, title_justify="left", box=None, padding=(0, 1))
    for column in table.columns:
        grid.add_column(column, justify="right")
    for row in table.rows:
        grid.add_row(*(_text(value) for value in row))
    out.print(grid)
    if table.note:
        out.print(f"[dim]{table.note}[/]")
    out.print()


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
