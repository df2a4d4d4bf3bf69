"""Data sets of many files on the command line: what `anonymize` does with them, and `voronym plan`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, files
from voronym.cli.verbs import verb
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.scale.outcome import FilesRelease

SCALING: dict[str, tuple[Any, Any, str]] = {
    "engine": (str | None, None, "Of many files: local, dask or spark. Default: local."),
    "address": (str | None, None, "Of the Dask scheduler or the Spark master; one is started if not given."),
    "workers": (int | None, None, "Tasks at a time; the release does not depend on it. Default: processors."),
    "memory": (str | None, None, "For all workers together, such as 8GB. Default: 4GB."),
    "leaf": (int | None, None, "Records that are grouped together at a time. Default: 250000."),
    "rounds": (int | None, None, "How often leaves are cut anew, for methods that search. Default: 3."),
    "work": (Path | None, None, "The work folder, which all workers reach. Default: beside the output."),
    "format": (str | None, None, "Of the files that are written: parquet or csv. Default: as the source."),
    "resume": (bool, False, "Go on from what an interrupted run left, and leave it when interrupted."),
}


def scales(verb: files.Verb) -> files.Verb:
    """Give a verb the options about data sets of many files; what was given it gets as ``scaling``."""
    return files._extended(verb, "scaling", SCALING, _scaling)


def _scaling(values: list[Any]) -> dict[str, Any]:
    given = dict(zip(SCALING, values, strict=True))
    return {name: value for name, value in given.items() if value is not None and value is not False}


def many(source: str, scaling: Mapping[str, Any]) -> bool:
    """Whether a source is a data set of many files: a folder, a pattern, or one with an engine."""
    try:
        folder, there = Path(source).is_dir(), Path(source).exists()
    except OSError:  # too long a name, say, or a place that is closed: reading says so
        folder = there = False
    return bool(scaling) or folder or (not there and any(sign in source for sign in "*?["))


def with_query(reading: Mapping[str, Any], query: str | None) -> dict[str, Any]:
    """Return what was said about reading, a query to a database included."""
    return {**reading, **({} if query is None else {"query": query})}


def columns_of(source: str, reading: Mapping[str, Any]) -> list[str]:
    """Return the columns of a data set, from its first file."""
    from voronym.scale import database
    from voronym.scale.source import find, is_parquet, survey
    from voronym.table.read import read

    first = find(source)[0]
    if database.is_database(first):
        return database.columns(first, reading.get("query"))
    return list(survey([first]).types) if is_parquet(first) else read(first, **reading).columns


def anonymize(
    source: str,
    output: Path,
    scaling: Mapping[str, Any],
    *,
    roles: Mapping[str, Any],
    columns: Mapping[str, Any],
    said: Mapping[str, Any],
    refused: Mapping[str, Any],
    writing: Mapping[str, Any],
    reports: tuple[Path | None, Path | None],
    save_recipe: Path | None,
    overwrite: bool,
    json: bool,
) -> None:
    """Make a release of a data set of many files."""
    from voronym.scale.door import anonymize_files

    style = dict(writing)
    _refuse({**refused, "out_table": style.pop("table", None)})
    if str(output) == "-" or output.suffix:
        raise InputError(
            f"a data set of many files is written to a folder: name one, such as -o {output.stem or 'out'}/"
        )
    files.refuse_stdout(save_recipe=save_recipe, report=reports[0], public_report=reports[1])
    common.check_outputs([*reports, save_recipe], source=source, overwrite=overwrite)
    with common.ticker(not json) as bar:
        bar.begin("looking", 0.0)
        made = anonymize_files(
            source,
            output,
            **asked(source, roles, columns, said),
            **scaling,
            style=style,
            overwrite=overwrite,
            report=any(reports),
            progress=bar.part(0.0, 1.0),
        )
        if save_recipe is not None:
            made.recipe.save(save_recipe)
        if reports[0] is not None:
            made.report(reports[0])
        if reports[1] is not None:
            made.report(reports[1], audience="public")
    if json:
        common.emit(made.to_dict())
    else:
        show(made, [path for path in (*reports, save_recipe) if path is not None])


def _refuse(given: Mapping[str, Any]) -> None:
    """Refuse options that are for single tables."""
    wrong = [common.flag(name) for name, value in given.items() if value not in (None, False, (), [])]
    if wrong:
        raise InputError(
            f"{', '.join(wrong)} is for single tables, not for data sets of many files: leave it out"
        )


def measure(
    source: str,
    original: str | None,
    *,
    models: list[Any],
    columns: Callable[[list[str]], dict[str, Any]],
    recipe: Any,
    reading: tuple[dict[str, Any], dict[str, Any]],
    refused: Mapping[str, Any],
    seed: int,
    json: bool,
) -> Any:
    """Measure a data set of many files."""
    from voronym.cli import recipes
    from voronym.scale.measuring import measure_files

    _refuse(refused)
    names = columns_of(source, reading[0])
    if recipe is not None:
        models = [*map(str, recipe.required), *models]
    said = recipes.columns(recipe, columns(names), names)
    with common.ticker(not json) as bar:
        bar.begin("looking", 0.0)
        return measure_files(
            source,
            original=original,
            models=models,
            reading=reading[0] or None,
            original_reading=reading[1] or None,
            seed=seed,
            progress=bar.part(0.0, 1.0),
            **said,
        )


SAMPLE = 20_000
"""Records of a data set of many files on which methods are compared."""


def sampled(source: str, reading: Mapping[str, Any], seed: int, *, quiet: bool) -> Any:
    """Return records of a data set of many files, drawn at random, and say so."""
    from voronym.scale.measuring import take

    frame = take(source, SAMPLE, seed, reading or None)
    if not quiet:
        common.print_lines(
            f"Compared on {len(frame):,} records drawn at random; with all of them every method loses less."
        )
    return frame


def asked(
    source: str, roles: Mapping[str, Any], columns: Mapping[str, Any], said: Mapping[str, Any]
) -> dict[str, Any]:
    """Return roles and wishes as `voronym.anonymize_files` takes them."""
    from voronym.cli.chosen import method_options
    from voronym.privacy import split_models

    known = columns_of(source, said.get("reading") or {})
    out: dict[str, Any] = {name: common.names(one, known) for name, one in roles.items()}
    out |= common.column_options(columns["kind"], columns["order"], columns["location"], known)
    out |= {
        name: columns[name]
        for name in ("drop_undeclared", "person", "household", "pseudonyms")
        if columns.get(name)
    }
    method, recipe = said["method"], said["recipe"]
    name = (method or "auto") if recipe is None else recipe.method
    chosen = method_options(name, None, said["option"] or (), said["own"], known, said["flags"])
    out |= {
        "k": said["k"],
        "method": method,
        "options": chosen or None,
        "seed": said["seed"],
        "recipe": recipe,
    }
    out["steps"] = said.get("step") or ()
    return {**out, "models": split_models(said["model"] or ()), "reading": said.get("reading") or None}


def show(made: FilesRelease, others: Sequence[Path] = ()) -> None:
    """Print what a release promises and what it cost."""
    from rich.table import Table

    from voronym.scale.outcome import spoken

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    grid.add_row("records", f"{made.rows:,} in {made.files:,} {'file' if made.files == 1 else 'files'}")
    for finding in made.findings:
        said = str(finding).removesuffix(": holds")
        grid.add_row("holds" if finding.required is not None else "measured", said)
    if made.information_loss is not None:
        grid.add_row("information loss", f"{made.information_loss:.2f} % of the keys' variance, as published")
    if made.group_loss is not None:
        grid.add_row(
            "", f"{made.group_loss:.2f} % in the groups, before their centres became values that can occur"
        )
    grid.add_row("counted in the files", f"k = {made.k}")
    for what, many_ in made.sampled.items():
        if many_ < made.rows:
            grid.add_row("sampled", f"{what}: from {many_:,} of {made.rows:,} records")
    grid.add_row(
        "bytes",
        f"{spoken(made.bytes_read)} of files read, {spoken(made.bytes_spilled)} through the work folder, "
        f"{spoken(made.bytes_written)} written",
    )
    if made.guarded_cells:
        grid.add_row(
            "guarded", f"{made.guarded_cells:,} text cells that a spreadsheet might run got an apostrophe"
        )
    for path in (made.path, *others):
        grid.add_row("written", str(path))
    common.console().print(grid)


@verb(
    "plan",
    purpose="Make a release",
    examples=(
        "voronym plan visits/ --key age,zip --confidential diagnosis --drop-undeclared -k 10 --memory 8GB",
    ),
    place=3,
)
def register(app: typer.Typer) -> None:
    """Add the verb `plan` to the application."""
    app.command("plan")(scales(files.reads(plan)))


def plan(
    source: common.Source,
    key: common.Keys = None,
    confidential: common.Confidential = None,
    identifier: common.Identifiers = None,
    other: common.Others = None,
    drop_undeclared: common.DropUndeclared = False,
    kind: common.Kinds = None,
    order: common.Orders = None,
    location: common.Locations = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="Least number of records that share a combination of keys.", show_default="5"
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="auto or pairs; others group each leaf once.", show_default="auto"),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="NAME=VALUE: A further guarantee, such as t-closeness=0.2."),
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Take roles, method and models from a recipe.")
    ] = None,
    query: common.Query = None,
    json: common.Json = False,
    reading: Any = None,
    scaling: Any = None,
) -> None:
    """Say what anonymizing a data set of many files would do and cost; nothing is changed."""
    from voronym.recipe import Recipe
    from voronym.scale.plan import plan_files

    written = None if recipe is None else Recipe.load(recipe)
    roles = {"keys": key, "confidential": confidential, "identifiers": identifier, "other": other}
    columns = {"kind": kind, "order": order, "location": location, "drop_undeclared": drop_undeclared}
    said = {
        "k": k, "method": method, "option": (), "own": (), "flags": (), "seed": None, "model": model,
        "recipe": written, "reading": with_query(reading, query),
    }  # fmt: skip
    with common.ticker(not json) as bar:
        bar.begin("looking", 0.0)
        here = {
            name: one for name, one in scaling.items() if name not in ("work", "resume", "address", "format")
        }
        found = plan_files(source, **asked(source, roles, columns, said), **here)
    if json:
        common.emit(found.to_dict())
    else:
        typer.echo(str(found))
