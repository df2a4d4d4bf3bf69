"""`voronym methods`: the registry of methods."""

from __future__ import annotations

from typing import Any

import typer

from voronym.cli import common

_HEADS = {
    "groups": "Methods that make groups of k or more records",
    "table": "\nMethods that make no groups: they mask record by record, and promise no k",
}


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("methods")(methods)


def methods(json: common.Json = False) -> None:
    """List the methods: what each promises, costs, and where it comes from."""
    import voronym  # noqa: F401 - importing registers the methods
    from voronym.registry import METHODS

    rows: list[dict[str, Any]] = [
        {
            "kind": method.makes,
            "name": method.name,
            "summary": method.summary,
            "guarantee": method.guarantee,
            "cost": method.cost,
            "reference": method.reference,
            "options": {name: str(default) for name, default in method.options.defaults().items()},
            "meaning": method.options.texts(),
        }
        for method in sorted(METHODS.values(), key=lambda one: (one.makes, one.name))
    ]
    if json:
        common.emit(rows)
        return
    from rich.console import Console
    from rich.padding import Padding

    out = Console(highlight=False)
    kind = ""
    for row in rows:
        if row["kind"] != kind:
            kind = row["kind"]
            out.print(f"[bold underline]{_HEADS[kind]}[/]\n")
        out.print(f"[bold]{row['name']}[/]  {row['summary']}")
        for what in ("guarantee", "cost", "reference"):
            out.print(Padding(f"[dim]{what}:[/] {row[what]}", (0, 0, 0, 4)))
        for name, default in row["options"].items():
            words = f"[cyan]--{name.replace('_', '-')}[/] [dim]{default}[/]  {row['meaning'][name]}"
            out.print(Padding(words, (0, 0, 0, 4)))
