"""`voronym anonymize`: a file in, a verified file out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.release import Release
    from voronym.table.write import WriteReceipt


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("anonymize")(anonymize)


def anonymize(
    source: common.Source,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where to write the release; the suffix chooses the format."),
    ],
    key: common.Keys = None,
    confidential: common.Confidential = None,
    identifier: Annotated[
        list[str] | None, typer.Option("--identifier", help="Columns that name a person; dropped.")
    ] = None,
    other: Annotated[
        list[str] | None, typer.Option("--other", help="Harmless columns; kept as they are.")
    ] = None,
    drop_undeclared: Annotated[
        bool, typer.Option("--drop-undeclared", help="Drop columns that have no role.")
    ] = False,
    kind: common.Kinds = None,
    order: common.Orders = None,
    location: common.Locations = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Least number of records that share a combination of keys [5].")
    ] = None,
    method: Annotated[str | None, typer.Option("--method", help="See `voronym methods` [auto].")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE: an option of the method.")
    ] = None,
    max_distortion: Annotated[
        float | None,
        typer.Option("--max-distortion", help="Method channel: largest share of the keys' variance to lose."),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option("--max-risk", help="Method channel: most that keys may tell, in nats."),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option("--space", help="euclidean, or mixed: each key has a metric of its own [euclidean]."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", help="COLUMN=NAME: the metric of a key, as zip=edit (space mixed, method records)."
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", help="COLUMN=NUMBER: how much a key counts (likewise)."),
    ] = None,
    flatten: Annotated[
        list[str] | None,
        typer.Option("--flatten", help="Method records: columns that become the same in a cluster."),
    ] = None,
    shuffle: Annotated[
        list[str] | None,
        typer.Option(
            "--shuffle", help="Method records: columns to permute in clusters [keys not flattened]."
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="NAME=VALUE: a further guarantee.")
    ] = None,
    enforce: Annotated[
        str | None,
        typer.Option("--enforce", help="How cells obey models: merge, swap, confidential-first [auto]."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds, for methods that take a limit.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Take roles, method and models from a recipe.")
    ] = None,
    save_recipe: Annotated[
        Path | None, typer.Option("--save-recipe", help="Write the recipe (TOML or JSON).")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the internal report (HTML).")] = None,
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Write the report for readers (HTML).")
    ] = None,
    delimiter: common.Delimiter = None,
    query: common.Query = None,
    encoding: common.Encoding = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the random choices [0; fresh for channel, records].")
    ] = None,
    json: common.Json = False,
) -> None:
    """Make a k-anonymous release of a table.

    Identifiers are dropped, keys are replaced by the centre of a cell of at least k records, the rest is
    kept, and the rows are shuffled. Every column needs a role; an undeclared one is an error.

    The methods `channel` and `records` make no cells and promise no k: they mask record by record.
    """
    from voronym.pipeline import anonymize as make
    from voronym.privacy import split_models
    from voronym.recipe import Recipe
    from voronym.table.read import read

    outputs = [output, save_recipe, report, public_report]
    common.check_outputs(outputs, source=source, overwrite=overwrite)
    with common.ticker(not json) as progress:
        frame = read(source, delimiter=delimiter, query=query, encoding=encoding)
        chosen = {name: common.value_of(text) for name, text in common.pairs(option, "--option").items()}
        chosen |= stirring(chosen, frame.columns, flatten, shuffle)
        release = make(
            frame,
            keys=common.names(key, frame.columns),
            confidential=common.names(confidential, frame.columns),
            identifiers=common.names(identifier, frame.columns),
            other=common.names(other, frame.columns),
            drop_undeclared=drop_undeclared,
            **common.column_options(kind, order, location),
            k=k,
            method=method,
            options=chosen,
            max_distortion=max_distortion,
            max_risk=max_risk,
            space=space,
            metrics=common.pairs(metric, "--metric"),
            weights={name: common.value_of(text) for name, text in common.pairs(weight, "--weight").items()},
            models=split_models(model or ()),
            enforce=enforce,
            time_limit=time_limit,
            seed=seed,
            recipe=None if recipe is None else Recipe.load(recipe),
            progress=progress,
        )
        receipt = release.write(output, overwrite=overwrite)
        if save_recipe is not None:
            release.recipe.save(save_recipe)
        if report is not None:
            release.report(report)
        if public_report is not None:
            release.report(public_report, audience="public")
    if json:
        written = {
            "path": str(receipt.path),
            "rows": receipt.rows,
            "k_counted": receipt.k_counted,
            "sha256": receipt.sha256,
            "guarded_cells": receipt.guarded_cells,
        }
        common.emit({**release.to_dict(), "written": written})
    else:
        show(release, receipt, [path for path in (report, public_report, save_recipe) if path is not None])


def stirring(
    chosen: dict[str, Any],
    columns: list[str],
    flatten: list[str] | None,
    shuffle: list[str] | None,
) -> dict[str, Any]:
    """Return the options of the method records that have a word of their own on the command line."""
    given = {"flatten": common.names(flatten, columns), "shuffle": common.names(shuffle, columns)}
    said = {name: value for name, value in given.items() if value}
    twice = [name for name in said if name in chosen]
    if twice:
        raise InputError(f"{', '.join(twice)} is given twice, by --option and by a word of its own")
    return said


def show(release: Release, receipt: WriteReceipt, others: list[Path]) -> None:
    """Print what a release promises and what it cost."""
    from rich.table import Table

    from voronym.masking import masks

    out = common.console()
    risk = release.risk
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()

    def line(name: str, text: Any) -> None:
        grid.add_row(name, str(text))

    loss = release.information_loss
    line("records", f"{receipt.rows:,} in {risk.n_classes:,} classes of {risk.k} or more")
    if release.recipe.masks:
        line("method", f"{release.recipe.method}, which promises: {masks()[release.recipe.method].guarantee}")
    if "linkage" in release.figures:
        now = release.figures["linkage"]["after"]
        words = (
            f"{100 * now['low']:.1f} to {100 * now['high']:.1f} %, {100 * now['confidence']:.0f} % confidence"
        )
        line("an attack", f"links {100 * now['value']:.1f} % of the records to the right one ({words})")
    for finding in release.findings:
        line("holds" if finding.required is not None else "measured", finding)
    if loss is not None:
        line("information loss", f"{loss:.2f} % of the keys' variance in the cells")
        line("", f"{release.published_loss:.2f} % as published, in whole numbers and real categories")
    elif release.published_loss is not None:
        line("information loss", f"{release.published_loss:.2f} % of the keys' variance, as published")
    for cost in release.costs[:-1] if len(release.costs) > 1 else ():
        line(
            "",
            f"{cost.loss:.2f} % with {cost.guarantee} alone"
            if cost is release.costs[0]
            else f"{cost.loss:.2f} % with {cost.guarantee} added",
        )
    if release.gap is not None:
        line("", f"the cells lose at most {release.gap:.2f} % more than the best possible ones")
    for number, step in enumerate(release.steps):
        line("" if number else "what was done", step)
    line(
        "counted in the file",
        f"k = {receipt.k_counted}" + (", none promised" if release.recipe.k is None else ""),
    )
    if receipt.guarded_cells:
        line(
            "guarded",
            f"{receipt.guarded_cells:,} text cells that a spreadsheet might run got an apostrophe",
        )
    line("written", receipt.path)
    for path in others:
        line("", path)
    out.print(grid)
