"""Numbers and dates as ranges between given cuts: texts, in an order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voronym.generalize.spans import written
from voronym.table.schema import RECODED, Schema

_EPOCH = dt.date(1970, 1, 1).toordinal()


def labels(
    at: NDArray[np.float64], given: Sequence[str], *, days: bool, digits: int | None
) -> tuple[str, ...] | None:
    """Return the texts of all ranges, the lowest first; None if no value can lie between two of the cuts.

    Whole numbers, dates, and numbers with fixed decimals have ranges between possible values: 20–39.
    Other ranges are written by their two cuts, and include the lower one.

    Parameters
    ----------
    at : array
        The cuts as numbers, ascending.
    given : sequence of str
        The cuts as somebody wrote them.
    days : bool
        Whether they are dates.
    digits : int or None
        Number of decimals of the values; None if unknown.

    Examples
    --------
    >>> labels(np.array([20.0, 40.0]), ["20", "40"], days=False, digits=0)
    ('19 or less', '20–39', '40 or more')
    >>> labels(np.array([20.0, 40.0]), ["20", "40"], days=False, digits=None)
    ('<20', '20–40', '40 or more')
    """
    if days:
        first = np.ceil(at).astype(int)
        low, high = [_day(day) for day in first], [_day(day - 1) for day in first]
    elif digits is not None:
        grid = np.ceil(np.round(at * 10.0**digits, 6))
        low, high = ([f"{(entry - less) / 10.0**digits:.{digits}f}" for entry in grid] for less in (0, 1))
    else:
        cuts = [str(cut) for cut in given]
        return (f"<{cuts[0]}", *map(written, cuts[:-1], cuts[1:]), written(cuts[-1], None))
    if len(set(low)) < len(low):
        return None
    return (written(None, high[0]), *map(written, low[:-1], high[1:]), written(low[-1], None))


def _day(number: int) -> str:
    return dt.date.fromordinal(_EPOCH + int(number)).isoformat()


def ordinal_schema(schema: Schema, levels: Mapping[str, tuple[str, ...]]) -> Schema:
    """Return the schema with these levels, in order, for some columns."""
    return replace(
        schema,
        columns=tuple(
            replace(column, kind="ordinal", categories=levels[column.name], note=RECODED, ranges=True)
            if column.name in levels
            else column
            for column in schema.columns
        ),
    )
