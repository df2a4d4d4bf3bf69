"""`voronym ledger`: earlier releases of the same people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common
from voronym.cli.verbs import verb
from voronym.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voronym.history.check import Standing
    from voronym.history.ledger import Entry, Ledger

app = typer.Typer(
    name="ledger",
    help="Manage the ledger of earlier releases: keyed fingerprints, never values.",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(help="The ledger.")]


@verb(
    "ledger",
    purpose="Make a release",
    examples={
        "": ("voronym ledger show releases.ledger",),
        "new": ("voronym ledger new releases.ledger",),
        "show": ("voronym ledger show releases.ledger",),
        "budget": ("voronym ledger budget releases.ledger --epsilon 3 --delta 1e-6",),
        "check": ("voronym ledger check releases.ledger",),
        "forget": ("voronym ledger forget releases.ledger --people gone.csv",),
    },
    place=4,
)
def register(parent: typer.Typer) -> None:
    """Add the verbs to the application."""
    parent.add_typer(app)


@app.command()
def new(
    file: File,
    key_of: Annotated[
        Path | None,
        typer.Option("--key-of", help="Another ledger, whose key this one shares: the two can be compared."),
    ] = None,
) -> None:
    """Make an empty ledger; `voronym anonymize --ledger` also makes one if the file is missing."""
    from voronym.history import Ledger

    Ledger.new(file, key_of=None if key_of is None else Ledger(key_of))
    typer.echo(f"{file}: an empty ledger, for you alone", err=True)


@app.command()
def show(file: File, json: common.Json = False) -> None:
    """List the releases in a ledger, and the spent part of its budget."""
    from rich.table import Column, Table

    from voronym.history import Ledger
    from voronym.history.epsilon import PRIVATE, limit_of

    ledger = Ledger(file)
    entries = ledger.entries
    private = [entry for entry in entries if PRIVATE in entry.about]
    if json:
        common.emit([_entry_data(entry) for entry in entries])
        return
    numbers: tuple[str, ...] = ("release", "made", "people", "waiting", "retired", "left_out", "groups", "k")
    numbers += ("epsilon", "delta") if private else ()
    heads = [name.replace("_", " ") for name in (*numbers, "keys", "file")]
    widths = [max(map(len, head.split())) for head in heads]  # a narrow terminal cuts no heading
    columns = (
        Column(head, min_width=wide, overflow="fold") for head, wide in zip(heads, widths, strict=True)
    )
    grid = Table(*columns, box=None, padding=(0, 1, 0, 0))
    for entry in entries:
        row = _entry_data(entry)
        cells = ("–" if row[name] is None else str(row[name]) for name in numbers)
        grid.add_row(*cells, ", ".join(row["keys"]), Path(row["file"]).name)
    common.console().print(grid if entries else "no release was entered yet")
    if private or limit_of(ledger) is not None:
        common.console().print(_spent(ledger, entries))


def _spent(ledger: Ledger, entries: Sequence[Entry]) -> str:
    """Report the joint cost of private releases, and the rest of the budget."""
    from voronym.history.epsilon import DELTA, PRIVATE, everybody, limit_of, most_spent

    limit = limit_of(ledger)
    delta = DELTA if limit is None else limit.delta
    spent = most_spent(entries, everybody(entries), delta)
    at = f" at δ = {delta:g}" if delta else ""
    left = "no budget is set" if limit is None else f"the budget is {limit}"
    without = sum(PRIVATE not in entry.about for entry in entries)
    more = f"; {without} releases have no ε, and are not in the sum" if without else ""
    return f"spent: up to ε = {spent:.4g}{at} by a person; {left}{more}"


@app.command()
def budget(
    file: File,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="Largest total ε of all releases for a person.")
    ],
    delta: Annotated[
        float, typer.Option("--delta", help="δ of the budget; costs are then added up as ρ if that is less.")
    ] = 0.0,
) -> None:
    """Set the ε that all private releases of a ledger may cost a person; a release above it is refused."""
    from voronym.history import Ledger
    from voronym.history.epsilon import Limit, set_limit

    limit = Limit(epsilon, delta)
    set_limit(Ledger(file), limit)
    typer.echo(f"{file}: the budget is {limit}", err=True)


@app.command()
def check(
    file: File,
    other: Annotated[
        Path | None,
        typer.Option(
            "--other",
            metavar="FILE",
            rich_help_panel="Compared with",
            help="The ledger of another department, made with --key-of.",
        ),
    ] = None,
    unrecognised: Annotated[
        bool,
        typer.Option(
            "--unrecognised",
            rich_help_panel="Against whom",
            help="Assume that nobody recognises a person's rows in two releases by unchanged values.",
        ),
    ] = False,
    json: common.Json = False,
) -> None:
    """Count the people who share all groups of a person, release by release; exit code 3 if fewer than k.

    Counted for an intruder who recognises the rows of a person in two releases by values that do not change,
    and for others. The first is the stronger; --unrecognised says that there is none.
    """
    from voronym.history import Ledger
    from voronym.history.check import again, between

    ledger = Ledger(file)
    ours = ledger.entries
    if not ours:
        raise InputError("the ledger is empty: there is nothing to check")
    if other is None:
        result = [(f"release {entry.number}", item) for entry, item in again(ours)]
    else:
        second = Ledger(other)
        if second.key != ledger.key:
            raise InputError(
                "the two ledgers have different keys, so the same person has different fingerprints: make "
                f"the second one by voronym ledger new FILE --key-of {file.name}"
            )
        if not second.entries:
            raise InputError("the other ledger is empty: there is nothing to compare")
        result = [("both together", between(ours, second.entries))]
    if json:
        common.emit([{"of": name, **vars(member)} for name, member in result])
    else:
        _tell(result, unrecognised=unrecognised)
    if any(element.below or (element.recognised_below and not unrecognised) for _, element in result):
        raise typer.Exit(3)


@app.command()
def forget(
    file: File,
    release: Annotated[
        int | None,
        typer.Option("--release", help="The number of a release to forget. It must not have been published."),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option("--people", help="A table of people to remove, with the columns that name them."),
    ] = None,
) -> None:
    """Forget a release, or people; removed entries are wiped from the file."""
    import numpy as np

    from voronym.history import Ledger
    from voronym.history.people import fingerprints, naming_columns
    from voronym.table.read import load

    if (release is None) == (people is None):
        raise InputError("say what to forget: either --release NUMBER or --people FILE")
    ledger = Ledger(file)
    if release is not None:
        ledger.forget(release)
        typer.echo(f"release {release} is forgotten: later ones are not checked against it", err=True)
        return
    if not ledger.entries:
        raise InputError("the ledger is empty: nobody is in it")
    frame = load(people)
    columns = naming_columns(None, frame, bound=ledger.entries[-1].about["named_by"])
    gone = ledger.forget_people(np.unique(fingerprints(frame, columns, ledger.key)))
    typer.echo(f"{gone:,} people are forgotten; they count as people who left", err=True)


def _entry_data(entry: Entry) -> dict[str, Any]:
    import numpy as np

    return {
        "release": entry.number,
        "made": entry.made,
        "people": entry.released,
        "waiting": entry.waiting,
        "retired": entry.retired,
        "left_out": entry.left_out,
        "groups": len(np.unique(entry.groups[entry.groups >= 0])),
        "k": entry.k,
        **{name: entry.about.get("dp", {}).get(name) for name in ("epsilon", "delta", "rho")},
        "keys": list(entry.about["keys"]),
        "columns": list(entry.about["columns"]),
        "named_by": list(entry.about["named_by"]),
        "kept_groups": entry.about["kept_groups"],
        "file": entry.path,
    }


def _tell(result: list[tuple[str, Standing]], *, unrecognised: bool) -> None:
    from rich.table import Table

    out = common.console()
    name, last = result[-1]
    if last.recognised_below and not unrecognised:
        out.print(
            f"{name}: {last.recognised_below:,} of {last.people:,} people stand in sets of fewer than "
            f"k={last.k} (the fewest: {last.recognised_smallest}) for an intruder who recognises the rows of "
            "a person by values that do not change. --dissolved retire does not publish such people again; "
            "if nobody can recognise rows, check with --unrecognised."
        )
    grid = Table("", "people", "known", "recognised: smallest", "below k", "others: smallest", "below k",
                 "left below k", box=None)  # fmt: skip
    for label, item in result:
        counts = (item.recognised_smallest, f"{item.recognised_below:,}", item.smallest, f"{item.below:,}")
        row = (f"{item.people:,}", f"{item.known:,}", *map(str, counts), f"{item.leavers_below:,}")
        grid.add_row(label, *row)
    out.print(grid)
    out.print(
        "known: people who were in an earlier release. recognised: the smallest number of people with the "
        "same groups in all releases, for an intruder who recognises rows. others: the smallest number of "
        "people in the same releases, and in the same groups since these were formed. left: people of the "
        "previous release who are gone now, fewer than k from their group."
    )
