"""Tables of many files for policies: distinct cells with counts that add up over files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voronym.policy.cells import Held, read_cell
from voronym.table.read import read

__all__ = ["Counted", "count_files"]

LOOK = 20_000
"""Number of rows examined for kinds and roles of columns."""


@dataclass(frozen=True)
class Counted:
    """The counts of all files.

    Parameters
    ----------
    cells : mapping
        The distinct cells of each column, with their counts.
    rows : int
        Number of rows in all files.
    sample : DataFrame
        Some of the rows, from all files.
    """

    cells: Mapping[str, tuple[Held, ...]]
    rows: int
    sample: pl.DataFrame


def count_files(files: Sequence[Path], reading: Mapping[str, Any] | None = None) -> Counted:
    """Count the distinct cells of each column over all files, one file at a time.

    Parameters
    ----------
    files : sequence of Path
        Parquet files, which are counted column by column, or text files, which are read.
    reading : mapping, optional
        Reading options for text, as for `voronym.read`.
    """
    counts: dict[str, dict[Any, int]] = {}
    rows, some = 0, []
    each = -(-LOOK // len(files))
    for file in files:
        frame = _opened(file, reading)
        many = int(frame.select(pl.len()).collect().item())
        rows += many
        some.append(frame.gather_every(max(many // each, 1)).head(each).collect())
        for name in frame.collect_schema().names():
            column = frame.select(pl.col(name).alias("value"))
            values = column.group_by("value").len().collect(engine="streaming")
            own = counts.setdefault(name, {})
            for value, count in values.iter_rows():
                key = None if value is None or value != value else value
                own[key] = own.get(key, 0) + count
    cells = {name: tuple(Held(read_cell(value), count) for value, count in own.items())
             for name, own in counts.items()}  # fmt: skip
    return Counted(cells, rows, pl.concat(some, how="diagonal_relaxed"))


def _opened(file: Path, reading: Mapping[str, Any] | None) -> pl.LazyFrame:
    if file.suffix.lower() in (".parquet", ".pq"):
        return pl.scan_parquet(file)
    frame: Any = read(file, **(reading or {}))
    plain: pl.DataFrame = frame
    return plain.lazy()
