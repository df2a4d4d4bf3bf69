"""Measure any table: its promises, its disclosures and, with its original, its loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError, SchemaError
from voronym.evaluate.against_original import Attacks, compare_with_original
from voronym.evaluate.measurement import Measurement
from voronym.evaluate.pair import make_pair, row_map
from voronym.evaluate.penalty import penalty
from voronym.evaluate.population.front import find_population_risk
from voronym.evaluate.population.suda import find_uniques
from voronym.evaluate.risk import risk
from voronym.evaluate.texts import note_on, rewritten, without_guards
from voronym.privacy import Finding, Model, listed_models, parse_model
from voronym.privacy.unasked import unasked
from voronym.table.classes import check_columns, check_keys
from voronym.table.frame import as_frame
from voronym.table.kinds import find_kind
from voronym.table.read import read
from voronym.table.schema import Column, Kind, Schema
from voronym.table.table import Table
from voronym.table.values import Values

__all__ = ["Attacks", "Columns", "Measurement", "measure", "schema_of"]


class Columns(TypedDict, total=False):
    """The known facts about columns: kinds, levels of ordinal ones, pairs of coordinates."""

    kinds: Mapping[str, Kind] | None
    orders: Mapping[str, Sequence[str]] | None
    locations: Sequence[tuple[str, str]]
    person: str | None
    household: str | None


_ATTACKS = Attacks()


@checked
def measure(
    table: Any,
    *,
    keys: Sequence[str],
    confidential: Sequence[str] = (),
    original: Any = None,
    aligned: bool | ArrayLike = False,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    population: Any = None,
    weights: str | None = None,
    sampling_fraction: float | None = None,
    suda: int | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    attack: Attacks = _ATTACKS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    **columns: Unpack[Columns],
) -> Measurement:
    """Measure a table in memory; `voronym.measure` also takes data sets of many parts."""
    ctx = Context(seed=seed, progress=progress)
    if table is None:
        raise InputError("there is no table to measure: give a data frame or a file")
    frame, original, population = _open(table), _open(original), _open(population)
    if original is not None:
        frame = without_guards(frame, original)
    source = frame if original is None else original
    if original is None and aligned is not False:
        raise InputError("aligned says how rows correspond to an original, but no original was given")
    counting = ctx.part(0.0, 0.2, stage="counting")
    counting.tell(0.0, whole=True)
    notes: list[str] = []
    schema = schema_of(frame, source, keys, confidential, columns, notes)
    records = Table.of(frame, schema)
    findings = _findings(records, models, notes)
    counted = risk(frame, keys, threshold=attack.threshold, population=population, units=records.units)
    if records.units is not None:
        notes.append(
            f"sizes of classes are numbers of {records.units.counted}; linkage and utility are of rows"
        )
    counting.tell(1.0, whole=True)
    given = (weights, sampling_fraction, population)
    here = ctx.part(0.2, 0.4 if original is not None else 1.0, stage="measuring")
    here.rng = np.random.default_rng(seed)  # as if it were the only request
    made = _in_population(frame, keys, given, suda, attack, columns, here)
    if original is not None:
        pair = make_pair(source, frame, schema, hierarchies)
        changed = rewritten(source, frame, [name for name in frame.columns if name not in keys])
        notes += [note_on(changed, len(frame))] if changed else []
        made["original_risk"] = risk(source, keys, threshold=attack.threshold)
        linked = row_map(aligned, len(source), len(frame))
        made |= compare_with_original(pair, linked, counted, attack, ctx, notes)
        if linked is not None:
            made["penalty"] = penalty(source, frame, schema, linked, hierarchies=hierarchies)
    ctx.done()
    return Measurement(
        tuple(keys), tuple(confidential), findings, counted, notes=tuple(notes), seed=seed, **made
    )


def _in_population(
    frame: nw.DataFrame[Any],
    keys: Sequence[str],
    given: tuple[str | None, float | None, Any],
    size: int | None,
    attack: Attacks,
    columns: Columns,
    ctx: Context,
) -> dict[str, Any]:
    """Measure the risk in the population, and special uniques, if requested."""
    made: dict[str, Any] = {}
    if any(item is not None for item in given):
        units = (columns.get("household"), columns.get("person"))
        made["population_risk"] = find_population_risk(
            frame, keys, *given, *units, attack.threshold, ctx.part(0.0, 0.5)
        )
    if size is not None:
        whole = made["population_risk"].fraction if made else None
        share = None if whole is None else min(1.0, whole)
        made["suda"] = find_uniques(frame, keys, size, share, ctx.part(0.5, 1.0))
    return made


def _open(data: Any) -> Any:
    """Return a table, read from its file if needed, as a narwhals frame; None stays None."""
    if data is None:
        return None
    return as_frame(read(data) if isinstance(data, (str, Path)) else data)


def schema_of(
    frame: nw.DataFrame[Any],
    source: nw.DataFrame[Any],
    keys: Sequence[str],
    confidential: Sequence[str],
    options: Columns,
    notes: list[str],
) -> Schema:
    """Check the named columns of a table, and build a schema from its original.

    A table that cannot be encoded is still counted.
    """
    check_keys(frame, keys)
    check_columns(frame, confidential, "confidential")
    strange = [name for name in frame.columns if name not in source.columns]
    if strange:
        raise InputError(
            f"original and table have different columns: the original lacks {', '.join(map(repr, strange))}; "
            "compare a table with the one it was made from"
        )
    units = (options.get("person"), options.get("household"))
    rest = [name for name in frame.columns if name not in (*keys, *confidential, *units)]
    roles: dict[str, Any] = {"keys": keys, "confidential": confidential, "other": rest}
    try:
        return Schema.build(source, **roles, **options, drop_undeclared=True)
    except SchemaError as error:
        if any(options.values()) or set(keys) & set(confidential):
            raise
        notes.append(str(error))
    columns = [*((k, "key") for k in keys), *((c, "confidential") for c in confidential)]
    columns += [(name, "other") for name in rest]
    made = []
    for name, role in columns:
        kind = find_kind(Values(source[name]))
        made.append(Column(name, role, kind.kind, kind.categories))  # type: ignore[arg-type]
    return Schema(tuple(made))


def _findings(table: Table, wanted: object, notes: list[str]) -> tuple[Finding, ...]:
    """Measure the required models, then every other registered model."""
    asked = [parse_model(m) if isinstance(m, str) else m for m in listed_models(wanted)]
    result = [model.measure(table) for model in asked]
    skipped: list[str] = []
    for model in unasked(asked, confidential=bool(table.schema.confidential), notes=skipped):
        try:
            result.append(model.measure(table))
        except InputError as error:
            notes.append(f"{model.name}: not measured: {error}")
    notes += skipped
    return tuple(result)
