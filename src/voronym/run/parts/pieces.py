"""The first tasks: convert text to Parquet, bring the rows of a person together, apply steps.

Later tasks read *pieces*: parts of the data or, if people have several rows, buckets with all rows of their
people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError, VoronymError
from voronym.request.recipe import Recipe
from voronym.run import checks
from voronym.run.parts import spill
from voronym.run.parts.afar import here, path_of
from voronym.run.parts.books import booking_of
from voronym.run.parts.coding import HOME, PERSON, closed
from voronym.run.parts.database import export, is_database
from voronym.run.parts.job import LOOK, Job, stage
from voronym.run.parts.source import Part, load
from voronym.run.parts.texts import Written, written
from voronym.steps import run as run_steps
from voronym.table.conform import as_codes
from voronym.table.read import read
from voronym.table.schema import Schema, check_present, no_role
from voronym.table.source import source_of
from voronym.table.table import Table
from voronym.table.units import Units
from voronym.table.values import Values

Ints = NDArray[np.int64]
UNITS = {"person": PERSON, "household": HOME}


@stage("convert")
def convert(job: Job, number: int) -> tuple[list[str], Written | None]:
    """Read a text file, or a query, and keep it as Parquet, without unneeded identifiers.

    Return its columns, and how a text file is written.
    """
    name = job.names[number]
    if is_database(Path(job.files[number])):
        with (
            here(path_of(job.files[number])) as file,
            spill.whole(job.path("text", number, "parquet")) as temporary,
        ):
            columns = export(
                file,
                job.reading.get("query"),
                lambda columns: _kept_names(job, columns),
                temporary,
                temporary.with_name("text-spare"),
            )
        return columns, None
    try:
        frame = read(job.files[number], **job.reading)
        columns = frame.columns
        source = source_of(frame)
        kept = _kept_names(job, columns)
        made = {column: frame[column] for column in columns if column in kept}
        for column, kind in (job.request.columns.kinds or {}).items():
            if kind == "nominal" and column in made:
                codes = as_codes(Values(nw.from_native(made[column], series_only=True)), source)
                made[column] = made[column] if codes is None else codes.to_native()
        with spill.whole(job.path("text", number, "parquet")) as temporary:
            pl.DataFrame(made).write_parquet(temporary, row_group_size=100_000)
    except VoronymError as error:
        raise about(error, name) from None
    return columns, written(source, frame, kept)


def _kept_names(job: Job, columns: Sequence[str]) -> set[str]:
    """Return the columns kept in the work folder; warn of those without a role."""
    if job.everything:
        return set(columns)
    if job.fixed is not None:
        schema = job.fixed.schema
        named = schema.identifiers if job.ledger else schema.units.values()
        return {column.name for column in schema if column.role != "identifier"} | {*named}
    roles = job.request.columns
    kept = {*roles.keys, *roles.confidential, *roles.other}
    units = {name for name in (roles.person, roles.household) if name}
    strange = [name for name in columns if name not in kept | {*roles.identifiers} | units]
    if strange and not roles.drop_undeclared:
        check_present(columns, (*kept, *roles.identifiers, *units))
        raise SchemaError(no_role(strange, len(columns)))
    return kept | units | ({*roles.identifiers} if job.ledger else set())


@stage("look")
def look(job: Job, number: int) -> dict[str, Any]:
    """Examine some rows of many parts for kinds and doubts; return the recipe and the warnings."""
    del number
    frame = some_rows(job)
    try:
        table = _table(job, frame)
    except VoronymError as error:
        raise _blamed(job, error) from None
    recipe = job.request.recipe(table) if job.fixed is None else job.fixed
    # Steps change the published values, so the sample is examined after its steps.
    looked_at = len(frame) / max(job.dataset.rows, len(frame))
    doubts = checks.of_recipe(_stepped(table, recipe), recipe, looked_at=looked_at)
    return {"recipe": recipe, "notes": [str(doubt) for doubt in doubts], "looked_at": len(frame)}


def _stepped(table: Table, recipe: Recipe) -> Table:
    """Return some rows after the first steps; without their columns if the rows are too few."""
    steps = [column_step for column_step in recipe.column_steps if column_step.when == "before"]
    try:
        return run_steps(table, steps, least=recipe.required_k)[0]
    except VoronymError:
        changed = {name for step in steps for name in step.columns}
        return table.select([name for name in table.columns if name not in changed])


def _table(job: Job, frame: pl.DataFrame) -> Table:
    return job.request.table(frame) if job.fixed is None else Table.of(frame, job.fixed.schema)


def _blamed(job: Job, error: VoronymError) -> VoronymError:
    """Return an error that names the file it comes from, if only some files are wrong."""
    data, wrong = job.dataset, {}
    columns = [name for name, kind in data.types.items() if kind != pl.Null]
    looked = {part.path: part for part in reversed(data.parts)}
    for part in list(looked.values())[:64]:
        frame = load(part, columns, data.types, LOOK // 20)
        rest = (pl.lit(None).alias(name) for name in data.types if name not in columns)
        try:
            _table(job, frame.with_columns(rest).select(list(data.types)))
        except VoronymError:
            wrong[part.path] = part.name
    return about(error, min(wrong.values())) if 0 < len(wrong) < len(looked) else error


def some_rows(job: Job) -> pl.DataFrame:
    """Read all of a small data set, or the first rows of evenly spaced parts."""
    parts: Sequence[Part] = job.dataset.parts
    rows = None
    if job.dataset.rows > LOOK:
        chosen = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), 20)).astype(int))
        parts, rows = [parts[i] for i in chosen], LOOK // len(chosen)
    return joined(job, parts, rows)


def joined(job: Job, parts: Sequence[Part], rows: int | None = None) -> pl.DataFrame:
    """Read some parts as one table; dropped columns keep their names and are empty."""
    types = job.dataset.types
    absent = [name for name, kind in types.items() if kind == pl.Null]
    columns = [name for name in types if name not in absent]
    frame = pl.concat([load(part, columns, types, rows) for part in parts])
    return frame.with_columns(pl.lit(None).alias(name) for name in absent).select(list(types))


def about(error: VoronymError, name: str) -> VoronymError:
    """Return an error that names the file it concerns."""
    text = str(error)
    return type(error)(text if repr(name) in text else f"{name!r}: {text}")


# -- pieces ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of the data, conformed to the schema, with the person and household of each.

    Parameters
    ----------
    table : Table
        The rows, as steps left them.
    units : mapping
        For the person and the household, by their names in the work folder, a number for each row.
    """

    table: Table
    units: Mapping[str, pl.Series]


@stage("meet")
def meet(job: Job, number: int) -> Ints:
    """Send the rows of a part to buckets by their person; return the number for each bucket."""
    frame = _raw(job, job.dataset.parts[number])
    buckets = int(job.recall("pieces"))
    unit = frame[PERSON if PERSON in frame.columns else HOME]
    return spill.spill(job.path("meet", number), frame, (unit % buckets).to_numpy().astype(np.int64), buckets)


def _raw(job: Job, part: Part) -> pl.DataFrame:
    """Read a part: the released columns, a number for each person and household, and data for a ledger."""
    schema, types = job.recipe.schema, job.dataset.types
    kept = [name for name in types if schema[name].role != "identifier"]
    units = {what: name for what, name in schema.units.items() if name in types}
    named = identifying(job)
    frame = load(part, list(dict.fromkeys([*kept, *units.values(), *named])), types)
    for what, name in units.items():
        gone = frame[name].null_count()
        if gone:
            raise SchemaError(
                f"{part.name!r}: the {what} column {name!r} is missing in {gone} of {len(frame)} rows: "
                "nobody can say whose they are. Fill them in, or leave these rows out"
            )
        frame = frame.with_columns(frame[name].hash(seed=1).alias(UNITS[what]))
    return frame.drop([name for name in dict.fromkeys(units.values()) if name not in (*kept, *named)])


def identifying(job: Job) -> list[str]:
    """Return the identifiers that link people to the ledger; empty without a ledger."""
    if job.ledger is None:
        return []
    schema = job.recipe.schema
    return [
        name for name, kind in job.dataset.types.items() if kind != pl.Null and name in schema.identifiers
    ]


def rows_of(job: Job, number: int) -> tuple[pl.DataFrame, str]:
    """Return the rows of a piece, and its name in messages."""
    if job.decided("pieces"):
        frames = spill.gather(job.paths("meet", len(job.dataset.parts)), number, number + 1)
        empty = _raw(job, job.dataset.parts[0]).head(0)
        return pl.concat(frames) if frames else empty, job.dataset.parts[0].name
    part = job.dataset.parts[number]
    return _raw(job, part), part.name


def read_piece(job: Job, number: int, *, stepped: bool = True) -> Piece:
    """Read a piece, conformed to the schema; with ``stepped``, as the steps before left it."""
    frame, called = rows_of(job, number)
    units = {column: frame[column] for column in UNITS.values() if column in frame.columns}
    schema = job.recipe.schema
    kept = [name for name in frame.columns if name not in units and schema[name].role != "identifier"]
    try:
        table = Table.of(frame.select(kept), schema, only=kept)
    except VoronymError as error:
        raise about(error, called) from None
    if stepped and job.decided("stepped"):
        changed = spill.gather(job.paths("columns", 1), number, number + 1)
        made = table.frame.to_native()
        if changed:
            made = made.with_columns(changed[0].get_columns())
        table = Table(nw.from_native(made, eager_only=True), job.schema, table.labels, source=table.source)
    return Piece(_with_units(table, units), units)


def _with_units(table: Table, units: Mapping[str, pl.Series]) -> Table:
    """Return a table that knows the people and households behind its rows."""
    if not units:
        return table
    known = {what: closed(units[name]) for what, name in UNITS.items() if name in units}
    return table.like(table.frame, table.source, units=Units(**known))


@stage("columns")
def columns(job: Job, number: int) -> dict[str, Any]:
    """Apply the steps before grouping, on all rows in one task, with only the columns they change."""
    del number
    recipe = job.recipe
    steps = [step for step in recipe.column_steps if step.when == "before"]
    pieces = [read_piece(job, piece, stepped=False) for piece in range(job.pieces)]
    booking = None
    if any(step.averages or getattr(step, "publish", None) == "mean" for step in steps):
        named = [rows_of(job, piece)[0].select(identifying(job)) for piece in range(job.pieces)]
        booking = booking_of(job, pl.concat(named))
    if booking is not None:
        booking.begin(recipe)
    watch = None if booking is None else booking.watch
    schema, effects, notes, counts = run_on_columns(
        job, steps, recipe.schema, pieces, job.path("columns", 0), watch
    )
    if booking is not None:
        notes = (*notes, *booking.cells.notes)
        job.decide("cells", booking.cells.state)
    job.decide("schema", schema)
    return {"effects": effects, "notes": notes, "rows": counts}


def run_on_columns(
    job: Job,
    steps: Sequence[Any],
    schema: Schema,
    pieces: Sequence[Piece],
    path: Path,
    watch: Callable[[Any, Table, Table], Table] | None = None,
) -> tuple[Schema, tuple[Any, ...], tuple[str, ...], int]:
    """Run steps on their columns of all pieces together; keep the changed columns, by piece.

    Returns
    -------
    schema, effects, notes, rows
        The schema afterwards; the change by each step; remarks for the data holder; the number of rows.
    """
    touched = {name for step in steps for name in (*step.columns, *step.asks())}
    if touched & set(schema.keys):
        touched |= set(schema.keys)  # records that are unique on all keys are counted before and after
    names = [name for name in pieces[0].table.columns if name in touched]
    many = [piece.table.n for piece in pieces]
    frame = pl.concat([piece.table.frame.to_native().select(names) for piece in pieces])
    units = {name: pl.concat([piece.units[name] for piece in pieces]) for name in pieces[0].units}
    table = Table.of(frame, schema, only=names)
    table = _with_units(table, units)
    done, effects, notes = run_steps(table, steps, least=job.recipe.required_k, watch=watch)
    changed = list(dict.fromkeys(name for step in steps for name in step.columns))
    made: pl.DataFrame = done.frame.to_native().select(changed)
    spill.spill(path, made, np.repeat(np.arange(len(many)), many), len(many))
    return done.schema, effects, notes, len(frame)
