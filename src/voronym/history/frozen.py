"""Store published values of groups as plain data, so that a living group publishes the same again.

A centre that moves when a person leaves reveals their keys: n c - (n - 1) c'.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import Frame, Series

_WORDS: dict[str, Any] = {
    "datetime": datetime,
    "date": date,
    "time": time,
}  # a datetime is a date, too: it comes first


def as_plain(frame: Frame) -> list[list[Any]] | None:
    """Return rows that JSON can hold and `put_back` reads; None if a value has another type."""
    try:
        columns = [[_json_value(value) for value in frame[name].to_list()] for name in frame.columns]
    except TypeError:
        return None
    return [list(row) for row in zip(*columns, strict=True)]


def put_back(frame: Frame, rows: Mapping[int, Sequence[Any]], numbers: NDArray[np.int64]) -> Frame:
    """Return a frame in which groups from earlier releases publish their earlier values.

    Parameters
    ----------
    frame : narwhals DataFrame
        The new published values of groups, one row each.
    rows : mapping
        The earlier published values of some groups, by number.
    numbers : array of int
        The number of the group in each row.
    """
    old = [rows.get(number) for number in numbers.tolist()]
    made = []
    for at, name in enumerate(frame.columns):
        column = frame[name]
        values = [
            new if row is None else _value(row[at]) for new, row in zip(column.to_list(), old, strict=True)
        ]
        if column.dtype.is_numeric() and any(isinstance(value, str) for value in values):
            # Ranges were published in the place of numbers.
            texts = [None if value is None else str(value) for value in values]
            made.append(nw.new_series(name, texts, nw.String(), backend=frame.implementation))
            continue
        fresh = nw.new_series(name, values, _dtype(column), backend=frame.implementation)
        made.append(fresh if fresh.dtype == column.dtype else fresh.cast(column.dtype))
    return frame.with_columns(*made)


def _dtype(column: Series) -> Any:
    """Return the type for building a column; categories are built from texts."""
    return nw.String if column.dtype in (nw.Categorical, nw.Enum) else column.dtype


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    for word, kind in _WORDS.items():
        if isinstance(value, kind):
            return {word: value.isoformat()}
    if isinstance(value, timedelta):
        return {"seconds": value / timedelta(seconds=1)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    raise TypeError(type(value).__name__)


def _value(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((word, text),) = plain.items()
    if word == "seconds":
        return timedelta(seconds=text)
    if word == "decimal":
        return Decimal(text)
    return _WORDS[word].fromisoformat(text)
