"""The command line: one module per verb.

`common` has what verbs share (roles, progress, messages and exit codes); `anonymize`, `measure`, `attack`,
`compare`, `inspect`, `importing`, `methods`, `page`, `papers`, `doctor`, `demo`, `design`, `assign` and
`allocate` are the verbs; `help` prints their options, `complete` is what the shell proposes. Each imports
what it needs when it runs.
"""

from __future__ import annotations

import typer

from voronym.cli import (
    allocate,
    anonymize,
    assign,
    attack,
    compare,
    demo,
    design,
    doctor,
    importing,
    inspect,
    ledger,
    location,
    measure,
    methods,
    page,
    papers,
)
from voronym.cli.help import Group

app = typer.Typer(
    name="voronym",
    help="Publish tables about people without exposing them.",
    epilog="Exit codes: 0 done, 1 error, 2 usage, 3 a required guarantee cannot be met (nothing is written).",
    no_args_is_help=True,
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
VERBS = (
    demo,
    anonymize,
    measure,
    attack,
    compare,
    inspect,
    importing,
    ledger,
    methods,
    page,
    papers,
    design,
    assign,
    allocate,
    location,
    doctor,
)
for verb in VERBS:
    verb.register(app)


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Publish tables about people without exposing them."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"voronym {installed('voronym')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; errors become one sentence on stderr and an exit code."""
    from voronym.cli.common import run

    run(app)
