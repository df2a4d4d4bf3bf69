"""Estimate the work and the cost of a run without running it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from voronym.core.context import Context
from voronym.keyspaces import Coordinates
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.request.rules import check_parts
from voronym.run.parts import database
from voronym.run.parts.cost import REFERENCE, foresee, speed, stages_of
from voronym.run.parts.door import bytes_of, completed, engine_of, job_of
from voronym.run.parts.engine import Engine, buckets_of
from voronym.run.parts.grouping import SEARCHES, WIDTH, begin, improve, visits
from voronym.run.parts.job import BASE, LOOK, SAMPLE, needed
from voronym.run.parts.outcome import spoken
from voronym.run.parts.pieces import some_rows
from voronym.run.parts.runners.local import Local
from voronym.run.parts.source import find, is_parquet
from voronym.table.table import Table

PROBE = 20_000
"""Records of the leaf on which the time is measured."""
COORDINATE = 36
"""Bytes per coordinate of a sampled record while it is cut, including all copies."""
CODE = 4
"""Bytes of a category, or of a group's number, in the work folder."""


@dataclass(frozen=True)
class Plan:
    """The work and cost of a run. Times are estimates from a probe on this machine.

    Parameters
    ----------
    files, rows, bytes : int
        Numbers of the data; rows of text files are estimated from the first file.
    leaf, leaves, rounds : int
        Records of a leaf, how many there are, and how often they are cut.
    coordinates : int
        Numbers that the keys of a record become.
    passes : int
        Number of times every row is read: twice from the data, once in each round, and for writing and
        counting.
    bytes_spilled, disk_needed : int
        Written to the work folder in all; and the most that lies there at a time.
    workers, memory_per_worker : int
        Number of workers, and the memory of each.
    seconds, serial : float
        Total seconds, and seconds in which only one worker is busy.
    stages : mapping
        Seconds of each stage.
    grouping : float
        Microseconds a row that the probe took for grouping.
    worker_hours : float
        Hours of all workers together, from start to end.
    money : float, optional
        Their cost, at the price of an hour.
    recipe : Recipe
        The recipe of the planned run.
    """

    files: int
    rows: int
    bytes: int
    leaf: int
    leaves: int
    rounds: int
    coordinates: int
    passes: int
    bytes_spilled: int
    disk_needed: int
    workers: int
    memory_per_worker: int
    seconds: float
    serial: float
    stages: Mapping[str, float]
    grouping: float
    worker_hours: float
    money: float | None
    recipe: Recipe

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            **{name: item for name, item in asdict(self).items() if name != "recipe"},
            "recipe": self.recipe.to_dict(),
        }

    def __str__(self) -> str:
        many = f"{self.leaves:,} leaves of about {self.leaf:,} records, cut {self.rounds} times"
        rows = [
            ("data", f"{self.rows:,} rows in {self.files:,} files, {spoken(self.bytes)}"),
            ("leaves", many if self.leaves > 1 else "one: released as a table in memory"),
            ("keys", f"{self.coordinates} coordinates"),
            ("passes", f"{self.passes} over all rows"),
            (
                "work folder",
                f"{spoken(self.bytes_spilled)} written, {spoken(self.disk_needed)} at a time",
            ),
            ("memory", f"{spoken(self.memory_per_worker)} for each of {self.workers} workers"),
            (
                "time",
                f"about {_spoken(self.seconds)}, of which one worker works alone for "
                f"{_spoken(self.serial)}; from a probe of {PROBE:,} records on this machine",
            ),
        ]
        if self.money is not None:
            rows.append(("money", f"{self.money:,.2f} for {self.worker_hours:,.1f} hours of a worker"))
        return "\n".join(f"{name:<13}{text}" for name, text in rows)


def _spoken(seconds: float) -> str:
    for size, word in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {word}"
    return f"{max(seconds, 1.0):.0f} seconds"


def plan_parts(
    source: Any,
    request: Request,
    *,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    rows: int | None = None,
    price: float | None = None,
) -> Plan:
    """Estimate the work and the cost of a run over many parts.

    Only a temporary folder is written, and then removed.

    Parameters
    ----------
    source, request, recipe, reading
        As for `voronym.run.parts.door.release_parts`.
    rows : int, optional
        Number of rows to plan for, with rows like those of the source.
    price : float, optional
        Price of an hour of a worker.
    """
    files, run = find(source), request.run
    check_parts(request.release if recipe is None else recipe, database=database.is_database(files[0]))
    if recipe is None:
        request, _ = completed(request, files, reading)
    engine = engine_of(request, recipe)
    size = sum(file.stat().st_size for file in files)
    known, how = None, dict(reading or {})
    if database.is_database(files[0]):  # a part of the result of the query is enough
        query = how.get("query")
        known = database.count(files[0], query)
        how["query"] = f"FROM ({query}) LIMIT {LOOK}"
    looked = list(files) if is_parquet(files[0]) else files[:1]
    with tempfile.TemporaryDirectory(prefix="voronym-") as folder:
        job = job_of(looked, Path(folder), Path(folder), request, recipe=recipe, reading=how)
        job.decide("job", job)
        lead = Engine(job, Local(workers=1, memory=2**40), Context())
        data, recipe = lead.prepare()
        there = data.rows if known is None else known
        if len(looked) < len(files):
            there = int(there * size / max(looked[0].stat().st_size, 1))
        parts = len(data.parts) if rows is None and len(looked) == len(files) else None
        size, rows = (size, there) if rows is None else (int(size * rows / max(there, 1)), rows)
        lead.check(data, recipe)
        frame = some_rows(job)
    table = Table.of(frame, recipe.schema)
    width, each = _probe(table, recipe)
    leaves = -(-rows // job.leaf)
    as_many = (run.workers or 0) > (os.cpu_count() or 1)  # more than this machine has: of others
    crew = min(run.workers or os.cpu_count() or 1, leaves)
    here = engine == "local" or run.address is None
    crew = min(crew, crew_of_size(run.memory, job.leaf)) if engine == "local" and not as_many else crew
    stages = stages_of(
        rows,
        job.leaf,
        job.rounds,
        parts=parts,
        text=0 if is_parquet(files[0]) else len(files),
        buckets=buckets_of(rows, job.leaf),
    )
    cores = os.cpu_count() if here and not as_many else None
    foreseen = foresee(stages, int(crew), each, speed() / REFERENCE, cores=cores)
    spilled, most = _bytes(frame, recipe, job.rounds if leaves > 1 else 0)
    return Plan(
        files=len(files),
        rows=rows,
        bytes=size,
        leaf=job.leaf,
        leaves=leaves,
        rounds=job.rounds if leaves > 1 else 1,
        coordinates=width,
        passes=4 if leaves == 1 else job.rounds + 5,
        bytes_spilled=int(rows * spilled),
        disk_needed=int(rows * most),
        workers=int(crew),
        memory_per_worker=max(needed(min(job.leaf, rows)), BASE + COORDINATE * width * min(rows, SAMPLE)),
        seconds=foreseen.total,
        serial=foreseen.serial,
        stages=foreseen.seconds,
        grouping=each,
        worker_hours=crew * foreseen.total / 3600,
        money=None if price is None else price * crew * foreseen.total / 3600,
        recipe=recipe,
    )


def crew_of_size(memory: int | str, leaf: int) -> int:
    """Return the number of workers that fit a memory."""
    return int(max(1, bytes_of(memory) // needed(leaf)))


def _bytes(frame: pl.DataFrame, recipe: Recipe, rounds: int) -> tuple[float, float]:
    """Return the total bytes per row that pass through the work folder, and the largest number at a time."""
    schema = recipe.schema
    kept = [name for name in frame.columns if schema[name].role != "identifier"]
    codes = [name for name in schema.keys if schema[name].kind in ("nominal", "ordinal")]
    judging = any(model.confidential for model in recipe.required)
    judged = schema.confidential if judging else ()
    held = {name: _size(frame[name]) for name in kept}
    published = sum(held.values())
    if rounds == 0:  # one leaf
        return published, published
    packed = published - sum(held[name] - CODE for name in codes)
    read_back = sum(held[name] for name in {*schema.keys, *judged})
    spilled = rounds * packed + (rounds - 1) * CODE + published + read_back
    return spilled, max(packed + CODE + max(packed + CODE if rounds > 1 else 0.0, published), read_back)


def _size(column: pl.Series) -> float:
    """Return the bytes of a column's value in the work folder."""
    table = column.to_frame().to_arrow(compat_level=pl.CompatLevel.oldest())
    return float(table.nbytes) / max(len(column), 1)


def _probe(table: Table, recipe: Recipe) -> tuple[int, float]:
    """Group some records as in a leaf; return coordinates, and processor microseconds per record."""
    some = np.linspace(0, table.n - 1, min(table.n, PROBE)).astype(np.int64)
    keys = Coordinates.of(table.rows(np.unique(some)))
    kinds = [np.arange(block.start, block.stop) for block in keys.codec.blocks if block.kind == "nominal"]
    problem = Problem(keys.records, max(recipe.required_k, 2))
    # Masking the whole table in one task is estimated by the time of MDAV on it.
    groups = METHODS[recipe.method].groups
    method, options = (
        (recipe.method, recipe.method_options) if groups else ("mdav", METHODS["mdav"].options())
    )
    width = problem.points.shape[1]
    sweeps = getattr(options, "sweeps", visits(problem.k, width))
    spent = 0.0
    for share in (0.02, 1.0):  # the first compiles
        ctx = Context(seed=0, threads=1)
        began = time.process_time()
        labels = begin(problem, method, options, ctx)
        if method in SEARCHES:
            improve(problem, labels, ctx, sweeps=sweeps * share, width=WIDTH, ends=(0.0, 1.0), kinds=kinds)
        spent = time.process_time() - began
    return width, 1e6 * spent / problem.n
