"""`voronym methods`: the registries of methods, those that make cells and those that do not."""

from __future__ import annotations

from typing import Any

import typer

from voronym.cli import common

_HEADS = {
    "cells": "Methods that make cells of k or more records",
    "mask": "\nMethods that make no cells: they mask record by record, and promise no k",
}


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("methods")(methods)


def methods(json: common.Json = False) -> None:
    """List the methods: what each promises, costs, and where it comes from."""
    import voronym  # noqa: F401 - importing registers the methods
    from voronym.masking import masks
    from voronym.registry import algorithms

    rows: list[dict[str, Any]] = [
        {
            "kind": kind,
            "name": method.name,
            "summary": method.summary,
            "guarantee": method.guarantee,
            "cost": method.cost,
            "reference": method.reference,
            "options": {name: str(default) for name, default in method.options.items()},
        }
        for kind, found in (("cells", algorithms()), ("mask", masks()))
        for method in found.values()
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
        options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
        for what, text in (
            ("guarantee", row["guarantee"]),
            ("cost", row["cost"]),
            ("options", options),
            ("from", row["reference"]),
        ):
            if text:
                out.print(Padding(f"[dim]{what}:[/] {text}", (0, 0, 0, 4)))
