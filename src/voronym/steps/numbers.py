"""Columns as numbers, and numbers as columns: in the resolution that the column had."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError, SchemaError, hint
from voronym.table.build import build
from voronym.table.encoders.numeric import _places
from voronym.table.frame import NUMBERS, Series, sample, time_unit
from voronym.table.table import Table

Array = NDArray[np.float64]
LINES = (*NUMBERS, "date", "datetime")


def check_line(table: Table, name: str, step: object) -> None:
    """Refuse a column that has neither numbers nor times."""
    kind = table.schema[name].kind
    if table.form(name) not in LINES or kind in ("nominal", "text"):
        raise SchemaError(
            f"step '{step}': column {name!r} is {kind}, and the step takes numbers or dates. Declare its "
            f"kind ({hint('kinds', {name: 'numeric'})}) or take another step"
        )


def read(table: Table, name: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return a column as floats, 0 if missing, and where values are missing."""
    gone = table.missing(name)
    values = np.zeros(table.n)
    values[~gone] = table.numbers(name).astype(np.float64)
    return values, gone


def write(table: Table, name: str, values: Array, gone: NDArray[np.bool_],
          keep: NDArray[np.bool_] | None = None) -> Series:  # fmt: skip
    """Return numbers as a column like the table's, with as many decimals, within its dtype.

    Parameters
    ----------
    table, name
        The table, and the column that it is like.
    values, gone : arrays, shape (n,)
        The numbers, and whether they are missing.
    keep : array of bool, optional
        Whether the table's own value stays, to the last digit.
    """
    old, form = table[name], table.form(name)
    present = ~old.missing
    if form == "decimal":
        mine = old.series.to_list()
        scale = max((-int(v.as_tuple().exponent) for v in mine if isinstance(v, Decimal) and v.is_finite()),
                    default=0)  # fmt: skip
        new = [Decimal(0) if absent else round(Decimal(item), scale)
               for item, absent in zip(values.tolist(), gone, strict=True)]  # fmt: skip
        if keep is not None:
            new = [mine[i] if stays and not gone[i] else new[i] for i, stays in enumerate(keep)]
        return build(sample(old.series), new, gone)
    if form == "float":
        digits = _places(old.numbers)
        made: NDArray[Any] = (values if digits is None else np.round(values, digits)) + 0.0
    else:
        low, high = _range(old.series)
        made = np.clip(np.rint(values), low, high)
        dtype: type = np.uint64 if old.numbers.dtype.kind == "u" else np.int64
        # 2**63 is the float next to the largest whole number, and one too large
        made = np.where(gone, 0.0, made)
        most = made >= float(high)
        made = np.where(most, 0.0, made).astype(dtype)
        made[most] = high
    if keep is not None:
        full = np.zeros(table.n, old.numbers.dtype if len(old.numbers) else made.dtype)
        full[present] = old.numbers
        made = np.where(keep, full.astype(made.dtype), made)
    return build(sample(old.series), made, gone)


def _range(series: Series) -> tuple[int, int]:
    kind = str(series.dtype).lower()
    if kind.startswith(("int", "uint")):
        info = np.iinfo(kind)
        return int(info.min), int(info.max)
    if kind.startswith("date") and "time" not in kind:
        return -719_162, 2_932_896  # years 1 to 9999
    return -(2**62), 2**62


def number(table: Table, name: str, given: Any, step: object) -> float:
    """Return a typed value as a number of the column, such as a date as its count of days."""
    form = table.form(name)
    try:
        if form in NUMBERS:
            if isinstance(given, (bool, str)):
                raise TypeError
            return float(given)
        moment = dt.datetime.fromisoformat(str(given))
        days = (moment - dt.datetime(1970, 1, 1, tzinfo=moment.tzinfo)).total_seconds() / 86_400
        if form == "date":
            return float(int(np.floor(days)))
        unit = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[time_unit(table[name].series)]
        return days * 86_400 * unit
    except (TypeError, ValueError):
        what = "a number" if form in NUMBERS else "a date such as 2020-12-31"
        raise InputError(f"step '{step}': {name!r} needs {what}, not {given!r}") from None
