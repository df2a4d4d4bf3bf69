"""Count again in the written files: rows with equal keys meet in a bucket, from whichever file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.evaluate.disclosed import certain, profiles
from voronym.privacy import Finding, Model
from voronym.privacy.verdict import verdict
from voronym.privacy.within import worst_of
from voronym.run.parts import spill
from voronym.run.parts.coding import HOME, PERSON, closed, coded, numbered
from voronym.table.classes import equivalence_classes
from voronym.table.encoders.levels import CodedValues
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.totals import Totals
from voronym.table.units import Units
from voronym.table.values import Values


def comparable(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return keys that compare equally across files: one missing value, one zero, plain texts."""
    floats = [name for name in keys if frame[name].dtype.is_float()]
    texts = [name for name in keys if isinstance(frame[name].dtype, (pl.Categorical, pl.Enum))]
    return frame.with_columns(
        *(pl.col(name).fill_nan(None) + 0.0 for name in floats),
        *(pl.col(name).cast(pl.String) for name in texts),
    )


def sort(
    frame: pl.DataFrame, keys: list[str], columns: list[str], path: Path, buckets: int
) -> dict[str, Any]:
    """Send the rows of a written file to buckets, by a hash of their keys."""
    held = comparable(frame.select(columns), keys)
    to = (held.select(keys).hash_rows(seed=1) % buckets).to_numpy().astype(np.int64)
    spill.spill(path, held, to, buckets)
    return {"rows": len(frame), "columns": frame.columns}


def sizes(answers: Sequence[Mapping[str, Any]]) -> Counter[int]:
    """Return the number of classes of each size, over all buckets."""
    return sum((answer["sizes"] for answer in answers), Counter())


def nothing() -> dict[str, Any]:
    """Return the result for a bucket without rows."""
    return {"rows": 0, "classes": 0, "sizes": Counter(), "models": {}, "alone": {}, "profiles": Counter()}


def count(
    frame: pl.DataFrame,
    schema: Schema,
    models: Sequence[Model],
    totals: Totals | None,
    strata: tuple[str, ...] = (),
    *,
    report: bool = False,
) -> dict[str, Any]:
    """Count classes and measure models in a bucket.

    Parameters
    ----------
    frame : polars DataFrame
        Keys and confidential columns of some rows; all rows of a class are among them.
    schema : Schema
        The published schema.
    models : sequence of Model
        The models to measure.
    totals : Totals, optional
        Totals of the whole data set, for models that compare classes with it.
    strata : tuple of str
        Keys whose values divide the table into separately judged parts.
    report : bool
        Whether classes of one confidential value are counted, too.
    """
    alone = _alone(frame, schema) if report else {"alone": {}, "profiles": Counter()}
    if all(model.needs == "sizes" for model in models) and not {PERSON, HOME} & set(frame.columns):
        return {**_count_rows(frame, list(schema.keys), models, strata), **alone}
    table = _table(frame, schema, totals)
    heads = table.heads
    size, many = np.unique(heads, return_counts=True)
    measured: dict[tuple[Any, ...], list[Finding]] = {}
    for stratum, part in _strata(table, strata):
        measured[stratum] = [model.measure(part) for model in models]
    return {
        "rows": len(frame),
        "classes": len(heads),
        "sizes": Counter(dict(zip(size.tolist(), many.tolist(), strict=True))),
        "models": measured,
        **alone,
    }


def _count_rows(
    frame: pl.DataFrame, keys: list[str], models: Sequence[Model], strata: tuple[str, ...]
) -> dict[str, Any]:
    """Count the rows of each combination of keys."""
    held = frame.group_by(keys).len()
    size, many = np.unique(held["len"].to_numpy().astype(np.int64), return_counts=True)
    measured: list[Finding] = [model.of_sizes(size, many, len(frame), keys) for model in models]
    del strata  # a class lies in one stratum, and the smallest of all is that of the worst
    return {
        "rows": len(frame),
        "classes": len(held),
        "sizes": Counter(dict(zip(size.tolist(), many.tolist(), strict=True))),
        "models": {(): measured},
    }


def _table(frame: pl.DataFrame, schema: Schema, totals: Totals | None) -> Table:
    units = {what: closed(frame[name]) for what, name in (("person", PERSON), ("household", HOME))
             if name in frame.columns}  # fmt: skip
    rest = frame.drop([name for name in (PERSON, HOME) if name in frame.columns])
    known: dict[str, Values] = {}
    for name, levels in totals.levels.items() if totals is not None else ():
        if name in rest.columns:
            series = nw.from_native(rest[name], series_only=True)
            known[name] = CodedValues(series, numbered(coded(levels, Values(series))), levels.values)
    return Table(
        nw.from_native(rest, eager_only=True),
        schema,
        known=known,
        units=Units(**units) if units else None,
        totals=totals,
    )


def _strata(table: Table, strata: tuple[str, ...]) -> list[tuple[tuple[Any, ...], Table]]:
    """Return the strata of a bucket; each is judged against its own distribution."""
    if not strata:
        return [((), table)]
    of = equivalence_classes(table.frame, strata).labels
    rows = [np.flatnonzero(of == stratum) for stratum in range(int(of.max()) + 1)]
    values = table.frame.select(list(strata)).rows()
    return [(values[int(part[0])], table.rows(part).within(values[int(part[0])])) for part in rows]


def _alone(frame: pl.DataFrame, schema: Schema) -> dict[str, Any]:
    """Count classes that share one value of a confidential column, with their people or rows and profiles.

    A number with many distinct values would need a width that a bucket does not know. It is counted by
    equal values here, and the report omits it.
    """
    labels = equivalence_classes(nw.from_native(frame, eager_only=True), list(schema.keys)).labels
    persons = closed(frame[PERSON]) if PERSON in frame.columns else None
    made = [certain(name, frame[name], labels, persons, width=0.0).counted for name in schema.confidential]
    return {
        "alone": {counted.column: (counted.groups, counted.people) for counted in made},
        "profiles": profiles(labels, np.arange(len(labels)) if persons is None else persons),
    }


def findings(answers: Sequence[Mapping[str, Any]], models: Sequence[Model]) -> tuple[Finding, ...]:
    """Join the answers of all buckets: the finding of each model in the written files."""
    by_stratum: dict[tuple[Any, ...], list[list[Finding]]] = {}
    for answer in answers:
        for stratum, measured in answer["models"].items():
            by_stratum.setdefault(stratum, []).append(measured)
    out = []
    for at, model in enumerate(models):
        each = [verdict([measured[at] for measured in parts]) for parts in by_stratum.values()]
        out.append(each[0] if len(each) == 1 or model.required is None else worst_of(each))
    return tuple(out)
