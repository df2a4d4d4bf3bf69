"""A mark of a table: it changes with any cell, column or row."""

from __future__ import annotations

import os
from typing import Any

from voronym.errors import GuaranteeError, InputError
from voronym.table.frame import Frame


def mark(frame: Frame) -> tuple[Any, ...]:
    """Return a mark that two tables share only if they are equal, apart from the order of rows.

    Only for a table in memory, within one process. PyArrow tables cannot be changed, and cells that have no
    hash, such as lists, have no part in it.
    """
    native = frame.to_native()
    shape = (tuple(frame.columns), len(frame))
    try:
        if frame.implementation.is_polars():
            return (*shape, int(native.hash_rows().cast(int, strict=False, wrap_numerical=True).sum()))
        if frame.implementation.is_pandas():
            from pandas.util import hash_pandas_object

            return (*shape, int(hash_pandas_object(native, index=False).sum()))
    except Exception:
        return shape
    return shape


def refuse_changed(path: object, frame: Frame, before: tuple[Any, ...]) -> None:
    """Refuse to write to anything but a file, and refuse a table that changed since it was measured."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            "name a file to write to: a release is checked in the file before it gets its name, so it cannot "
            "go into a buffer; write a file and read its bytes"
        )
    if mark(frame) != before:
        raise GuaranteeError(
            "the table was changed after the release was made, so the measured figures are no longer true; "
            "make the release again, and change a copy of its table"
        )
