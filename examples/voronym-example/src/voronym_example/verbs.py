"""The verb `voronym rarest`. Whatever takes long to import is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from voronym.plugins import verb


@verb("rarest", purpose="Judge a release", examples=["voronym rarest patients.csv --key age,zip"])
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("rarest")(rarest)


def rarest(
    source: Annotated[str, typer.Argument(help="The table.")],
    key: Annotated[str, typer.Option("--key", help="Columns, with commas.")],
) -> None:
    """Say how many records share the rarest combination of some columns."""
    import voronym as vr

    measurement = vr.measure(vr.read(source), keys=key.split(","), models=["k-anonymity"])
    typer.echo(f"{measurement.findings[0].value:.0f} share the rarest combination of {key}")
