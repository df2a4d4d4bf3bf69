"""Cached facts about columns: content, missing values, numbers, levels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table import frame as _frame
from voronym.table.frame import Frame, Series


class Values:
    """A column and cached facts about it, each computed on first use.

    Reading a schema, encoding, comparing and measuring use the same facts, so nothing is factorised
    twice.

    Parameters
    ----------
    series : narwhals Series
        The column. It must not be changed afterwards.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> town = Values(nw.from_native(pl.Series("town", ["b", "a", None, "b"]), series_only=True))
    >>> town.form, town.codes.tolist(), town.levels
    ('string', [1, 0, -1, 1], ['a', 'b'])
    """

    def __init__(self, series: Series) -> None:
        self.series = series

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.series.name

    def __len__(self) -> int:
        return len(self.series)

    @cached_property
    def form(self) -> _frame.Form:
        """The content type of the column, for any library and layout."""
        return _frame.form(self.series)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing, as an array of booleans."""
        return _read_only(_frame.missing(self.series))

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The observed values as numbers; see `voronym.table.frame.numbers`."""
        return _read_only(_frame.numbers(self.series))

    @cached_property
    def _factorized(self) -> tuple[NDArray[np.int64], list[Any]]:
        codes, levels = _frame.factorize(self.series)
        return _read_only(codes), levels

    @property
    def codes(self) -> NDArray[np.int64]:
        """The level of each value; -1 if missing."""
        return self._factorized[0]

    @property
    def levels(self) -> list[Any]:
        """The distinct observed values, sorted."""
        return self._factorized[1]

    @cached_property
    def observed(self) -> int:
        """Number of observed values."""
        return int((self.codes >= 0).sum())


class Columns:
    """A frame with cached facts about its columns; `voronym.table.Table` adds a schema.

    Parameters
    ----------
    frame : narwhals DataFrame
        A frame from `voronym.table.frame.as_frame`. It must not be changed afterwards.
    known : mapping, optional
        Columns of the frame about which something is known already.
    """

    def __init__(self, frame: Frame, known: Mapping[str, Values] | None = None) -> None:
        self.frame = frame
        self._values = {name: values for name, values in (known or {}).items() if name in frame.columns}

    @staticmethod
    def at_door(data: Any) -> Columns:
        """Wrap a user's data frame; an already wrapped one is returned unchanged."""
        return data if isinstance(data, Columns) else Columns(_frame.as_frame(data))

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.frame)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the order of the frame."""
        return tuple(self.frame.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.frame.columns

    def __getitem__(self, name: str) -> Values:
        """Return a column."""
        if name not in self._values:
            if name not in self.frame.columns:
                raise SchemaError(f"the table has no column {name!r}; it has: {_frame.listing(self.columns)}")
            self._values[name] = Values(self.frame[name])
        return self._values[name]


def first_rows(codes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the first row of each of ``size`` codes; -1 stands for the last code."""
    rows = np.zeros(size, np.int64)
    rows[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last write wins: the first row
    return rows


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Make a cached array read-only: to write into it, copy it."""
    view = array.view()
    view.flags.writeable = False
    return view
