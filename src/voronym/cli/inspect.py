"""`voronym inspect`: a proposal for the role of every column, with reasons."""

from __future__ import annotations

import shutil
from typing import Any

import typer

from voronym.cli import common, declared, files
from voronym.cli.help import command_lines
from voronym.cli.verbs import verb
from voronym.errors import InputError
from voronym.request.choices import ReleaseChoices


@verb(
    "inspect",
    purpose="First steps",
    examples=(
        "voronym inspect patients.csv",
        "voronym inspect patients.csv --policy hipaa-safe-harbor --facts zip-populations=zips.csv",
    ),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ReleaseChoices, only=("policy", "facts"))
    app.command("inspect")(files.reads(choices(inspect)))


def inspect(
    source: common.Source,
    query: common.Query = None,
    json: common.Json = False,
    reading: Any = None,
    typed: Any = None,
) -> None:
    """Propose a role and a kind for every column, with reasons. You decide.

    With --policy also the steps, the k and the models that it demands.
    """
    from voronym.table.read import read
    from voronym.table.schema import Schema
    from voronym.table.source import source_of

    with common.ticker(not json):
        frame = read(source, query=query, **reading)
        proposal = Schema.infer(frame)
        chosen = _completed(frame, declared.choices_of(typed, frame.columns)) if typed else None
    file = source_of(frame)
    read_by = ({} if query is None else {"query": query}) | reading
    asked = proposal.command(source) if chosen is None else chosen.command(source)
    words = f"{asked}{files.flags(read_by)}"
    result = "" if file is None else file.says()
    if json:
        common.emit(
            {
                "schema": proposal.schema.to_dict(),
                "reasons": dict(proposal.reasons),
                "warnings": list(proposal.warnings),
                "read": result,
                "shapes": dict(proposal.shapes),
                "distinct": dict(proposal.distinct),
                "missing": dict(proposal.missing),
                "command": words,
                **({} if chosen is None else {"chosen": [entry.to_dict() for entry in chosen.added]}),
            }
        )
    else:
        wide = shutil.get_terminal_size((1_000, 24)).columns
        typer.echo(proposal.text(wide))
        if result:
            typer.echo(f"Read with {result}")
        if chosen is not None:
            typer.echo("The policy demands:")
            demanded = [item for item in chosen.added if item.source]
            common.print_lines(
                "\n".join(f"  {element}" for element in demanded) or "  nothing: all demands are met already"
            )
        typer.echo("\n".join(["The command for this proposal:", *command_lines(words, wide)]))


def _completed(frame: Any, given: dict[str, Any]) -> Any:
    """Return the additions of a policy to a run without any choice."""
    from voronym.policy.case import Facts
    from voronym.policy.complete import complete
    from voronym.policy.policy import Policy
    from voronym.request.request import Request

    if "policy" not in given:
        raise InputError("facts are tables for a policy, and no policy is named: give --policy, too")
    policy = Policy.load(given["policy"])
    return complete(Request.of(given), frame, policy, Facts.of(policy, given.get("facts")))
