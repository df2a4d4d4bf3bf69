"""The command line: one module per verb.

Each declares itself in the registry of `verbs`; plug-ins add others. `common` has what they share (roles,
progress, messages and exit codes); `help` prints their options, `complete` is what the shell proposes. Each
imports what it needs when it runs.
"""

from __future__ import annotations

import typer

from voronym.cli import (  # noqa: F401 - importing registers
    advise,
    allocate,
    anonymize,
    assign,
    attack,
    check,
    compare,
    demo,
    design,
    doctor,
    frontier,
    importing,
    inspect,
    ledger,
    measure,
    methods,
    page,
)
from voronym.cli.help import Group
from voronym.errors import speaking

app = typer.Typer(
    name="voronym",
    help="Publish tables about people without exposing them.",
    epilog="Exit codes: 0 done, 1 error, 2 usage, 3 a required guarantee cannot be met (nothing is written).",
    no_args_is_help=True,
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Publish tables about people without exposing them."""
    ctx.with_resource(speaking("command"))
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"voronym {installed('voronym')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; errors become one sentence on stderr and an exit code."""
    from voronym.cli.common import run

    run(app)
