"""`voronym methods`: the registry of partitioning methods."""

from __future__ import annotations

from typing import Any

import typer

from voronym.cli import common


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("methods")(methods)


def methods(json: common.Json = False) -> None:
    """List the partitioning methods: what each promises, costs, and where it comes from."""
    import voronym.microaggregate  # noqa: F401 - importing registers the methods
    from voronym.registry import algorithms

    rows: list[dict[str, Any]] = [
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
    from rich.padding import Padding

    out = Console(highlight=False)
    for row in rows:
        out.print(f"[bold]{row['name']}[/]  {row['summary']}")
        options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
        for what, text in (
            ("guarantee", row["guarantee"]),
            ("cost", row["cost"]),
            ("options", options),
            ("from", row["reference"]),
        ):
            if text:
                out.print(Padding(f"[dim]{what}:[/] {text}", (0, 0, 0, 4)))
