"""The data set: its files, columns and parts.

A part is a fixed piece of one file: a few row groups of Parquet. Parts are numbered by file, then by
position. Results do not depend on who reads which part.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import InputError, MissingExtraError, ReadError, SchemaError
from voronym.run.parts.afar import readable, size_of
from voronym.run.parts.database import is_database
from voronym.table.frame import listing
from voronym.table.read import read
from voronym.table.summaries import wider

PART = 500_000
"""Rows of a part; a row group of up to twice as many is never divided."""
BATCH = 50_000
"""Rows that are read at a time from a row group that is divided."""
PARQUET = (".parquet", ".pq")
TEXTS = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".tsv.gz", ".txt.gz")


@dataclass(frozen=True)
class Part:
    """A piece of a file.

    Parameters
    ----------
    number : int
        Among all parts.
    path : str
        The file.
    name : str
        Name in messages: the user's file.
    groups : tuple of int
        Its row groups.
    rows : int
        Number of rows.
    fixed : tuple of (str, object)
        Columns that the folders' names give, as in ``year=2024``.
    skip : int
        Rows of its row group before it, if the row group is divided.
    """

    number: int
    path: str
    name: str
    groups: tuple[int, ...]
    rows: int
    fixed: tuple[tuple[str, Any], ...] = ()
    skip: int = 0


@dataclass(frozen=True)
class Dataset:
    """All parts, and the common type of each column."""

    parts: tuple[Part, ...]
    types: dict[str, Any]
    bytes: int

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(part.rows for part in self.parts)


def arrow() -> Any:
    """Return PyArrow, or raise with how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "data sets of many files need PyArrow: pip install 'voronym[frames]'"
        ) from None
    return pyarrow


def find(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Return the files of a path, a folder, a pattern or several of them, in a fixed order.

    Files are ordered by name, with numbers in names by value. Hidden files, and files beginning with an
    underscore, are skipped: engines leave such files next to their data.
    """
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, Iterable):
        raise InputError(f"expected a table, a path or a list of paths, got {type(source).__name__}")
    result: list[Path] = []
    for item in source:
        try:
            here = _named(item)
        except OSError as error:  # without its path, which may be somebody's name
            what = error.strerror or type(error).__name__
            raise ReadError(f"parts of {str(item)!r} cannot be read: {what}") from None
        if not here:
            raise ReadError(f"there are no files at {str(item)!r}; name a folder, a pattern or a file")
        result += here
    unique = {file.resolve(): file for file in result}
    files = sorted(unique.values(), key=lambda file: _natural(str(file)))
    _refuse_versions(files)
    strange = [file.name for file in files if not _known(file)]
    if strange:
        raise ReadError(
            f"{listing(strange, 5)}: only Parquet, text (.csv, .tsv, .txt) and DuckDB files can be read in "
            "parts; name a pattern such as 'people/*.parquet'"
        )
    if len(files) > 1 and any(is_database(file) for file in files):
        raise ReadError("a database cannot be combined with other files: name one file and a query")
    packs = {is_parquet(file) for file in files}
    if len(packs) > 1:
        raise ReadError("there are Parquet and text files; name a pattern for one kind, such as '*.parquet'")
    return files


def _refuse_versions(files: Sequence[Path]) -> None:
    """Refuse files of a versioned table: deleted rows may be among them."""
    for folder in {parent for file in files for parent in file.absolute().parents}:
        if (folder / "_delta_log").is_dir():
            kind = "a Delta"
        elif next(folder.glob("metadata/*.metadata.json"), None) is not None:
            kind = "an Iceberg"
        else:
            continue
        name = f"delta:{folder.name}" if "Delta" in kind else "iceberg:CATALOGUE/NAMESPACE.TABLE"
        raise ReadError(
            f"{folder.name!r} is {kind} table, whose files hold rows of earlier versions, too: name the "
            f"table, such as {name}, and its present version is read"
        )


def _named(text: str | os.PathLike[str]) -> list[Path]:
    """Return the files that a path, a folder or a pattern names."""
    path = Path(text)
    if path.is_dir():
        return _inside(path)
    if path.exists():
        return [path]
    matches = [Path(name) for name in glob.glob(str(text), recursive=True)]  # noqa: PTH207 - any root
    return [file for match in matches for file in _inside(match)]


def _inside(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in path.rglob("*") if file.is_file() and not _hidden(file, path)]
    return [] if path.name.startswith(("_", ".")) else [path]


def _hidden(file: Path, root: Path) -> bool:
    return any(piece.startswith(("_", ".")) for piece in file.relative_to(root).parts)


def _natural(name: str) -> list[Any]:
    return [(int(piece), "") if piece.isdigit() else (0, piece) for piece in re.split(r"(\d+)", name)]


def is_parquet(file: Path) -> bool:
    """Whether a file is a Parquet file, by its name."""
    return file.name.lower().endswith(PARQUET)


def _known(file: Path) -> bool:
    return file.name.lower().endswith((*PARQUET, *TEXTS)) or is_database(file)


def survey(files: Sequence[Path], names: Sequence[str] | None = None) -> Dataset:
    """Read the footers of Parquet files, check that all have the same columns, and divide them into parts.

    Parameters
    ----------
    files : sequence of Path
        Parquet files.
    names : sequence of str, optional
        Names of the files in messages, if they are copies.
    """
    pq = arrow().parquet
    called = [file.name for file in files] if names is None else list(names)
    types: dict[str, Any] = {}
    first = ""
    parts: list[Part] = []
    size = 0
    folders = [_folders(file) for file in files]
    whole = {
        name for name in dict(folders[0]) if all(_is_whole(dict(folder).get(name)) for folder in folders)
    }
    for file, name, given in zip(files, called, folders, strict=True):
        try:
            with pq.ParquetFile(readable(file)) as opened:
                meta = opened.metadata
                rows = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
                here = dict(pl.from_arrow(opened.schema_arrow.empty_table()).schema)  # type: ignore[union-attr]
        except (arrow().ArrowInvalid, OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise ReadError(
                f"{name!r} is not a readable Parquet file ({type(error).__name__}): write or copy it again"
            ) from None
        fixed = tuple((column, int(text) if column in whole else text) for column, text in given)
        here |= {column: pl.Int64 if isinstance(value, int) else pl.String for column, value in fixed}
        size += size_of(file)
        if not first:
            first, types = name, {column: _simple_type(kind) for column, kind in here.items()}
        else:
            _unify(types, here, first, name)
        parts += _cut(len(parts), str(file), name, rows, fixed)
    if not parts:
        raise SchemaError("the files have no rows; there is nothing to anonymize")
    return Dataset(tuple(parts), types, size)


def _folders(file: Path) -> tuple[tuple[str, str], ...]:
    pieces = (piece.partition("=") for piece in file.parent.parts)
    return tuple((name, value) for name, sign, value in pieces if sign and name.isidentifier())


def _is_whole(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"-?(0|[1-9]\d{0,17})", text) is not None


def _simple_type(kind: Any) -> Any:
    return pl.String() if isinstance(kind, (pl.Categorical, pl.Enum)) else kind


def _unify(types: dict[str, Any], here: dict[str, Any], first: str, name: str) -> None:
    """Widen types to hold another file's values, too; refuse columns that do not fit."""
    lacking = [column for column in types if column not in here]
    more = [column for column in here if column not in types]
    if lacking or more:
        result = [f"lacks {listing(lacking, 5)}"] if lacking else []
        result += [f"has {listing(more, 5)} besides"] if more else []
        raise SchemaError(f"{name!r} {' and '.join(result)}: all files need the columns of {first!r}")
    for column, kind in types.items():
        try:
            types[column] = wider(kind, _simple_type(here[column]))
        except TypeError:
            raise SchemaError(
                f"column {column!r} is {here[column]} in {name!r} and {kind} in the files before it: "
                "make it the same everywhere"
            ) from None


def _cut(
    start: int, path: str, name: str, rows: Sequence[int], fixed: tuple[tuple[str, Any], ...]
) -> list[Part]:
    out: list[Part] = []
    waiting: list[int] = []
    count = 0
    for group, many in enumerate(rows):
        if (
            many > 2 * PART
        ):  # the others are read whole: reading a part of one also decodes everything before it
            if count:
                out.append(Part(start + len(out), path, name, tuple(waiting), count, fixed))
                waiting, count = [], 0
            for skip in range(0, many, PART):
                held = min(PART, many - skip)
                out.append(Part(start + len(out), path, name, (group,), held, fixed, skip))
            continue
        waiting.append(group)
        count += many
        if count and (count + (rows[group + 1] if group + 1 < len(rows) else PART) > PART):
            out.append(Part(start + len(out), path, name, tuple(waiting), count, fixed))
            waiting, count = [], 0
    if count:
        out.append(Part(start + len(out), path, name, tuple(waiting), count, fixed))
    return out


def load(part: Part, columns: Sequence[str], types: dict[str, Any], rows: int | None = None) -> pl.DataFrame:
    """Read the columns of a part, each with its type in the whole data set.

    Parameters
    ----------
    part : Part
        The part.
    columns : sequence of str
        Which columns; others, identifiers among them, are never read.
    types : mapping
        The type of each column.
    rows : int, optional
        Read that many of the first rows only.
    """
    fixed = dict(part.fixed)
    stored = [name for name in columns if name not in fixed]
    try:
        with arrow().parquet.ParquetFile(readable(part.path)) as opened:
            within = sum(opened.metadata.row_group(group).num_rows for group in part.groups)
            if within > part.rows:
                table = _divided(opened, part, stored, part.rows if rows is None else min(rows, part.rows))
            elif rows is None or part.rows <= rows:
                table = opened.read_row_groups(list(part.groups), columns=stored, use_threads=False)
            else:
                few = opened.iter_batches(
                    rows, row_groups=list(part.groups), columns=stored, use_threads=False
                )
                table = arrow().Table.from_batches([next(few)])
        frame = pl.from_arrow(table)
    except (arrow().ArrowInvalid, OSError, ValueError, IndexError, pl.exceptions.PolarsError) as error:
        raise ReadError(f"{part.name!r} could not be read ({type(error).__name__}): is it whole?") from None
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table, not a column
    if len(stored) == 0:
        frame = pl.DataFrame({"": pl.Series([0] * (rows or part.rows))}).drop("")
    made = [pl.lit(value, dtype=types[name]).alias(name) for name, value in fixed.items() if name in columns]
    frame = frame.with_columns(made) if made else frame
    return frame.select(pl.col(name).cast(types[name]) for name in columns)


def _divided(opened: Any, part: Part, columns: Sequence[str], rows: int) -> Any:
    """Read some rows of a row group that is too large to be held."""
    at, taken = 0, []
    for batch in opened.iter_batches(
        BATCH, row_groups=list(part.groups), columns=list(columns), use_threads=False
    ):
        first, last = max(part.skip - at, 0), min(part.skip + rows - at, len(batch))
        if first < last:
            taken.append(batch.slice(first, last - first))
        at += len(batch)
        if at >= part.skip + rows:
            break
    return arrow().Table.from_batches(taken)


def load_whole(files: Sequence[Path], reading: Mapping[str, Any]) -> pl.DataFrame:
    """Read files as one table; each column gets a type that fits the values of all files.

    Parameters
    ----------
    files : sequence of Path
        The result of `find`.
    reading : mapping
        Reading options for text or a database, as for `voronym.read`.
    """
    if is_parquet(files[0]):
        data = survey(files)
        return pl.concat([load(part, list(data.types), data.types) for part in data.parts])
    frames: list[pl.DataFrame] = [read(file, **reading) for file in files]
    types = {name: _simple_type(kind) for name, kind in frames[0].schema.items()}
    for file, frame in zip(files[1:], frames[1:], strict=True):
        _unify(types, dict(frame.schema), files[0].name, file.name)
    return pl.concat([frame.select(pl.col(name).cast(types[name]) for name in types) for frame in frames])
