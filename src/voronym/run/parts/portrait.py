"""Tasks for the figures of a report: samples, distributions, and unique records of the original.

Counts cover all rows and merge exactly. Only the edges of bars come from samples: for readers from a sample
of the release, for the data holder from both tables.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.dossier.counts import Distribution, bin_edges, categories, counts_in
from voronym.evaluate.pair import numbers, plain
from voronym.run.parts import spill
from voronym.run.parts.afar import exists
from voronym.run.parts.job import Job, stage
from voronym.run.parts.pieces import read_piece
from voronym.run.parts.writing import file_of, read_back
from voronym.table.schema import Schema
from voronym.table.table import Table

BESIDE = 50_000
"""Largest sample of the release, and of the original data."""
MOST_DISTINCT = 10_000
"""Largest number of distinct confidential values per file for which certain values are counted."""
RELEASED, ORIGINAL = 0, 1

Edges = tuple[list[float] | None, list[float] | None]
"""Edges of a key's bars, for readers and for the data holder; None for categories."""


def released(job: Job, number: int) -> Table | None:
    """Read a written file as a reader would; None if it does not exist."""
    if not exists(file_of(job, number)):
        return None
    frame = read_back(job, number, ())
    return Table.of(frame, job.recipe.schema, only=frame.columns)


def _looked(job: Job, which: tuple[int, int]) -> Table | None:
    side, number = which
    return released(job, number) if side == RELEASED else read_piece(job, number).table


@stage("draw")
def draw(job: Job, which: tuple[int, int]) -> int:
    """Draw a sample of a file of the release, or of a part of the data, by its share."""
    table = _looked(job, which)
    if table is None:
        return 0
    rng = job.context(4, *which).rng
    wanted = BESIDE * table.n / max(job.dataset.rows, BESIDE)
    many = min(table.n, int(wanted) + int(rng.random() < wanted % 1.0))
    rows = np.sort(rng.choice(table.n, many, replace=False))
    frame: pl.DataFrame = table.frame.to_native()
    spill.keep(job.path(f"drawn@{which[0]}", which[1], "json"), frame[rows])
    return many


def drawn(job: Job, side: int, tasks: int) -> Table:
    """Return the sample."""
    paths = [job.path(f"drawn@{side}", number, "json") for number in range(tasks)]
    frames = [spill.recall(path) for path in paths if exists(path)]
    frame = pl.concat(frames, how="vertical_relaxed")
    return Table.of(frame, job.recipe.schema, only=frame.columns)


def edges_of(schema: Schema, after: Table, before: Table) -> dict[str, Edges]:
    """Return the limits of the bars of each key."""
    out: dict[str, Edges] = {}
    for name in schema.keys:
        new, old = _numbers(schema, name, after), _numbers(schema, name, before)
        if new is None or old is None:
            out[name] = (None, None)
            continue
        dates = after.frame[name].dtype in (nw.Date, nw.Datetime)
        known, both = new[np.isfinite(new)], np.concatenate([new, old])
        out[name] = (
            bin_edges(known, dates=dates)[0],
            bin_edges(both[np.isfinite(both)], dates=dates)[0],
        )
    return out


def _numbers(schema: Schema, name: str, table: Table) -> Any:
    return None if schema[name].kind in ("nominal", "ordinal") else numbers(plain(table.frame[name]))


@stage("bars")
def bars(job: Job, which: tuple[int, int]) -> dict[str, dict[str, Any]]:
    """Count the values of each key, and of confidential columns, in a file or a part."""
    table, schema = _looked(job, which), job.recipe.schema
    if table is None:
        return {}
    out: dict[str, dict[str, Any]] = {}
    for name, edges in job.recall("edges").items():
        values = _numbers(schema, name, table)
        if values is None or edges[0] is None:
            out[name] = {"names": _names(table, name)}
            continue
        known = values[np.isfinite(values)]
        out[name] = {"missing": len(values) - len(known)}
        for who, limits in zip(("public", "inside"), edges, strict=True):
            beyond = bool(len(known)) and bool(known.min() < limits[0] or known.max() > limits[-1])
            out[name][who] = (np.array(counts_in(known, limits)), beyond)
    for name in schema.confidential:
        out[name] = {"names": _names(table, name, MOST_DISTINCT)}
    return out


def _names(table: Table, name: str, most: int | None = None) -> Counter[str | None] | None:
    """Count the values of a column as texts; None if there are too many distinct ones."""
    texts = plain(table.frame[name]).cast(pl.String)
    if most is not None and texts.n_unique() > most:
        return None
    result = texts.alias("value").value_counts(name="count")
    return Counter(dict(zip(result["value"].to_list(), result["count"].to_list(), strict=True)))


def merged(answers: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Join the counts of all files or parts."""
    out: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for name, item in answer.items():
            if name not in out:
                out[name] = dict(item)
                continue
            held = out[name]
            if "names" in item:
                both = (held["names"], item["names"])
                held["names"] = None if None in both else both[0] + both[1]
                continue
            held["missing"] += item["missing"]
            for who in ("public", "inside"):
                held[who] = (held[who][0] + item[who][0], held[who][1] or item[who][1])
    return out


def distributions(
    schema: Schema,
    edges: dict[str, Edges],
    dates: dict[str, bool],
    after: dict[str, dict[str, Any]],
    before: dict[str, dict[str, Any]] | None,
) -> tuple[Distribution, ...]:
    """Return the distribution of each key: for readers, or compared with the originals."""
    out = []
    who = "public" if before is None else "inside"
    for name, limits in edges.items():
        kind, new, old = schema[name].kind, after[name], None if before is None else before[name]
        if "names" in new:
            there = None if old is None else old["names"]
            out.append(categories(name, kind, new["names"], there, schema[name].categories))
            continue
        counts, beyond = new[who]
        out.append(
            Distribution(
                name,
                kind,
                after=counts.tolist(),
                before=None if old is None else old[who][0].tolist(),
                edges=limits[0 if before is None else 1],
                dates=dates[name],
                missing_after=new["missing"],
                missing_before=None if old is None else old["missing"],
                clipped=beyond or (old is not None and old[who][1]),
            )
        )
    return tuple(out)
