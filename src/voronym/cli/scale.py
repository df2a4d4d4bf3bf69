"""Data sets of many parts on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voronym.cli import common
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.cli.anonymize import Asked, Outputs
    from voronym.release import Release


def many(source: str, typed: Mapping[str, Any]) -> bool:
    """Whether a source is a data set of many parts: a folder, a pattern, or any source with an engine."""
    from voronym.request.choices import PARTS
    from voronym.request.wording import DECLARED
    from voronym.run.source import has_parts

    return any(name in DECLARED and DECLARED[name].purpose == PARTS for name in typed) or has_parts(source)


def reading_of(asked: Asked) -> dict[str, Any]:
    """Return the reading options of a data set: the recipe's, the typed ones, and the database query."""
    known = {} if asked.recipe is None else dict(asked.recipe.reading)
    return {**known, **asked.reading, **({} if asked.query is None else {"query": asked.query})}


def columns_of(source: str, reading: Mapping[str, Any]) -> list[str]:
    """Return the columns of a data set, from its first file."""
    from voronym.run.parts import database
    from voronym.run.parts.source import find, is_parquet, survey
    from voronym.table.read import read

    first = find(source)[0]
    if database.is_database(first):
        return database.columns(first, reading.get("query"))
    return list(survey([first]).types) if is_parquet(first) else read(first, **reading).columns


def anonymize(asked: Asked, outputs: Outputs, format: str | None) -> None:  # noqa: A002
    """Make a release of a data set of many parts."""
    import warnings

    from voronym.request.request import Request
    from voronym.run.parts.door import release_parts
    from voronym.run.source import as_files, home_of
    from voronym.table.places import place_of

    style, output = dict(outputs.writing), outputs.release
    there = place_of(output)
    if there is None or there[0].holds_files:
        refuse({"out_table": style.pop("table", None)})
    reading = reading_of(asked)
    home = home_of(asked.typed.get("work"), output)
    common.show_log("voronym.dask")
    with common.ticker(not outputs.json) as bar, as_files(asked.source, home, reading) as source:
        bar.begin("looking", 0.0)
        request = Request.of(asked.choices(columns_of(source, reading)))
        if source is not asked.source and request.run.resume:
            raise InputError(
                "a run over an address cannot be resumed: copy the data to files, and name these"
            )
        made = release_parts(
            source,
            output,
            request,
            recipe=asked.recipe,
            reading=reading,
            format=format,
            style=style,
            overwrite=outputs.overwrite,
            report=outputs.report is not None or outputs.public_report is not None,
            progress=bar.part(0.0, 1.0),
        )
        for note in made.warnings:
            warnings.warn(note, stacklevel=2)
        outputs.write_others(made)
    if outputs.json:
        common.emit(made.to_dict())
    else:
        show(made, outputs.others)


def refuse(given: Mapping[str, Any]) -> None:
    """Refuse options that are for single tables."""
    wrong = [common.flag(name) for name, value in given.items() if value not in (None, False, (), [])]
    if wrong:
        raise InputError(
            f"{', '.join(wrong)} is for single tables, not for data sets of many parts: leave it out"
        )


def refuse_single(flag: str) -> None:
    """Refuse an option that is for data sets of many parts."""
    raise InputError(f"{flag} is for data sets of many parts; for a single table the suffix of -o chooses")


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
    """Measure a data set of many parts."""
    from voronym.cli import recipes
    from voronym.run.parts.measuring import measure_parts
    from voronym.run.source import as_files

    refuse(refused)
    with (
        common.ticker(not json) as bar,
        as_files(source, None, reading[0]) as files,
        as_files(original, None, reading[1]) as before,
    ):
        bar.begin("looking", 0.0)
        names = columns_of(files, reading[0])
        if recipe is not None:
            models = [*map(str, recipe.required), *models]
        about = recipes.columns(recipe, columns(names), names)
        return measure_parts(
            files,
            original=before,
            models=models,
            reading=reading[0] or None,
            original_reading=reading[1] or None,
            seed=seed,
            progress=bar.part(0.0, 1.0),
            **about,
        )


SAMPLE = 20_000
"""Number of records of a data set of many files on which methods are compared."""


def sampled(source: str, reading: Mapping[str, Any], seed: int, *, quiet: bool) -> Any:
    """Return a random sample of a data set of many files, and say so."""
    from voronym.run.parts.measuring import take
    from voronym.run.source import as_files

    with as_files(source, None, reading) as files:
        frame = take(files, SAMPLE, seed, reading or None)
    if not quiet:
        common.print_lines(
            f"Compared on {len(frame):,} records drawn at random; with all of them every method loses less."
        )
    return frame


def show(made: Release, others: Sequence[Path] = ()) -> None:
    """Print the promises and the cost of a release."""
    from rich.table import Table

    from voronym.cli.made import cost_lines
    from voronym.run.parts.outcome import spoken
    from voronym.table.places import shown

    folder = made.folder
    assert folder is not None  # noqa: S101 - for the type checker
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    grid.add_row("records", f"{made.rows:,} in {folder.files:,} {'file' if folder.files == 1 else 'files'}")
    for finding in made.findings:
        result = str(finding).removesuffix(": holds")
        grid.add_row("holds" if finding.required is not None else "measured", result)
    for name, text in cost_lines(made):
        grid.add_row(name, str(text))
    grid.add_row("counted in the files", f"k = {made.k}")
    for what, many_ in folder.sampled.items():
        if many_ < made.rows:
            grid.add_row("sampled", f"{what}: from {many_:,} of {made.rows:,} records")
    grid.add_row(
        "bytes",
        f"{spoken(folder.bytes_read)} of files read, {spoken(folder.bytes_spilled)} through the work folder, "
        f"{spoken(folder.bytes_written)} written",
    )
    if folder.guarded_cells:
        grid.add_row(
            "guarded", f"an apostrophe before {folder.guarded_cells:,} texts that could run as formulas"
        )
    for path in (folder.path, *others):
        grid.add_row("written", shown(path))
    common.console().print(grid)


def plan(asked: Asked, *, json: bool, rows: int | None = None, price: float | None = None) -> None:
    """Print the stages, the time and the cost of a run over many parts."""
    from voronym.request.request import Request
    from voronym.run.parts.plan import plan_parts
    from voronym.run.source import as_files

    reading = reading_of(asked)
    with common.ticker(not json) as bar, as_files(asked.source, None, reading) as source:
        bar.begin("looking", 0.0)
        request = Request.of(asked.choices(columns_of(source, reading)))
        made = plan_parts(source, request, recipe=asked.recipe, reading=reading, rows=rows, price=price)
    if json:
        common.emit(made.to_dict())
    else:
        typer.echo(str(made))
