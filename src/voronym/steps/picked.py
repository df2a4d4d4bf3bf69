"""Columns with values of other rows, or with blanks, in the same dtype."""

from __future__ import annotations

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import Series
from voronym.table.table import Table
from voronym.table.values import first_rows


def of_rows(table: Table, name: str, rows: NDArray[np.int64]) -> Series:
    """Return a column whose row r has the value of row ``rows[r]``."""
    picked: Series = nw.maybe_reset_index(table.frame.select(name)[rows.tolist()])[name]
    return picked


def of_codes(table: Table, name: str, codes: NDArray[np.int64]) -> Series:
    """Return a column of the given places among the levels of the column; -1 keeps the value of its row."""
    rows = np.arange(table.n)
    here = codes >= 0
    rows[here] = first_rows(table.codes(name)[:], len(table.levels(name)) + 1)[codes[here]]
    return of_rows(table, name, rows)


def texts(table: Table, name: str, labels: list[str]) -> Series:
    """Return a column of texts, one for each level of the column; missing values stay missing."""
    result = np.array([*labels, None], dtype=object)[table.codes(name)]
    return nw.new_series(name, result.tolist(), nw.String(), backend=table.frame.implementation)
