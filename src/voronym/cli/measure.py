"""`voronym measure`: what any table reveals, ours or not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voronym.cli import common, declared, files, recipes, scale
from voronym.cli.verbs import verb
from voronym.request.choices import ColumnChoices, ReleaseChoices


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
    choices = declared.takes(ColumnChoices, ReleaseChoices, only=TAKEN)
    app.command("measure")(files.reads(files.reads(choices(measure)), prefix="original"))


def measure(
    source: common.Source,
    original: Annotated[
        str | None, typer.Option("--original", help="The table it was made from, to attack and compare.")
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Row i of both tables is the same person.")
    ] = False,
    k: Annotated[
        int | None, typer.Option("-k", help="Demand this k: exit code 3 where it is not met.")
    ] = None,
    suda: Annotated[
        int | None,
        typer.Option("--suda", help="Look for records that so many keys, or fewer, single out."),
    ] = None,
    recipe: recipes.Recipes = None,
    query: common.Query = None,
    original_query: Annotated[
        str | None, typer.Option("--original-query", help="SQL, where the original is in a database.")
    ] = None,
    seed: common.Seed = 0,
    json: common.Json = False,
    reading: Any = None,
    original_reading: Any = None,
    typed: Any = None,
) -> None:
    """Measure k, l, t, delta, mutual information and risk of a table; with --original also utility.

    With --weights, --sampling-fraction or --population also the risk that somebody of a survey is found in
    the population. A folder, or a pattern such as 'release/*.parquet', is counted over all its files,
    whatever their size; utility is then estimated on samples.
    """
    from voronym.evaluate.measure import measure as look
    from voronym.table.read import read

    written = recipes.load(recipe)
    known = {} if written is None else dict(written.reading)
    least = [] if k is None else [f"k-anonymity={k}"]
    if scale.many(source, {}):
        apart = ("person", "household", "weights", "sampling_fraction", "population", "hierarchies")
        result = scale.measure(
            source,
            original,
            models=[*least, *declared.choices_of(typed, ()).get("models", ())],
            columns=lambda names: _columns(declared.choices_of(typed, names)),
            recipe=written,
            reading=({**known, **reading}, {**known, **original_reading}),
            refused={"aligned": aligned, "query": query, "original_query": original_query, "suda": suda,
                     **{name: typed.get(name) for name in apart}},
            seed=seed,
            json=json,
        )  # fmt: skip
        return _told(result, json=json)
    with common.ticker(not json) as progress:
        frame = read(source, query=query, **recipes.reading(written, source, reading, query=query))
        before = None
        if original is not None:
            before = read(original, query=original_query, **{**known, **original_reading})
        given = declared.choices_of(typed, frame.columns)
        people = given.pop("population", None)
        required = [] if written is None else [str(model) for model in written.required]
        models = list(dict.fromkeys([*required, *least, *given.pop("models", ())]))
        about = {name: given.pop(name, None) for name in ("weights", "sampling_fraction", "hierarchies")}
        if written is not None:  # names in the release stand for what its steps and hierarchies say
            about["hierarchies"] = {**written.trees, **(about["hierarchies"] or {})} or None
        result = look(
            frame,
            **recipes.columns(written, _columns(given), frame.columns),
            original=before,
            aligned=aligned,
            population=None if people is None else read(people, **{**known, **reading}),
            suda=suda,
            models=models,
            seed=seed,
            progress=progress,
            **about,
        )
    return _told(result, json=json)


TAKEN = ("keys", "confidential", "kinds", "orders", "locations", "person", "household", "models", "weights",
         "sampling_fraction", "population", "hierarchies")  # fmt: skip
"""Choices of `voronym anonymize` that this verb takes, too."""


def _columns(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was said about columns; keys may be none."""
    about = {name: given[name] for name in ColumnChoices.names() if name in given}
    return {"keys": [], "confidential": [], **about}


def _told(found: Any, *, json: bool) -> None:
    """Print what was found; exit code 3 where a demand is not met."""
    if json:
        common.emit(found.to_dict())
    else:
        common.print_lines(str(found))
    if not all(finding.holds for finding in found.findings):
        raise typer.Exit(3)
