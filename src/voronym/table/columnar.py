"""Parquet, Arrow and Feather files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import ReadError
from voronym.table.clean import to_polars
from voronym.table.frame import Frame

_FEATHER_1 = b"FEA1"


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file."""
    start, end = _ends(path, 4)
    if start != b"PAR1":
        raise ReadError(f"{path.name!r} is not a Parquet file, although its suffix says so")
    if end != b"PAR1":
        raise ReadError(
            f"{path.name!r} is a Parquet file without its end: it is truncated; copy or write it again"
        )
    try:
        with path.open("rb") as file:
            return _sound(pl.read_parquet(file))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ArithmeticError, OSError) as error:
        raise ReadError(
            f"{path.name!r} is a damaged Parquet file ({type(error).__name__}); write it again"
        ) from None


def read_arrow(path: Path) -> pl.DataFrame:
    """Read an Arrow file (also called Feather 2 or IPC), or an Arrow stream."""
    start, end = _ends(path, 6)
    if start.startswith(_FEATHER_1):
        raise ReadError(
            f"{path.name!r} is a Feather file of version 1, which is out of use; convert it to version 2"
        )
    whole = start == b"ARROW1"
    if whole and end != b"ARROW1":
        raise ReadError(
            f"{path.name!r} is an Arrow file without its end: it is truncated; copy or write it again"
        )
    try:
        with path.open("rb") as file:  # an open file: a path might be taken for a pattern
            return _sound(pl.read_ipc(file) if whole else pl.read_ipc_stream(file))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ArithmeticError, OSError) as error:
        raise ReadError(f"{path.name!r} is not a readable Arrow file ({type(error).__name__})") from None


def _sound(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table after checking its decimals; otherwise damaged ones would fail later, on use."""
    for column in frame.get_columns():
        if column.dtype.is_decimal():
            column.cast(pl.Float64)
            column.drop_nulls().unique().to_list()
    return frame


def _ends(path: Path, size: int) -> tuple[bytes, bytes]:
    length = path.stat().st_size
    if length == 0:
        raise ReadError(f"{path.name!r} is empty")
    with path.open("rb") as file:
        start = file.read(size)
        file.seek(max(length - size, 0))
        return start, file.read(size)


def write_parquet(table: Frame, path: Path) -> int:
    """Write a tidy frame as Parquet; return 0, because no cell needs a guard."""
    _without_dictionaries(table).write_parquet(path)
    return 0


def write_arrow(table: Frame, path: Path) -> int:
    """Write a tidy frame as an Arrow file; return 0, because no cell needs a guard."""
    _without_dictionaries(table).write_ipc(path, compression="zstd", compat_level=pl.CompatLevel.oldest())
    return 0


def _without_dictionaries(table: Frame) -> Any:
    """Return a Polars frame with categories as strings: without a dictionary and its leftovers."""
    return to_polars(table).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
