"""Columns of a table as fields of a mixed space: a metric for each, chosen by its kind or by the user."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.grammar import levels, pair
from voronym.core.validate import checked
from voronym.errors import InputError, VoronymError
from voronym.space.field import Field
from voronym.space.metrics import Function, Matrix, Metric, Rank, Taxonomy, metrics
from voronym.table.frame import DAY, NUMBERS, listing, time_unit
from voronym.table.schema import Column
from voronym.table.table import Table
from voronym.table.values import Values

Choice = str | Metric | Callable[[Any, Any], float] | tuple[Sequence[Any], Any] | Mapping[str, Sequence[str]]
"""A metric's name, alone or with its argument ("taxonomy=tree.csv", "circular=24", "overlap=,"); a metric; a
function of two values; labels and their matrix; or a hierarchy from values to their ancestors.
"""

DEFAULTS: Mapping[str, str] = {
    "numeric": "absolute",
    "datetime": "elapsed",
    "ordinal": "rank",
    "nominal": "nominal",
    "location": "geographic",
    "text": "edit",
}
"""The metric of each kind of column."""


@checked
def make_fields(
    table: Table, names: Sequence[str], chosen: Mapping[str, Choice] | None = None
) -> tuple[list[Field], tuple[str, ...]]:
    """Return the named columns as fields, and notes about them.

    Parameters
    ----------
    table : Table
        The records; their kinds come from its schema.
    names : sequence of str
        Columns to take; a location takes its partner with it.
    chosen : mapping, optional
        Metrics that differ from the defaults of the kinds, by column.
    """
    chosen = dict(chosen or {})
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise InputError(f"a metric is chosen for columns that are not used: {listing(unknown)}")
    fields: list[Field] = []
    notes: list[str] = []
    done: set[str] = set()
    for name in names:
        if name in done:
            continue
        column = table.schema[name]
        columns: tuple[str, ...] = (name,)
        if column.kind == "location" and name not in chosen:
            columns = table.schema.location(name, names)
        done.update(columns)
        metric = _metric(column, chosen.get(name))
        codes, values = _pairs(table, columns) if len(columns) == 2 else _levels(table[name], column)
        geometry = metric.geometry(values, ", ".join(columns))
        notes.extend(geometry.notes)
        fields.append(Field(columns, metric.name, geometry, codes))
    return fields, tuple(notes)


def _metric(column: Column, choice: Choice | None) -> Metric:
    """Return the metric of a column."""
    if choice is None:
        choice = DEFAULTS[column.kind]
    if isinstance(choice, str):
        return _named(column, choice)
    if isinstance(choice, Mapping):
        return Taxonomy(choice)
    if isinstance(choice, Metric) and not isinstance(choice, type):
        return choice
    if isinstance(choice, (tuple, list)) and len(choice) == 2:  # a recipe's file knows lists alone
        return Matrix(*choice)
    if callable(choice):
        return Function(choice)
    raise InputError(
        f"the metric of column {column.name!r} must be a name, a metric, a function of two values or a pair "
        f"of labels and matrix, not {type(choice).__name__}"
    )


def _named(column: Column, choice: str) -> Metric:
    """Return a metric from its name, alone or with its argument: ``taxonomy=tree.csv``."""
    name, text = pair(choice)
    made = metrics()[name]
    if name == "rank":
        return Rank(column.categories if text is None else levels(text))
    try:
        built: Metric = made(*([] if text is None else [_number(text)]))
    except TypeError:
        raise InputError(
            f"the metric {name!r} of column {column.name!r} takes nothing after its name"
            if text is not None
            else f"the metric {name!r} of column {column.name!r} needs more than its name: write "
            f"{name}=... or build it with voronym.records.{made.__name__}(...)"
        ) from None
    return built


def _number(text: str) -> str | float:
    """Return a number if the text is one (a period); otherwise the text (a file or a separator)."""
    try:
        return float(text)
    except ValueError:
        return text


def _levels(values: Values, column: Column) -> tuple[NDArray[np.int64], Any]:
    """Return codes (-1 if missing) and the distinct values: numbers, times as days, or texts."""
    held = values.form
    if held in ("mixed", "other"):
        raise InputError(
            f"column {values.name!r} holds values of no plain type; convert them, or drop the column"
        )
    if column.kind not in ("numeric", "datetime", "location"):
        return values.codes, values.levels
    if held not in (*NUMBERS, "date", "datetime"):
        return values.codes, np.empty(0) if held == "empty" else values.levels
    levels, back = np.unique(values.numbers, return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[~values.missing] = back.reshape(-1)
    if held == "datetime":
        levels = levels / DAY[time_unit(values.series)]
    return codes, levels


def _pairs(table: Table, columns: tuple[str, str]) -> tuple[NDArray[np.int64], Any]:
    """Return codes and distinct places of a location, missing if either coordinate is."""
    pair = [table[name] for name in columns]
    gone = pair[0].missing | pair[1].missing
    degrees = np.zeros((len(gone), 2))
    for axis, values in enumerate(pair):
        degrees[~values.missing, axis] = values.numbers
    levels, back = np.unique(degrees[~gone], axis=0, return_inverse=True)
    codes = np.full(len(gone), -1, np.int64)
    codes[~gone] = back.reshape(-1)
    return codes, levels


def gathered(table: Table, field: Field, levels: NDArray[np.int64]) -> dict[str, nw.Series[Any]]:
    """Return the columns of a field with these levels, in the library and dtypes of the table.

    Every value is that of the first record with its level. A place with one missing coordinate becomes
    missing as a whole: otherwise the known coordinate of one record would be published for all, and lead
    to its owner.
    """
    rows, gone = field.first()[levels], levels == field.missing
    made = {name: nw.maybe_reset_index(table.frame[name][rows]) for name in field.columns}
    if len(field.columns) == 1 or not gone.any():
        return made
    return {name: _without(item, gone) for name, item in made.items()}


def _without(series: nw.Series[Any], gone: NDArray[np.bool_]) -> nw.Series[Any]:
    """Return a column without some of its values."""
    keep = nw.new_series("keep", (~gone).tolist(), nw.Boolean, backend=series.implementation)
    blank = nw.new_series(series.name, [None] * len(gone), series.dtype, backend=series.implementation)
    return series.zip_with(keep, blank)


def rebuild_columns(
    table: Table, fields: Sequence[Field], codes: NDArray[np.int64]
) -> dict[str, nw.Series[Any]]:
    """Return the columns of new levels.

    All records of a level get the same value, even if their level did not change. A record's own value
    could differ in details that a level does not show, such as the single known coordinate of a place, or
    NaN instead of null.
    """
    made: dict[str, nw.Series[Any]] = {}
    for k, field in enumerate(fields):
        made |= gathered(table, field, codes[:, k])
    return made


def describing_fields(table: Table) -> list[Field]:
    """Return the confidential columns as fields, to relate them to the keys; texts are left out."""
    out: list[Field] = []
    for name in table.confidential:
        kind = table.schema[name].kind
        if kind == "text":
            continue
        choice = {} if kind in ("numeric", "datetime") else {name: "nominal"}
        with contextlib.suppress(VoronymError):  # no figure without it; the columns stay as they are
            out += make_fields(table, [name], choice)[0]
    return out
