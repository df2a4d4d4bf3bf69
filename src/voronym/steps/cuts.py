"""Numbers and dates as ranges between given cuts: texts, in an order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.options import read_value
from voronym.errors import InputError, SchemaError
from voronym.steps import numbers
from voronym.table.encoders.numeric import _places
from voronym.table.schema import RECODED, Schema
from voronym.table.spans import written
from voronym.table.table import Table

_EPOCH = dt.date(1970, 1, 1).toordinal()


def ranged(table: Table, name: str, cuts: Sequence[str], step: object) -> nw.Series[Any]:
    """Return a column as the ranges that its values are in; a cut belongs to the range above it."""
    texts = np.array(labels(table, name, cuts, step), dtype=object)  # refuses columns that have no numbers
    values, gone = numbers.read(table, name)
    result = texts[np.searchsorted(_read(table, name, cuts, step), values, side="right")]
    result[gone] = None
    return nw.new_series(name, result.tolist(), nw.String(), backend=table.frame.implementation)


def labels(table: Table, name: str, cuts: Sequence[str], step: object) -> tuple[str, ...]:
    """Return all ranges, the lowest first.

    Whole numbers, dates, and numbers with some decimals have ranges of what can occur: 20–39. Of all others a
    range is written by its two cuts, and the lower one belongs to it.
    """
    at, form = _read(table, name, cuts, step), table.form(name)
    digits = None if form in ("date", "datetime") else 0
    if digits is not None and form != "integer":
        digits = None if getattr(step, "public", False) else _digits(table, name)
    if form == "date":
        days = np.ceil(at).astype(int)
        low, high = [_day(day) for day in days], [_day(item - 1) for item in days]
    elif digits is not None:
        grid = np.ceil(np.round(at * 10.0**digits, 6))
        low, high = ([f"{(entry - less) / 10.0**digits:.{digits}f}" for entry in grid] for less in (0, 1))
    else:
        given = [str(cut) for cut in cuts]
        return (f"<{given[0]}", *map(written, given[:-1], given[1:]), written(given[-1], None))
    result = [written(None, high[0]), *map(written, low[:-1], high[1:]), written(low[-1], None)]
    if len(set(low)) < len(low):
        raise InputError(f"step '{step}': between two of the cuts there is no value that {name!r} can have")
    return tuple(result)


def _digits(table: Table, name: str) -> int | None:
    return _places(table.numbers(name).astype(np.float64))


def _read(table: Table, name: str, cuts: Sequence[str], step: object) -> np.ndarray:
    kind = table.schema[name].kind
    if kind not in ("numeric", "datetime"):
        raise SchemaError(
            f"step '{step}': column {name!r} is {kind}, and cuts are for numbers and dates. Take level "
            "or values"
        )
    numbers.check_line(table, name, step)
    at = np.array([numbers.number(table, name, read_value(cut), step) for cut in cuts])
    if (np.diff(at) <= 0).any():
        raise InputError(f"step '{step}': cuts must be in ascending order, each once")
    return at


def _day(number: int) -> str:
    return dt.date.fromordinal(_EPOCH + int(number)).isoformat()


def ordinal(schema: Schema, levels: Mapping[str, tuple[str, ...]]) -> Schema:
    """Return a schema in which some columns have these levels, in their order."""
    return replace(
        schema,
        columns=tuple(
            replace(column, kind="ordinal", categories=levels[column.name], note=RECODED, ranges=True)
            if column.name in levels
            else column
            for column in schema.columns
        ),
    )
