"""`voronym methods`: the registry of partitioning methods."""

from __future__ import annotations

import typer

from voronym.cli import common


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("methods")(methods)


def methods(json: common.Json = False) -> None:
    """List the partitioning methods: what each promises, costs, and where it comes from."""
    import voronym.microaggregate  # noqa: F401 - importing registers the methods
    from voronym.registry import algorithms

    rows = [
        {
            "name": method.name,
            "summary": method.summary,
            "guarantee": method.guarantee,
            "cost": method.cost,
            "reference": method.reference,
            "options": {name: str(default) for name, default in method.options.items()},
        }
        for method in algorithms().values()
    ]
    if json:
        common.emit(rows)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), show_edge=False)
    for heading in ("method", "what it does", "guarantee", "cost", "options"):
        table.add_column(heading)
    for row in rows:
        options = ", ".join(f"{name}={value}" for name, value in row["options"].items())  # type: ignore[attr-defined]
        table.add_row(
            f"[bold]{row['name']}[/]", str(row["summary"]), str(row["guarantee"]), str(row["cost"]), options
        )
    Console(highlight=False).print(table)
