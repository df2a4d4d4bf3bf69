"""`voronym measure`: measure k, other models and risk of a table of any tool."""

from __future__ import annotations

from collections.abc import Sequence
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
        bool, typer.Option("--aligned", help="Take row i of both tables for the same person.")
    ] = False,
    k: Annotated[int | None, typer.Option("-k", help="Require this k: exit code 3 if it is not met.")] = None,
    suda: Annotated[
        int | None,
        typer.Option(
            "--suda", help="Look for records that are unique on at most this number of keys (SUDA)."
        ),
    ] = None,
    records_out: Annotated[
        str | None,
        typer.Option(
            "--records-out",
            help="Write the risk of every record to this CSV file: class size, individual and household "
            "risk, SUDA score. For internal use, never for publication.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --records-out if it exists.")
    ] = False,
    recipe: recipes.Recipes = None,
    query: common.Query = None,
    original_query: Annotated[
        str | None, typer.Option("--original-query", help="SQL query, if the original is in a database.")
    ] = None,
    seed: common.Seed = 0,
    progress: common.Progress = "auto",
    json: common.Json = False,
    reading: Any = None,
    original_reading: Any = None,
    typed: Any = None,
) -> None:
    """Measure k, l, t, delta, mutual information and risk of a table; with --original also utility.

    With --weights, --sampling-fraction or --population, also measure the risk that somebody of a survey
    is found in the population. A folder, or a pattern such as 'release/*.parquet', is counted over all
    its files, of any size; utility is then estimated on samples.
    """
    from voronym.evaluate.by_record import propose_recodings
    from voronym.evaluate.measure import measure as look
    from voronym.table.read import read

    common.show_progress(progress)
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
                     "records_out": records_out,
                     **{name: typed.get(name) for name in apart}},
            seed=seed,
            json=json,
        )  # fmt: skip
        return _print_results(result, json=json)
    with common.ticker(not json) as bar:
        frame = read(source, **recipes.reading(written, source, reading, query=query))
        before = None
        if original is not None:
            before = files.read_beside(
                original, "original", query=original_query, **{**known, **original_reading}
            )
        given = declared.choices_of(typed, frame.columns)
        people = given.pop("population", None)
        required = [] if written is None else [str(model) for model in written.required]
        models = list(dict.fromkeys([*required, *least, *given.pop("models", ())]))
        about = {name: given.pop(name, None) for name in ("weights", "sampling_fraction", "hierarchies")}
        if written is not None:  # values of the release are defined by its steps and hierarchies
            about["hierarchies"] = {**written.trees, **(about["hierarchies"] or {})} or None
        columns = recipes.columns(written, _columns(given), frame.columns)
        result = look(
            frame,
            **columns,
            original=before,
            aligned=aligned,
            population=None if people is None else read(people, **{**known, **reading}),
            suda=suda,
            models=models,
            seed=seed,
            progress=bar,
            **about,
        )
    keys = tuple(result.keys)
    if records_out is not None:
        population = None if people is None else read(people, **{**known, **reading})
        _write_records(
            records_out, frame, keys, about, columns, population, suda, overwrite=overwrite, seed=seed
        )
    more = () if suda is None or result.suda is None else propose_recodings(frame, result.suda)
    return _print_results(result, json=json, more=[str(item) for item in more])


def _write_records(
    path: str,
    frame: Any,
    keys: tuple[str, ...],
    about: dict[str, Any],
    columns: dict[str, Any],
    population: Any,
    suda: int | None,
    *,
    overwrite: bool,
    seed: int,
) -> None:
    """Write a file with the risk of every record, and state that it is internal."""
    from voronym.evaluate.by_record import risk_by_record, write_by_record

    result = risk_by_record(
        frame,
        keys=keys,
        weights=about["weights"],
        sampling_fraction=about["sampling_fraction"],
        population=population,
        household=columns.get("household"),
        person=columns.get("person"),
        suda=suda or 3,
        seed=seed,
    )
    write_by_record(result, path, overwrite=overwrite)
    sentence = f"{path} has the risk of each of {len(result):,} records: for the house, never for publication"
    common.say(sentence, word="note", style="bold")


TAKEN = ("keys", "confidential", "kinds", "orders", "locations", "person", "household", "models", "weights",
         "sampling_fraction", "population", "hierarchies")  # fmt: skip
"""Choices of `voronym anonymize` that this verb also takes."""


def _columns(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options about columns; keys may be missing."""
    about = {name: given[name] for name in ColumnChoices.names() if name in given}
    return {"keys": [], "confidential": [], **about}


def _print_results(result: Any, *, json: bool, more: Sequence[str] = ()) -> None:
    """Print the results; exit code 3 if a demand is not met."""
    if json:
        common.emit({**result.to_dict(), **({"recode": list(more)} if more else {})})
    else:
        common.print_lines("\n".join([str(result), *more]))
    if not all(finding.holds for finding in result.findings):
        raise typer.Exit(3)
