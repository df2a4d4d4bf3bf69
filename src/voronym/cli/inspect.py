"""`voronym inspect`: a proposal for the role of every column, with reasons."""

from __future__ import annotations

import shutil
from typing import Any

import typer

from voronym.cli import common, files
from voronym.cli.help import command_lines
from voronym.cli.verbs import verb


@verb(
    "inspect",
    purpose="First steps",
    examples=("voronym inspect patients.csv",),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("inspect")(files.reads(inspect))


def inspect(
    source: common.Source,
    query: common.Query = None,
    json: common.Json = False,
    reading: Any = None,
) -> None:
    """Propose a role and a kind for every column, and say why. You decide."""
    from voronym.table.read import read
    from voronym.table.schema import Schema
    from voronym.table.source import source_of

    with common.ticker(not json):
        frame = read(source, query=query, **reading)
        proposal = Schema.infer(frame)
    file = source_of(frame)
    read_by = ({} if query is None else {"query": query}) | reading
    words = f"{proposal.command(source)}{files.flags(read_by)}"
    said = "" if file is None else file.says()
    if json:
        common.emit(
            {
                "schema": proposal.schema.to_dict(),
                "reasons": dict(proposal.reasons),
                "warnings": list(proposal.warnings),
                "read": said,
                "shapes": dict(proposal.shapes),
                "distinct": dict(proposal.distinct),
                "missing": dict(proposal.missing),
                "command": words,
            }
        )
    else:
        wide = shutil.get_terminal_size((1_000, 24)).columns
        typer.echo(proposal.text(wide))
        if said:
            typer.echo(f"Read with {said}")
        typer.echo("\n".join(["The command for this proposal:", *command_lines(words, wide)]))
