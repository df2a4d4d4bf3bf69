"""The last tasks: write the files of the release, read them back, and count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.errors import GuaranteeError
from voronym.privacy import Finding, measure_within
from voronym.run.parts import counting, spill
from voronym.run.parts.grouping import demanding
from voronym.run.parts.job import Job, stage
from voronym.run.parts.tasks import confidential_of
from voronym.run.parts.texts import ALIKE, Layout
from voronym.table import tidy
from voronym.table.read import read
from voronym.table.source import read_again
from voronym.table.table import Table


def file_of(job: Job, number: int) -> Path:
    """Return the name of a file of the release."""
    return job.release / f"part-{number:05d}.{job.format}"


def kept_names(job: Job) -> list[str]:
    """Return the columns of the release, in their order."""
    return [name for name in job.dataset.types if job.recipe.schema[name].role != "identifier"]


@stage("write")
def write(job: Job, number: int) -> dict[str, int]:
    """Write a file of the release: rows from everywhere, in a fresh random order."""
    tasks = int(job.recall("published"))
    frames = spill.gather(job.paths("published", tasks), number, number + 1)
    if not frames:
        return {"rows": 0, "bytes": 0, "guarded": 0}
    frame = pl.concat(frames)
    frame = frame[np.random.default_rng().permutation(len(frame))]
    clean: pl.DataFrame = tidy(nw.from_native(frame.select(kept_names(job)), eager_only=True)).to_native()
    clean = clean.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    layout: Layout = job.recall("layout")
    with spill.whole(file_of(job, number)) as temporary:
        guarded = layout.write(clean, temporary)
    return {"rows": len(clean), "bytes": file_of(job, number).stat().st_size, "guarded": guarded}


@stage("sort")
def sort(job: Job, number: int) -> dict[str, Any]:
    """Read a written file back, and send its rows to buckets by their keys."""
    path = file_of(job, number)
    if not path.exists():
        return {"rows": 0, "columns": None}
    recipe, buckets = job.recipe, int(job.recall("buckets"))
    models = demanding(recipe.required, recipe.schema.confidential)
    columns = [*recipe.schema.keys, *(recipe.schema.confidential if models or job.report else ())]
    layout: Layout = job.recall("layout")
    frame, found = layout.read(path, kept_names(job), columns)
    done = counting.sort(frame, list(recipe.schema.keys), columns, job.path("sorted", number), buckets)
    return {**done, "columns": list(found)}


@stage("count")
def count(job: Job, number: int) -> dict[str, Any]:
    """Count the records behind each combination of keys in a bucket, and measure the models there."""
    recipe = job.recipe
    files = int(job.recall("files"))
    paths = [path for path in job.paths("sorted", files) if path.exists()]
    frames = spill.gather(paths, number, number + 1)
    models = demanding(recipe.required, recipe.schema.confidential)
    if not frames:
        return counting.nothing()
    frame = pl.concat(frames)
    columns = None
    if models:
        known = job.recall("coding").confidential
        layout: Layout = job.recall("layout")
        if layout.text:
            frame = frame.with_columns(layout.values(frame[name], one.series) for name, one in known.items())
        columns = confidential_of(recipe.schema, known, frame)
    told = recipe.schema.confidential if job.report else ()
    return counting.count(frame, list(recipe.schema.keys), models, columns, told)


@stage("measure")
def measure(job: Job, number: int) -> tuple[tuple[Finding, ...], Counter[int], list[str]]:
    """Measure all models in the written files, where all of them fit one leaf."""
    del number
    recipe = job.recipe
    paths = [path for i in range(int(job.recall("files"))) if (path := file_of(job, i)).exists()]
    layout: Layout = job.recall("layout")
    if layout.text:  # as one who reads the file would see it
        frame = read_again(read(paths[0], **layout.reading()), kept_names(job), recipe.schema.keys)
    else:
        frame = pl.concat([pl.read_parquet(path, hive_partitioning=False, glob=False) for path in paths])
    table = Table.of(frame, recipe.schema, only=frame.columns)
    found = tuple(measure_within(model, table, recipe.strata) for model in recipe.required)
    if layout.text and any(not one.holds and one.model != "k-anonymity" for one in found):
        raise GuaranteeError(ALIKE.format(name=", ".join(recipe.schema.confidential)))
    return found, Counter(table.classes.sizes.tolist()), frame.columns
