"""`voronym inspect`: a proposal for the role of every column, with reasons."""

from __future__ import annotations

import typer

from voronym.cli import common


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("inspect")(inspect)


def inspect(
    source: common.Source,
    delimiter: common.Delimiter = None,
    query: common.Query = None,
    encoding: common.Encoding = None,
    json: common.Json = False,
) -> None:
    """Propose a role and a kind for every column, and say why. You decide."""
    from voronym.table.read import read
    from voronym.table.schema import Schema

    with common.ticker(not json):
        proposal = Schema.infer(read(source, delimiter=delimiter, query=query, encoding=encoding))
    if json:
        common.emit(
            {
                "schema": proposal.schema.to_dict(),
                "reasons": dict(proposal.reasons),
                "warnings": list(proposal.warnings),
            }
        )
    else:
        typer.echo(str(proposal))
