"""`voronym demo`: the main job on made-up patients, report included."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common
from voronym.cli.verbs import verb

OUTLIERS = 5  # planted outliers show what keys reveal and groups hide
KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]


@verb(
    "demo",
    purpose="First steps",
    examples=("voronym demo --folder demo --records 200",),
    place=1,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("demo")(demo)


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="The folder to write the files to.")] = Path(
        "voronym-demo"
    ),
    records: Annotated[
        int, typer.Option("--records", "-n", help="Number of made-up patients.", min=10)
    ] = 1000,
    k: Annotated[
        int, typer.Option("-k", help="Least number of patients that share a combination of keys.")
    ] = 5,
    seed: common.Seed = 0,
    json: common.Json = False,
) -> None:
    """Make up a table of patients, anonymize it, and write the release and its report."""
    from voronym import datasets
    from voronym.cli.made import show
    from voronym.errors import WriteError
    from voronym.run.door import anonymize

    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise WriteError(f"cannot write to the folder {folder}: {there.name} is a file")
    out = common.console()
    with common.ticker(not json) as bar:
        patients = datasets.hospital(records, outliers=min(OUTLIERS, records // 100), seed=seed)
        release = anonymize(
            patients,
            keys=KEYS,
            confidential=["diagnosis", "days", "cost"],
            identifiers=["name", "patient_id"],
            k=k,
            seed=seed,
            progress=bar.part(0.0, 0.6),
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            patients.write_csv(folder / "patients.csv")
        except OSError as error:
            raise WriteError(f"cannot write to the folder {folder}: {error.strerror}") from None
        bar.begin("writing", 0.6)
        receipt = release.write(folder / "release.csv", overwrite=True)
        release.recipe.save(folder / "recipe.toml")
        figures = release.dossier(progress=bar.part(0.65, 0.95), attacked=True).to_dict()
        bar.begin("drawing", 0.95)
        report = release.report(folder / "report.html")
        public = release.report(folder / "report-public.html", audience="public")
    if json:
        common.emit({**figures, "folder": str(folder)})
        return
    out.print(f"\n[bold]{records:,} made-up patients[/], as in the hospital's file:")
    out.print(_sample(patients))
    out.print(
        f"\nThe release: no names, keys shared by {release.risk.k} people or more, rows in a new order:"
    )
    out.print(_sample(release.table))
    out.print()
    show(release, receipt, [report, public, folder / "recipe.toml"])
    out.print(
        f"\nOpen [bold]{report}[/] in a browser.\nOn your own file, begin with [bold]voronym inspect FILE[/]."
    )


def _sample(table: Any, rows: int = 4) -> Any:
    """Return the first rows as a table for the terminal."""
    from rich.table import Table

    shown = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    fits = [name for name in table.columns if name not in ("patient_id", "cost")]  # 80 characters
    for name in fits:
        shown.add_column(name, no_wrap=True, style="cyan" if name in KEYS else "")
    for row in table.select(fits).head(rows).rows():
        shown.add_row(*("–" if value is None else str(value) for value in row))
    return shown
