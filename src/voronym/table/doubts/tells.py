"""Unmasked columns that reveal a key, such as a year of birth next to an age."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voronym.errors import hint
from voronym.table.doubts.base import TABLE_DOUBTS, Doubt
from voronym.table.frame import NUMBERS
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.schema import Schema

_ORDERED = (*NUMBERS, "date", "datetime")
_ROWS = 5_000
"""Number of records to look at, evenly spread over the table."""
_FEWEST, _LEVELS = 30, 10
"""Smallest number of records, and of distinct numbers, with enough evidence."""
_SURE, _PLAIN = 0.99, 0.9
"""Least rank correlation, or least share of records whose key is revealed; and largest share of the commonest
key.
"""
_EACH = 3
"""Least mean number of records per value: if there are fewer, records agree in a key by chance."""


@TABLE_DOUBTS.register("tells")
def telling_columns(table: Columns, schema: Schema) -> Iterator[Doubt]:
    """Warn of a kept column that reveals nearly everybody's key."""
    every = max(1, len(table) // _ROWS)

    def sample(name: str) -> Values:
        return table[name] if every == 1 else Values(table[name].series.gather_every(every))

    def fit(name: str) -> bool:
        return name in table and table[name].form not in ("mixed", "other", "empty")

    keys = {name: sample(name) for name in schema.keys if fit(name)}
    kept = [
        declared
        for declared in schema
        if declared.role in ("confidential", "other") and declared.kind != "text"
    ]
    for column in kept:
        revealed = (
            [] if not fit(column.name) else [key for key in keys if tells(sample(column.name), keys[key])]
        )
        if revealed:
            which = " and ".join(map(repr, revealed))
            text = (
                f"{column.role} column {column.name!r} is kept as it is and reveals {which} for nearly "
                f"everybody, so masking {'it' if len(revealed) == 1 else 'them'} is useless. Make it a key, "
                f"too, or an identifier ({hint('identifiers', [column.name])}), which drops it"
            )
            yield Doubt("tells", column.name, text)


def tells(column: Values, key: Values) -> bool:
    """Whether a key follows from another column, by the order of both or by the values that occur together.

    Examples
    --------
    >>> import narwhals as nw, polars as pl
    >>> age = pl.Series("age", range(20, 80))
    >>> born, age = (Values(nw.from_native(one, series_only=True)) for one in (2026 - age, age))
    >>> tells(born, age)
    True
    """
    codes, key_codes = _codes(column), _codes(key)
    there = (codes >= 0) & (key_codes >= 0)
    if there.sum() < max(_FEWEST, 0.5 * len(there)):
        return False
    codes, key_codes = codes[there], key_codes[there]
    levels = len(np.unique(codes)), len(np.unique(key_codes))
    if column.form in _ORDERED and key.form in _ORDERED and min(levels) >= _LEVELS:
        return abs(float(np.corrcoef(_ranks(codes), _ranks(key_codes))[0, 1])) >= _SURE
    if len(codes) < _EACH * levels[0]:
        return False
    pairs, often = np.unique(codes * (key_codes.max() + 1) + key_codes, return_counts=True)
    best = np.zeros(codes.max() + 1)
    np.maximum.at(best, pairs // (key_codes.max() + 1), often)
    return bool(best.sum() >= _SURE * len(codes)) and bool(
        np.bincount(key_codes).max() <= _PLAIN * len(codes)
    )


def _codes(values: Values) -> NDArray[np.int64]:
    """Return the rank of each value among the distinct ones; -1 if missing."""
    if values.form not in _ORDERED:
        return values.codes
    codes = np.full(len(values), -1, np.int64)  # from the numbers, which are asked for again later
    codes[~values.missing] = np.unique(values.numbers, return_inverse=True)[1].reshape(-1)
    return codes


def _ranks(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return mean ranks of codes; the codes are in the order of their values."""
    often = np.bincount(codes)
    return np.asarray((np.cumsum(often) - often / 2.0)[codes])
