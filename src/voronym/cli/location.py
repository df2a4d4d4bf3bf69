"""`voronym location`: the location anonymizer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voronym.cli import common, files, serving

if TYPE_CHECKING:
    from voronym.location.simulate import Simulation

app = typer.Typer(
    name="location",
    help="A service that people sign up for: a place that they share with k others, instead of their home.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the verbs to the application."""
    serving.register(app)
    parent.add_typer(app)


@app.command()
def simulate(
    people: Annotated[int, typer.Option("--people", "-n", help="How many live in the town.", min=2)] = 5000,
    k: Annotated[int, typer.Option("-k", help="Least number of people who share a history.", min=2)] = 10,
    epochs: Annotated[int, typer.Option("--epochs", help="How many epochs.", min=1)] = 60,
    change: Annotated[
        float, typer.Option("--change", help="Share of the people who leave at each epoch; as many join.")
    ] = 0.01,
    policy: Annotated[
        list[str] | None, typer.Option("--policy", help="cohort, reuse, afresh; repeat, or use commas.")
    ] = None,
    headroom: Annotated[
        int, typer.Option("--headroom", help="People beyond k with which a group is formed.", min=0)
    ] = 2,
    wait: Annotated[
        int, typer.Option("--wait", help="Epochs after which people accept a far group.", min=0)
    ] = 5,
    budget: Annotated[
        float, typer.Option("--budget", help="Share of the people who may be told a new place in an epoch.")
    ] = 0.05,
    report: Annotated[Path | None, typer.Option("--report", help="Write a page with curves (HTML).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds after which no further epoch begins.")
    ] = None,
    seed: common.Seed = 0,
    json: common.Json = False,
) -> None:
    """Let people come and go in a made-up town, and see what is told and what intruders learn."""
    from voronym.context import Context
    from voronym.location.epochs import Settings
    from voronym.location.simulate import simulate as run

    files.refuse_stdout(report=report)
    common.check_outputs([report], source="", overwrite=overwrite)
    settings = Settings(k=k, headroom=headroom, wait=wait, budget=budget, seed=seed)
    names = common.names(policy) or ["cohort", "reuse", "afresh"]
    with common.ticker(not json) as progress:
        ctx = Context(seed=seed, time_limit=time_limit, progress=progress)
        found = run(
            people=people, epochs=epochs, change=change, settings=settings, policies=names, seed=seed, ctx=ctx
        )
        ctx.done()
    if json:
        common.emit(found.to_dict())
    else:
        _show(found)


def _show(found: Simulation) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), title_justify="left")
    table.title = f"{found.people:,} people, k={found.settings.k}, change {100 * found.change:g} % an epoch"
    heads = (
        "policy",
        "epochs",
        "served %",
        "told anew %",
        "rms m",
        "smallest",
        "below k %",
        "alone %",
        "linked: below k %",
    )
    for head in heads:
        table.add_column(head, justify="left" if head == "policy" else "right")
    for name, rows in found.rows.items():
        later = rows[1:] or rows
        table.add_row(
            name,
            str(len(rows)),
            f"{100 * sum(row.served for row in later) / len(later):.1f}",
            f"{100 * sum(row.told for row in later) / len(later):.1f}",
            f"{rows[-1].rms:.0f}",
            str(min(row.pseudonym.smallest for row in rows)),
            f"{100 * rows[-1].pseudonym.below:.1f}",
            f"{100 * rows[-1].pseudonym.single:.1f}",
            f"{100 * rows[-1].linking.below:.1f}",
        )
    Console(highlight=False).print(table)
