"""`voronym location`: the location anonymizer.

``simulate``  `simulate` and `model`: towns and cells, without a service
``demo``      a service with made-up citizens
``serving``   run a service: `serve`, `epoch`, `import` and others
``keeping``   maintain a service: `backup`, `restore`, `forget` and others
"""

from __future__ import annotations

import typer

from voronym.plugins import verb
from voronym_location.cli import demo, serving, simulate

app = typer.Typer(
    name="location",
    help="Run a service that gives people a place they share with k others, instead of their home.",
    no_args_is_help=True,
)
for part in (simulate, demo, serving):
    part.register(app)


@verb(
    "location",
    purpose="Points and places",
    examples={
        "demo": ("voronym location demo", "voronym location demo --once --json"),
        "simulate": ("voronym location simulate --people 2000 -k 10 --epochs 24",),
    },
    place=4,
)
def register(parent: typer.Typer) -> None:
    """Add the verbs to the application."""
    parent.add_typer(app)
