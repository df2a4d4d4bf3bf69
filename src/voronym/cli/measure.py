"""`voronym measure`: what any table reveals, ours or not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voronym.cli import common, files, recipes, scale
from voronym.cli.verbs import verb


@verb(
    "measure",
    purpose="Judge a release",
    examples=(
        "voronym measure release.csv --key age,sex,zip --confidential diagnosis",
        "voronym measure release.csv --recipe recipe.toml --original patients.csv -k 5",
    ),
    place=1,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("measure")(files.reads(files.reads(measure), prefix="original"))


def measure(
    source: common.Source,
    key: common.Keys = None,
    confidential: common.Confidential = None,
    original: Annotated[
        str | None, typer.Option("--original", help="The table it was made from, to attack and compare.")
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Row i of both tables is the same person.")
    ] = False,
    k: Annotated[
        int | None, typer.Option("-k", help="Demand this k: exit code 3 where it is not met.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="NAME=VALUE[,OPTION=VALUE]: Demand a further guarantee, too.",
        ),
    ] = None,
    kind: common.Kinds = None,
    order: common.Orders = None,
    location: common.Locations = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            help="Column of sampling weights, for the risk in the population.",
            autocompletion=common.complete.columns,
        ),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(
            "--sampling-fraction", help="Share of the population in the table, in place of weights."
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option("--population", help="Table of the whole population with the same keys, coded alike."),
    ] = None,
    suda: Annotated[
        int | None,
        typer.Option("--suda", help="Look for records that so many keys, or fewer, single out."),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            rich_help_panel="Columns",
            help="COLUMN=FILE: The hierarchy of a key, for what ranges lose.",
        ),
    ] = None,
    recipe: recipes.Recipes = None,
    person: common.Person = None,
    household: common.Household = None,
    query: common.Query = None,
    original_query: Annotated[
        str | None, typer.Option("--original-query", help="SQL, where the original is in a database.")
    ] = None,
    seed: common.Seed = 0,
    json: common.Json = False,
    reading: Any = None,
    original_reading: Any = None,
) -> None:
    """Measure k, l, t, delta, mutual information and risk of a table; with --original also utility.

    With --weights, --sampling-fraction or --population also the risk that somebody of a survey is found in
    the population. A folder, or a pattern such as 'release/*.parquet', is counted over all its files,
    whatever their size; utility is then estimated on samples.
    """
    from voronym.evaluate.measure import measure as look
    from voronym.privacy import split_models
    from voronym.table.read import read

    written = recipes.load(recipe)
    known = {} if written is None else dict(written.reading)
    if scale.many(source, {}):
        found = scale.measure(
            source,
            original,
            models=[*([f"k-anonymity={k}"] if k is not None else []), *split_models(model or ())],
            columns=lambda names: {
                "keys": common.names(key, names),
                "confidential": common.names(confidential, names),
                **common.column_options(kind, order, location, names),
            },
            recipe=written,
            reading=({**known, **reading}, {**known, **original_reading}),
            refused={"aligned": aligned, "hierarchy": hierarchy, "person": person, "household": household,
                     "query": query, "original_query": original_query, "weights": weights,
                     "sampling_fraction": sampling_fraction, "population": population, "suda": suda},
            seed=seed,
            json=json,
        )  # fmt: skip
        return _told(found, json=json)
    with common.ticker(not json) as progress:
        frame = read(source, query=query, **recipes.reading(written, source, reading, query=query))
        before = None
        if original is not None:
            before = read(original, query=original_query, **{**known, **original_reading})
        people = None if population is None else read(population, **{**known, **reading})
        models = [*([f"k-anonymity={k}"] if k is not None else []), *split_models(model or ())]
        if written is not None:
            models = [*map(str, written.required), *models]
        said = {
            "keys": common.names(key, frame.columns),
            "confidential": common.names(confidential, frame.columns),
            **common.column_options(kind, order, location, frame.columns),
            "person": person,
            "household": household,
        }
        found = look(
            frame,
            **recipes.columns(written, said, frame.columns),
            original=before,
            aligned=aligned,
            population=people,
            weights=weights,
            sampling_fraction=sampling_fraction,
            suda=suda,
            hierarchies=common.pairs(hierarchy, "--hierarchy") or None,
            models=models,
            seed=seed,
            progress=progress,
        )
    return _told(found, json=json)


def _told(found: Any, *, json: bool) -> None:
    """Print what was found; exit code 3 where a demand is not met."""
    if json:
        common.emit(found.to_dict())
    else:
        common.print_lines(str(found))
    if not all(finding.holds for finding in found.findings):
        raise typer.Exit(3)
