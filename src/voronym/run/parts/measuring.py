"""Measure a data set of many files: count k, models and risk over all rows; sample for the rest.

Rows with equal keys meet in a bucket, by a hash of their keys. Counts and models per class merge exactly.
Comparisons with an original are estimated on random samples of both, and the result says so.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from voronym.core.context import Context, ProgressCallback
from voronym.errors import InputError
from voronym.evaluate.measure import Columns, Measurement, measure, schema_of
from voronym.evaluate.risk import Risk
from voronym.privacy import Model, listed_models, parse_model
from voronym.privacy.unasked import unasked
from voronym.request.choices import ColumnChoices, RunChoices
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.request.rules import check_work
from voronym.run.parts import counting, spill
from voronym.run.parts.afar import passing, sent
from voronym.run.parts.door import crew_of, job_of
from voronym.run.parts.engine import Engine, buckets_of
from voronym.run.parts.job import LEAF, Job, stage
from voronym.run.parts.learn import Stratum, arrays_of, judged_counts, merge_counts, whole_counts
from voronym.run.parts.pieces import Piece, read_piece, some_rows
from voronym.run.parts.source import Dataset, find, load
from voronym.table.frame import as_frame
from voronym.table.schema import Schema
from voronym.table.summaries import LevelCounts
from voronym.table.table import Table

BESIDE = 50_000
"""Largest sample of the release and of the original for comparisons."""


def _held(job: Job, number: int) -> Piece:
    """Read keys and confidential columns of a piece, with the units behind its rows."""
    piece = read_piece(job, number)
    schema = job.recall("measured")
    kept = [name for name in piece.table.columns if schema[name].role in ("key", "confidential")]
    table = piece.table.select(kept)
    return Piece(Table(table.frame, schema, source=table.source, units=table.units), piece.units)


@stage("levels")
def levels(job: Job, number: int) -> int:
    """Count the values of confidential columns in a piece."""
    piece = _held(job, number)
    counted = judged_counts(piece.table, job) if piece.table.n else {}
    spill.keep(job.path("levels", number, "json"), counted)
    return piece.table.n


@stage("known")
def known(job: Job, number: int) -> None:
    """Merge the values of confidential columns, in the order of the pieces."""
    del number
    counted: dict[Stratum, dict[str, LevelCounts]] = {}
    for piece in range(job.pieces):
        merge_counts(counted, spill.recall(job.path("levels", piece, "json")))
    judged = whole_counts(counted)
    for name, summary in judged.items():
        summary.check(name, job.recall("measured"))
    strata = {stratum: arrays_of(counts, judged) for stratum, counts in counted.items()}
    job.decide("judged", {"judged": judged, "strata": strata, "rows": job.rows})


@stage("bucket")
def bucket(job: Job, number: int) -> dict[str, Any]:
    """Send the rows of a piece to buckets by their keys."""
    piece, schema = _held(job, number), job.recall("measured")
    frame: pl.DataFrame = piece.table.frame.to_native().with_columns(**piece.units)
    columns = [*schema.keys, *schema.confidential, *piece.units]
    return counting.sort(
        frame, list(schema.keys), columns, job.path("sorted", number), int(job.recall("buckets"))
    )


@stage("tally")
def tally(job: Job, number: int) -> dict[str, Any]:
    """Count the rows behind each combination of keys in a bucket, and measure the models there."""
    schema: Schema = job.recall("measured")
    frames = spill.gather(job.paths("sorted", job.pieces), number, number + 1)
    if not frames:
        return counting.nothing()
    models = [parse_model(text) for text in job.recall("models")]
    return counting.count(pl.concat(frames), schema, models, job.released_totals, report=job.report)


def measure_parts(
    source: Any,
    *,
    keys: Sequence[str],
    confidential: Sequence[str] = (),
    original: Any = None,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    reading: Mapping[str, Any] | None = None,
    original_reading: Mapping[str, Any] | None = None,
    engine: str = "local",
    run: RunChoices | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    **columns: Unpack[Columns],
) -> Measurement:
    """Measure a data set of many parts that need not fit the memory; see `voronym.measure`."""
    run = RunChoices() if run is None else run
    notes: list[str] = []
    asked = [parse_model(model) if isinstance(model, str) else model for model in listed_models(models)]
    units = {name: columns.get(name) for name in ("person", "household")}
    roles = ColumnChoices(
        keys=tuple(keys), confidential=tuple(confidential), drop_undeclared=True,
        person=columns.get("person"), household=columns.get("household"),
    )  # fmt: skip
    check_work(run.work, engine, run.workers)
    with passing(run.work) as folder:
        files = find(source)
        job = sent(job_of(files, folder, folder, Request(roles), reading=reading), files)
        job.decide("job", job)
        ctx = Context(seed=seed, progress=progress)
        crew = crew_of(engine, run.workers, run.memory, LEAF, run.address)
        lead = Engine(job, crew, ctx)
        try:
            data = lead.dataset()
            some = as_frame(some_rows(job))
            schema = schema_of(some, some, keys, confidential, columns, notes)
            wanted = [*asked, *_rest(asked, schema, notes)]
            answers = _counted(lead, data, schema, wanted)
        finally:
            crew.close()
        notes += _kind_notes(data, some)
        if any(units.values()):
            counted = "households" if units["household"] else "people"
            notes.append(f"sizes of classes are numbers of {counted}")
        findings = counting.findings(answers, wanted)
        out = Measurement(
            tuple(keys),
            tuple(confidential),
            findings,
            Risk.of_sizes(counting.sizes(answers)),
            notes=tuple(notes),
            seed=seed,
        )
        if original is not None:
            sampled = sample(data, BESIDE, seed)
            out = _beside(out, sampled, data.rows, original, original_reading, schema, columns)
    ctx.done()
    return out


def _rest(asked: Sequence[Model], schema: Schema, notes: list[str]) -> list[Model]:
    """Return further models that can be measured class by class."""
    for model in asked:
        if model.needs == "whole":
            raise InputError(f"{model.name} looks at the table as a whole: measure a single table for it")
    return unasked(asked, confidential=bool(schema.confidential), notes=notes)


def _counted(lead: Engine, data: Dataset, schema: Schema, wanted: Sequence[Model]) -> list[dict[str, Any]]:
    """Run the stages; return the counts of each bucket."""
    job = lead.job
    buckets = buckets_of(data.rows)
    required = tuple(model for model in wanted if model.confidential)
    recipe = Recipe(schema, models=tuple(map(str, required)))
    decided = {"recipe": recipe, "measured": schema, "models": [str(model) for model in wanted],
               "buckets": buckets}  # fmt: skip
    for name, value in decided.items():
        job.decide(name, value)
    lead.meet(data, recipe)
    if schema.confidential and required:
        lead.perform("levels", job.pieces)
        lead.perform("known", 1)
    lead.perform("bucket", job.pieces)
    return lead.perform("tally", buckets)


def _kind_notes(data: Dataset, some: Any) -> list[str]:
    if len(some) == data.rows:
        return []
    return [f"kinds of columns were found in the first rows of some files, {len(some):,} of {data.rows:,}"]


def sample(data: Dataset, most: int, seed: int) -> pl.DataFrame:
    """Return a random sample of all parts, in proportion to their sizes."""
    rng = np.random.default_rng(seed)
    shares = rng.multivariate_hypergeometric([part.rows for part in data.parts], min(most, data.rows))
    some = []
    for part, many in zip(data.parts, shares.tolist(), strict=True):
        if many:
            rows = np.sort(rng.choice(part.rows, many, replace=False))
            some.append(load(part, list(data.types), data.types)[rows])
    return pl.concat(some)


def _beside(
    measurement: Measurement,
    released: pl.DataFrame,
    rows: int,
    original: Any,
    reading: Mapping[str, Any] | None,
    schema: Schema,
    columns: Columns,
) -> Measurement:
    """Add the loss, estimated on samples."""
    before = take(original, BESIDE, measurement.seed, reading)
    result = {name: item for name, item in columns.items() if item}
    kept = [name for name in released.columns if name in before.columns]
    beside = measure(
        released.select(kept), keys=list(schema.keys), confidential=list(schema.confidential),
        original=before, seed=measurement.seed, **result,  # type: ignore[arg-type]
    )  # fmt: skip
    note = (
        f"utility was estimated on random samples, {len(released):,} of {rows:,} records and {len(before):,} "
        "of the original's; record linkage was not, because it needs all records"
    )
    return replace(measurement, utility=beside.utility, notes=(*measurement.notes, note))


def take(source: Any, most: int, seed: int, reading: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Return a random sample of the records of many files, or all of them."""
    return drawn(source, most, seed, reading)[0]


def drawn(
    source: Any, most: int, seed: int, reading: Mapping[str, Any] | None = None
) -> tuple[pl.DataFrame, int]:
    """Return a random sample of the records of many files, or all of them, and their number."""
    with tempfile.TemporaryDirectory(prefix="voronym-") as folder:
        everything = Request(ColumnChoices(drop_undeclared=True))
        job = job_of(find(source), Path(folder), Path(folder), everything, reading=reading)
        job = replace(job, everything=True)
        job.decide("job", job)
        lead = Engine(job, crew_of("local", 1, "4GB", LEAF, None), Context())
        data = lead.dataset()
        return sample(data, most, seed), data.rows
