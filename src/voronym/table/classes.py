"""Classes of records that share all their keys.

Values are equal by the same rule in all dataframe libraries:

- missing is a separate value; null, NaN and NaT are the same missing value, and no row is ever dropped;
- ``-0.0`` equals ``0.0``;
- everything else is equal if its column says so. Text is compared exactly: case, spaces and Unicode forms
  count. In doubt, two values count as different, which can only lower k.

Polars groups the rows. It is a dependency in any case, it keeps rows with missing keys, and it takes most
columns of pandas and PyArrow without a copy. Columns that it cannot hold (Python objects of mixed types,
periods, intervals) are first numbered by Python's hashing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.registry import meant
from voronym.errors import InputError, hint
from voronym.table.frame import Frame, Series
from voronym.table.values import first_rows


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table: the class of each row, and how many rows each class has.

    Classes are numbered in order of first appearance, so frame libraries agree on the numbers too.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.int64]:
        """The first row of each class."""
        return first_rows(self.labels, len(self.sizes))


def equivalence_classes(frame: Frame, keys: Sequence[str]) -> Classes:
    """Group the rows that agree in every key.

    Parameters
    ----------
    frame : narwhals DataFrame
        Any table with at least one row.
    keys : sequence of str
        Columns that must agree; at least one.

    Returns
    -------
    Classes
        Every row is in exactly one class. Time O(n) per key, memory O(n).

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"age": [30.0, None, float("nan"), 30.0]}), eager_only=True)
    >>> equivalence_classes(frame, ["age"]).sizes.tolist()
    [2, 2]
    """
    check_keys(frame, keys)
    n = len(frame)
    if n == 0:
        raise InputError("the table has no rows, so there is nothing to count")
    # Names are replaced by positions: no column name can collide with the row counter.
    columns = [_comparable(frame[key]).alias(f"k{i}") for i, key in enumerate(keys)]
    first = _first_by_hash(columns)
    if first is None:
        rows = pl.col("row").min().over([column.name for column in columns])
        first = pl.DataFrame(columns).with_row_index("row").select(rows)["row"].to_numpy()
    return classes_of_first(first)


def _first_by_hash(columns: Sequence[pl.Series]) -> NDArray[np.int64] | None:
    """Return the first row equal to each row, by hashes; None if unequal rows share a hash.

    This takes half the memory of groups.
    """
    if any(column.dtype.is_nested() for column in columns):
        return None
    first = first_by_hash(pl.DataFrame(columns).hash_rows(seed=0).to_numpy())
    return first if all(column.eq_missing(column.gather(first)).all() for column in columns) else None


def first_by_hash(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the first row with the same hash as each row; equality is not checked."""
    order = np.argsort(hashes, kind="stable")
    new = np.ones(len(hashes), bool)
    new[1:] = hashes[order[1:]] != hashes[order[:-1]]
    first = np.empty(len(hashes), np.int64)
    first[order] = np.repeat(order[new], np.diff(np.append(np.flatnonzero(new), len(hashes))))
    return first


def classes_of_first(first: NDArray[np.integer[Any]]) -> Classes:
    """Return classes, each named by its first row; ascending names are in order of appearance."""
    labels = (np.cumsum(first == np.arange(len(first))) - 1)[first]
    return Classes(labels, np.bincount(labels))


def check_columns(frame: Frame, names: Sequence[str], role: str) -> None:
    """Refuse a string in place of a list, unknown columns and repeated columns; the error names them."""
    if isinstance(names, str):
        raise InputError(f"{role} columns must be a list of names, not the text {names!r}; write [{names!r}]")
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        there = ", ".join(map(repr, frame.columns[:20])) + (", ..." if len(frame.columns) > 20 else "")
        raise InputError(
            f"the table has no column {', '.join(map(repr, unknown))} (named as {role}); it has: {there}"
            + meant(unknown[0], frame.columns)
        )
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(
            f"named more than once as {role}: {', '.join(map(repr, twice))}; name each column once"
        )


def check_keys(frame: Frame, keys: Sequence[str]) -> None:
    """Refuse unknown or repeated keys, and an empty list of keys."""
    check_columns(frame, keys, "key")
    if not keys:
        raise InputError(
            f"no key column is named; name the columns that an intruder may know, with {hint('keys')}"
        )


_OBJECTS = {"Object", "Extension", "Unknown", "Null"}


def _comparable(series: Series) -> pl.Series:
    """Return the column with one missing value and one zero, in a type that Polars can group."""
    try:
        column = series.to_polars()
    except Exception:  # Arrow and Polars have no common error for "mixed types"
        return _by_hash(series)
    if type(column.dtype).__name__ in _OBJECTS:
        return _by_hash(series)
    if column.dtype.is_float():
        column = column.fill_nan(None) if column.is_nan().any() else column
        return column + 0.0 if (column == 0.0).any() else column  # -0.0 + 0.0 is 0.0
    return column


def _by_hash(series: Series) -> pl.Series:
    """Assign a number to each distinct value of a column of Python objects; missing is None."""
    missing = series.is_null().to_list()
    numbers: dict[object, int] = {}
    codes: list[int | None] = []
    for value, absent in zip(series.to_list(), missing, strict=True):
        if absent or (isinstance(value, float) and value != value):
            codes.append(None)
            continue
        # True == 1 for Python, but the two are published differently.
        name = (isinstance(value, bool), value)
        try:
            codes.append(numbers.setdefault(name, len(numbers)))
        except TypeError:
            raise InputError(
                f"column {series.name!r} holds values that cannot be compared "
                f"({type(value).__name__}); turn it into text or numbers first"
            ) from None
    return pl.Series(series.name, codes, dtype=pl.Int64)
