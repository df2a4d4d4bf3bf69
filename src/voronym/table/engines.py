"""Convert a released table to a frame of another engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw

from voronym.errors import InputError
from voronym.table.places import place_of

EAGER = ("pandas", "pyarrow")
"""Engines with frames in memory, which cannot read a pattern of files."""
NAMES = {"spark": "pyspark", "arrow": "pyarrow"}


def frame_of(source: nw.DataFrame[Any] | Path, engine: str, options: dict[str, Any]) -> Any:
    """Return a table in memory, or the files of a folder, as a frame of an engine; lazily if possible.

    Examples
    --------
    >>> import polars as pl
    >>> frame_of(nw.from_native(pl.DataFrame({"a": [1]}), eager_only=True), "pandas", {}).shape
    (1, 1)
    """
    if isinstance(source, Path) and (place := place_of(source)) is not None:
        raise InputError(f"the release is in {place[0].shown(place[1])}: read it there")
    backend: Any = NAMES.get(engine, engine)
    if backend == "pyspark" and "session" not in options:
        options = {**options, "session": _session()}
    try:
        if isinstance(source, Path):
            lazy = _scanned(source, "polars" if backend in EAGER else backend, options)
        else:
            lazy = source.lazy(backend="polars" if backend in EAGER else backend, **options)
        return (lazy.collect(backend=backend) if backend in EAGER else lazy).to_native()
    except (
        ValueError,
        TypeError,
        AttributeError,
    ) as error:  # narwhals' own error, which names the known ones
        raise InputError(f"the table cannot become a frame of {engine!r}: {error}") from None


def _scanned(folder: Path, backend: Any, options: dict[str, Any]) -> nw.LazyFrame[Any]:
    kinds = {file.suffix for file in folder.iterdir()} & {".parquet", ".csv"}
    if len(kinds) != 1:
        raise InputError("only folders of Parquet or of CSV files become frames: read the files")
    kind = kinds.pop()
    scan = nw.scan_parquet if kind == ".parquet" else nw.scan_csv
    return scan(str(folder / f"*{kind}"), backend=backend, **options)


def _session() -> Any:
    """Return the present session of Spark."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("a frame of Spark needs PySpark: pip install 'voronym[spark]'") from None
    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError("a frame of Spark needs a session: start one, or pass it as session=...")
    return session
