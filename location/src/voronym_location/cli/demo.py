"""`voronym location demo`: a service, two hundred made-up citizens, and a provider."""

from __future__ import annotations

import base64
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voronym.cli import common, signals

if TYPE_CHECKING:
    from voronym_location.demo import Answers, Demo

WAYS = {
    "home": ("their home", "where they live"),
    "point": ("their point", "a point that many share"),
    "centre": ("the town's centre", "nothing"),
}


def register(parent: typer.Typer) -> None:
    """Add the verb to `voronym location`."""
    parent.command()(demo)


def demo(
    people: Annotated[int, typer.Option("--people", "-n", help="Number of made-up citizens.", min=20)] = 200,
    k: Annotated[int, typer.Option("-k", help="Least number of people who share a point.", min=2)] = 10,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            help="Port for the pages. If it is in use, the demo takes another port.",
            min=0,
            max=65535,
        ),
    ] = 8750,
    once: Annotated[
        bool, typer.Option("--once", help="Print how answers differ, and end without showing pages.")
    ] = False,
    seed: common.Seed = 0,
    json: common.Json = False,
) -> None:
    """Run a service with made-up citizens and a provider, "nearest pharmacy"; show how answers differ.

    Everything is in a temporary folder and on this machine alone; Ctrl-C ends it and removes all of it.
    """
    from voronym.core.context import Context
    from voronym_location.demo import running

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="voronym-location-"))
        with common.ticker(not json) as progress:
            ctx = Context(seed=seed, progress=progress)
            started = running(Path(folder), people=people, k=k, seed=seed, port=port, ctx=ctx)
            town = stack.enter_context(started)
            answers = town.ask()
            ctx.done()
        if json:
            common.emit(answers.to_dict() | {"address": town.address, "provider": town.counter.address})
        else:
            _show(answers, k)
        if once:
            return
        signals.reopen()
        _invite(town)
        with suppress(signals.Stopped, KeyboardInterrupt):
            _wait(town)
    common.console().print("\nThe demonstration has ended; nothing of it is left.")


def _show(answers: Answers, k: int) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), title_justify="left")
    table.title = f"{answers.people} people ask for the nearest pharmacy, from"
    for head in ("", "the provider learns", "nearest one told", "way longer by"):
        table.add_column(head, justify="left" if head in ("", "the provider learns") else "right")
    for name, way in answers.ways.items():
        table.add_row(*WAYS[name], f"{100 * way.right:.0f} %", f"{way.further:.0f} m")
    out.print(table)
    out.print(
        f"\nThe provider saw {answers.people} pseudonyms at {answers.points} points, {answers.fewest} or "
        f"more each (k={k}). Points are\n{answers.off:.0f} m from home (root mean square). Each person "
        "asked the service once; it never learned what for.",
        soft_wrap=True,
    )


def _invite(town: Demo) -> None:
    from voronym_location.demo import OPERATOR, PASSWORD

    email = next(iter(town.homes))
    out = common.console()
    out.print(f"\nOpen [bold]{town.address}[/] and sign in:", soft_wrap=True)
    out.print(f"  a citizen   [bold]{email}[/]     password [bold]{PASSWORD}[/]", soft_wrap=True)
    out.print(
        f"  an operator [bold]{OPERATOR}[/]     the same password and, under “I am an operator”, "
        "the code below",
        soft_wrap=True,
    )
    out.print(f"Mail, such as codes, is put into {town.service.settings.mailbox}", soft_wrap=True)
    out.print(f"The provider is at {town.counter.address}. Ctrl-C ends the demonstration.", soft_wrap=True)


def _wait(town: Demo) -> None:
    """Show the operator's second factor, which changes every half minute, until interrupted."""
    from voronym_location.passwords import STEP, one_time_code

    out, secret, shown = common.console(), base64.b32decode(town.secret), ""
    while True:
        code = one_time_code(secret, time.time())
        if code != shown:
            out.print(f"  operator's code now: [bold]{code}[/]", end="\r" if out.is_terminal else "\n")
            shown = code
        time.sleep(min(1.0, STEP))
