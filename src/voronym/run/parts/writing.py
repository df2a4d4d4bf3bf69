"""The last tasks: steps after groups, the files of the release, and the count in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.core.place import digest_of
from voronym.errors import GuaranteeError
from voronym.privacy import Finding, measure_within
from voronym.privacy.base import beyond_sizes
from voronym.run.parts import counting, spill
from voronym.run.parts.afar import exists, here, size_of
from voronym.run.parts.coding import HOME, PERSON, closed
from voronym.run.parts.job import Job, stage
from voronym.run.parts.learn import judged_counts
from voronym.run.parts.pieces import UNITS, Piece, run_on_columns
from voronym.run.parts.texts import ALIKE
from voronym.table import tidy
from voronym.table.read import read
from voronym.table.source import read_again
from voronym.table.table import Table
from voronym.table.units import Units


def file_of(job: Job, number: int) -> Path:
    """Return the name of a file of the release."""
    return job.release / f"part-{number:05d}.{job.format}"


def read_back(job: Job, number: int, keys: Sequence[str]) -> pl.DataFrame:
    """Return a file of the release as its readers see it; text cells of keys as texts."""
    layout = job.layout
    with here(file_of(job, number)) as path:
        if layout.text:
            return read_again(read(path, **layout.reading()), kept_names(job), keys)
        return pl.read_parquet(path, hive_partitioning=False, glob=False)


def _digest(path: Path) -> str:
    with here(path) as file:
        return digest_of(file)


def kept_names(job: Job) -> list[str]:
    """Return the columns of the release in order, pseudonyms first."""
    shape = job.recall("shape")
    there = set(shape.columns) | {
        name for name in job.dataset.types if job.recipe.schema[name].role != "identifier"
    }
    units = [name for name in job.recipe.schema.units.values() if name in shape.columns]
    return [*units, *(name for name in job.dataset.types if name in there and name not in units)]


def _rows(job: Job, number: int) -> pl.DataFrame | None:
    """Return the rows of a file of the release, with their units; None if there are none."""
    frames = spill.gather(job.paths("published", int(job.recall("published"))), number, number + 1)
    return pl.concat(frames, how="diagonal_relaxed") if frames else None


def _piece(job: Job, number: int) -> Piece:
    """Return the rows of a file before it is written."""
    frame = _rows(job, number)
    assert frame is not None  # noqa: S101 - asked only of files with rows
    units = {name: frame[name] for name in (PERSON, HOME) if name in frame.columns}
    known = {what: closed(units[name]) for what, name in UNITS.items() if name in units}
    table = Table(
        nw.from_native(frame.drop(list(units)), eager_only=True),
        job.released_schema,
        units=Units(**known) if known else None,
    )
    return Piece(table, units)


@stage("later")
def later(job: Job, number: int) -> dict[str, Any]:
    """Apply the steps after grouping, on all rows in one task, with only the columns they change."""
    del number
    files = [file for file in range(int(job.recall("files"))) if _rows(job, file) is not None]
    steps = [step for step in job.recipe.column_steps if step.when == "after"]
    pieces = [_piece(job, file) for file in files]
    schema, effects, notes, _ = run_on_columns(job, steps, job.released_schema, pieces, job.path("later", 0))
    job.decide("later", (schema, files))
    counted: dict[Any, Any] = {}
    if set(job.judged) & {name for step in steps for name in step.columns}:
        changed = pl.concat(spill.gather([job.path("later", 0)], 0, len(files)))
        whole = pl.concat([piece.table.frame.to_native() for piece in pieces])
        whole = whole.with_columns(changed.get_columns())
        units = {name: pl.concat([piece.units[name] for piece in pieces]) for name in pieces[0].units}
        known = {what: closed(units[name]) for what, name in UNITS.items() if name in units}
        table = Table(nw.from_native(whole, eager_only=True), schema, units=Units(**known) if known else None)
        counted = judged_counts(table, job)
    return {"effects": effects, "notes": notes, "counts": counted}


@stage("write")
def write(job: Job, number: int) -> dict[str, int]:
    """Write a file of the release: rows from everywhere, in a fresh random order."""
    frame = _rows(job, number)
    if frame is None:
        return {"rows": 0, "bytes": 0, "guarded": 0}
    if job.decided("later"):
        _, files = job.recall("later")
        changed = spill.gather([job.path("later", 0)], files.index(number), files.index(number) + 1)
        frame = frame.with_columns(changed[0].get_columns())
    # Drawn once for the run: of two workers with the same task, each may write one of the two files below.
    frame = frame[np.random.default_rng([job.recall("order"), number]).permutation(len(frame))]
    units = [name for name in (PERSON, HOME) if name in frame.columns]
    if units:  # the units behind the rows of the file, only for the count
        beside = frame.select(units)
        spill.spill(job.path("units", number), beside, np.zeros(len(beside), np.int64), 1)
    clean: pl.DataFrame = tidy(nw.from_native(frame.select(kept_names(job)), eager_only=True)).to_native()
    clean = clean.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    layout = job.layout
    with spill.whole(file_of(job, number)) as temporary:
        guarded = layout.write(clean, temporary)
    return {"rows": len(clean), "bytes": size_of(file_of(job, number)), "guarded": guarded}


@stage("sort")
def sort(job: Job, number: int) -> dict[str, Any]:
    """Read a written file back, and send its rows to buckets by their keys."""
    path = file_of(job, number)
    if not exists(path):
        return {"rows": 0, "columns": None, "sealed": {}}
    schema, buckets = job.recipe.schema, int(job.recall("buckets"))
    weighed = [model.weights for model in job.recipe.required]
    also = [*(schema.confidential if job.judged or job.report else ())]
    also += sorted({name for name in weighed if isinstance(name, str)} - {*also})
    columns = [*schema.keys, *(name for name in also if name not in schema.keys)]
    layout = job.layout
    with here(path) as file:
        sealed = {path.name: digest_of(file)}  # before it is read: the counted file gets the name
        frame, names = layout.read(file, kept_names(job), columns)
    if exists(job.path("units", number)):
        beside = spill.gather([job.path("units", number)], 0, 1)[0]
        frame = frame.with_columns(beside.get_columns())
        columns += beside.columns
    done = counting.sort(frame, list(schema.keys), columns, job.path("sorted", number), buckets)
    return {**done, "columns": list(names), "sealed": sealed}


@stage("count")
def count(job: Job, number: int) -> dict[str, Any]:
    """Count the records behind each combination of keys in a bucket, and measure the models there."""
    paths = [path for path in job.paths("sorted", int(job.recall("files"))) if exists(path)]
    frames = spill.gather(paths, number, number + 1)
    if not frames:
        return counting.nothing()
    frame = pl.concat(frames)
    layout = job.layout
    if layout.text:
        known = job.released_totals.levels
        frame = frame.with_columns(
            layout.values(frame[name], levels.every)
            for name, levels in known.items()
            if name in frame.columns
        )
    models, strata = job.recipe.required, job.recipe.strata
    return counting.count(frame, job.released_schema, models, job.released_totals, strata, report=job.report)


@stage("measure")
def measure(job: Job, number: int) -> tuple[tuple[Finding, ...], Counter[int], list[str], dict[str, str]]:
    """Measure all models on the written files in one task, with only the columns they need."""
    del number
    recipe = job.recipe
    numbers = [number for number in range(int(job.recall("files"))) if exists(file_of(job, number))]
    paths = [file_of(job, number) for number in numbers]
    sealed = {path.name: _digest(path) for path in paths}
    frames = [read_back(job, number, recipe.schema.keys) for number in numbers]
    frame = pl.concat(frames, how="vertical_relaxed")
    schema = job.released_schema
    kept = [name for name in frame.columns if name in schema and schema[name].role != "identifier"]
    table = Table.of(frame.select(kept), schema, only=kept)
    beside = [spill.gather([job.path("units", number)], 0, 1)[0] for number in numbers
              if exists(job.path("units", number))]  # fmt: skip
    if beside:
        units = pl.concat(beside)
        known = {what: closed(units[name]) for what, name in UNITS.items() if name in units.columns}
        table = table.like(table.frame, units=Units(**known))
    findings = tuple(measure_within(model, table, recipe.strata) for model in recipe.required)
    if job.layout.text and any(not finding.holds for finding in beyond_sizes(findings)):
        raise GuaranteeError(ALIKE.format(name=", ".join(recipe.schema.confidential)))
    return findings, Counter(table.heads.tolist()), frame.columns, sealed
