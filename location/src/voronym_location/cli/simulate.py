"""`voronym location simulate` and `model`: towns and cells, without a service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voronym.cli import common, files

if TYPE_CHECKING:
    from voronym_location.simulate import Simulation


def register(parent: typer.Typer) -> None:
    """Add the verbs to `voronym location`."""
    parent.command()(simulate)
    parent.command()(model)


def simulate(
    people: Annotated[
        int, typer.Option("--people", "-n", help="Number of people in the town.", min=2)
    ] = 5000,
    k: Annotated[int, typer.Option("-k", help="Least number of people who share a history.", min=2)] = 10,
    epochs: Annotated[int, typer.Option("--epochs", help="Number of epochs.", min=1)] = 60,
    change: Annotated[
        float, typer.Option("--change", help="Share of the people who leave at each epoch; as many join.")
    ] = 0.01,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", help="Policies to simulate: cohort, retire, reuse, rerun, afresh."),
    ] = None,
    headroom: Annotated[
        int, typer.Option("--headroom", help="People beyond k with which a group is formed.", min=0)
    ] = 2,
    wait: Annotated[
        int, typer.Option("--wait", help="Epochs after which people accept a far group.", min=0)
    ] = 5,
    budget: Annotated[
        float, typer.Option("--budget", help="Share of the people who may get a new place in an epoch.")
    ] = 0.05,
    budgets: Annotated[
        str,
        typer.Option("--budgets", help="Other budgets to try cohorts with, for the report; '' for none."),
    ] = "0.03,0.05,0.1,0.2,0.3",
    headrooms: Annotated[
        str, typer.Option("--headrooms", help="Headrooms to try the policy retire with, for the report.")
    ] = "5,10,20,40",
    periods: Annotated[
        str, typer.Option("--periods", help="Epochs between two designs of the policy rerun, for the report.")
    ] = "1,5,10,20",
    young: Annotated[
        int, typer.Option("--young", help="Epochs for which newcomers count as young.", min=0)
    ] = 14,
    report: Annotated[Path | None, typer.Option("--report", help="Write a page with curves (HTML).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds after which no further epoch begins.")
    ] = None,
    seed: common.Seed = 0,
    json: common.Json = False,
) -> None:
    """Simulate people who come and go in a made-up town; show what is published and what intruders learn.

    The town has homes alone. Try attributes of homes on a draft: voronym location epoch --look.
    """
    from voronym.core.context import Context
    from voronym_location.rules import Settings
    from voronym_location.simulate import simulate as run

    files.refuse_stdout(report=report)
    common.check_outputs([report], source="", overwrite=overwrite)
    settings = Settings(k=k, headroom=headroom, wait=wait, budget=budget, young=young, seed=seed)
    names = common.names(policy) or ["cohort", "reuse", "afresh"]
    more = report is not None or json
    others = _budgets(budgets) if more else []
    with common.ticker(not json) as progress:
        ctx = Context(seed=seed, time_limit=time_limit, progress=progress)
        outcome = run(
            people=people,
            epochs=epochs,
            change=change,
            settings=settings,
            policies=names,
            budgets=others,
            headrooms=_wholes(headrooms, "--headrooms") if more else [],
            periods=[period for period in _wholes(periods, "--periods") if period < epochs] if more else [],
            seed=seed,
            ctx=ctx,
        )
        ctx.done()
        if report is not None:
            from voronym.report import write_page
            from voronym_location.simulation_page import render

            write_page(render(outcome), report)
    if json:
        common.emit(outcome.to_dict())
    else:
        _show(outcome)
        if report is not None:
            common.console().print(f"written: {report}")


def model(
    census: Annotated[Path, typer.Argument(help="A table with the columns latitude, longitude and people.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The model to publish (JSON).")],
    cells: Annotated[int, typer.Option("--cells", help="Number of cells of equal population.", min=1)],
    width: Annotated[
        float, typer.Option("--width", help="Width of a square of the census, in metres.")
    ] = 1000.0,
    users: Annotated[int, typer.Option("--users", help="Number of future users.", min=1)] = 1000,
    least: Annotated[
        int,
        typer.Option(
            "--least", help="Print the probability that at least this number of users share a cell.", min=2
        ),
    ] = 10,
    doubt: Annotated[float, typer.Option("--doubt", help="Relative error of a cell's share of users.")] = 0.3,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    seed: common.Seed = 0,
) -> None:
    """Design cells from a census grid, which devices apply themselves: a probability, no promise of k."""
    from voronym_location.model import Census, Model

    common.check_outputs([output], source=str(census), overwrite=overwrite)
    with common.ticker() as progress:
        made = Model.design(Census.read(census, width), cells, doubt=doubt, seed=seed, progress=progress)
        chance = made.chance(users, least)
        made.save(output)
    typer.echo(str(chance))
    common.console().print(f"written: {output}")


def _budgets(text: str) -> list[float]:
    from voronym.errors import InputError

    try:
        budgets = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        budgets = [-1.0]
    if any(not 0.0 <= budget <= 1.0 for budget in budgets):
        raise InputError(f"--budgets takes shares from 0 to 1 with commas, such as 0.05,0.3; not {text!r}")
    return budgets


def _wholes(text: str, flag: str) -> list[int]:
    from voronym.errors import InputError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"{flag} takes whole numbers separated by commas, such as 5,10; not {text!r}")
    return [int(part) for part in parts]


def _show(outcome: Simulation) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), title_justify="left")
    table.title = (
        f"{outcome.people:,} people, k={outcome.settings.k}, change {100 * outcome.change:g} % an epoch"
    )
    heads = ("policy", "served %", "told %", "rms m", "smallest", "below k %", "alone %", "linked: below k %")
    for head in heads:
        table.add_column(head, justify="left" if head == "policy" else "right")
    for name, rows in outcome.rows.items():
        later, last = rows[1:] or rows, rows[-1]
        table.add_row(
            name,
            f"{100 * sum(row.served for row in later) / len(later):.1f}",
            f"{100 * sum(row.told for row in later) / len(later):.1f}",
            f"{last.rms:.0f}",
            str(min(row.pseudonym.smallest for row in rows)),
            f"{100 * last.pseudonym.below:.1f}",
            f"{100 * last.pseudonym.single:.1f}",
            f"{100 * last.linking.below:.1f}",
        )
    out = Console(highlight=False)
    out.print(table)
    epoch, least = max(outcome.fresh.items())
    out.print(
        f"After {max(map(len, outcome.rows.values()))} epochs. told: people who get a new place in an "
        "epoch, on average. smallest: the smallest number of active people with the same history in any "
        "epoch. linked: the same for an intruder who recognises new pseudonyms, by an IP address for "
        f"example. A grouping of everybody at epoch {epoch} by itself: {least:.0f} m.",
        soft_wrap=True,
    )
