"""The source of a table: a frame, a file, or a data set of many parts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.core.locks import passing_folder
from voronym.table.frame import as_frame
from voronym.table.places import place_of
from voronym.table.places.delta import lay_down
from voronym.table.places.store import Store

GROUP = 50_000
"""Rows per row group when a frame is written to a file, so that it can be read in parts."""


def has_parts(data: Any) -> bool:
    """Whether a source is a data set of many parts: a folder, a pattern, several files, or a cluster's."""
    if engine_of_frame(data) is not None:
        return True
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(path, (str, os.PathLike)) for path in data)
    if not isinstance(data, (str, os.PathLike)):
        return False
    place = place_of(data)
    if place is not None:
        return isinstance(place[0], Store) and place[0].has_parts(place[1])
    try:
        path = Path(data)
        return path.is_dir() or (not path.exists() and any(sign in str(data) for sign in "*?["))
    except OSError:  # for example too long a name, or no access: reading raises the error
        return False


def engine_of_frame(data: object) -> str | None:
    """Return the engine of a distributed frame, "dask" or "spark"; None for other data."""
    room = type(data).__module__.partition(".")[0]
    if room in ("dask", "dask_expr") and hasattr(data, "to_parquet"):
        return "dask"
    if room == "pyspark" and hasattr(data, "toPandas"):
        return "spark"
    return None


def is_frame(data: object) -> bool:
    """Whether a source is a table in memory, eager or lazy, and not a file name."""
    return not isinstance(data, (str, os.PathLike, list, tuple))


def home_of(work: str | os.PathLike[str] | None, output: Path) -> str | os.PathLike[str] | None:
    """Return the local folder for a copy of the source: the work folder or next to the output; else None."""
    if work is not None and place_of(work) is None:
        return work
    return output.absolute().parent if place_of(output) is None else None


@contextlib.contextmanager
def as_files(
    data: Any, beside: str | os.PathLike[str] | None, reading: Mapping[str, Any] | None = None
) -> Iterator[Any]:
    """Write a frame, or the content of an address, to temporary files; yield other sources unchanged.

    Only the owner can open the folder, and it is removed afterwards.

    Parameters
    ----------
    data : frame, address or paths
        A table in memory, a Polars LazyFrame, an Arrow data set, a frame of Dask or Spark, which writes its
        own partitions, or an address that `voronym.table.places` knows.
    beside : path, optional
        The parent folder; for frames of a cluster, all its machines must see it.
    reading : mapping, optional
        The query to a database.
    """
    place = None if is_frame(data) or isinstance(data, (list, tuple)) else place_of(data)
    if data is None or (not is_frame(data) and (place is None or not place[0].source)):
        yield data
        return
    with passing_folder(beside) as private:
        folder = private / "source"
        engine = engine_of_frame(data)
        if place is not None:
            folder.mkdir()
            place[0].lay_down(place[1], (reading or {}).get("query"), folder)
        elif engine == "dask":
            data.to_parquet(str(folder), write_index=False)
        elif engine == "spark":
            data.write.parquet(folder.absolute().as_uri())
        else:
            folder.mkdir()
            if is_batches(data):
                lay_down(data, folder)
            elif isinstance(data, pl.LazyFrame):
                data.sink_parquet(folder / "table.parquet", row_group_size=GROUP)
            else:
                as_frame(data).to_polars().write_parquet(folder / "table.parquet", row_group_size=GROUP)
        yield folder


def is_batches(data: object) -> bool:
    """Whether this is a data set of Arrow, or a reader of its batches."""
    return (
        type(data).__module__.startswith("pyarrow.")
        and hasattr(data, "schema")
        and (hasattr(data, "scanner") or hasattr(data, "read_next_batch"))
    )


def collected(data: Any) -> Any:
    """Return the table of a lazy frame or of an Arrow data set; anything else as it is."""
    if is_batches(data):
        return data.to_table() if hasattr(data, "to_table") else data.read_all()
    return data.collect() if isinstance(data, (pl.LazyFrame, nw.LazyFrame)) else data
