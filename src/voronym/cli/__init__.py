"""The command line: one module per verb.

Each verb registers in `verbs`, and plug-ins add theirs. `common` holds shared code: roles, progress, messages
and exit codes. `help` prints the options and `complete` feeds shell completion. A verb imports its
dependencies when it runs.
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
    """Run the command line; an error prints one sentence on stderr and sets the exit code."""
    from voronym.cli.common import run

    run(app)
