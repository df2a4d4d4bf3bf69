"""Read a table from a file or a query, by its suffix."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from voronym.core.validate import checked
from voronym.errors import ReadError
from voronym.table import delimited
from voronym.table.dialect import Reading
from voronym.table.formats import FORMATS, How, by_suffix, suffixes
from voronym.table.frame import Frame, as_frame
from voronym.table.packing import packing_of, suffix_of
from voronym.table.places import place_of
from voronym.table.places.store import fetched
from voronym.table.source import Source, attach_source, source_of
from voronym.table.spelling import Hints, declared_missing


@checked
def read(
    source: str | os.PathLike[str],
    *,
    query: str | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    **reading: Any,
) -> pl.DataFrame:
    r"""Read a table.

    Parameters
    ----------
    source : path, "-" or address
        Text (.csv .tsv .txt, also packed: .csv.gz .csv.zst), columnar (.parquet .feather .arrow .ipc),
        spreadsheet (.xlsx), statistical (.sav .zsav .dta .sas7bdat .xpt) or database (.duckdb .ddb .db
        .sqlite .sqlite3) file, text from standard input ("-"), the address of a PostgreSQL
        server ("postgresql://..."), of a file in a store that fsspec knows ("s3://..."), of a Delta table
        ("delta:people") or of an Iceberg table ("iceberg:CATALOGUE/NAMESPACE.TABLE").
    query : str, optional
        The SQL query, for databases.
    format : str, optional
        A suffix without its dot, if the file's own does not show the format.
    **reading
        Known facts about the file, see `voronym.table.Reading`: ``delimiter``, ``encoding``, ``decimal``,
        ``thousands``, ``date_format``, ``missing``, ``header``, ``skip_rows``, ``skip_footer``, ``sheet``.
        Everything else is detected.

    Returns
    -------
    polars.DataFrame
        An empty cell of a text file is missing; types are inferred from all its rows, and codes
        with leading zeros stay strings.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;zip\n30;08001\n40;08002\n")
    ...     read(file).rows()
    [(30, '08001'), (40, '08002')]
    """
    known = Reading.of({**reading, "query": query})
    if source == "-":
        return delimited.read_bytes(sys.stdin.buffer.read(), "standard input", known)
    place, address = place_of(source) or (None, "")
    if place is not None and place.holds_files:
        with fetched(address) as copy:
            return read(copy, query=query, format=format, **reading)
    if place is not None and place.source:
        return _with_source(place.read(address, query), place.name.lower(), known)
    path = Path(source)
    if os.path.isdir(path):  # noqa: PTH112 - `Path.is_dir` fails where the name is too long
        raise ReadError(
            f"{path.name!r} is a folder; name a file. `voronym anonymize` and `voronym measure` also take a "
            "folder, as one table in many files"
        )
    suffix = f".{format.lower().lstrip('.')}" if format else suffix_of(path)
    name = _format(path, suffix)
    if query is not None and not FORMATS[name].database:
        raise ReadError(f"{path.name!r} is not a database, so it takes no query")
    if known.delimiter is None and suffix == ".tsv":
        known = replace(known, delimiter="\t")
    try:
        if path.stat().st_size == 0:
            raise ReadError(f"{path.name!r} is empty")
        frame = FORMATS[name].read(path, How(suffix, query, known))
    except FileNotFoundError:
        raise ReadError(f"there is no file {path.name!r} in that folder; check the path") from None
    except OSError as error:
        raise ReadError(
            f"{path.name!r} could not be read: {error.strerror or type(error).__name__}"
        ) from None

    return _with_source(frame, name, known, path.name)


def fitting(reading: Mapping[str, Any], source: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the recipe's reading options that fit a source; a query fits only databases."""
    name = by_suffix(suffix_of(Path(source)))
    place = place_of(source)
    asks = (place is not None and place[0].takes_query) or (name is not None and FORMATS[name].database)
    return {word: value for word, value in reading.items() if asks or word != "query"}


def _with_source(frame: pl.DataFrame, name: str, reading: Reading, file: str = "") -> pl.DataFrame:
    """Remove declared codes if the reader does not, and remember the source."""
    source = source_of(frame)
    if source is None:
        frame, raw = declared_missing(frame, Hints(missing=reading.missing))
        source = Source(name, reading, raw=raw)
    attach_source(frame, replace(source, file=file))
    return frame


def _format(path: Path, suffix: str) -> str:
    name = by_suffix(suffix)
    if name is None:
        what = (
            f"{suffix} files cannot be read"
            if suffix
            else f"{path.name!r} has no suffix that says its format"
        )
        raise ReadError(f"{what}; known ones are {suffixes()}")
    if packing_of(path) and name != "csv":
        raise ReadError(
            f"{path.name!r} is packed, and only text files may be, such as table.csv.gz; unpack it"
        )
    return name


def load(data: Any) -> Frame:
    """Return any table, a data frame or the path of a file, as a narwhals frame with numbered rows."""
    return as_frame(read(data) if isinstance(data, (str, os.PathLike)) else data)
